// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// MediaPipe's `TransformTensorBilinear`: an image of another size; a 4 × 4 matrix says where each pixel is read
/// from. Version 1, also known as `TransformTensor`, counts from pixels' corners, version 2 from their centers.
///
/// Inputs: an image `1×H×W×C` and the matrix. Options: a FlexBuffer with `output_size`, rows and columns, and `mode`; in
/// version 2 with `output_height` and `output_width`.
struct TransformTensorBilinear: Operator {
  private let image: TensorSlot
  private let matrix: TensorSlot
  private let output: TensorSlot
  private let countsFromCenters: Bool

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let image = try node.input(0, types: [.float32], rank: 4)
    let matrix = try node.transformMatrix(1)
    guard image.shape[0] == 1, image.shape.elementCount > 0 else {
      throw node.unsupported("\(image.shape) is not supported, only one image")
    }
    let options = try node.flexOptions()
    if node.version == 1, let mode = options["mode"], mode.string != "bilinear" {
      throw node.unsupported("the mode \(mode.string ?? "that is no text") is not supported")
    }
    let size: [Int64] =
      node.version == 1
      ? options["output_size"]?.vector?.map(\.int64) ?? []
      : [options.int64("output_height"), options.int64("output_width")]
    guard size.count == 2, size.allSatisfy({ (1...Int64(Int32.max)).contains($0) }) else {
      throw node.malformed("an output of \(size) is not an image")
    }
    let output = try node.output(
      0, shape: [1, Int(size[0]), Int(size[1]), image.shape[3]], types: [.float32])
    return TransformTensorBilinear(
      image: image, matrix: matrix, output: output, countsFromCenters: node.version == 2)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    let map = AffineMap(tensors.read(matrix))
    var result = tensors.write(output, as: Float.self)
    (countsFromCenters ? map.ofPixelCenters : map).sample(
      tensors.read(image), height: image.shape[1], width: image.shape[2], channels: image.shape[3],
      to: &result, height: output.shape[1], width: output.shape[2])
  }
}

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
      let options = try node.flexOptions()
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

extension Node {
  /// An input of 16 floats, the rows of a matrix.
  fileprivate func transformMatrix(_ position: Int) throws(ApusError) -> TensorSlot {
    let matrix = try input(position, types: [.float32])
    guard matrix.shape.elementCount == 16 else {
      throw malformed("\(matrix.name), \(matrix.shape), is not a 4×4 matrix")
    }
    return matrix
  }

  /// A custom operator's options as a FlexBuffer map.
  func flexOptions() throws(ApusError) -> FlexBufferMap {
    do { return try FlexBufferMap(bytes: customOptions) } catch {
      throw malformed("options: \(error.message)")
    }
  }
}
