// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Operators that apply one function to each float: FLOOR, CEIL, ROUND, SIN, COS, SQUARE.
enum FloatUnary {
  /// The preparation of an operator that applies `function`.
  static func prepare(
    _ function: FloatFunction
  ) -> @Sendable (Node) throws(ApusError) -> any Operator {
    { (node: Node) throws(ApusError) -> any Operator in
      let (input, output) = try node.unaryTensors()
      return UnaryOperator(function, input: input, output: output, using: node.kernels)
    }
  }
}

extension Node {
  /// A function of floats or of unquantized integers.
  func numberFunction(
    _ floats: FloatFunction, _ integers: IntegerFunction
  ) throws(ApusError) -> any Operator {
    let (input, output) = try unaryTensors()
    let count = input.shape.elementCount
    if input.type == .float32 {
      return UnaryOperator(floats, input: input, output: output, using: kernels)
    }
    guard let type = input.type.scalarType(in: .numbers), let kernel = integers.kernel(type, count: count)
    else {
      throw unsupported("\(input.type) is not supported")
    }
    return UnaryOperator(kernel, choice: .plain, input: input, output: output)
  }

  /// A real function: of floats directly, of quantized bytes through a table, of `int16` by interpolation in a table.
  func realFunction(
    _ function: FloatFunction, input: TensorSlot, output: TensorSlot, quantized: ((Float) -> Float)? = nil
  ) throws(ApusError) -> any Operator {
    let count = input.shape.elementCount
    switch input.type {
    case .float32: return UnaryOperator(function, input: input, output: output, using: kernels)
    case .int16:
      let source = try quantization(of: input)
      let target = try quantization(of: output)
      let kernel = WordFunction.kernel(
        inputScale: source.scale, inputZeroPoint: source.zeroPoint, outputScale: target.scale,
        outputZeroPoint: target.zeroPoint, count: count, quantized ?? { function($0) })
      return UnaryOperator(kernel, choice: .plain, input: input, output: output)
    default: return try tabulated(quantized ?? { function($0) }, input: input, output: output)
    }
  }

  /// Converts one tensor's quantization to another's, times a factor, saturating at the type's range.
  func rescaling(_ factor: Double, from input: TensorSlot, to output: TensorSlot) throws(ApusError)
    -> Rescaling
  {
    let range = output.type.integerRange
    return Rescaling(
      zeroPoint: try quantization(of: input).zeroPoint,
      output: QuantizedResult(
        multiplier: FixedPointMultiplier(factor), zeroPoint: try quantization(of: output).zeroPoint,
        minimum: Int32(range.lowerBound), maximum: Int32(range.upperBound)))
  }
}
