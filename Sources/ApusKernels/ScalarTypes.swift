// SPDX-License-Identifier: Apache-2.0

/// The element types that a family of kernels supports.
package struct ScalarTypes: ExpressibleByArrayLiteral, Sendable {
  /// One bit per type.
  private let bits: UInt32

  /// Creates a set of types.
  package init(arrayLiteral types: ScalarType...) {
    bits = types.reduce(0) { $0 | 1 << UInt32($1.rawValue) }
  }

  /// Creates the set of one's types and another's.
  private init(_ one: ScalarTypes, and other: ScalarTypes) { bits = one.bits | other.bits }

  /// Whether the set contains a type.
  package func contains(_ type: ScalarType) -> Bool { bits >> UInt32(type.rawValue) & 1 == 1 }
}

extension ScalarTypes {
  /// The types of elementwise functions of numbers: see ``NumberFunction`` and ``IntegerFunction``.
  package static let numbers: ScalarTypes = [
    .float32, .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64,
  ]
  /// The types of ``Reduction``, and of searches and running sums.
  package static let reducible: ScalarTypes = [.float32, .int32, .int64, .uint8, .int8, .int16, .bool]
  /// The types of ``ElementFold``.
  package static let foldable: ScalarTypes = [
    .float32, .float64, .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64, .uint64, .bool,
  ]
  /// The types of ``WindowScatter``.
  package static let scatterable = ScalarTypes(foldable, and: [.float16])
  /// The types of ``CastKernel``.
  package static let castable: ScalarTypes = [
    .bool, .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64, .float16, .bfloat16, .float32, .float64,
    .complex64,
  ]
}
