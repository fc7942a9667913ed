// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Constants in memory while they are packed.
///
/// The memory is the part of the model's pool that later packed weights will use, so its pages cost nothing.
/// While another lease holds that part, this one has its own memory.
final class ConstantLease {
  private let constants: [PlacedConstant]
  /// Its own memory, if the pool's is lent already.
  private let own: TensorMemory?
  private let pool: MemoryPool?

  /// Puts constants into memory, each under the index of its tensor.
  ///
  /// - Parameter distance: how many bytes of the pool will be allocated during the lease.
  init(
    _ constants: [NamedConstant], pool: MemoryPool, distance: Int = 0
  ) throws(ApusError) {
    let byteCount = constants.reduce(0) { $0 + $1.constant.leasedByteCount }
    var memory = LeasedMemory()
    let lent = unsafe byteCount > 0 ? pool.lend(byteCount: byteCount, distance: distance) : nil
    let own = unsafe byteCount > 0 && lent == nil ? try TensorMemory(byteCount: byteCount) : nil
    if let base = unsafe lent ?? own?.base { memory = unsafe LeasedMemory(base, byteCount: byteCount) }
    self.own = own
    self.pool = unsafe lent == nil ? nil : pool
    var placed: [PlacedConstant] = []
    placed.reserveCapacity(constants.count)
    do throws(ApusError) {
      for entry in constants {
        placed.append(.init(tensor: entry.tensor, buffer: try entry.constant.lease(from: &memory)))
      }
    } catch {
      if unsafe lent != nil { pool.takeBack() }
      throw error
    }
    self.constants = placed
  }

  deinit { pool?.takeBack() }

  /// Whether a tensor is among the leased ones.
  func contains(_ tensor: Int) -> Bool { constants.contains { $0.tensor == tensor } }

  /// A tensor's bytes, valid during the lease.
  func buffer(of tensor: Int) throws(ApusError) -> TensorBuffer {
    guard let constant = constants.first(where: { $0.tensor == tensor }), unsafe constant.buffer.base != nil
    else {
      throw ApusError(.internalError, "tensor #\(tensor) is packed, but was not leased")
    }
    return constant.buffer
  }

  /// A tensor's bytes during the lease.
  @_lifetime(borrow self)
  func bytes(of slot: TensorSlot) throws(ApusError) -> RawSpan {
    let buffer = try buffer(of: slot.index)
    let bytes = unsafe UnsafeRawBufferPointer(start: buffer.base, count: buffer.byteCount)
    return unsafe _overrideLifetime(RawSpan(_unsafeBytes: bytes), borrowing: self)
  }
}

/// The memory of a lease, allocated piece by piece.
@safe struct LeasedMemory {
  private var next: UnsafeMutableRawPointer?
  private var left = 0

  /// Creates empty memory.
  init() {}

  /// Creates memory at an address that is aligned to 64 bytes.
  init(_ base: UnsafeMutableRawPointer, byteCount: Int) {
    unsafe next = unsafe base
    left = byteCount
  }

  /// Allocates a piece, aligned to 64 bytes.
  mutating func take(_ byteCount: Int) throws(ApusError) -> UnsafeMutableRawPointer {
    let size = roundedUp(byteCount, to: TensorMemory.alignment)
    guard let place = unsafe next, size <= left else {
      throw ApusError(.internalError, "a lease of constants takes \(byteCount) bytes, and \(left) are left")
    }
    unsafe next = unsafe place + size
    left -= size
    return unsafe place
  }
}
