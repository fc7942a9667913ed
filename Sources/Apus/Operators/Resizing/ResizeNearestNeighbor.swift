// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `RESIZE_NEAREST_NEIGHBOR`: an NHWC tensor at another height and width, each pixel from the nearest
/// place.
enum ResizeNearestNeighbor {
  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0, rank: 4)
    let size = try node.imageSize(of: node.input(1, types: [.int32], rank: 1))
    let output = try node.output(
      0, shape: TensorShape([input.shape[0], size.height, size.width, input.shape[3]]), like: input)
    let alignsCorners = try node.options.resizeNearestNeighbor.alignsCorners
    let usesHalfPixelCenters = try node.options.resizeNearestNeighbor.usesHalfPixelCenters
    guard output.shape.elementCount > 0 else { return DataMovement([]) }
    guard input.shape.elementCount > 0 else {
      throw node.malformed("\(input.name), \(input.shape), has no pixel to repeat")
    }
    try IndexedMovement.keepTables([input.shape[0], size.height, size.width], node)
    func places(_ axis: Int) -> [Int] {
      nearestPlaces(
        input: input.shape[axis], output: output.shape[axis], alignsCorners: alignsCorners,
        usesHalfPixelCenters: usesHalfPixelCenters)
    }
    return try IndexedMovement(
      [Array(0..<input.shape[0]), places(1), places(2)], from: input, to: output, node)
  }
}
