// SPDX-License-Identifier: Apache-2.0

/// A growing list of the memory of each tensor of a graph, scratch memory included.
@safe final class TensorBuffers {
  /// The first entry; moves when the list grows.
  private(set) var base: UnsafeMutablePointer<TensorBuffer>
  private(set) var capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    unsafe base = .allocate(capacity: capacity)
    unsafe base.initialize(repeating: .none, count: capacity)
  }

  deinit {
    unsafe base.deallocate()
  }

  subscript(index: Int) -> TensorBuffer {
    get {
      precondition(index < capacity, "the tensor has a state, so that its buffer was set")
      return unsafe base[index]
    }
    set {
      if index >= capacity { grow(to: max(index + 1, capacity * 2)) }
      unsafe base[index] = newValue
    }
  }

  /// Records the memory of a layout's tensors and their views.
  func place(_ layout: Layout, in memory: TensorMemory) {
    for place in layout.places {
      self[place.tensor] = unsafe TensorBuffer(base: memory.base + place.offset, byteCount: place.byteCount)
    }
    for view in layout.views { self[view.tensor] = self[view.root] }
  }

  private func grow(to larger: Int) {
    let moved = UnsafeMutablePointer<TensorBuffer>.allocate(capacity: larger)
    unsafe moved.initialize(repeating: .none, count: larger)
    unsafe moved.update(from: base, count: capacity)
    unsafe base.deallocate()
    unsafe (base, capacity) = unsafe (moved, larger)
  }
}
