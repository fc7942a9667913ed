// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// An operator whose outputs are constants of the plan; it has nothing to do.
struct ConstantOutputs: Operator {
  var facet: Facet { .done }
  func invoke(_ tensors: borrowing TensorTable) {}
}
