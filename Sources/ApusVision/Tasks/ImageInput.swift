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
  /// How pixels become real numbers; nil if the tensor takes the pixels unchanged, minus 128 if signed.
  let normalization: Normalization?
  /// How pixels are read.
  let pixels: Assumption
  /// How channels are read.
  let channelOrder: Assumption

  /// The most elements of an input of integers that are wider than a byte.
  private static let mostWideIntegers = 1 << 26

  /// Decides how pixels become numbers: by the options, else by the metadata, else as this kind of model is
  /// commonly trained.
  init(
    _ geometry: InputGeometry, tensor: Tensor, metadata: TensorMetadata?, export: ExportMetadata?,
    options: BaseOptions, defaults: PictureDefaults
  ) throws(ApusError) {
    self.geometry = geometry
    self.tensor = tensor
    let count = geometry.channelCount
    let isRGB =
      if case .image(let properties) = metadata?.content { properties.colorSpace == .rgb } else { false }
    channels = options.channels ?? (count == 1 ? .gray : isRGB ? .rgb : defaults.channels)
    guard channels.count == count else {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) has \(count) channels, \(channels.rawValue) has \(channels.count)")
    }
    let isFloat = tensor.type == .float32
    // Its values are computed as floats, beside it.
    guard ![.int16, .int32].contains(tensor.type) || tensor.shape.elementCount <= Self.mostWideIntegers else {
      throw ApusError(
        .resourceLimit,
        "the input \(tensor) has \(tensor.shape.elementCount) elements, more than the limit of \(Self.mostWideIntegers) for "
          + "integers of more than a byte")
    }
    channelOrder = Self.channelOrder(
      channels, metadata, export, defaults, isGiven: options.channels != nil)
    let source: AssumptionSource
    let reason: String
    if let chosen = options.normalization {
      (normalization, source, reason) = (chosen, .given, "the options")
      guard isFloat || tensor.quantization != nil else {
        throw ApusError(
          .invalidArgument, "the input \(tensor) has no scale, so a normalization has no effect")
      }
    } else if !isFloat, tensor.type != .int16 || tensor.quantization == nil,
      !defaults.normalizesIntegers || tensor.quantization == nil
    {
      (normalization, source, reason) = (nil, .model, "the input takes \(tensor.type.rawValue)")
    } else if defaults.heedsMetadata, isFloat, let found = Self.normalization(of: metadata, count) {
      (normalization, source, reason) = (found, .model, "the metadata's normalization")
    } else {
      (normalization, source, reason) = (defaults.normalization, defaults.source, defaults.reason)
    }
    pixels = Assumption(
      "pixels", normalization?.description ?? "unchanged", source, reason: reason, option: "--pixels")
  }

  private static func channelOrder(
    _ channels: ImageProcessor.Channels, _ metadata: TensorMetadata?, _ export: ExportMetadata?,
    _ defaults: PictureDefaults, isGiven: Bool
  ) -> Assumption {
    func reading(_ source: AssumptionSource, _ reason: String) -> Assumption {
      Assumption("channels", channels.rawValue, source, reason: reason, option: "--channels")
    }
    if isGiven { return reading(.given, "the options") }
    if channels.count == 1 { return reading(.model, "the input has one channel") }
    if case .image(let properties) = metadata?.content, properties.colorSpace == .rgb {
      return reading(.model, "the metadata's color space")
    }
    if channels != .rgb { return reading(defaults.source, defaults.reason) }
    if let export { return reading(.exporter, "exports with \(export.fileName) take rgb") }
    return reading(.guess, "usual for models whose file does not say")
  }

  /// The metadata's normalization; nil if it has no usable one.
  private static func normalization(of metadata: TensorMetadata?, _ channels: Int) -> Normalization? {
    guard let found = metadata?.normalization,
      [1, channels].contains(found.mean.count), [1, channels].contains(found.std.count),
      found.mean.allSatisfy(\.isFinite), found.std.allSatisfy({ $0.isFinite && $0 > 0 })
    else { return nil }
    return .meanStd(mean: found.mean, std: found.std)
  }

  /// Writes a picture, or a region of it, into the input, as the `slot`-th of a batch of `count`.
  ///
  /// - Returns: How positions in the input relate to positions in the picture.
  func write(
    _ image: ImageBuffer, in region: PixelRect?, by processor: ImageProcessor, threads: Int,
    to interpreter: Interpreter, slot: Int = 0, of count: Int = 1
  ) throws(ApusError) -> ImageTransform {
    let (scale, zeroPoint) = (tensor.quantization?.scale ?? 1, tensor.quantization?.zeroPoint ?? 0)
    let order: ChannelOrder = geometry.isPlanar ? .planar : .interleaved
    switch tensor.type {
    case .uint8:
      return try interpreter.withInput(at: 0, as: UInt8.self) { span throws(ApusError) in
        try place(into: &span, slot, count) { span throws(ApusError) in
          try processor.fill(
            &span, from: image, region: region, order: order, normalization: normalization, scale: scale,
            zeroPoint: zeroPoint, threads: threads)
        }
      }
    case .int8:
      return try interpreter.withInput(at: 0, as: Int8.self) { span throws(ApusError) in
        try place(into: &span, slot, count) { span throws(ApusError) in
          try processor.fill(
            &span, from: image, region: region, order: order, normalization: normalization, scale: scale,
            zeroPoint: zeroPoint, threads: threads)
        }
      }
    case .int16:
      return try interpreter.withInput(at: 0, as: Int16.self) { span throws(ApusError) in
        try place(into: &span, slot, count) { span throws(ApusError) in
          try fillIntegers(&span, image, region, processor, order, scale, zeroPoint)
        }
      }
    case .int32:
      return try interpreter.withInput(at: 0, as: Int32.self) { span throws(ApusError) in
        try place(into: &span, slot, count) { span throws(ApusError) in
          try fillIntegers(&span, image, region, processor, order, scale, zeroPoint)
        }
      }
    default:
      return try interpreter.withInput(at: 0, as: Float.self) { span throws(ApusError) in
        try place(into: &span, slot, count) { span throws(ApusError) in
          try processor.fill(
            &span, from: image, region: region, order: order, normalization: normalization, threads: threads)
        }
      }
    }
  }

  /// Lets `fill` write the values of one picture, and places them in a batch.
  private func place<Value: ExpressibleByIntegerLiteral>(
    into span: inout MutableSpan<Value>, _ slot: Int, _ count: Int,
    _ fill: (inout MutableSpan<Value>) throws(ApusError) -> ImageTransform
  ) throws(ApusError) -> ImageTransform {
    if count == 1 { return try fill(&span) }
    let size = geometry.width * geometry.height * geometry.channelCount
    guard span.count == size * count else {
      throw ApusError(
        .invalidArgument,
        "the input has \(span.count) values, but \(count) pictures have \(size * count)")
    }
    var values = [Value](repeating: 0, count: size)
    var part = values.mutableSpan
    let transform = try fill(&part)
    for index in 0..<size { span[slot * size + index] = part[index] }
    return transform
  }

  /// The values of wide integers: the pixels themselves, or normalized and quantized.
  private func fillIntegers<Value: FixedWidthInteger>(
    _ span: inout MutableSpan<Value>, _ image: ImageBuffer, _ region: PixelRect?, _ processor: ImageProcessor,
    _ order: ChannelOrder, _ scale: Float, _ zeroPoint: Int
  ) throws(ApusError) -> ImageTransform {
    try requireMemory(4 * span.count, for: "the pixels of the input")
    var values = [Float](repeating: 0, count: span.count)
    var floats = values.mutableSpan
    let transform = try processor.fill(
      &floats, from: image, region: region, order: order,
      normalization: normalization ?? .meanStd(mean: [0], std: [1]))
    guard normalization == nil || scale > 0 && scale.isFinite else {
      throw ApusError(.invalidArgument, "the input's quantization scale is \(scale)")
    }
    let (unit, zero) = normalization == nil ? (1, 0) : (scale, Float(zeroPoint))
    for index in 0..<span.count {
      let quantized = (floats[index] / unit).rounded() + zero
      span[index] =
        quantized >= Float(Value.max) ? .max : quantized > Float(Value.min) ? Value(quantized) : .min
    }
    return transform
  }
}
