// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision

/// An input that takes pictures, and how they become its elements where no task takes the model: by what its file says.
struct PictureTensor: Sendable {
  /// The elements of one picture.
  let elementCount: Int
  private let type: ElementType
  private let processor: ImageProcessor
  private let normalization: Normalization?

  /// Reads what an input is like.
  ///
  /// Nil where it does not take pictures: four dimensions, one or three channels last, height and width fixed, and
  /// uint8, int8 or float32 elements.
  init?(_ input: TensorSpecification, metadata: Model.Metadata.TensorDescription?) {
    let shape = input.shape
    guard shape.count == 4, shape[1] > 0, shape[2] > 0, shape[3] == 1 || shape[3] == 3,
      [.uint8, .int8, .float32].contains(input.elementType),
      let processor = try? ImageProcessor(
        width: shape[2], height: shape[1], channels: shape[3] == 1 ? .gray : .rgb)
    else { return nil }
    type = input.elementType
    self.processor = processor
    elementCount = shape[1] * shape[2] * shape[3]
    normalization = type == .float32 ? Self.normalization(metadata, channels: shape[3]) : nil
  }

  /// The metadata's normalization; nil if it has none that can be used.
  private static func normalization(
    _ metadata: Model.Metadata.TensorDescription?, channels: Int
  ) -> Normalization? {
    guard let metadata, [1, channels].contains(metadata.normalizationMean.count),
      [1, channels].contains(metadata.normalizationStandardDeviation.count),
      metadata.normalizationMean.allSatisfy(\.isFinite),
      metadata.normalizationStandardDeviation.allSatisfy({ $0.isFinite && $0 > 0 })
    else { return nil }
    return .meanStd(mean: metadata.normalizationMean, std: metadata.normalizationStandardDeviation)
  }

  /// Decodes a picture and writes it as one item of a batch; returns a warning about its file, if there is one.
  func write(
    _ file: ByteChunks, toItem item: Int, ofInput position: Int, of interpreter: Interpreter,
    limits: ImageLimits
  ) throws(ApusError) -> String? {
    guard type != .float32 || normalization != nil else {
      throw ApusError(
        .invalidArgument,
        "no task takes the model, and its file does not say how pixels become FP32: send the numbers in place of pictures"
      )
    }
    let (prepared, warning) = try DecodedPixels.shared.withPicture(file.array, limits) {
      picture throws(ApusError) in
      (processor.prepare(picture), picture.warning)
    }
    let place = item * elementCount..<(item + 1) * elementCount
    switch type {
    case .uint8:
      try interpreter.withInput(at: position, as: UInt8.self) { span throws(ApusError) in
        var part = span._mutatingExtracting(place)
        try prepared.fill(&part)
      }
    case .int8:
      try interpreter.withInput(at: position, as: Int8.self) { span throws(ApusError) in
        var part = span._mutatingExtracting(place)
        try prepared.fill(&part)
      }
    default:
      try interpreter.withInput(at: position, as: Float.self) { span throws(ApusError) in
        var part = span._mutatingExtracting(place)
        try prepared.fill(&part, normalization: normalization)
      }
    }
    return warning
  }
}
