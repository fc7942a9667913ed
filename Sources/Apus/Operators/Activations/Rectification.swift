// SPDX-License-Identifier: Apache-2.0

import ApusKernels

extension Node {
  func rectifier(
    _ minimum: Float, _ maximum: Float
  ) throws(ApusError) -> any Operator {
    let (input, output) = try unaryTensors()
    guard input.type != .float32 else {
      return UnaryOperator(
        FloatFunction.clamp(minimum: minimum, maximum: maximum), input: input, output: output, using: kernels)
    }
    let source = try quantization(of: input)
    let target = try quantization(of: output)
    try requireNoZeroPoint(ofInt16: input, output)
    let range = output.type.integerRange
    func quantized(_ bound: Float) throws(ApusError) -> Int {
      let steps = (bound / target.scale).rounded(.toNearestOrAwayFromZero)
      guard abs(steps) < 0x1p31 else {
        throw malformed("\(output.name) has the scale \(target.scale), too small for the bound \(bound)")
      }
      return Int(steps) + Int(target.zeroPoint)
    }
    let least = max(range.lowerBound, try quantized(minimum))
    let most = maximum == .infinity ? range.upperBound : min(range.upperBound, try quantized(maximum))
    let rescaling = Rescaling(
      zeroPoint: source.zeroPoint,
      output: QuantizedResult(
        multiplier: FixedPointMultiplier(ScaleFactor.narrow(source.scale, over: target.scale)),
        zeroPoint: target.zeroPoint,
        minimum: Int32(clamping: least), maximum: Int32(clamping: most)))
    return try rescaling.operation(input: input, output: output, node: self)
  }
}

extension Rescaling {
  /// The operator that rescales an input to an output.
  func operation(input: TensorSlot, output: TensorSlot, node: Node) throws(ApusError) -> any Operator {
    guard let source = input.type.scalarType(in: .numbers), let target = output.type.scalarType(in: .numbers),
      let (kernel, choice) = choose(
        from: source, to: target, count: input.shape.elementCount, using: node.kernels)
    else { throw node.unsupported("from \(input.type) to \(output.type) is not supported") }
    return UnaryOperator(kernel, choice: choice, input: input, output: output)
  }
}
