// SPDX-License-Identifier: Apache-2.0

/// `TILE`: the input, repeated along each axis.
enum Tile {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0)
    let multiples = try node.integers(of: node.input(1, types: [.int32, .int64]))
    guard multiples.count == input.shape.rank else {
      throw node.malformed("\(multiples.count) multiples for \(input.name), \(input.shape)")
    }
    var dimensions: [Int] = []
    for (size, multiple) in zip(input.shape.dimensions, multiples) {
      let (product, overflow) = size.multipliedReportingOverflow(by: multiple)
      guard !overflow, (0...Int(Int32.max)).contains(product), multiple >= 0 else {
        throw node.malformed("\(multiple) times \(size) elements are not possible")
      }
      dimensions.append(product)
    }
    let shape = TensorShape(dimensions)
    if shape == input.shape { return try node.view(0, of: input, shape: shape) }
    let output = try node.output(0, shape: shape, like: input)
    guard shape.elementCount > 0 else { return DataMovement([]) }
    // Each axis becomes two: the repetitions, with stride 0 in the input, and the elements.
    var blocks: [Int] = []
    var (sourceStrides, destinationStrides): ([Int], [Int]) = ([], [])
    let (source, destination) = (input.shape.strides, shape.strides)
    for (axis, size) in input.shape.dimensions.enumerated() {
      blocks += [multiples[axis], size]
      sourceStrides += [0, source[axis]]
      destinationStrides += [destination[axis] * size, destination[axis]]
    }
    return try node.move(blocks, from: input, strides: sourceStrides, to: output, strides: destinationStrides)
  }
}
