// SPDX-License-Identifier: Apache-2.0

/// The resource variables of an interpreter, by their handles.
final class ResourceStore {
  /// A variable, which may have a value.
  ///
  /// An operator whose handle is a constant keeps its variable: finding it in each run would take longer than copying a small value.
  @safe final class Variable {
    /// Whether a value was assigned.
    private(set) var isAssigned = false
    private(set) var type = ElementType.float32
    private(set) var shape: TensorShape = []
    /// The size of all elements, in bytes.
    private(set) var byteCount = 0
    /// The size of the memory, in bytes: that of the largest value since it was allocated.
    fileprivate private(set) var capacity = 0
    /// The memory, and its address, which is read without counting references.
    private var memory: TensorMemory?
    private var address: UnsafeMutableRawPointer?

    fileprivate init() {}

    /// Takes a value that fits the memory.
    fileprivate func take(type: ElementType, shape: TensorShape, _ bytes: RawSpan) {
      precondition(bytes.byteCount <= capacity)
      isAssigned = true
      self.type = type
      if self.shape != shape { self.shape = shape }
      byteCount = bytes.byteCount
      unsafe bytes.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(start: address, count: byteCount).copyMemory(from: source)
      }
    }

    /// Makes room for a value.
    fileprivate func allocate(byteCount: Int) throws(ApusError) {
      let memory = try TensorMemory(byteCount: byteCount)
      self.memory = memory
      unsafe address = memory.base
      capacity = byteCount
    }

    /// Drops the value and its memory.
    fileprivate func clear() {
      isAssigned = false
      (memory, unsafe address) = (nil, nil)
      (byteCount, capacity) = (0, 0)
    }

    /// Copies the first bytes of the value, as many as there are in `bytes` and at most ``byteCount``.
    func copy(to bytes: inout MutableRawSpan) {
      precondition(bytes.byteCount <= byteCount)
      let count = bytes.byteCount
      unsafe bytes.withUnsafeMutableBytes {
        unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: count))
      }
    }
  }

  /// By container and name in one string: the first dictionary whose keys have one of our types takes longer
  /// than planning several operators.
  private var handles: [String: Int32] = [:]
  /// By handle; handles count from zero.
  private var variables: [Variable] = []
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
    variables.append(strays.removeValue(forKey: handle) ?? Variable())
    return handle
  }

  /// The variable of a handle that a name has; nil for other numbers.
  func named(_ handle: Int32) -> Variable? {
    variables.indices.contains(Int(handle)) ? variables[Int(handle)] : nil
  }

  /// The variable of a number; nil if no value was assigned to it.
  subscript(handle: Int32) -> Variable? {
    let variable = named(handle) ?? strays[handle]
    return variable?.isAssigned == true ? variable : nil
  }

  /// Assigns a value to the variable of a number, which need not be a handle.
  func assign(_ handle: Int32, type: ElementType, shape: TensorShape, bytes: RawSpan) throws(ApusError) {
    if let variable = named(handle) ?? strays[handle] {
      return try assign(variable, type: type, shape: shape, bytes: bytes)
    }
    let variable = Variable()
    try assign(variable, type: type, shape: shape, bytes: bytes)
    strays[handle] = variable
  }

  /// Assigns a value. Allocates only if it is larger than all values of the variable before it.
  func assign(
    _ variable: Variable, type: ElementType, shape: TensorShape, bytes: RawSpan
  ) throws(ApusError) {
    if variable.isAssigned, variable.capacity >= bytes.byteCount {
      return variable.take(type: type, shape: shape, bytes)
    }
    let more = bytes.byteCount - (variable.isAssigned ? variable.capacity : -Self.entryByteCount)
    try check(more)
    try variable.allocate(byteCount: bytes.byteCount)
    byteCount += more
    heldMemory.byteCount += more
    variable.take(type: type, shape: shape, bytes)
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
    for variable in variables { variable.clear() }
    strays.removeAll()
    heldMemory.byteCount -= byteCount
    byteCount = 0
  }
}
