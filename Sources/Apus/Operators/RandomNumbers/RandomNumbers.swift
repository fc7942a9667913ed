// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels
import ApusRuntime

/// `RANDOM_UNIFORM`: numbers from 0 up to 1. `RANDOM_STANDARD_NORMAL`: numbers with mean 0 and deviation 1.
///
/// Two seeds decide the numbers, which are TensorFlow's; two zeros mean arbitrary seeds. Runs continue the sequence.
/// ``Interpreter/resetVariables()`` restarts it, and so does another shape of an input or of a result before the operator.
struct RandomNumbers: Operator {
  private let output: TensorSlot
  private let stream: RandomStream
  private let isNormal: Bool

  static func prepareUniform(_ node: Node) throws(ApusError) -> any Operator {
    try prepare(node, isNormal: false)
  }

  static func prepareNormal(_ node: Node) throws(ApusError) -> any Operator {
    try prepare(node, isNormal: true)
  }

  private static func prepare(_ node: Node, isNormal: Bool) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let stream = try node.randomStream()
    let shape = TensorShape(try node.integers(of: node.input(0, types: [.int32], rank: 1)))
    return RandomNumbers(
      output: try node.output(0, shape: shape, types: [.float32]), stream: stream, isNormal: isNormal)
  }

  /// How many numbers are drawn between two looks at the clock: a multiple of the four of a draw.
  private static let pieceCount = 1 << 20

  func invoke(_ tensors: borrowing TensorTable) {
    let count = output.shape.elementCount
    var first = 0
    while first < count {
      // A run that must end skips the rest, which is never read.
      if tensors.threads.mustStop { return }
      let end = min(first + Self.pieceCount, count)
      var numbers = tensors.write(output, first..<end, as: Float.self)
      if isNormal { stream.stream.fillNormal(&numbers) } else { stream.stream.fillUniform(&numbers) }
      first = end
    }
  }
}
