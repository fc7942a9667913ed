// SPDX-License-Identifier: Apache-2.0

/// The types of elements that a kind of kernel takes.
package struct ScalarTypes: ExpressibleByArrayLiteral, Sendable {
  /// A bit for each.
  private let bits: UInt32

  /// These types.
  package init(arrayLiteral types: ScalarType...) {
    bits = types.reduce(0) { $0 | 1 << UInt32($1.rawValue) }
  }

  /// Whether a type is among them.
  package func contains(_ type: ScalarType) -> Bool { bits >> UInt32(type.rawValue) & 1 == 1 }
}

extension ScalarTypes {
  /// What elementwise functions of numbers take: see ``NumberFunction`` and ``IntegerFunction``.
  package static let numbers: ScalarTypes = [
    .float32, .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64,
  ]
  /// What ``Reduction`` and the searches and sums beside it take.
  package static let reducible: ScalarTypes = [.float32, .int32, .int64, .uint8, .int8, .int16, .bool]
  /// What ``ElementFold`` takes.
  package static let foldable: ScalarTypes = [
    .float32, .float64, .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64, .uint64, .bool,
  ]
  /// What ``CastKernel`` takes.
  package static let castable: ScalarTypes = [
    .bool, .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64, .float16, .bfloat16, .float32, .float64,
    .complex64,
  ]
}
