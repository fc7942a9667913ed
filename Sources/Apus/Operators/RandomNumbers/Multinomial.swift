// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

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
        tensors.read(logits), rows: rows, classes: classes, count: count, scratch: &scratch,
        threads: tensors.threads
      ) { result[$0] = Int64($1) }
    } else {
      var result = tensors.write(output, as: Int32.self)
      stream.stream.drawClasses(
        tensors.read(logits), rows: rows, classes: classes, count: count, scratch: &scratch,
        threads: tensors.threads
      ) { result[$0] = Int32(truncatingIfNeeded: $1) }
    }
  }
}
