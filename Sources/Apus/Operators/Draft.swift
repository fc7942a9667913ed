// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// An operator that is not ready before a kernel is chosen or its weights are packed.
protocol Draft: Operator {}

extension Draft {
  var isDraft: Bool { true }
  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    throw ApusError(.internalError, "a draft of an operator was run")
  }
}
