// SPDX-License-Identifier: Apache-2.0

/// The padding of a tensor with zeros, or with its zero point.
struct Padding {
  let input: TensorSlot
  let output: TensorSlot
  /// The padding before and after each axis, in elements.
  let amounts: [Int]
}

extension Pass {
  /// **Rule:** a convolution does the padding of a PAD of height and width that produces its first input and
  /// has no other consumer.
  ///
  /// **Reason:** convolutions pad without extra time or memory. They may leave out what they pad, which is not the same for a filter with
  /// infinities or NaN: zero times these is NaN.
  package static let padding = Pass(
    "padding", .segment { (plan, preparation) throws(ApusError) in try plan.absorbPadding(preparation) })
}

extension PlanDraft {
  fileprivate func absorbPadding(_ preparation: Preparation) throws(ApusError) {
    guard contains(where: { if case .padding = $0 { true } else { false } }) else { return }
    var isAbsorbed = Array(repeating: false, count: steps.count)
    let writers = writers
    for index in steps.indices {
      guard case .draft(let product) = steps[index].facet, let tensor = product.paddableInput,
        tensor.index < writers.count, writers[tensor.index] >= 0,
        case .padding(let padding) = steps[writers[tensor.index]].facet, padding.isOfPicture,
        isRead(tensor.index, byNoneBut: steps[index]), !isVariable(padding.input.index),
        wiring.readers(of: tensor.index).count == 1, try !preparation.hasSpecialValues(product.filter)
      else { continue }
      let pad = steps[writers[tensor.index]]
      steps[index] = steps[index].doing(
        product.absorbing(padding), absorbing: [pad],
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
