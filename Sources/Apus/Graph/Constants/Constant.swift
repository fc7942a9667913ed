// SPDX-License-Identifier: Apache-2.0
import ApusFormat
import ApusKernels

/// A tensor's values that no run changes, on their way from the file to whoever reads them.
///
/// A constant has one life. It begins in the file or as a computation on other constants. Whoever reads it
/// during runs *pins* it: then its bytes lie in one place for as long as the constant lives. Whoever packs it
/// *leases* it, see ``ConstantLease``: then its bytes are there for that long, and take no memory afterwards. A constant
/// that is only leased never gets memory of its own.
struct Constant: @unchecked Sendable {
  // @unchecked: nothing writes to the bytes once they are in place.

  /// Where the values are.
  enum State {
    /// In memory that the owner keeps alive, aligned for the element type.
    case inPlace(UnsafeRawPointer, owner: AnyObject & Sendable)
    /// In a range of a file that is read in parts, perhaps not yet in memory.
    case unread(FileBytes, Range<Int>)
    /// An output of an operator on constants, by its position.
    case computed(ComputedConstant, output: Int)
  }

  /// Where the values are.
  let state: State
  /// The bytes of all elements.
  let byteCount: Int
  /// Whether the values depend on the file alone, so that all interpreters of a model may share them.
  let isOfModel: Bool

  /// Values that are in place.
  init(_ memory: TensorMemory, byteCount: Int, isOfModel: Bool) {
    state = .inPlace(UnsafeRawPointer(memory.base), owner: memory)
    self.byteCount = byteCount
    self.isOfModel = isOfModel
  }

  /// Values with a state of their own.
  init(_ state: State, byteCount: Int, isOfModel: Bool) {
    self.state = state
    self.byteCount = byteCount
    self.isOfModel = isOfModel
  }

  /// The bytes, if they are in place by now.
  var placed: TensorBuffer? {
    switch state {
    case .inPlace(let base, _): return buffer(base)
    case .unread(let file, let range):
      return file.contains(range) ? buffer(file.baseAddress + range.lowerBound) : nil
    case .computed(let constant, let output): return constant.kept(output)
    }
  }

  /// Sees to it that the bytes are in place, for as long as the constant lives.
  ///
  /// - Throws: `unreadableFile` where the file cannot be read any more; what the operators throw that compute the values.
  func pin() throws(ApusError) -> TensorBuffer {
    switch state {
    case .inPlace(let base, _): return buffer(base)
    case .unread(let file, let range):
      do { try file.require(range) } catch { throw ApusError(.unreadableFile, error.message) }
      return buffer(file.baseAddress + range.lowerBound)
    case .computed(let constant, let output): return try constant.keep(output)
    }
  }

  /// The memory that a lease of the bytes takes; zero where they are in place.
  var leasedByteCount: Int {
    guard placed == nil else { return 0 }
    if case .computed(let constant, _) = state { return constant.leasedByteCount }
    return roundedUp(byteCount, to: TensorMemory.alignment)
  }

  /// The bytes where they are in place, or a copy in leased memory.
  func lease(from memory: inout LeasedMemory) throws(ApusError) -> TensorBuffer {
    if let placed { return placed }
    switch state {
    case .inPlace: return try pin()
    case .unread(let file, let range):
      let target = try memory.take(byteCount)
      do { try file.copyFromFile(range, to: target) } catch {
        throw ApusError(.unreadableFile, error.message)
      }
      return TensorBuffer(base: target, byteCount: byteCount)
    case .computed(let constant, let output): return try constant.lease(output, from: &memory)
    }
  }

  /// The values as an array. The caller knows that `T` is as wide as the elements.
  func values<T: TensorElement>(as type: T.Type = T.self) throws(ApusError) -> [T] {
    let buffer = try pin()
    guard let base = buffer.base else { return [] }
    let count = byteCount / MemoryLayout<T>.stride
    return Array(UnsafeBufferPointer(start: base.assumingMemoryBound(to: T.self), count: count))
  }

  /// What readers see; nothing writes to a constant.
  private func buffer(_ base: UnsafeRawPointer) -> TensorBuffer {
    TensorBuffer(base: UnsafeMutableRawPointer(mutating: base), byteCount: byteCount)
  }
}
