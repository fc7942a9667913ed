// SPDX-License-Identifier: Apache-2.0

/// `REVERSE_V2`: elements in the opposite order along some axes.
enum Reverse {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0, ranks: 0...8)
    var isReversed = Array(repeating: false, count: input.shape.rank)
    for axis in try node.integers(of: node.input(1, types: [.int32], rank: 1)) {
      isReversed[try node.axis(axis, rank: input.shape.rank)] = true
    }
    let output = try node.output(0, shape: input.shape, like: input)
    guard input.shape.elementCount > 0 else { return DataMovement([]) }
    let strides = input.shape.strides
    return try node.move(
      input.shape.dimensions, from: input,
      strides: strides.indices.map { isReversed[$0] ? -strides[$0] : strides[$0] },
      offset: strides.indices.reduce(0) {
        isReversed[$1] ? $0 + (input.shape[$1] - 1) * strides[$1] : $0
      }, to: output, strides: strides)
  }
}
