// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// SVDF on floats, whose weights may be bytes.
struct FloatSVDF: Operator {
  let shape: SVDFShape
  let input: TensorSlot
  let feature: RecurrentWeights
  let time: [Float]
  let bias: TensorSlot?
  let state: TensorSlot
  let output: TensorSlot
  let activation: RecurrentActivation
  let isAsymmetric: Bool
  let quantized: TensorSlot?
  let values: TensorSlot

  func invoke(_ tensors: borrowing TensorTable) {
    guard shape.filters > 0 else { return }
    for batch in 0..<shape.batch {
      if tensors.threads.mustStop { return }
      let x = RecurrentVector(
        input, row: batch, count: input.shape[1], quantized: quantized, isAsymmetric: isAsymmetric, tensors)
      do {
        var sums = tensors.write(values, as: Float.self)
        RecurrentFloats.fill(&sums, with: 0)
        feature.add(x, to: &sums, tensors)
      }
      var states = tensors.write(state, as: Float.self)
      var outputs = tensors.write(output, as: Float.self)
      shape.apply(
        tensors.read(values), batch: batch, state: &states, time: time.span, output: &outputs,
        threads: tensors.threads)
    }
    let units = output.shape[1]
    for batch in 0..<shape.batch {
      if tensors.threads.mustStop { return }
      var outputs = tensors.write(output, batch * units..<(batch + 1) * units, as: Float.self)
      if let bias { shape.add(tensors.read(bias), to: &outputs) }
      activation.apply(to: &outputs, threads: tensors.threads)
    }
  }
}
