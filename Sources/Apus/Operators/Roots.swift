// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `SQRT`: the square root; a quantized value below zero is an error of the data.
enum Sqrt {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors([.float32, .int8, .int16])
    let count = input.shape.elementCount
    guard input.type != .float32 else {
      return UnaryOperator(FloatFunction.squareRoot, input: input, output: output, using: node.kernels)
    }
    let source = try node.quantization(of: input)
    let target = try node.quantization(of: output)
    if input.type == .int16 {
      try node.requireNoZeroPoint(input)
      try node.requireNoZeroPoint(output)
    }
    let function = QuantizedSquareRoot(
      inputScale: source.scale, inputZeroPoint: source.zeroPoint, outputScale: target.scale,
      outputZeroPoint: target.zeroPoint, range: output.type.integerRange)
    let kernel =
      input.type == .int16
      ? function.words(count: count)
      : ByteTable(isSigned: true) { function($0) }.kernel(count: count, using: node.kernels)
    return RootOperator(kernel, input: input, output: output, zeroPoint: source.zeroPoint, place: node.place)
  }
}

/// `RSQRT`: one over the square root; a quantized value below zero is an error of the data.
enum Rsqrt {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, output) = try node.unaryTensors([.float32, .int8, .int16])
    let count = input.shape.elementCount
    guard input.type != .float32 else {
      return UnaryOperator(FloatFunction.inverseSquareRoot, input: input, output: output, using: node.kernels)
    }
    let source = try node.quantization(of: input)
    let target = try node.quantization(of: output)
    if input.type == .int16 {
      try node.requireNoZeroPoint(input)
      try node.requireNoZeroPoint(output)
      let kernel = WordFunction.kernel(
        inputScale: source.scale, inputZeroPoint: 0, outputScale: target.scale, outputZeroPoint: 0,
        count: count
      ) { $0 <= 0 ? 32767 * target.scale : FloatFunction.inverseSquareRoot($0) }
      return RootOperator(kernel, input: input, output: output, zeroPoint: 0, place: node.place)
    }
    let factor = 1 / Double(source.scale.squareRoot() * target.scale)
    let function = QuantizedInverseSquareRoot(try node.rescaling(factor, from: input, to: output))
    let kernel = ByteTable(isSigned: true) { function($0) }.kernel(count: count, using: node.kernels)
    return RootOperator(kernel, input: input, output: output, zeroPoint: source.zeroPoint, place: node.place)
  }
}

/// A function of quantized values that is undefined below their zero point.
private struct RootOperator: Operator {
  private let root: UnaryOperator
  private let input: TensorSlot
  private let zeroPoint: Int32
  private let place: String

  init(_ kernel: any UnaryKernel, input: TensorSlot, output: TensorSlot, zeroPoint: Int32, place: String) {
    root = UnaryOperator(kernel, input: input, output: output)
    self.input = input
    self.zeroPoint = zeroPoint
    self.place = place
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    if input.type == .int16 {
      try check(tensors.read(input, as: Int16.self))
    } else {
      try check(tensors.read(input, as: Int8.self))
    }
    root.invoke(tensors)
  }

  private func check<T: FixedWidthInteger & TensorElement>(_ values: Span<T>) throws(ApusError) {
    for index in values.indices where Int32(truncatingIfNeeded: values[index]) < zeroPoint {
      throw ApusError(
        .invalidData,
        "\(place): \(input.name) has \(values[index]), below zero, which is \(zeroPoint), at \(index)")
    }
  }
}
