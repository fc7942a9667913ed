// SPDX-License-Identifier: Apache-2.0
import ApusFormat
import ApusRuntime

/// A tensor's values that no run changes.
///
/// A constant comes from the file, or from a computation on other constants. Code that reads it during runs
/// *pins* it: its bytes then stay in one place as long as the constant lives. Code that packs it *leases* it,
/// see ``ConstantLease``: its bytes are in memory during the lease only. A constant that is only leased never
/// gets its own memory.
struct Constant: @unchecked Sendable {
  // @unchecked: bytes in memory are never written again.

  /// Where the values are.
  @safe enum State {
    /// In memory that the owner keeps alive, aligned for the element type.
    case inPlace(UnsafeRawPointer, owner: AnyObject & Sendable)
    /// In a range of a file that is read in parts; possibly not in memory yet.
    case unread(FileBytes, Range<Int>)
    /// An output of an operator on constants, by its position.
    case computed(ComputedConstant, output: Int)
  }

  /// Where the values are.
  let state: State
  /// The size of all elements, in bytes.
  let byteCount: Int
  /// Whether the values depend only on the file, so that all interpreters of a model can share them.
  let isOfModel: Bool

  /// Creates a constant whose values are in memory.
  init(_ memory: TensorMemory, byteCount: Int, isOfModel: Bool) {
    state = unsafe .inPlace(UnsafeRawPointer(memory.base), owner: memory)
    self.byteCount = byteCount
    self.isOfModel = isOfModel
  }

  /// Creates a constant in a given state.
  init(_ state: State, byteCount: Int, isOfModel: Bool) {
    self.state = state
    self.byteCount = byteCount
    self.isOfModel = isOfModel
  }

  /// The bytes, if they are in memory.
  var placed: TensorBuffer? {
    switch state {
    case .inPlace(let base, _): return unsafe buffer(base)
    case .unread(let file, let range):
      return unsafe file.contains(range) ? buffer(file.baseAddress + range.lowerBound) : nil
    case .computed(let constant, let output): return constant.kept(output)
    }
  }

  /// The computation of the values; nil for values of a file, and for those computed at preparation.
  var computation: ComputedConstant? {
    if case .computed(let constant, _) = state { return constant }
    return nil
  }

  /// Puts the bytes in memory for as long as the constant lives.
  ///
  /// - Throws: `unreadableFile` if the file can no longer be read; errors of the operators that compute the
  ///   values.
  func pin() throws(ApusError) -> TensorBuffer {
    switch state {
    case .inPlace(let base, _): return unsafe buffer(base)
    case .unread(let file, let range):
      do { try file.require(range) } catch { throw ApusError(.unreadableFile, error.message) }
      return unsafe buffer(file.baseAddress + range.lowerBound)
    case .computed(let constant, let output): return try constant.keep(output)
    }
  }

  /// The size of a lease in bytes; zero if the values are in memory.
  var leasedByteCount: Int {
    guard placed == nil else { return 0 }
    if case .computed(let constant, _) = state { return constant.leasedByteCount }
    return roundedUp(byteCount, to: TensorMemory.alignment)
  }

  /// The bytes: their own memory, or a copy in leased memory.
  func lease(from memory: inout LeasedMemory) throws(ApusError) -> TensorBuffer {
    if let placed { return placed }
    switch state {
    case .inPlace: return try pin()
    case .unread(let file, let range):
      let target = try unsafe memory.take(byteCount)
      do { try unsafe file.copyFromFile(range, to: target) } catch {
        throw ApusError(.unreadableFile, error.message)
      }
      return unsafe TensorBuffer(base: target, byteCount: byteCount)
    case .computed(let constant, let output): return try constant.lease(output, from: &memory)
    }
  }

  /// The values as an array. The caller guarantees that `T` has the size of the elements.
  func values<T: TensorElement>(as type: T.Type = T.self) throws(ApusError) -> [T] {
    let buffer = try pin()
    guard let base = unsafe buffer.base else { return [] }
    let count = byteCount / MemoryLayout<T>.stride
    return unsafe Array(UnsafeBufferPointer(start: base.assumingMemoryBound(to: T.self), count: count))
  }

  /// The bytes as readers see them; a constant is never written.
  private func buffer(_ base: UnsafeRawPointer) -> TensorBuffer {
    unsafe TensorBuffer(base: UnsafeMutableRawPointer(mutating: base), byteCount: byteCount)
  }
}

/// A constant and its tensor.
struct NamedConstant {
  let tensor: Int
  let constant: Constant
}

/// The memory of a constant tensor: pinned for a plan, or leased.
struct PlacedConstant {
  let tensor: Int
  let buffer: TensorBuffer
}
