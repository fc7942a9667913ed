// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `RESIZE_BILINEAR`: an NHWC tensor at another height and width, linearly interpolated.
struct ResizeBilinear: Operator {
  private let resize: BilinearResize
  private let input: TensorSlot
  private let output: TensorSlot
  private let scratch: TensorSlot

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 2...2)
    let input = try node.input(0, types: [.float32, .uint8, .int8, .int16], rank: 4)
    let size = try node.imageSize(of: node.input(1, types: [.int32], rank: 1))
    let output = try node.output(
      0, shape: TensorShape([input.shape[0], size.height, size.width, input.shape[3]]), like: input)
    guard output.shape.elementCount > 0 else { return DataMovement([]) }
    // The taps of each row and column.
    try node.keep(tablesOf: size.height + size.width, entryByteCount: 64)
    return try ResizeBilinear(input, output, node)
  }

  private init(_ input: TensorSlot, _ output: TensorSlot, _ node: Node) throws(ApusError) {
    let (alignsCorners, usesHalfPixels) =
      (try node.options.resizeBilinear.alignsCorners, try node.options.resizeBilinear.usesHalfPixelCenters)
    guard !alignsCorners || !usesHalfPixels else {
      throw node.malformed("has both align_corners and half_pixel_centers")
    }
    self.input = input
    self.output = output
    let elements: ScalarType =
      switch input.type {
      case .float32: .float32
      case .uint8: .uint8
      case .int8: .int8
      default: .int16
      }
    guard
      let resize = BilinearResize(
        elements, batches: input.shape[0], inputHeight: input.shape[1], inputWidth: input.shape[2],
        channels: input.shape[3], outputHeight: output.shape[1], outputWidth: output.shape[2],
        alignsCorners: alignsCorners, usesHalfPixelCenters: usesHalfPixels, using: node.kernels),
      let byteCount = resize.scratchByteCount(threads: node.threadCount)
    else { throw node.malformed("cannot make \(output.shape) of \(input.name), \(input.shape)") }
    self.resize = resize
    scratch = try node.scratch(byteCount: byteCount)
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    var memory = tensors.writeBytes(scratch)
    resize.run(tensors.readBytes(input), to: &result, scratch: &memory, threads: tensors.threads)
  }

  var implementation: Implementation { Implementation(text: resize.implementation, choice: resize.choice) }
}

extension Node {
  /// A height and a width, both above zero and below 2²⁴.
  func imageSize(of slot: TensorSlot) throws(ApusError) -> (height: Int, width: Int) {
    let size = try integers(of: slot)
    guard size.count == 2, size.allSatisfy({ (1...BilinearResize.maximumSize).contains($0) }) else {
      throw malformed(
        "the size \(size.brief) in \(slot.name) is not a height and a width up to \(BilinearResize.maximumSize)"
      )
    }
    return (size[0], size[1])
  }
}
