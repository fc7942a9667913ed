// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Memory between two inaccessible guard pages: generated code that reads or writes a byte too many ends the process.
///
/// The bytes begin right behind the first guard page or end right before the other, in turn.
final class GuardedMemory {
  private let mapping: UnsafeMutableRawBufferPointer
  /// The bytes.
  let bytes: UnsafeMutableRawBufferPointer

  private static let turn = Atomic<Int>(0)

  /// Makes memory for bytes with this value; nil where the system has none.
  init?(count: Int, repeating value: UInt8) {
    let page = Int(getpagesize())
    let inner = (count + page - 1) / page * page
    let flags = MAP_PRIVATE | MAP_ANONYMOUS
    guard let start = unsafe mmap(nil, inner + 2 * page, PROT_NONE, flags, -1, 0), unsafe start != MAP_FAILED
    else { return nil }
    unsafe mapping = UnsafeMutableRawBufferPointer(start: start, count: inner + 2 * page)
    if inner > 0, unsafe mprotect(start + page, inner, PROT_READ | PROT_WRITE) != 0 {
      unsafe munmap(start, inner + 2 * page)
      return nil
    }
    let isAtEnd = Self.turn.wrappingAdd(1, ordering: .relaxed).newValue & 1 == 0
    unsafe bytes = UnsafeMutableRawBufferPointer(
      start: start + page + (isAtEnd ? inner - count : 0), count: count)
    unsafe bytes.initializeMemory(as: UInt8.self, repeating: value)
  }

  /// Copies bytes.
  convenience init?(_ values: [UInt8]) {
    self.init(count: values.count, repeating: 0)
    unsafe bytes.copyBytes(from: values)
  }

  deinit {
    unsafe munmap(mapping.baseAddress, mapping.count)
  }
}
