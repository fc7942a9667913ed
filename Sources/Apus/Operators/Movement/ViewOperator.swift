// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// The elements of another tensor in the same order. The plan may let both share bytes.
struct ViewOperator: Operator {
  let input: TensorSlot
  let output: TensorSlot

  var facet: Facet { .view(self) }

  func invoke(_ tensors: borrowing TensorTable) {
    var target = tensors.writeBytes(output)
    copyBytes(tensors.readBytes(input), to: &target, threads: tensors.threads)
  }
}
