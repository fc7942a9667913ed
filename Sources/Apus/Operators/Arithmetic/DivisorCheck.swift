// SPDX-License-Identifier: Apache-2.0

/// A function of two tensors whose second one has forbidden values: zero divisors, negative exponents.
struct DivisorCheck: Operator {
  /// A value that the second tensor must not have.
  enum Forbidden {
    /// Integers equal to this.
    case equal(Int)
    /// Integers below zero.
    case negative
    /// The float zero.
    case zeroFloat
  }

  private let function: BinaryOperator
  private let operand: TensorSlot
  private let forbidden: Forbidden
  private let place: String

  /// Looks at the second operand before `function` runs.
  init(_ forbidden: Forbidden, of operand: TensorSlot, before function: BinaryOperator, node: Node) {
    self.function = function
    self.operand = operand
    self.forbidden = forbidden
    place = node.place
  }

  var implementation: Implementation { function.implementation }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    switch operand.type {
    case .float32: try check(tensors.read(operand, as: Float.self)) { $0 == 0 }
    case .uint8: try checkIntegers(tensors.read(operand, as: UInt8.self))
    case .int8: try checkIntegers(tensors.read(operand, as: Int8.self))
    case .int16: try checkIntegers(tensors.read(operand, as: Int16.self))
    case .int64: try checkIntegers(tensors.read(operand, as: Int64.self))
    default: try checkIntegers(tensors.read(operand, as: Int32.self))
    }
    function.invoke(tensors)
  }

  private func checkIntegers<T: FixedWidthInteger & TensorElement>(_ values: Span<T>) throws(ApusError) {
    switch forbidden {
    case .equal(let wrong):
      let value = T(truncatingIfNeeded: wrong)
      try check(values) { $0 == value }
    case .negative: try check(values) { $0 < 0 }
    case .zeroFloat: break
    }
  }

  private func check<T: TensorElement>(_ values: Span<T>, _ isForbidden: (T) -> Bool) throws(ApusError) {
    for index in values.indices where isForbidden(values[index]) {
      throw ApusError(
        .invalidData,
        "\(place): \(operand.name) has \(values[index]) at \(index), which the operator does not take")
    }
  }
}
