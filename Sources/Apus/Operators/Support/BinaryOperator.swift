// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A prepared kernel of two tensors that broadcast to each other.
struct BinaryOperator: Operator {
  private var kernel: any BinaryKernel
  private let choice: KernelChoice?
  private let lhs: TensorSlot
  private let rhs: TensorSlot
  private var output: TensorSlot
  /// How passes see it.
  private let form: Form?

  /// How passes see it.
  enum Form {
    /// A sum of floats between two bounds.
    case sum(minimum: Float, maximum: Float)
    /// A product without bounds, or of bytes.
    case product(GatedProduct.Form)
    /// Floats below zero times factors, one or one for each channel.
    case parametricRelu(factors: [Float])
  }

  /// Connects a kernel with its tensors.
  ///
  /// - Parameter choice: how the kernel was chosen, if there was a choice.
  init(
    _ kernel: any BinaryKernel, choice: KernelChoice? = nil, _ operands: BinaryOperands, output: TensorSlot,
    form: Form? = nil
  ) {
    self.kernel = kernel
    self.choice = choice
    lhs = operands.lhs
    rhs = operands.rhs
    self.output = output
    self.form = form
  }

  var implementation: Implementation { Implementation(text: kernel.implementation, choice: choice) }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    kernel.run(tensors.readBytes(lhs), tensors.readBytes(rhs), to: &result, threads: tensors.threads)
  }
}

extension BinaryOperator {
  var elementwise: ElementwiseStep? {
    kernel.stage.map { ElementwiseStep(stage: $0, operands: [lhs, rhs], output: output) }
  }

  var overwritableInputs: [TensorSlot] {
    let may = kernel.mayOverwrite
    return (may.lhs ? [lhs] : []) + (may.rhs ? [rhs] : [])
  }

  var canBeFollowed: Bool { output.type == .float32 }

  func followed(by tail: FloatTail, to output: TensorSlot) -> (any Operator)? {
    guard let fused = kernel.followed(by: tail) else { return nil }
    var copy = self
    copy.kernel = fused
    copy.output = output
    return copy
  }

  var floatSum: FloatSum? {
    guard case .sum(let minimum, let maximum) = form else { return nil }
    return FloatSum(lhs: lhs, rhs: rhs, output: output, minimum: minimum, maximum: maximum)
  }

  var gatedProduct: GatedProduct? {
    guard case .product(let form) = form else { return nil }
    return GatedProduct(lhs: lhs, rhs: rhs, output: output, form: form)
  }

  var functionInput: TensorSlot? {
    guard case .parametricRelu = form else { return nil }
    return lhs
  }

  func floatFunction(using set: KernelSet) -> FloatFunctionStep? {
    guard case .parametricRelu(let factors) = form, let tail = FloatTail(parametricRelu: factors, using: set)
    else { return nil }
    return FloatFunctionStep(input: lhs, output: output, tail: tail)
  }
}

/// Two inputs of one type and the shape to which they broadcast.
struct BinaryOperands {
  let lhs: TensorSlot
  let rhs: TensorSlot
  let shapes: BroadcastShapes

  /// The type of both.
  var type: ElementType { lhs.type }
  /// The result's shape.
  var resultShape: TensorShape { TensorShape(shapes.result) }

  /// Combines inputs whose types may differ.
  init(lhs: TensorSlot, rhs: TensorSlot, shapes: BroadcastShapes) {
    self.lhs = lhs
    self.rhs = rhs
    self.shapes = shapes
  }

  /// Reads inputs 0 and 1 and finds the shape of the result.
  init(_ node: Node, types: [ElementType]) throws(ApusError) {
    try node.expect(inputs: 2...2)
    lhs = try node.input(0, types: types)
    rhs = try node.input(1, types: [lhs.type])
    shapes = try node.broadcastShapes(lhs, rhs)
  }
}

extension Node {
  /// The shape to which two inputs broadcast.
  func broadcastShapes(_ lhs: TensorSlot, _ rhs: TensorSlot) throws(ApusError) -> BroadcastShapes {
    guard let shapes = BroadcastShapes(lhs.shape.dimensions, rhs.shape.dimensions) else {
      throw malformed(
        "\(lhs.name), \(lhs.shape), and \(rhs.name), \(rhs.shape), do not broadcast to each other")
    }
    try requireCountable(shapes.result)
    return shapes
  }

  /// Throws if a shape has more elements than memory can hold, before kernels compute with it.
  func requireCountable(_ shape: [Int]) throws(ApusError) {
    guard TensorShape(shape).elementCount < 1 << 48 else {
      throw ApusError(.resourceLimit, "\(place): a result of \(TensorShape(shape)) has too many elements")
    }
  }
}

extension ElementType {
  /// The type as elementwise kernels name it; nil if they do not support it.
  var numberType: NumberType? {
    switch self {
    case .float32: .float32
    case .int8: .int8
    case .uint8: .uint8
    case .int16: .int16
    case .uint16: .uint16
    case .int32: .int32
    case .uint32: .uint32
    case .int64: .int64
    default: nil
    }
  }
}
