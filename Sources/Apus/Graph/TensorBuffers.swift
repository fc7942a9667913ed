/// Where each tensor of a graph lies, scratch memory included: a list that grows.
final class TensorBuffers {
  /// The first; moves when the list grows.
  private(set) var base: UnsafeMutablePointer<TensorBuffer>
  private var capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    base = .allocate(capacity: capacity)
    base.initialize(repeating: .none, count: capacity)
  }

  deinit {
    base.deallocate()
  }

  subscript(index: Int) -> TensorBuffer {
    get {
      precondition(index < capacity, "the tensor has a state, so that its buffer was set")
      return base[index]
    }
    set {
      if index >= capacity { grow(to: max(index + 1, capacity * 2)) }
      base[index] = newValue
    }
  }

  private func grow(to larger: Int) {
    let moved = UnsafeMutablePointer<TensorBuffer>.allocate(capacity: larger)
    moved.initialize(repeating: .none, count: larger)
    moved.update(from: base, count: capacity)
    base.deallocate()
    (base, capacity) = (moved, larger)
  }
}
