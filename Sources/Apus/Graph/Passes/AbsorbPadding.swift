// SPDX-License-Identifier: Apache-2.0

/// The padding of a tensor with zeros, or with its zero point.
struct Padding {
  let input: TensorSlot
  let output: TensorSlot
  /// The padding before and after each axis, in elements.
  let amounts: [Int]
}

extension PlanDraft {
  /// **Rule:** a convolution does the padding of a PAD of height and width that produces its first input and
  /// has no other consumer.
  ///
  /// **Reason:** convolutions pad without extra time or memory.
  mutating func absorbPadding() {
    guard contains(where: { $0.padding != nil }) else { return }
    var isAbsorbed = Array(repeating: false, count: steps.count)
    let writers = writers
    for index in steps.indices {
      guard let tensor = steps[index].operation.paddableInput, tensor.index < writers.count,
        writers[tensor.index] >= 0,
        let padding = steps[writers[tensor.index]].operation.padding, padding.isOfPicture,
        isRead(tensor.index, byNoneBut: steps[index]), !isVariable(padding.input.index),
        wiring.readers(of: tensor.index).count == 1,
        let padded = steps[index].operation.absorbing(padding)
      else { continue }
      let pad = steps[writers[tensor.index]]
      steps[index] = steps[index].doing(
        padded, absorbing: [pad],
        reads: steps[index].reads.map { $0 == tensor.index ? padding.input.index : $0 })
      isAbsorbed[writers[tensor.index]] = true
    }
    removeSteps { isAbsorbed[$0] }
  }
}

extension Padding {
  /// Whether it pads only height and width of a computed NHWC tensor, by amounts that convolutions support.
  fileprivate var isOfPicture: Bool {
    !input.isConstant && input.shape.rank == 4 && amounts[0...1].allSatisfy { $0 == 0 }
      && amounts[6...7].allSatisfy { $0 == 0 } && amounts.allSatisfy { $0 <= 256 }
  }
}
