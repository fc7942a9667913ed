// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A convolution of floats whose constant filter has infinities or NaN, and reaches past an edge of its input.
///
/// The reference leaves out what lies outside; fast kernels multiply it by zero, which makes NaN of these weights. Hardly any model has
/// such a filter, so that plain code will do.
struct DirectConvolutionOperator: Operator {
  private let kernel: DirectConvolution
  private let input: TensorSlot
  private let filter: TensorSlot
  private let bias: TensorSlot?
  private let output: TensorSlot

  /// Nil if nothing lies outside, if the values are finite or only a run knows them, or if they are no floats.
  ///
  /// - Parameters:
  ///   - reachesOutside: Whether some tap lies outside the input.
  ///   - describe: Says what is computed; it is asked last.
  init?(
    reachesOutside: Bool, input: TensorSlot, filter: TensorSlot, bias: TensorSlot?, output: TensorSlot,
    node: Node, _ describe: () -> DirectConvolution?
  ) throws(ApusError) {
    guard reachesOutside, bias?.type ?? .float32 == .float32,
      try node.preparation.hasSpecialValues(filter), let kernel = describe()
    else { return nil }
    self.kernel = kernel
    self.input = input
    self.filter = filter
    self.bias = bias
    self.output = output
    try node.check(plainWork: kernel.stepCount)
    try node.declare(multiplyAccumulates: kernel.stepCount)
  }

  var implementation: Implementation {
    Implementation(text: "tap by tap, none outside the input: the filter is not finite", choice: .plain)
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    guard let bias else { return run(tensors, bias: nil) }
    run(tensors, bias: tensors.read(bias))
  }

  private func run(_ tensors: borrowing TensorTable, bias: Span<Float>?) {
    var result = tensors.write(output, as: Float.self)
    if filter.type == .float16 {
      kernel.run(
        tensors.read(input), halves: tensors.read(filter), bias: bias, to: &result, threads: tensors.threads)
    } else {
      kernel.run(
        tensors.read(input), floats: tensors.read(filter), bias: bias, to: &result, threads: tensors.threads)
    }
  }
}

extension Preparation {
  /// Whether a constant of floats has infinities or NaN; false for values that only a run knows.
  func hasSpecialValues(_ slot: TensorSlot) throws(ApusError) -> Bool {
    guard slot.type == .float32 || slot.type == .float16, let constant = constant(slot.index) else {
      return false
    }
    try reserve(constant.leasedByteCount)
    let lease = try ConstantLease(
      [NamedConstant(tensor: slot.index, constant: constant)], pool: model.packedMemory)
    return SpecialFloats.occur(in: try lease.bytes(of: slot), areHalves: slot.type == .float16)
  }
}
