// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels

/// ADD, SUB and MUL: on plain numbers, or quantized in three ways.
struct Arithmetic {
  private let node: Node
  private let operation: ArithmeticOperation
  private let operands: BinaryOperands
  private let output: TensorSlot
  private let activation: FusedActivation

  /// Reads the tensors and the activation.
  init(_ operation: ArithmeticOperation, _ node: Node) throws(ApusError) {
    self.node = node
    self.operation = operation
    operands = try BinaryOperands(node)
    output = try node.output(0, shape: operands.resultShape, like: operands.lhs)
    let options = node.options
    activation =
      switch operation {
      case .add: try node.activation(options.add.activation)
      case .subtract: try node.activation(options.sub.activation)
      case .multiply: try node.activation(options.mul.activation)
      }
  }

  private var isProduct: Bool { if case .multiply = operation { true } else { false } }
  private var isDifference: Bool { if case .subtract = operation { true } else { false } }

  /// The operator. With `takesPlainWords`, an `int16` tensor without a scale is unquantized.
  func prepared(takesPlainWords: Bool) throws(ApusError) -> any Operator {
    let isPlainWord = takesPlainWords && operands.type == .int16 && output.quantization == nil
    let (kernel, choice) = try kernel(isPlainWord: isPlainWord)
    return BinaryOperator(kernel, choice: choice, operands, output: output, form: try form())
  }

  /// How passes see it.
  private func form() throws(ApusError) -> BinaryOperator.Form? {
    switch (operation, operands.type) {
    case (.add, .float32) where !node.isHalfPrecision:
      let bounds = activation.bounds ?? (-.greatestFiniteMagnitude, .greatestFiniteMagnitude)
      return .sum(minimum: bounds.minimum, maximum: bounds.maximum)
    case (.multiply, .float32) where !node.isHalfPrecision && activation == .none: return .product(.floats)
    case (.multiply, .uint8), (.multiply, .int8):
      return .product(.bytes(try product(), isSigned: operands.type == .int8))
    default: return nil
    }
  }

  private typealias Chosen = KernelSet.Chosen<any BinaryKernel>

  private func kernel(isPlainWord: Bool) throws(ApusError) -> Chosen {
    var bounds = activation.bounds ?? (-.greatestFiniteMagnitude, .greatestFiniteMagnitude)
    if node.isHalfPrecision { bounds = (max(bounds.minimum, -65504), min(bounds.maximum, 65504)) }
    switch operands.type {
    case .float32:
      return node.kernels.choose(
        FloatOperation(operation.ofFloats, minimum: bounds.minimum, maximum: bounds.maximum), operands.shapes)
    case .complex64 where isProduct:
      guard activation == .none else { throw node.malformed("complex numbers have no activation") }
      return (ComplexProduct.floats(operands.shapes), .plain)
    case .uint8, .int8:
      return isProduct ? try quantizedProduct() : try quantizedSum()
    case .int16 where !isPlainWord:
      return isProduct ? try quantizedProduct() : try quantizedSum()
    default:
      let minimum = activation == .none ? Int.min : Int(bounds.minimum)
      let maximum = bounds.maximum < .greatestFiniteMagnitude ? Int(bounds.maximum) : .max
      guard let type = operands.type.scalarType(in: .numbers),
        let kernel = operation.integers(type, minimum: minimum, maximum: maximum, operands.shapes)
      else { throw node.unsupported("\(operands.type) is not supported") }
      return (kernel, .plain)
    }
  }

  private func quantizedProduct() throws(ApusError) -> Chosen {
    let product = try product()
    if operands.type == .int16 { return (product.words(operands.shapes), .plain) }
    return node.kernels.choose(product, isSigned: operands.type == .int8, operands.shapes)
  }

  private func product() throws(ApusError) -> QuantizedProduct {
    let lhs = try node.quantization(of: operands.lhs)
    let rhs = try node.quantization(of: operands.rhs)
    let result = try node.quantization(of: output)
    if operands.type == .int16 { try requireNoZeroPoints() }
    let factor = ScaleFactor.narrow(lhs.scale, rhs.scale, over: result.scale)
    return QuantizedProduct(
      lhsZeroPoint: lhs.zeroPoint, rhsZeroPoint: rhs.zeroPoint, output: try quantizedResult(factor))
  }

  private func quantizedSum() throws(ApusError) -> Chosen {
    let lhs = try node.quantization(of: operands.lhs)
    let rhs = try node.quantization(of: operands.rhs)
    let result = try node.quantization(of: output)
    if operands.type == .int16 {
      try requireNoZeroPoints()
      if let kernel = try shiftedSum() { return (kernel, .plain) }
    }
    let leftShift: Int32 = operands.type == .int16 ? 15 : 20
    let factors = ScaleFactor.Sum(lhs.scale, rhs.scale)
    let sum = QuantizedSum(
      lhs: QuantizedOperand(zeroPoint: lhs.zeroPoint, multiplier: FixedPointMultiplier(factors.lhs)),
      rhs: QuantizedOperand(zeroPoint: rhs.zeroPoint, multiplier: FixedPointMultiplier(factors.rhs)),
      isDifference: isDifference, leftShift: leftShift,
      output: try quantizedResult(factors.result(leftShift: leftShift, over: result.scale)))
    if operands.type == .int16 { return (sum.words(operands.shapes), .plain) }
    return node.kernels.choose(sum, isSigned: operands.type == .int8, operands.shapes)
  }

  /// The older form of `int16` sums, if an option permits it and all scales are powers of two.
  private func shiftedSum() throws(ApusError) -> (any BinaryKernel)? {
    let options = isDifference ? node.options.sub : node.options.add
    guard try options.takesPowersOfTwo,
      let lhs = try node.quantization(of: operands.lhs).scale.roundedBinaryExponent,
      let rhs = try node.quantization(of: operands.rhs).scale.roundedBinaryExponent,
      let result = try node.quantization(of: output).scale.roundedBinaryExponent
    else { return nil }
    let (left, right) = (lhs - result, rhs - result)
    guard left <= 0, right <= 0, left == 0 || right == 0, left >= -31, right >= -31 else {
      throw node.unsupported("the scales 2^\(lhs) and 2^\(rhs) do not fit the output's, 2^\(result)")
    }
    let bounds = try node.quantizedBounds(activation, of: output)
    return ShiftedSum(
      rightShift: Int32(-min(left, right)), shiftsLeftOperand: left < 0, isDifference: isDifference,
      minimum: Int16(clamping: bounds.minimum), maximum: Int16(clamping: bounds.maximum)
    ).words(operands.shapes)
  }

  private func quantizedResult(_ factor: Double) throws(ApusError) -> QuantizedResult {
    let bounds = try node.quantizedBounds(activation, of: output)
    return QuantizedResult(
      multiplier: FixedPointMultiplier(factor), zeroPoint: try node.quantization(of: output).zeroPoint,
      minimum: bounds.minimum, maximum: bounds.maximum)
  }

  private func requireNoZeroPoints() throws(ApusError) {
    for slot in [operands.lhs, operands.rhs, output] { try node.requireNoZeroPoint(slot) }
  }
}
