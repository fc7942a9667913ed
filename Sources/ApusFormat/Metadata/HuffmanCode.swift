// SPDX-License-Identifier: Apache-2.0

/// A canonical prefix code (RFC 1951, section 3.2.2).
struct HuffmanCode {
  /// The longest code in bits.
  static let maximumLength = 15

  /// The position within a code while its bits arrive.
  struct Walk {
    fileprivate var code = 0
    fileprivate var first = 0
    fileprivate var index = 0
    fileprivate var length = 0
  }

  /// How many codes have each length.
  private var counts = [Int](repeating: 0, count: maximumLength + 1)
  /// The symbols in the order of their codes.
  private let symbols: [Int]

  /// Makes the code in which symbol k has `lengths[k]` bits, at most 15, or none where that is 0.
  ///
  /// Throws if there are more codes than bits can distinguish, or fewer unless `mayBeIncomplete` and
  /// there is at most one.
  init(lengths: ArraySlice<UInt8>, mayBeIncomplete: Bool) throws(FormatError) {
    for length in lengths { counts[Int(min(length, 15))] += 1 }
    var left = 1
    for length in 1...Self.maximumLength {
      left = left * 2 - counts[length]
      guard left >= 0 else { throw FormatError("a code has too many symbols") }
    }
    let used = lengths.count - counts[0]
    guard left == 0 || mayBeIncomplete && used <= 1 else { throw FormatError("a code is incomplete") }
    symbols = lengths.enumerated().filter { $0.element != 0 }
      .sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }.map(\.offset)
    counts[0] = 0
  }

  /// Takes one more bit; returns the symbol once its code is complete.
  func step(_ walk: inout Walk, bit: Int) -> Int? {
    walk.length += 1
    guard walk.length <= Self.maximumLength else { return nil }
    walk.code |= bit
    let count = counts[walk.length]
    if walk.code - walk.first < count {
      return symbols[walk.index + walk.code - walk.first]
    }
    walk.index += count
    walk.first = (walk.first + count) << 1
    walk.code <<= 1
    return nil
  }

  private init(complete lengths: [UInt8]) {
    for length in lengths { counts[Int(length)] += 1 }
    symbols = lengths.indices.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
  }

  /// The literals and lengths of blocks without a code of their own.
  static let fixedLiterals = HuffmanCode(
    complete: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })

  /// The distances of blocks without a code of their own.
  static let fixedDistances = HuffmanCode(complete: Array(repeating: 5, count: 32))
}
