// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A PRELU that several operators of the file are together.
final class RectifierOperator: Operator {
  private let tail: PostOperation
  private let kernel: any UnaryKernel
  let input: TensorSlot
  private let output: TensorSlot

  /// Joins a function with the tensors, of one shape, that it reads and writes.
  init(_ tail: PostOperation, input: TensorSlot, output: TensorSlot) {
    self.tail = tail
    kernel = tail.kernel(count: input.shape.elementCount)
    self.input = input
    self.output = output
  }

  var implementation: Implementation { Implementation(text: kernel.implementation, choice: tail.choice) }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    kernel.run(tensors.readBytes(input), to: &result, threads: tensors.threads)
  }

  var facet: Facet { .rectifier(self) }

  var elementwise: ChainStep? {
    guard var stage = kernel.stage else { return nil }
    stage.choice = tail.choice
    return ChainStep(stage: stage, operands: [input], output: output)
  }

  var floatFunction: FloatFunctionStep { FloatFunctionStep(input: input, output: output, tail: tail) }
}
