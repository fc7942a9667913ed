// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The tensors of one gate of an LSTM.
struct LSTMGate {
  let input: RecurrentWeights
  let auxiliary: RecurrentWeights?
  let recurrent: RecurrentWeights
  let peephole: RecurrentWeights?
  let normalization: TensorSlot?
  let bias: TensorSlot
}
