// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import Synchronization

/// A test of the processor's sums, done once. A test that cannot be done, since there is no memory for its code, is tried again.
final class ProcessorCheck: Sendable {
  private let result = Mutex<Bool?>(nil)

  /// Throws unless the sums of an instruction are those that ``BFloat16Sum`` defines.
  func require(_ instruction: StaticString, _ test: () throws(Decline) -> Bool) throws(Decline) {
    let holds = try result.withLock { result throws(Decline) in
      if let result { return result }
      let found = try test()
      result = found
      return found
    }
    guard holds else {
      throw Decline("\(instruction): this processor's sums differ from the ones that are defined")
    }
  }
}

/// Random operands for sums of bfloat16, the same in each check.
struct CheckedOperands {
  private let kept: UInt32
  private let exponents: (sum: UInt32, row: UInt32, column: UInt32)
  private var state: UInt32 = 1

  /// Operands with exponents around one, where roundings differ; then two kinds whose products are next to the least normal float.
  static let kinds: [CheckedOperands] = [
    .init(kept: 0x80FF, exponents: (0x3F00_0000, 0x3F00, 0x3F00)),
    .init(kept: 0x807F, exponents: (0x0080_0000, 0x1F80, 0x2080)),
    .init(kept: 0x807F, exponents: (0x0100_0000, 0x2000, 0x1F80)),
  ]

  private init(kept: UInt32, exponents: (sum: UInt32, row: UInt32, column: UInt32)) {
    (self.kept, self.exponents) = (kept, exponents)
  }

  /// A random bit pattern (xorshift).
  private mutating func random() -> UInt32 {
    state ^= state &<< 13
    state ^= state &>> 17
    state ^= state &<< 5
    return state
  }

  /// The bits of a float.
  mutating func sum() -> UInt32 { random() & (kept &<< 16 | 0xFFFF) | exponents.sum }
  /// The bits of a pair of bfloat16 of a row.
  mutating func row() -> UInt32 { random() & (kept &* 0x1_0001) | exponents.row &* 0x1_0001 }
  /// The bits of a pair of bfloat16 of a column.
  mutating func column() -> UInt32 { random() & (kept &* 0x1_0001) | exponents.column &* 0x1_0001 }

  /// A value of a pair, the first or the second.
  static func value(_ bits: UInt32, _ term: Int) -> Float {
    Float(bitPattern: term == 0 ? bits &<< 16 : bits & 0xFFFF_0000)
  }
}
