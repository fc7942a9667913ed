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
    let options = try node.flexBufferOptions()
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
      to: &result, height: output.shape[1], width: output.shape[2], threads: tensors.threads)
  }
}

extension Node {
  /// An input of 16 floats, the rows of a matrix.
  func transformMatrix(_ position: Int) throws(ApusError) -> TensorSlot {
    let matrix = try input(position, types: [.float32])
    guard matrix.shape.elementCount == 16 else {
      throw malformed("\(matrix.name), \(matrix.shape), is not a 4×4 matrix")
    }
    return matrix
  }
}
