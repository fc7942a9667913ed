// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// MediaPipe's `Landmarks2TransformMatrix`: the 4 × 4 matrix that leads from the pixels of an upright crop around some
/// landmarks to those of the picture.
///
/// Inputs: landmarks of three coordinates each, `1×1×1×3N` in version 1 and `1×N×3` in version 2. Options are a FlexBuffer.
struct Landmarks2TransformMatrix: Operator {
  private let landmarks: TensorSlot
  private let output: TensorSlot
  private let kernel: LandmarkCrop

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    try node.expect(inputs: 1...1)
    let landmarks = try node.input(0, types: [.float32], rank: node.version == 1 ? 4 : 3)
    let count = landmarks.shape.elementCount / 3
    let options = try node.flexBufferOptions()
    func positive(_ key: String, _ number: Double) throws(ApusError) -> Float {
      guard number > 0, number <= Double(Int32.max) else {
        throw node.malformed("\(key) is \(number), not a number above 0")
      }
      return Float(number)
    }
    func size(_ key: String) throws(ApusError) -> SIMD2<Float> {
      let numbers = options[key]?.vector?.map { $0.int64 } ?? []
      guard numbers.count >= 2 else { throw node.malformed("\(key) is not a height and a width") }
      return SIMD2(x: try positive(key, Double(numbers[1])), y: try positive(key, Double(numbers[0])))
    }
    func index(_ key: String, _ number: Int64) throws(ApusError) -> Int {
      guard let index = Int(exactly: number), (0..<count).contains(index) else {
        throw node.malformed("\(key) is \(number), and there are \(count) landmarks")
      }
      return index
    }
    let version: LandmarkCrop.Version
    let crop: SIMD2<Float>
    if node.version == 1 {
      guard options.int64("dimensions") == 3 else { throw node.unsupported("dimensions are not 3") }
      let multiplier = Float(options.double("bbox_size_multiplier"))
      guard multiplier.isFinite, multiplier != 0 else {
        throw node.malformed("bbox_size_multiplier is \(multiplier)")
      }
      version = .first(
        range: try positive("landmarks_range", Double(options.int64("landmarks_range"))),
        multiplier: multiplier, input: try size("input_hw"))
      crop = try size("output_hw")
    } else {
      let angle = Float(options.double("target_rotation_radians"))
      guard angle.isFinite else { throw node.malformed("target_rotation_radians is \(angle)") }
      version = .second(
        angle: angle,
        scale: SIMD2(
          x: try positive("scale_x", options.double("scale_x")),
          y: try positive("scale_y", options.double("scale_y"))))
      crop = SIMD2(
        x: try positive("output_width", Double(options.int64("output_width"))),
        y: try positive("output_height", Double(options.int64("output_height"))))
    }
    let key = node.version == 1 ? "subset" : "subset_idxs"
    var subset: [Int] = []
    for value in options[key]?.vector ?? [] { subset.append(try index(key, value.int64)) }
    guard !subset.isEmpty else { throw node.malformed("\(key) is empty") }
    return Landmarks2TransformMatrix(
      landmarks: landmarks, output: try node.output(0, shape: [1, 4, 4], types: [.float32]),
      kernel: LandmarkCrop(
        version, subset: subset, left: try index("left_rotation_idx", options.int64("left_rotation_idx")),
        right: try index("right_rotation_idx", options.int64("right_rotation_idx")), size: crop))
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var matrix = tensors.write(output, as: Float.self)
    kernel.write(tensors.read(landmarks), to: &matrix)
  }
}
