// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A prepared kernel of two tensors that broadcast to each other.
final class BinaryOperator: Operator {
  private let kernel: any BinaryKernel
  private let choice: KernelChoice
  private let lhs: TensorSlot
  private let rhs: TensorSlot
  private let output: TensorSlot
  /// How passes see it.
  private let form: Form?

  /// How passes see it.
  enum Form {
    /// A sum of floats between two bounds.
    case sum(minimum: Float, maximum: Float)
    /// A product without bounds, or of bytes.
    case product(GatedProduct.Operands)
    /// Floats below zero times factors, one or one for each channel.
    case parametricRelu(factors: [Float])
  }

  /// Connects a kernel with its tensors.
  ///
  /// - Parameter choice: how the kernel was chosen.
  init(
    _ kernel: any BinaryKernel, choice: KernelChoice, _ operands: BinaryOperands, output: TensorSlot,
    form: Form? = nil
  ) {
    self.kernel = kernel
    self.choice = choice
    lhs = operands.lhs
    rhs = operands.rhs
    self.output = output
    self.form = form
  }

  /// A copy that does more to each result.
  private init(_ other: BinaryOperator, _ kernel: any BinaryKernel, output: TensorSlot) {
    self.kernel = kernel
    choice = other.choice
    lhs = other.lhs
    rhs = other.rhs
    self.output = output
    form = other.form
  }

  var implementation: Implementation {
    Implementation(text: kernel.implementation, choice: choice, notes: kernel.notes)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    kernel.run(tensors.readBytes(lhs), tensors.readBytes(rhs), to: &result, threads: tensors.threads)
  }
}

extension BinaryOperator {
  var facet: Facet { .binary(self) }

  var elementwise: ChainStep? {
    guard var stage = kernel.stage else { return nil }
    stage.choice = choice
    return ChainStep(stage: stage, operands: [lhs, rhs], output: output)
  }

  var overwritableInputs: [TensorSlot] {
    let may = kernel.mayOverwrite
    return (may.lhs ? [lhs] : []) + (may.rhs ? [rhs] : [])
  }

  var canBeFollowed: Bool { output.type == .float32 }

  func followed(by tail: PostOperation, to output: TensorSlot) -> (any Operator)? {
    kernel.followed(by: tail).map { BinaryOperator(self, $0, output: output) }
  }

  var floatSum: FloatSum? {
    guard case .sum(let minimum, let maximum) = form else { return nil }
    return FloatSum(lhs: lhs, rhs: rhs, output: output, minimum: minimum, maximum: maximum)
  }

  var gatedProduct: GatedProduct? {
    guard case .product(let form) = form else { return nil }
    return GatedProduct(lhs: lhs, rhs: rhs, output: output, operands: form)
  }

  var functionInput: TensorSlot? {
    guard case .parametricRelu = form else { return nil }
    return lhs
  }

  func floatFunction(using set: KernelSet) -> FloatFunctionStep? {
    guard case .parametricRelu(let factors) = form,
      let tail = PostOperation(parametricRelu: factors, using: set)
    else { return nil }
    return FloatFunctionStep(input: lhs, output: output, tail: tail)
  }
}
