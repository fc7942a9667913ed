// SPDX-License-Identifier: Apache-2.0

/// `SPACE_TO_DEPTH`: moves each square of pixels into the channels. `DEPTH_TO_SPACE`: the inverse.
enum SpaceToDepth {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let input = try input(of: node)
    let block = try checked(block: node.options.spaceToDepth.blockSize, node)
    let sizes = input.shape.dimensions
    guard sizes[1].isMultiple(of: block), sizes[2].isMultiple(of: block) else {
      throw node.malformed("\(block) does not divide the height and width of \(input.name), \(input.shape)")
    }
    let channels = try product(sizes[3], block, node)
    let small = TensorShape([sizes[0], sizes[1] / block, sizes[2] / block, channels])
    let output = try node.output(0, shape: small, like: input)
    return try move(node, large: input.shape, small: small, block: block, isToDepth: true, input, output)
  }

  static func prepareBack(_ node: Node) throws(ApusError) -> any Operator {
    let input = try input(of: node)
    let block = try checked(block: node.options.depthToSpace.blockSize, node)
    let sizes = input.shape.dimensions
    guard sizes[3].isMultiple(of: block * block) else {
      throw node.malformed("\(block * block) does not divide the channels of \(input.name), \(input.shape)")
    }
    let large = TensorShape([
      sizes[0], try scaled(sizes[1], block, node), try scaled(sizes[2], block, node),
      sizes[3] / (block * block),
    ])
    let output = try node.output(0, shape: large, like: input)
    return try move(node, large: large, small: input.shape, block: block, isToDepth: false, input, output)
  }

  private static func input(of node: Node) throws(ApusError) -> TensorSlot {
    try node.expect(inputs: 1...1)
    return try node.input(0, rank: 4)
  }

  private static func checked(block: Int, _ node: Node) throws(ApusError) -> Int {
    guard block > 0 else { throw node.malformed("the block size is \(block)") }
    return block
  }

  private static func product(_ channels: Int, _ block: Int, _ node: Node) throws(ApusError) -> Int {
    try scaled(scaled(channels, block, node), block, node)
  }

  private static func scaled(_ size: Int, _ block: Int, _ node: Node) throws(ApusError) -> Int {
    let (product, overflow) = size.multipliedReportingOverflow(by: block)
    guard !overflow else { throw node.malformed("\(size) times \(block) overflows") }
    return product
  }

  /// Walks batch, rows, rows of a block, columns, columns of a block, and channels.
  private static func move(
    _ node: Node, large: TensorShape, small: TensorShape, block: Int, isToDepth: Bool, _ input: TensorSlot,
    _ output: TensorSlot
  ) throws(ApusError) -> any Operator {
    guard large.elementCount > 0 else { return DataMovement([]) }
    let (wide, deep) = (large.strides, small.strides)
    let blocks = [small[0], small[1], block, small[2], block, large[3]]
    let largeStrides = [wide[0], wide[1] * block, wide[1], wide[2] * block, wide[2], 1]
    let smallStrides = [deep[0], deep[1], block * large[3], deep[2], large[3], 1]
    return try node.move(
      blocks, from: input, strides: isToDepth ? largeStrides : smallStrides, to: output,
      strides: isToDepth ? smallStrides : largeStrides)
  }
}
