// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusKernels

extension ImageInput {
  /// Writes a picture, or a region of it, into the input, as the `slot`-th of a batch of `count`.
  ///
  /// A batch that the model fixes is filled with the same picture.
  ///
  /// - Parameters:
  ///   - previousMask: For a fourth channel that holds a mask: the mask of the picture before, a byte for each pixel of the input; nil
  ///     for none, which is zeros.
  ///   - copies: How many times the picture is written; nil for the batch that the model fixes.
  /// - Returns: How positions in the input relate to positions in the picture.
  func write(
    _ image: ImageBuffer, in region: PixelRect?, by processor: ImageProcessor, threads: Int,
    to interpreter: Interpreter, previousMask: [UInt8]? = nil, slot: Int = 0, of count: Int = 1,
    copies: Int? = nil
  ) throws(ApusError) -> ImageTransform {
    let (scale, zeroPoint) = (tensor.quantization?.scale ?? 1, tensor.quantization?.zeroPoint ?? 0)
    let order: ChannelOrder = geometry.isPlanar ? .planar : .interleaved
    let part = BatchPart(slot: slot, count: count, copies: copies ?? geometry.fixedBatch)
    let fourth = try fourthChannel(of: image, in: region, by: processor, previousMask)
    switch tensor.type {
    case .uint8:
      return try interpreter.withInput(at: 0, as: UInt8.self) { span throws(ApusError) in
        try place(into: &span, part, fourth.map(byte), zero: 0) { span throws(ApusError) in
          try processor.fill(
            &span, from: image, region: region, order: order, normalization: colors, scale: scale,
            zeroPoint: zeroPoint, threads: threads)
        }
      }
    case .int8:
      return try interpreter.withInput(at: 0, as: Int8.self) { span throws(ApusError) in
        try place(into: &span, part, fourth.map(byte), zero: 0) { span throws(ApusError) in
          try processor.fill(
            &span, from: image, region: region, order: order, normalization: colors, scale: scale,
            zeroPoint: zeroPoint, threads: threads)
        }
      }
    case .float32:
      return try interpreter.withInput(at: 0, as: Float.self) { span throws(ApusError) in
        try place(into: &span, part, fourth.map(real), zero: 0) { span throws(ApusError) in
          try processor.fill(
            &span, from: image, region: region, order: order, normalization: colors, threads: threads)
        }
      }
    default:
      let size = pixelCount * channels.count
      try requireMemory(4 * size, for: "the pixels of the input")
      var values = [Float](repeating: 0, count: size)
      var floats = values.mutableSpan
      let transform = try processor.fill(
        &floats, from: image, region: region, order: order,
        normalization: colors ?? .meanStd(mean: [0], std: [1]))
      guard normalization == nil || tensor.quantization == nil || scale > 0 && scale.isFinite else {
        throw ApusError(.invalidArgument, "the input's quantization scale is \(scale)")
      }
      try convert(values, fourth.map(real), part, to: interpreter)
      return transform
    }
  }

  /// Which part of the input a picture fills.
  private struct BatchPart {
    let slot: Int
    let count: Int
    /// How many pictures there are where the model fixes it; all are the same.
    let copies: Int
  }

  /// How many pixels the input has for each picture.
  private var pixelCount: Int { geometry.width * geometry.height }

  // MARK: The fourth channel

  /// The bytes of the fourth channel; nil if there is none.
  private func fourthChannel(
    of image: ImageBuffer, in region: PixelRect?, by processor: ImageProcessor, _ previousMask: [UInt8]?
  ) throws(ApusError) -> [UInt8]? {
    guard geometry.channelCount == 4 else { return nil }
    if fourth == .previousMask {
      let mask = previousMask ?? [UInt8](repeating: 0, count: pixelCount)
      guard mask.count == pixelCount else {
        throw ApusError(.invalidArgument, "the mask before has \(mask.count) pixels, not \(pixelCount)")
      }
      return mask
    }
    guard let alpha = image.alpha else { return [UInt8](repeating: 255, count: pixelCount) }
    let gray = try ImageProcessor(
      width: processor.width, height: processor.height, channels: .gray, fit: processor.fit,
      resampling: processor.resampling)
    guard let region else { return gray.prepare(alpha).bytes }
    return try gray.prepare(alpha, region: region).bytes
  }

  /// How the three colors become numbers: as all channels, but without the fourth.
  private var colors: Normalization? {
    guard geometry.channelCount == 4, case .meanStd(let mean, let std) = normalization else {
      return normalization
    }
    return .meanStd(
      mean: mean.count == 4 ? Array(mean.prefix(3)) : mean, std: std.count == 4 ? Array(std.prefix(3)) : std)
  }

