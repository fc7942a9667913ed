// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// `ADD_N`: the sum of tensors of one shape.
struct AddN: Operator {
  private let inputs: [TensorSlot]
  private let output: TensorSlot

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...(1 << 16))
    let first = try node.input(0, types: [.float32, .int32])
    var inputs: [TensorSlot] = []
    for position in 0..<node.inputCount {
      let input = try node.input(position, types: [first.type])
      guard input.shape == first.shape else {
        throw node.malformed(
          "the inputs \(first.name) and \(input.name) are \(first.shape) and \(input.shape)")
      }
      inputs.append(input)
    }
    // Memory is what additions wait for.
    try node.check(work: Double(inputs.count) * Double(first.shape.elementCount) * 16)
    return AddN(inputs: inputs, output: try node.output(0, shape: first.shape, like: first))
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    for (position, input) in inputs.enumerated() {
      if tensors.threads.mustStop { return }
      if position == 0 {
        copyBytes(tensors.readBytes(input), to: &result, threads: tensors.threads)
      } else {
        accumulate(tensors.readBytes(input), output.type == .float32 ? .float32 : .int32, in: &result)
      }
    }
  }
}
