// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `REDUCE_PROD` of quantized values: each step is scaled by the input's scale over a root of the output's.
struct QuantizedReduceProd: Operator {
  private let elements: ScalarType
  private let reduction: Reduction
  private let step: ProductStep
  private let inputZeroPoint: Int32
  private let zeroPoint: Int32
  private let input: TensorSlot
  private let output: TensorSlot
  private let products: TensorSlot
  private let productOfNothing: Int32

  init(_ node: Node) throws(ApusError) {
    try node.expect(inputs: 2...2)
    input = try node.input(0, types: [.int8, .int16])
    elements = input.type == .int8 ? .int8 : .int16
    let axes = try FoldedAxes(node, input: input)
    output = try node.output(0, shape: axes.shape, like: input)
    reduction = axes.reduction(of: input.shape.dimensions)
    let inputScale: Float
    let outputScale: Float
    (inputScale, inputZeroPoint) = try node.quantization(of: input)
    (outputScale, zeroPoint) = try node.quantization(of: output)
    let root = power(Double(outputScale), 1 / Double(max(axes.count, 1)))
    guard let step = ProductStep(FixedPointMultiplier(Double(inputScale) / root)) else {
      throw node.unsupported("the scales \(inputScale) and \(outputScale) are too far apart")
    }
    self.step = step
    // The product of nothing; the reference writes nothing.
    let one = (1 / Double(outputScale)).rounded() + Double(zeroPoint)
    let greatest = input.type == .int8 ? Int32(Int8.max) : Int32(Int16.max)
    productOfNothing = Int32(min(max(one, Double(~greatest)), Double(greatest)))
    products = try node.scratch(count: output.shape.elementCount, width: 8)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    guard input.shape.elementCount > 0 else { return fill(tensors) }
    var memory = tensors.writeBytes(products)
    reduction.quantizedProduct(
      elements, tensors.readBytes(input), zeroPoint: inputZeroPoint, step: step, products: &memory,
      threads: tensors.threads)
    var result = tensors.writeBytes(output)
    storeProducts(
      tensors.readBytes(products), step: step, zeroPoint: zeroPoint, to: &result,
      width: elements == .int8 ? 1 : 2)
  }

  private func fill(_ tensors: borrowing TensorTable) {
    switch elements {
    case .int8:
      var result = tensors.write(output, as: Int8.self)
      for index in 0..<result.count { result[index] = Int8(truncatingIfNeeded: productOfNothing) }
    default:
      var result = tensors.write(output, as: Int16.self)
      for index in 0..<result.count { result[index] = Int16(truncatingIfNeeded: productOfNothing) }
    }
  }
}
