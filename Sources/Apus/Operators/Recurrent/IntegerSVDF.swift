// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// SVDF on bytes.
struct IntegerSVDF: Operator {
  let shape: SVDFShape
  let input: TensorSlot
  let feature: TensorSlot
  let time: TensorSlot
  let bias: TensorSlot?
  let state: TensorSlot
  let output: TensorSlot
  let inputZeroPoint: Int32
  let outputZeroPoint: Int32
  let featureMultiplier: FixedPointMultiplier
  let outputMultiplier: FixedPointMultiplier

  func invoke(_ tensors: borrowing TensorTable) {
    guard shape.filters > 0 else { return }
    var states = tensors.write(state, as: Int16.self)
    shape.shift(&states)
    let depth = input.shape[1]
    for batch in 0..<shape.batch {
      if tensors.threads.mustStop { return }
      RecurrentProducts.set(
        tensors.read(feature),
        tensors.read(input, as: Int8.self).extracting(batch * depth..<(batch + 1) * depth),
        zeroPoint: inputZeroPoint, featureMultiplier, &states, rows: shape.filters,
        offset: batch * shape.filters * shape.memory + shape.memory - 1, stride: shape.memory,
        threads: tensors.threads)
    }
    var outputs = tensors.write(output, as: Int8.self)
    if let bias {
      shape.finish(
        tensors.read(state), time: tensors.read(time), bias: tensors.read(bias), outputMultiplier,
        zeroPoint: outputZeroPoint, output: &outputs, threads: tensors.threads)
    } else {
      let none: [Int32] = []
      shape.finish(
        tensors.read(state), time: tensors.read(time), bias: none.span, outputMultiplier,
        zeroPoint: outputZeroPoint, output: &outputs, threads: tensors.threads)
    }
  }
}
