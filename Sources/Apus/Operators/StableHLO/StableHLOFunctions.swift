// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels

/// STABLEHLO_ADD, STABLEHLO_MULTIPLY, STABLEHLO_MAXIMUM, STABLEHLO_MINIMUM, STABLEHLO_AND and STABLEHLO_SHIFT_LEFT: functions of
/// two tensors of one shape. Integers are unquantized and wrap.
enum StableHLOFunctions {
  static let types: [ElementType] = [
    .float32, .float64, .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64, .uint64, .bool,
  ]
  static let bitTypes = types.filter { $0 != .float32 && $0 != .float64 }
  static let shiftTypes: [ElementType] = [.int8, .int16, .int32]

  static func add(_ node: Node) throws(ApusError) -> any Operator {
    try prepared(node, floats: .add) { type, shapes in
      type == .bool ? NumberFunction.logicalOr.kernel(.uint8, shapes) : plain(.add, .sum, type, shapes)
    }
  }

  static func multiply(_ node: Node) throws(ApusError) -> any Operator {
    try prepared(node, floats: .multiply) { type, shapes in
      type == .bool
        ? NumberFunction.logicalAnd.kernel(.uint8, shapes) : plain(.multiply, .product, type, shapes)
    }
  }

  static func maximum(_ node: Node) throws(ApusError) -> any Operator {
    try prepared(node, floats: .maximum, isReversed: true) { type, shapes in
      wide(.greater, type, shapes)
        ?? (type == .bool ? .uint8 : type.scalarType(in: .numbers)).map {
          Extremum.maximum.kernel($0, shapes)
        }
    }
  }

  static func minimum(_ node: Node) throws(ApusError) -> any Operator {
    try prepared(node, floats: .minimum, isReversed: true) { type, shapes in
      wide(.lesser, type, shapes)
        ?? (type == .bool ? .uint8 : type.scalarType(in: .numbers)).map {
          Extremum.minimum.kernel($0, shapes)
        }
    }
  }

  static func and(_ node: Node) throws(ApusError) -> any Operator {
    try prepared(node) { type, shapes in
      type == .bool
        ? NumberFunction.logicalAnd.kernel(.uint8, shapes)
        : (type == .uint64 ? .int64 : type.scalarType(in: .numbers)).flatMap {
          NumberFunction.and.kernel($0, shapes)
        }
    }
  }

  /// Counts outside 0 to the number of bits give 0.
  static func shiftLeft(_ node: Node) throws(ApusError) -> any Operator {
    try prepared(node) { type, shapes in
      type.scalarType(in: .numbers).flatMap { NumberFunction.shiftLeft.kernel($0, shapes) }
    }
  }

  private static func plain(
    _ operation: ArithmeticOperation, _ wideFunction: WideFunction, _ type: ElementType,
    _ shapes: BroadcastShapes
  ) -> (any BinaryKernel)? {
    if let kernel = wide(wideFunction, type, shapes) { return kernel }
    return type.scalarType(in: .numbers).flatMap {
      operation.integers($0, minimum: .min, maximum: .max, shapes)
    }
  }

  /// The kernel for a type of 64 bits that most operators lack.
  private static func wide(
    _ function: WideFunction, _ type: ElementType, _ shapes: BroadcastShapes
  ) -> (any BinaryKernel)? {
    switch type {
    case .float64: function.doubles(shapes)
    case .uint64: function.integers(shapes)
    default: nil
    }
  }

  /// The operator.
  ///
  /// - Parameters:
  ///   - floats: what it does with floats; nil if it does not take them.
  ///   - isReversed: whether kernels get the second operand first. For NaN they return their second operand, but
  ///     StableHLO's maximum and minimum return the first.
  ///   - kernel: the kernel for elements of another type; nil if there is none.
  private static func prepared(
    _ node: Node, floats: FloatOperation.Kind? = nil, isReversed: Bool = false,
    _ kernel: (ElementType, BroadcastShapes) -> (any BinaryKernel)?
  ) throws(ApusError) -> any Operator {
    let operands = try BinaryOperands(node)
    guard operands.lhs.shape == operands.rhs.shape else {
      throw node.malformed(
        "the inputs are \(operands.lhs.shape) and \(operands.rhs.shape), not of one shape")
    }
    let ordered =
      isReversed
      ? BinaryOperands(lhs: operands.rhs, rhs: operands.lhs, shapes: operands.shapes) : operands
    if operands.type == .float32, let floats {
      let (kernel, choice) = node.kernels.choose(FloatOperation(floats), operands.shapes)
      let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
      return BinaryOperator(
        kernel, choice: choice, ordered, output: output,
        form: floats == .add ? .sum(minimum: -.infinity, maximum: .infinity) : nil)
    }
    guard let kernel = kernel(operands.type, operands.shapes) else {
      throw node.unsupported("\(operands.type) is not supported")
    }
    let output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    return BinaryOperator(kernel, choice: .plain, ordered, output: output)
  }
}
