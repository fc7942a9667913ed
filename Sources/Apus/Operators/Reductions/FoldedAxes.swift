// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The axes that a reduction folds, and the shape that is left.
struct FoldedAxes {
  let isFolded: [Bool]
  let shape: TensorShape
  /// How many values make one result.
  let count: Int

  /// Reads the axes, negative and repeated ones among them, from input 1, and `keep_dims` from the options.
  init(_ node: Node, input: TensorSlot) throws(ApusError) {
    let axes = try node.integers(of: node.input(1, types: [.int32]))
    var isFolded = Array(repeating: false, count: input.shape.rank)
    // A scalar has no axes; the reference ignores them.
    for axis in axes where input.shape.rank > 0 {
      isFolded[try node.axis(axis, rank: input.shape.rank)] = true
    }
    self.isFolded = isFolded
    let keepsDimensions = try node.options.reducer.keepsDimensions
    let sizes = zip(input.shape.dimensions, isFolded)
    shape = TensorShape(
      keepsDimensions ? sizes.map { $1 ? 1 : $0 } : sizes.filter { !$0.1 }.map(\.0))
    count = sizes.reduce(1) { $1.1 ? $0 &* $1.0 : $0 }
  }

  /// The walk over an input of `dimensions`.
  func reduction(of dimensions: [Int]) -> Reduction { Reduction(dimensions: dimensions, isFolded: isFolded) }
}
