// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The input of a model that sees pictures: its geometry, its type, and how pixels become its numbers.
struct ImageInput: Sendable {
  /// Which dimension is which.
  let geometry: InputGeometry
  /// The channels, in order.
  let channels: ImageProcessor.Channels
  /// The tensor as prepared.
  let tensor: Tensor
  /// How pixels become real numbers; nil where the tensor takes the pixels as they are, less 128 where signed.
  let normalization: Normalization?
  /// Who says so.
  let normalizationSource: String

  /// Decides how pixels become numbers: as the options say, else as the metadata does, else as the kind of model is
  /// commonly trained.
  init(
    _ geometry: InputGeometry, tensor: Tensor, metadata: TensorMetadata?, options: BaseOptions,
    defaults: PictureDefaults
  ) throws(ApusError) {
    self.geometry = geometry
    self.tensor = tensor
    let count = geometry.channelCount
    channels = options.channels ?? (count == 1 ? .gray : .rgb)
    guard channels.count == count else {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) has \(count) channels, \(channels.rawValue) has \(channels.count)")
    }
    let isFloat = tensor.type == .float32
    if let chosen = options.normalization {
      (normalization, normalizationSource) = (chosen, "the options")
      guard isFloat || tensor.quantization != nil else {
        throw ApusError(
          .invalidArgument, "the input \(tensor) has no scale, so that a normalization is of no use")
      }
    } else if !isFloat, tensor.type != .int16 || tensor.quantization == nil,
      !defaults.normalizesIntegers || tensor.quantization == nil
    {
      (normalization, normalizationSource) = (nil, "the type of the input")
    } else if defaults.heedsMetadata, isFloat, let found = Self.normalization(of: metadata, count) {
      (normalization, normalizationSource) = (found, "the metadata")
    } else {
      (normalization, normalizationSource) = (defaults.normalization, "the kind of model")
    }
  }

  /// What the metadata says, unless it says nothing that can be used.
  private static func normalization(of metadata: TensorMetadata?, _ channels: Int) -> Normalization? {
    guard let found = metadata?.normalization,
      [1, channels].contains(found.mean.count), [1, channels].contains(found.std.count),
      found.mean.allSatisfy(\.isFinite), found.std.allSatisfy({ $0.isFinite && $0 > 0 })
    else { return nil }
    return .meanStd(mean: found.mean, std: found.std)
  }

  /// Writes a prepared picture into the input, as the `slot`-th of a batch of `count`.
  func write(
    _ image: PreparedImage, to interpreter: Interpreter, slot: Int = 0, of count: Int = 1
  ) throws(ApusError) {
    let (scale, zeroPoint) = (tensor.quantization?.scale ?? 1, tensor.quantization?.zeroPoint ?? 0)
    switch tensor.type {
    case .uint8:
      try interpreter.withInput(at: 0, as: UInt8.self) { span throws(ApusError) in
        try place(into: &span, slot, count) { span throws(ApusError) in
          try image.fill(&span, normalization: normalization, scale: scale, zeroPoint: zeroPoint)
        }
      }
    case .int8:
      try interpreter.withInput(at: 0, as: Int8.self) { span throws(ApusError) in
        try place(into: &span, slot, count) { span throws(ApusError) in
          try image.fill(&span, normalization: normalization, scale: scale, zeroPoint: zeroPoint)
        }
      }
    case .int16:
      let values: [Int16] = try integers(image, scale, zeroPoint)
      try interpreter.withInput(at: 0, as: Int16.self) { span throws(ApusError) in
        try place(into: &span, slot, count) { span in
          for index in 0..<min(values.count, span.count) { span[index] = values[index] }
        }
      }
    case .int32:
      let values: [Int32] = try integers(image, scale, zeroPoint)
      try interpreter.withInput(at: 0, as: Int32.self) { span throws(ApusError) in
        try place(into: &span, slot, count) { span in
          for index in 0..<min(values.count, span.count) { span[index] = values[index] }
        }
      }
    default:
      try interpreter.withInput(at: 0, as: Float.self) { span throws(ApusError) in
        try place(into: &span, slot, count) { span throws(ApusError) in
          try image.fill(&span, normalization: normalization)
        }
      }
    }
  }

  /// Lets `fill` write rows of interleaved channels, and puts them where the tensor wants them.
  private func place<Value: ExpressibleByIntegerLiteral>(
    into span: inout MutableSpan<Value>, _ slot: Int, _ count: Int,
    _ fill: (inout MutableSpan<Value>) throws(ApusError) -> Void
  ) throws(ApusError) {
    if count == 1, !geometry.isPlanar || geometry.channelCount == 1 { return try fill(&span) }
    let pixels = geometry.width * geometry.height
    let channels = geometry.channelCount
    guard span.count == pixels * channels * count else {
      throw ApusError(
        .invalidArgument,
        "the input has \(span.count) values, but \(count) pictures have \(pixels * channels * count)")
    }
    var values = [Value](repeating: 0, count: pixels * channels)
    var interleaved = values.mutableSpan
    try fill(&interleaved)
    let start = slot * pixels * channels
    guard geometry.isPlanar else {
      for index in 0..<interleaved.count { span[start + index] = interleaved[index] }
      return
    }
    for channel in 0..<channels {
      var source = channel
      for target in start + channel * pixels..<start + (channel + 1) * pixels {
        span[target] = interleaved[source]
        source += channels
      }
    }
  }

  /// The values of wide integers: the pixels themselves, or normalized and quantized.
  private func integers<Value: FixedWidthInteger>(
    _ image: PreparedImage, _ scale: Float, _ zeroPoint: Int
  ) throws(ApusError) -> [Value] {
    guard let normalization else { return image.bytes.map { Value($0) } }
    guard scale > 0, scale.isFinite else {
      throw ApusError(.invalidArgument, "the input's quantization scale is \(scale)")
    }
    return try image.floats(normalization: normalization).map { value in
      let quantized = (value / scale).rounded() + Float(zeroPoint)
      if quantized >= Float(Value.max) { return .max }
      return quantized > Float(Value.min) ? Value(quantized) : .min
    }
  }
}
