// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// MediaPipe's `TransformLandmarks`: points, mapped in the plane by a 4 × 4 matrix.
///
/// Inputs: in version 1 `1×H×W×C`, each `C` points of two or three coordinates, as the option `dimensions` says; in
/// version 2 `1×N×C`, where `C` is two or three. Version 1 multiplies the matrix's shift by the option `scale`.
struct TransformLandmarks: Operator {
  private let points: TensorSlot
  private let matrix: TensorSlot
  private let output: TensorSlot
  private let depth: Int
  private let scale: Float

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let points = try node.input(0, types: [.float32], rank: node.version == 1 ? 4 : 3)
    let matrix = try node.transformMatrix(1)
    guard points.shape[0] == 1 else {
      throw node.unsupported("a batch of \(points.shape[0]) is not supported, only of 1")
    }
    var (depth, scale) = (points.shape.dimensions.last ?? 0, Float(1))
    if node.version == 1 {
      let options = try node.flexBufferOptions()
      depth = Int(options.int64("dimensions", default: 3))
      scale = Float(options.double("scale", default: 1))
    }
    guard (2...3).contains(depth), points.shape.elementCount % depth == 0,
      points.shape[points.shape.rank - 1] % depth == 0, scale.isFinite, scale != 0
    else {
      throw node.malformed("\(points.shape) are not points of \(depth) coordinates, scaled by \(scale)")
    }
    return TransformLandmarks(
      points: points, matrix: matrix, output: try node.output(0, shape: points.shape, like: points),
      depth: depth, scale: scale)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var map = AffineMap(tensors.read(matrix))
    map.x.w *= scale
    map.y.w *= scale
    var result = tensors.write(output, as: Float.self)
    map.map(tensors.read(points), depth: depth, to: &result)
  }
}
