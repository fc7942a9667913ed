// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// A function of quantized values that is undefined below their zero point.
struct RootOperator: Operator {
  private let root: UnaryOperator
  private let input: TensorSlot
  private let zeroPoint: Int32
  private let place: String

  init(
    _ kernel: any UnaryKernel, choice: KernelChoice, input: TensorSlot, output: TensorSlot, zeroPoint: Int32,
    place: String
  ) {
    root = UnaryOperator(kernel, choice: choice, input: input, output: output)
    self.input = input
    self.zeroPoint = zeroPoint
    self.place = place
  }

  var implementation: Implementation { root.implementation }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    if input.type == .int16 {
      try check(tensors.read(input, as: Int16.self))
    } else {
      try check(tensors.read(input, as: Int8.self))
    }
    root.invoke(tensors)
  }

  private func check<T: FixedWidthInteger & TensorElement>(_ values: Span<T>) throws(ApusError) {
    for index in values.indices where Int32(truncatingIfNeeded: values[index]) < zeroPoint {
      throw ApusError(
        .invalidData,
        "\(place): \(input.name) has \(values[index]), below zero, which is \(zeroPoint), at \(index)")
    }
  }
}
