// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The memory of structures whose fields clients read: tensors, contexts and nodes.
///
/// Each address is given out once, so a pointer to a structure that is gone is never mistaken for one to a new structure. A block whose
/// structures are all gone costs address space alone: the system takes its pages back, and what clients read there is zeros.
final class StructureMemory: Sendable {
  /// The process's memory.
  static let shared = StructureMemory()

  private struct State {
    /// The first free address of the block that is being filled.
    var next: UInt = 0
    /// The end of the addresses that can be written.
    var writableEnd: UInt = 0
    /// The end of the addresses that are reserved.
    var end: UInt = 0
    /// How many structures lie in a block, by its number; one more in the block that is being filled.
    var counts: [UInt: Int] = [:]
  }

  private let state = Mutex(State())
  /// A multiple of every system's page size.
  private static let blockByteCount: UInt = 1 << 16
  private static let reservation: UInt = 1 << 26

  /// Zeroed memory, aligned to 16 bytes; nil if the system refuses it.
  func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    let size = Self.rounded(UInt(max(byteCount, 1)), to: 16)
    return state.withLock { state -> UInt? in
      if size > state.end - state.next {
        guard let start = Self.reserve(max(Self.reservation, Self.rounded(size, to: Self.blockByteCount)))
        else { return nil }
        if state.next < state.writableEnd { Self.release(Self.block(state.next), in: &state) }
        state.next = start.lowerBound
        state.writableEnd = start.lowerBound
        state.end = start.upperBound
      }
      let address = state.next
      let end = address + size
      if end > state.writableEnd {
        let writableEnd = Self.rounded(end, to: Self.blockByteCount)
        guard Self.protect(state.writableEnd..<writableEnd, PROT_READ | PROT_WRITE) else { return nil }
        for block in Self.block(state.writableEnd)..<Self.block(writableEnd) {
          state.counts[block] = 1
        }
        state.writableEnd = writableEnd
      }
      for block in Self.blocks(address, size) { state.counts[block, default: 0] += 1 }
      state.next = end
      // The blocks that are full now.
      for block in Self.block(address)..<Self.block(end) { Self.release(block, in: &state) }
      return address
    }.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
  }

  /// Takes back memory of ``allocate(_:)``.
  func release(_ memory: UnsafeMutableRawPointer, _ byteCount: Int) {
    // A client that still reads the fields finds no pointers.
    memset(memory, 0, byteCount)
    let address = UInt(bitPattern: memory)
    state.withLock { state in
      for block in Self.blocks(address, Self.rounded(UInt(max(byteCount, 1)), to: 16)) {
        Self.release(block, in: &state)
      }
    }
  }

  /// Counts a structure of a block less. With the last one the system takes the pages back.
  private static func release(_ block: UInt, in state: inout State) {
    guard let count = state.counts[block], count > 1 else {
      state.counts[block] = nil
      let start = block * blockByteCount
      if let memory = UnsafeMutableRawPointer(bitPattern: start) {
        madvise(memory, Int(blockByteCount), MADV_DONTNEED)
      }
      _ = protect(start..<start + blockByteCount, PROT_READ)
      return
    }
    state.counts[block] = count - 1
  }

  private static func rounded(_ size: UInt, to unit: UInt) -> UInt { (size + unit - 1) / unit * unit }

  private static func block(_ address: UInt) -> UInt { address / blockByteCount }

  private static func blocks(_ address: UInt, _ size: UInt) -> ClosedRange<UInt> {
    block(address)...block(address + size - 1)
  }

  /// Addresses that start with a block; nil if the system refuses them.
  private static func reserve(_ byteCount: UInt) -> Range<UInt>? {
    let memory = mmap(
      nil, Int(byteCount + blockByteCount), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard let memory, memory != MAP_FAILED else { return nil }
    let start = rounded(UInt(bitPattern: memory), to: blockByteCount)
    return start..<start + byteCount
  }

  private static func protect(_ addresses: Range<UInt>, _ protection: Int32) -> Bool {
    mprotect(
      UnsafeMutableRawPointer(bitPattern: addresses.lowerBound), addresses.count, protection) == 0
  }
}
