// SPDX-License-Identifier: Apache-2.0

/// The resource variables of an interpreter, by their handles.
final class ResourceStore {
  /// A variable that was assigned.
  final class Variable {
    private(set) var type: ElementType
    private(set) var shape: TensorShape
    let memory: TensorMemory
    /// The size of all elements, in bytes.
    private(set) var byteCount: Int
    /// The size of the memory, in bytes: that of the largest value since it was allocated.
    fileprivate let capacity: Int

    fileprivate init(type: ElementType, shape: TensorShape, byteCount: Int) throws(ApusError) {
      self.type = type
      self.shape = shape
      self.byteCount = byteCount
      capacity = byteCount
      memory = try TensorMemory(byteCount: byteCount)
    }

    /// Takes a value that fits the memory.
    fileprivate func take(type: ElementType, shape: TensorShape, _ bytes: RawSpan) {
      precondition(bytes.byteCount <= capacity)
      (self.type, self.shape, byteCount) = (type, shape, bytes.byteCount)
      unsafe bytes.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(start: memory.base, count: byteCount).copyMemory(from: source)
      }
    }
  }

  /// By container and name in one string: the first dictionary whose keys have one of our types takes longer
  /// than planning several operators.
  private var handles: [String: Int32] = [:]
  /// By handle; handles count from zero.
  private var variables: [Variable?] = []
  /// Values assigned to numbers that are not handles; a model can take them from anywhere.
  private var strays: [Int32: Variable] = [:]
  /// The size of the memory of all values, with each one's overhead.
  private var byteCount = 0
  /// The size of the names.
  private var nameByteCount = 0
  private let memoryLimit: Int
  /// The counter of their bytes.
  private let heldMemory: HeldMemory

  init(memoryLimit: Int, heldMemory: HeldMemory) {
    self.memoryLimit = memoryLimit
    self.heldMemory = heldMemory
  }

  /// The approximate overhead of a name or a value.
  private static let entryByteCount = 512

  deinit { heldMemory.byteCount -= byteCount + nameByteCount }

  /// The handle of a name; equal names have equal handles.
  ///
  /// - Throws: `resourceLimit` if the names take too much memory.
  func handle(container: String, name: String) throws(ApusError) -> Int32 {
    let key = "\(container.utf8.count) \(container)\(name)"
    if let known = handles[key] { return known }
    let more = key.utf8.count + Self.entryByteCount
    try check(more)
    nameByteCount += more
    heldMemory.byteCount += more
    let handle = Int32(clamping: handles.count)
    handles[key] = handle
    variables.append(strays.removeValue(forKey: handle))
    return handle
  }

  /// The last assigned value; nil before the first.
  private(set) subscript(handle: Int32) -> Variable? {
    get { variables.indices.contains(Int(handle)) ? variables[Int(handle)] : strays[handle] }
    set {
      if variables.indices.contains(Int(handle)) {
        variables[Int(handle)] = newValue
      } else {
        strays[handle] = newValue
      }
    }
  }

  /// Assigns a value. Allocates only if it is larger than all values of the variable before it.
  func assign(_ handle: Int32, type: ElementType, shape: TensorShape, bytes: RawSpan) throws(ApusError) {
    let old = self[handle]
    if let old, old.capacity >= bytes.byteCount { return old.take(type: type, shape: shape, bytes) }
    let more = bytes.byteCount - (old?.capacity ?? -Self.entryByteCount)
    try check(more)
    let variable = try Variable(type: type, shape: shape, byteCount: bytes.byteCount)
    byteCount += more
    heldMemory.byteCount += more
    variable.take(type: type, shape: shape, bytes)
    self[handle] = variable
  }

  private func check(_ more: Int) throws(ApusError) {
    guard more <= 0 || more <= memoryLimit && heldMemory.byteCount <= memoryLimit - more else {
      let own = byteCount + nameByteCount
      throw ApusError(
        .resourceLimit,
        "resource variables take \(own) bytes and \(more) more beside \(heldMemory.byteCount - own), over the limit of "
          + "\(memoryLimit)")
    }
  }

  /// Drops all values; handles stay valid.
  func removeAll() {
    for handle in variables.indices { variables[handle] = nil }
    strays.removeAll()
    heldMemory.byteCount -= byteCount
    byteCount = 0
  }
}
