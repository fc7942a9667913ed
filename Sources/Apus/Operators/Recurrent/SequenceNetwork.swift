// SPDX-License-Identifier: Apache-2.0

/// Layers that read sequences, each in its direction.
struct SequenceNetwork: Operator {
  /// One layer with its tensors.
  struct Direction {
    let layer: any SequenceLayer
    let input: TensorSlot
    var auxiliary: TensorSlot?
    let output: TensorSlot
    /// Where in each row of the output this layer's values begin.
    var offset = 0
    var isBackward = false
  }

  let layout: SequenceLayout
  let directions: [Direction]
  /// How often the sequence is read; each reading continues from the state of the previous one.
  var readings = 1

  func invoke(_ tensors: borrowing TensorTable) {
    for _ in 0..<readings { read(tensors) }
  }

  private func read(_ tensors: borrowing TensorTable) {
    for direction in directions {
      let width = direction.output.shape.dimensions.last ?? 0
      for batch in 0..<layout.batch {
        for step in 0..<layout.time {
          // A run that has to end leaves the rest out; nobody reads it.
          if tensors.threads.mustStop { return }
          let row = layout.row(batch: batch, time: direction.isBackward ? layout.time - 1 - step : step)
          direction.layer.step(
            direction.input, auxiliary: direction.auxiliary, row: row, batch: batch, output: direction.output,
            offset: row * width + direction.offset, tensors)
        }
      }
    }
  }
}