  /// The number for a byte of the fourth channel: as in the others if these are alike; otherwise from 0 to 1.
  private func real(_ byte: UInt8) -> Float {
    let value = Float(byte)
    switch normalization {
    case nil: return value
    case .signed: return (value - 127.5) / 127.5
    case .unit, .perImageStandardization: return value / 255
    case .meanStd(let mean, let std):
      guard let mean = mean.count == 4 ? mean[3] : Set(mean).count == 1 ? mean[0] : nil,
        let std = std.count == 4 ? std[3] : Set(std).count == 1 ? std[0] : nil
      else { return value / 255 }
      return (value - mean) / std
    }
  }

  private func real(_ bytes: [UInt8]) -> [Float] { bytes.map { real($0) } }

  private func byte<Value: FixedWidthInteger>(_ bytes: [UInt8]) -> [Value] {
    guard normalization != nil else {
      return bytes.map { Value(truncatingIfNeeded: Value.isSigned ? Int($0) - 128 : Int($0)) }
    }
    return bytes.map { quantized(real($0)) }
  }

  // MARK: Placing values

  /// Lets `fill` write the values of one picture without a fourth channel, and places all of them in a batch.
  private func place<Value>(
    into span: inout MutableSpan<Value>, _ part: BatchPart, _ fourth: [Value]?, zero: Value,
    _ fill: (inout MutableSpan<Value>) throws(ApusError) -> ImageTransform
  ) throws(ApusError) -> ImageTransform {
    if part.count == 1, part.copies == 1, fourth == nil { return try fill(&span) }
    var values = [Value](repeating: zero, count: pixelCount * channels.count)
    var colors = values.mutableSpan
    let transform = try fill(&colors)
    try store(values, fourth, part, in: &span)
    return transform
  }

  /// Stores the values of one picture in its part of a batch.
  private func store<Value>(
    _ values: [Value], _ fourth: [Value]?, _ part: BatchPart, in span: inout MutableSpan<Value>
  ) throws(ApusError) {
    let size = pixelCount * geometry.channelCount
    let slots = part.copies > 1 ? 0..<part.copies : part.slot..<part.slot + 1
    guard span.count == size * max(part.count, part.copies) else {
      throw ApusError(
        .invalidArgument,
        "the input has \(span.count) values, but \(max(part.count, part.copies)) pictures have \(size) each")
    }
    for slot in slots {
      let base = slot * size
      guard let fourth else {
        for index in values.indices { span[base + index] = values[index] }
        continue
      }
      if geometry.isPlanar {
        for index in values.indices { span[base + index] = values[index] }
        for pixel in fourth.indices { span[base + values.count + pixel] = fourth[pixel] }
      } else {
        for pixel in fourth.indices {
          for channel in 0..<3 { span[base + 4 * pixel + channel] = values[3 * pixel + channel] }
          span[base + 4 * pixel + 3] = fourth[pixel]
        }
      }
    }
  }

  /// Stores floats as the elements of an input that is neither of bytes nor of float32.
  private func convert(
    _ values: [Float], _ fourth: [Float]?, _ part: BatchPart, to interpreter: Interpreter
  ) throws(ApusError) {
    func put<Value: TensorElement>(_ convert: (Float) -> Value) throws(ApusError) {
      try interpreter.withInput(at: 0, as: Value.self) { span throws(ApusError) in
        try store(values.map(convert), fourth?.map(convert), part, in: &span)
      }
    }
    switch tensor.type {
    case .int16: try put { quantized($0) as Int16 }
    case .uint16: try put { quantized($0) as UInt16 }
    case .int32: try put { quantized($0) as Int32 }
    case .uint32: try put { quantized($0) as UInt32 }
    case .int64: try put { quantized($0) as Int64 }
    case .float16: try put(\.halfBits)
    case .bfloat16: try put(\.brainBits)
    default: try put { Double($0) }
    }
  }

  /// A real number in steps of the input's scale; without a normalization, the pixel itself.
  private func quantized<Value: FixedWidthInteger>(_ value: Float) -> Value {
    let (unit, zero): (Float, Float) =
      normalization == nil
      ? (1, 0) : (tensor.quantization?.scale ?? 1, Float(tensor.quantization?.zeroPoint ?? 0))
    let step = (value / unit).rounded() + zero
    return step >= Float(Value.max) ? .max : step > Float(Value.min) ? Value(step) : .min
  }
}

/// The content of an input's fourth channel.
enum FourthChannel: String, Sendable {
  /// How opaque the picture is.
  case alpha
  /// The mask of the picture before, as models for video take it.
  case previousMask = "the mask of the picture before"
}

extension ImageBuffer {
  /// How opaque each pixel is, as a gray picture; nil if all are opaque.
  fileprivate var alpha: ImageBuffer? {
    guard let offset = format.alphaOffset else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(width * height)
    for row in 0..<height {
      for column in 0..<width {
        bytes.append(self.bytes[row * bytesPerRow + column * format.bytesPerPixel + offset])
      }
    }
    return ImageBuffer(
      trusted: bytes, width: width, height: height, format: .gray, orientation: orientation,
      reduction: reduction, full: storedFullSize)
  }
}
