// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// `RANDOM_UNIFORM`: numbers from 0 up to 1. `RANDOM_STANDARD_NORMAL`: numbers with mean 0 and deviation 1.
///
/// Two seeds decide the numbers, which are TensorFlow's; two zeros mean arbitrary seeds. Runs continue the sequence;
/// ``Interpreter/resetVariables()`` restarts it.
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

  func invoke(_ tensors: borrowing TensorTable) {
    var numbers = tensors.write(output, as: Float.self)
    if isNormal { stream.stream.fillNormal(&numbers) } else { stream.stream.fillUniform(&numbers) }
  }
}

/// `MULTINOMIAL`: classes drawn by unnormalized log probabilities, the same number for each row.
///
/// Seeds are as for ``RandomNumbers``.
struct Multinomial: Operator {
  private let logits: TensorSlot
  private let output: TensorSlot
  private let scratch: TensorSlot
  private let stream: RandomStream

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let stream = try node.randomStream()
    let logits = try node.input(0, types: [.float32], rank: 2)
    guard logits.shape[1] > 0 else { throw node.malformed("\(logits.name) has no classes") }
    let count = try node.integer(of: node.input(1, types: [.int32], rank: 0))
    guard count >= 0 else { throw node.malformed("the number of samples is \(count), not 0 or more") }
    try node.check(plainWork: Double(logits.shape[0]) * Double(count) * 32)
    return Multinomial(
      logits: logits,
      output: try node.output(0, shape: [logits.shape[0], count], types: [.int32, .int64]),
      scratch: try node.scratch(count: logits.shape[1], width: 8), stream: stream)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var scratch = tensors.writeBytes(scratch)
    let (rows, classes, count) = (logits.shape[0], logits.shape[1], output.shape[1])
    if output.type == .int64 {
      var result = tensors.write(output, as: Int64.self)
      stream.stream.drawClasses(
        tensors.read(logits), rows: rows, classes: classes, count: count, scratch: &scratch
      ) { result[$0] = Int64($1) }
    } else {
      var result = tensors.write(output, as: Int32.self)
      stream.stream.drawClasses(
        tensors.read(logits), rows: rows, classes: classes, count: count, scratch: &scratch
      ) { result[$0] = Int32(truncatingIfNeeded: $1) }
    }
  }
}

extension Node {
  /// The operator's random numbers; the seeds are the low 32 bits of options 0 and 1.
  fileprivate func randomStream() throws(ApusError) -> RandomStream {
    func seed(_ field: Int) throws(ApusError) -> UInt64 {
      let seed = try option { options throws(FormatError) in try options.int64(field, default: 0) }
      return UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: seed)))
    }
    return context.randomStream(
      subgraph: subgraphIndex, operator: index, seed: try seed(0), seed2: try seed(1))
  }
}
