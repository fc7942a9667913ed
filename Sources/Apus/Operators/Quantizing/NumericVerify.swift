// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// `NumericVerify`: the differences of dequantized values from the floats that they stand for, in models of the
/// quantization debugger.
///
/// With `log_if_failed`, a difference of more than `tolerance` steps of the quantization ends the run; tolerances below
/// a tenth are not checked, as in the reference. LiteRT's statistics of the differences are not logged.
struct NumericVerify: Operator {
  private let dequantization: UnaryOperator
  private let floats: TensorSlot
  private let output: TensorSlot
  /// The maximum difference; nil if it does not matter.
  private let limit: Float?
  private let place: String

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0, types: [.float16, .uint8, .int8, .int16])
    let floats = try node.input(1, types: [.float32])
    guard floats.shape.elementCount == input.shape.elementCount else {
      throw node.malformed("\(floats.name) is \(floats.shape), and \(input.name) is \(input.shape)")
    }
    let options = try node.flexBufferOptions()
    let tolerance = Float(options.double("tolerance", default: 0))
    let output = try node.output(0, shape: input.shape, types: [.float32])
    let (kernel, choice) = try Dequantize.kernel(input, node)
    var limit: Float?
    if options.bool("log_if_failed", default: false), tolerance >= 0.1 {
      let scales = input.quantization?.scales ?? []
      limit = tolerance * (scales.count == 1 ? scales[0] : 0)
    }
    return NumericVerify(
      dequantization: UnaryOperator(kernel, choice: choice, input: input, output: output), floats: floats,
      output: output, limit: limit, place: node.place)
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    dequantization.invoke(tensors)
    var result = tensors.write(output, as: Float.self)
    let floats = tensors.read(floats, as: Float.self)
    for index in 0..<result.count { result[index] -= floats[index] }
    guard let limit else { return }
    for index in 0..<result.count where abs(result[index]) > limit {
      throw ApusError(
        .invalidData,
        "\(place): element \(index) differs by \(result[index]) from \(floats[index]), by more than \(limit)")
    }
  }
}
