// SPDX-License-Identifier: Apache-2.0

/// `SPACE_TO_BATCH_ND`: pads the spatial axes and makes each position in a block an image of its own.
/// `BATCH_TO_SPACE_ND`: the inverse, with crops instead of paddings.
///
/// Batches times places come first in the smaller images, then one or two spatial axes, then the rest.
enum SpaceToBatch {
  /// One spatial axis: sizes of the large and the small images, and how they meet.
  private struct Axis {
    let large: Int
    let small: Int
    let block: Int
    let before: Int

    /// The small image's coordinates whose place `offset` of a block lies inside the large image.
    func coordinates(at offset: Int) -> Range<Int> {
      let first = max(0, (before - offset + block - 1) / block)
      let end = min(small, (large + before - offset + block - 1) / block)
      return first..<max(first, end)
    }
  }

  /// The maximum number of places in a block.
  private static let placeLimit = 1 << 14

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let (input, blocks, amounts) = try operands(node)
    var axes: [Axis] = []
    for (position, block) in blocks.enumerated() {
      let large = input.shape[position + 1]
      let padded = large + amounts[2 * position] + amounts[2 * position + 1]
      guard padded.isMultiple(of: block) else {
        throw node.malformed("\(block) does not divide the \(padded) of axis \(position + 1)")
      }
      axes.append(Axis(large: large, small: padded / block, block: block, before: amounts[2 * position]))
    }
    let places = blocks.reduce(1, *)
    let (batches, overflow) = input.shape[0].multipliedReportingOverflow(by: places)
    guard !overflow else { throw node.malformed("\(input.shape[0]) times \(places) overflows") }
    var dimensions = input.shape.dimensions
    dimensions[0] = batches
    for (position, axis) in axes.enumerated() { dimensions[position + 1] = axis.small }
    let output = try node.output(0, shape: TensorShape(dimensions), like: input)
    try expectSameQuantization(node, input, output)
    let zero = Int64(output.quantization?.zeroPoint ?? 0)
    let steps = try steps(node, axes, large: input, small: output, isToBatch: true)
    return DataMovement(
      filling: amounts.allSatisfy { $0 == 0 }
        ? nil : (output, .value([.uint8, .int8, .int16].contains(output.type) ? zero : 0)), steps)
  }

  static func prepareBack(_ node: Node) throws(ApusError) -> any Operator {
    let (input, blocks, amounts) = try operands(node)
    let places = blocks.reduce(1, *)
    guard input.shape[0].isMultiple(of: places) else {
      throw node.malformed("\(places) does not divide the batches of \(input.name), \(input.shape)")
    }
    var axes: [Axis] = []
    var dimensions = input.shape.dimensions
    dimensions[0] /= places
    for (position, block) in blocks.enumerated() {
      let small = input.shape[position + 1]
      let (whole, overflow) = small.multipliedReportingOverflow(by: block)
      let large = overflow ? -1 : whole - amounts[2 * position] - amounts[2 * position + 1]
      guard large >= 0 else { throw node.malformed("the crops of axis \(position + 1) leave nothing of it") }
      axes.append(Axis(large: large, small: small, block: block, before: amounts[2 * position]))
      dimensions[position + 1] = large
    }
    let output = try node.output(0, shape: TensorShape(dimensions), like: input)
    try expectSameQuantization(node, input, output)
    return DataMovement(try steps(node, axes, large: output, small: input, isToBatch: false))
  }

  /// Throws if bytes or `int16` change their quantization; as in the reference, other types may.
  private static func expectSameQuantization(
    _ node: Node, _ input: TensorSlot, _ output: TensorSlot
  ) throws(ApusError) {
    guard [.uint8, .int8, .int16].contains(input.type) else { return }
    try node.expectSameQuantization(input, output)
  }

  private static func operands(
    _ node: Node
  ) throws(ApusError) -> (TensorSlot, blocks: [Int], amounts: [Int]) {
    try node.expect(inputs: 3...3)
    let input = try node.input(0, ranks: 3...4)
    let blocks = try node.integers(of: node.input(1, types: [.int32], rank: 1))
    let amounts = try node.integers(of: node.input(2, types: [.int32], rank: 2))
    guard blocks.count == input.shape.rank - 2, amounts.count == 2 * blocks.count else {
      throw node.malformed("\(blocks.count) blocks and \(amounts.count) paddings or crops for \(input.shape)")
    }
    guard blocks.allSatisfy({ (1...placeLimit).contains($0) }), blocks.reduce(1, *) <= placeLimit,
      amounts.allSatisfy({ $0 >= 0 })
    else {
      throw node.malformed(
        "blocks of \(blocks.brief) with paddings or crops of \(amounts.brief) are not possible")
    }
    return (input, blocks, amounts)
  }

  /// One copy for each place in a block.
  private static func steps(
    _ node: Node, _ axes: [Axis], large: TensorSlot, small: TensorSlot, isToBatch: Bool
  ) throws(ApusError) -> [DataMovement.Step] {
    guard large.shape.elementCount > 0, small.shape.elementCount > 0 else { return [] }
    let (wide, narrow) = (large.shape.strides, small.shape.strides)
    var steps: [DataMovement.Step] = []
    for place in 0..<axes.reduce(1, { $0 * $1.block }) {
      var (rest, largeOffset) = (place, 0)
      var smallOffset = place * large.shape[0] * narrow[0]
      var dimensions = large.shape.dimensions
      var strides = wide
      for position in axes.indices.reversed() {
        let axis = axes[position]
        let coordinates = axis.coordinates(at: rest % axis.block)
        dimensions[position + 1] = coordinates.count
        strides[position + 1] = wide[position + 1] * axis.block
        let first = coordinates.lowerBound * axis.block + rest % axis.block - axis.before
        largeOffset += first * wide[position + 1]
        smallOffset += coordinates.lowerBound * narrow[position + 1]
        rest /= axis.block
      }
      guard !dimensions.contains(0) else { continue }
      steps.append(
        isToBatch
          ? try node.move(
            dimensions, from: large, strides: strides, offset: largeOffset, to: small, strides: narrow,
            at: smallOffset)
          : try node.move(
            dimensions, from: small, strides: narrow, offset: smallOffset, to: large, strides: strides,
            at: largeOffset))
    }
    return steps
  }
}
