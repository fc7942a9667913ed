// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Strings that clients read as long as their owner lives.
final class CStrings: @unchecked Sendable {
  private let strings: [UnsafeMutablePointer<CChar>?]

  init(_ strings: [String]) { self.strings = strings.map { strdup($0) } }

  deinit { for string in strings { free(string) } }

  /// How many there are.
  var count: Int { strings.count }

  /// One of them; nil if there is none with that index.
  func string(_ index: Int32) -> UnsafePointer<CChar>? {
    strings.indices.contains(Int(index)) ? UnsafePointer(strings[Int(index)]) : nil
  }
}

/// Integers that clients read as long as their owner lives.
final class CIntegers: @unchecked Sendable {
  /// How many there are.
  let count: Int
  /// The first one. It is never NULL, even if there is none.
  let first: UnsafeMutablePointer<Int32>

  init(_ integers: [Int]) {
    count = integers.count
    first = .allocate(capacity: max(count, 1))
    first.initialize(to: -1)
    for (index, integer) in integers.enumerated() { (first + index).initialize(to: Int32(clamping: integer)) }
  }

  deinit { first.deallocate() }
}
