// SPDX-License-Identifier: Apache-2.0

/// `MIRROR_PAD`: pads each axis with mirrored elements, with or without the edge
/// itself.
enum MirrorPad {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0)
    let matrix = try node.input(1, types: [.int32, .int64], rank: 2)
    let list = try node.integers(of: matrix)
    guard matrix.shape == [input.shape.rank, 2] else {
      throw node.malformed("the paddings \(matrix.name) are \(matrix.shape) for \(input.shape)")
    }
    // REFLECT leaves the edge out, SYMMETRIC repeats it.
    let mode = try node.options.mirrorPad.mode
    guard mode == 0 || mode == 1 else { throw node.malformed("mode \(mode) is unknown") }
    let offset = 1 - mode
    func amounts(_ axis: Int) -> (before: Int, after: Int) { (list[2 * axis], list[2 * axis + 1]) }
    var dimensions: [Int] = []
    for (axis, size) in input.shape.dimensions.enumerated() {
      let (before, after) = amounts(axis)
      let limit = max(0, size - offset)
      guard (0...limit).contains(before), (0...limit).contains(after), size < 1 << 24 else {
        throw node.malformed("\(before) and \(after) elements cannot mirror the \(size) of axis \(axis)")
      }
      dimensions.append(before + size + after)
    }
    let shape = TensorShape(dimensions)
    if shape == input.shape { return try node.view(0, of: input, shape: shape) }
    let output = try node.output(0, shape: shape, like: input)
    guard shape.elementCount > 0 else { return DataMovement([]) }
    // Whole axes at the end are copied as blocks.
    while let last = dimensions.last, last == input.shape[dimensions.count - 1] { dimensions.removeLast() }
    try IndexedMovement.keepTables(dimensions, node)
    let tables = dimensions.indices.map { axis in
      let (before, size) = (amounts(axis).before, input.shape[axis])
      // Places before the first and behind the last are mirrored at them.
      return (0..<dimensions[axis]).map { place in
        let position = place - before
        if position < 0 { return offset - 1 - position }
        return position < size ? position : 2 * size - 1 - offset - position
      }
    }
    return try IndexedMovement(tables, from: input, to: output, node)
  }
}
