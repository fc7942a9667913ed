// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// `LSH_PROJECTION`: hashes a tensor's items with each seed of a matrix, and keeps the sign of their weighted sum.
///
/// Dense: each bit is an element. Sparse: the bits of each row of seeds form a number, offset from row to row.
struct LSHProjection: Operator {
  private let seeds: TensorSlot
  private let input: TensorSlot
  private let weights: TensorSlot?
  private let output: TensorSlot
  private let scratch: TensorSlot
  private let kernel: SignProjection
  private let isSparse: Bool

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try LSHProjection(node)
  }

  private init(_ node: Node) throws(ApusError) {
    try node.expect(inputs: 2...3)
    seeds = try node.input(0, types: [.float32], rank: 2)
    guard seeds.shape[1] <= 32 else {
      throw node.malformed("\(seeds.name) has \(seeds.shape[1]) bits in a row, not 32 or fewer")
    }
    input = try node.input(1, ranks: 1...8)
    guard let width = input.type.byteCount, !input.type.isPacked else {
      throw node.unsupported("\(input.name) is \(input.type), which has no bytes to hash")
    }
    let items = input.shape[0]
    guard items > 0 else { throw node.malformed("\(input.name) has no items") }
    weights = node.inputCount == 3 ? try node.input(2, types: [.float32], rank: 1) : nil
    guard weights.map({ $0.shape[0] == items }) ?? true else {
      throw node.malformed("the weights are not one for each of \(items) items")
    }
    switch try node.options.lshProjection.kind {
    case 1: isSparse = true
    case 2: isSparse = false
    case let other: throw node.malformed("the kind of projection \(other) is unknown")
    }
    // No overflow: the product is a tensor's element count.
    let count = isSparse ? seeds.shape[0] : seeds.shape[0] * seeds.shape[1]
    output = try node.output(0, shape: [count], types: [.int32])
    kernel = SignProjection(
      items: items, itemByteCount: input.shape.elementCount(in: 1..<input.shape.rank) * width)
    try node.check(
      plainWork: Double(seeds.shape.elementCount)
        * (Double(input.shape.elementCount) * Double(width) + 8 * Double(items)))
    scratch = try node.scratch(byteCount: kernel.scratchByteCount)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    let seeds = tensors.read(seeds, as: Float.self)
    var weights = Span<Float>()
    if let slot = self.weights { weights = tensors.read(slot) }
    var result = tensors.write(output, as: Int32.self)
    var scratch = tensors.writeBytes(scratch)
    let bits = self.seeds.shape[1]
    var poll = StopPoll(tensors.threads)
    for row in 0..<self.seeds.shape[0] {
      var word: Int32 = 0
      for bit in 0..<bits {
        if poll.mustStop(before: 1) { return }
        let isSet = kernel.bit(
          seed: seeds[row * bits + bit], tensors.readBytes(input), weights: weights, scratch: &scratch,
          poll: &poll)
        if isSparse { word = word << 1 | (isSet ? 1 : 0) } else { result[row * bits + bit] = isSet ? 1 : 0 }
      }
      // Rows begin at multiples of 2^bits, which may wrap.
      if isSparse { result[row] = word &+ Int32(truncatingIfNeeded: row) &* (1 << Int32(bits)) }
    }
  }
}
