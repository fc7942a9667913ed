// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The input of a model that sees pictures: its geometry, its type, and how pixels become its numbers.
struct ImageInput: Sendable {
  /// Which dimension is which.
  let geometry: InputGeometry
  /// The channels that show colors, in order.
  let channels: ImageProcessor.Channels
  /// The tensor as prepared.
  let tensor: Tensor
  /// How pixels become real numbers; nil if the tensor takes the pixels unchanged, minus 128 if signed.
  let normalization: Normalization?
  /// How pixels are read.
  let pixels: Assumption
  /// A warning about the numbers by which pixels are read; nil if they are not suspicious.
  let pixelWarning: String?
  /// How channels are read.
  let channelOrder: Assumption

  /// The content of the fourth channel; nil if there is none.
  let fourth: FourthChannel?

  /// The most elements of an input of neither bytes nor float32.
  private static let maximumConverted = 1 << 26

  /// Whether elements of a type are computed as floats, and then converted.
  static func isConverted(_ type: ElementType) -> Bool { ![.uint8, .int8, .float32].contains(type) }

  /// Decides how pixels become numbers: by the options, else by the metadata, else by the exporter, else by what the graph does first,
  /// else as this kind of model is commonly trained.
  init(
    _ geometry: InputGeometry, tensor: Tensor, metadata: TensorMetadata?, export: ExportMetadata?,
    options: BaseOptions, defaults: PictureDefaults, arithmetic: FirstArithmetic?
  ) throws(ApusError) {
    self.geometry = geometry
    self.tensor = tensor
    let count = geometry.channelCount
    let isRGB =
      if case .image(let properties) = metadata?.content { properties.colorSpace == .rgb } else { false }
    // The file's own words and the usual order of a kind of detector come before what the graph subtracts.
    let shown =
      count == 3 && defaults.heedsMetadata && !isRGB && export == nil && defaults.channels == .rgb
      ? arithmetic?.order : nil
    channels =
      options.channels ?? (count == 1 ? .gray : isRGB ? .rgb : shown?.channels ?? defaults.channels)
    fourth = count == 4 ? defaults.fourthChannel : nil
    guard channels.count == min(count, 3) else {
      throw ApusError(
        .invalidArgument,
        "the input \(tensor) has \(count == 1 ? "1 channel" : "\(count) channels"), so its channels cannot be "
          + channels.rawValue)
    }
    let isFloat = [.float16, .bfloat16, .float32, .float64].contains(tensor.type)
    guard !Self.isConverted(tensor.type) || tensor.shape.elementCount <= Self.maximumConverted else {
      throw ApusError(
        .resourceLimit,
        "the input \(tensor) has \(tensor.shape.elementCount) elements, more than the limit of \(Self.maximumConverted) for "
          + "what is neither bytes nor float32")
    }
    channelOrder = Self.channelOrder(
      channels, metadata, export, defaults, shown: shown?.reason, isGiven: options.channels != nil)
    let source: AssumptionSource
    let reason: String
    let described =
      options.normalization == nil && defaults.heedsMetadata && isFloat
      ? DescribedNormalization(metadata, channels: count) : nil
    if let chosen = options.normalization {
      // Three numbers are those of the colors.
      do { try chosen.check(channels: count) } catch {
        guard count == 4 else { throw error }
        try chosen.check(channels: 3)
      }
      (normalization, source, reason) = (chosen == .raw && !isFloat ? nil : chosen, .given, "the options")
      guard isFloat || tensor.quantization != nil || chosen == .raw else {
        throw ApusError(
          .invalidArgument,
          "the input \(tensor) takes integers without a scale, so its pixels can only be raw, not \(chosen)")
      }
    } else if !isFloat, tensor.type != .int16 || tensor.quantization == nil,
      !defaults.normalizesIntegers || tensor.quantization == nil
    {
      let found = Self.pixels(ofIntegers: tensor, channels: count)
      (normalization, source, reason) = (found.0?.ofColors(channels), found.1, found.2)
    } else if let found = described?.normalization {
      (normalization, source, reason) = (found, .model, "the metadata's normalization")
    } else if isFloat, defaults.heedsMetadata, defaults.source == .guess, let arithmetic {
      (normalization, source, reason) = (arithmetic.normalization, .model, arithmetic.reason)
    } else {
      // Models of inputs without channels, or with four, were mostly trained on values from 0 to 1.
      let fits = (try? defaults.normalization.check(channels: count)) != nil
      let isUsual = fits && (!geometry.isBare && count < 4 || defaults.source != .guess)
      (normalization, source, reason) =
        isUsual
        ? (defaults.normalization.ofColors(channels), defaults.source, defaults.reason)
        : (.unit, .guess, "usual for \(count == 4 ? "four channels" : "gray inputs without channels")")
    }
    pixels = Assumption(
      "pixels", (normalization ?? .raw).description, source, reason: reason, option: "--pixels")
    pixelWarning =
      options.normalization.flatMap { $0.unitWarning(ofNumbers: "--pixels \($0)") }
      ?? described?.warning(pixels, arithmetic)
  }

  /// How the shape is read, where it says less than it could.
  var shapeReadings: [Assumption] {
    var readings: [Assumption] = []
    if let guess = geometry.guess {
      readings.append(
        Assumption(
          "picture",
          "\(geometry.width) × \(geometry.height) \(geometry.channelCount == 1 ? "gray" : "color") pixels",
          .guess,
          reason: guess, option: "--input-size"))
    }
    if let fourth {
      readings.append(
        Assumption(
          "fourth channel", fourth.rawValue, .guess,
          reason: fourth == .alpha
            ? "usual for four channels" : "as segmenters for video take it; zeros for the first picture"))
    }
    if geometry.fixedBatch > 1 {
      readings.append(
        Assumption(
          "batch", "the picture \(geometry.fixedBatch) times, of which the first answer counts", .model,
          reason: "the input's shape takes \(geometry.fixedBatch) pictures"))
    }
    return readings
  }

  private static func channelOrder(
    _ channels: ImageProcessor.Channels, _ metadata: TensorMetadata?, _ export: ExportMetadata?,
    _ defaults: PictureDefaults, shown: String?, isGiven: Bool
  ) -> Assumption {
    func reading(_ source: AssumptionSource, _ reason: String) -> Assumption {
      Assumption("channels", channels.rawValue, source, reason: reason, option: "--channels")
    }
    if isGiven { return reading(.given, "the options") }
    if channels.count == 1 { return reading(.model, "the input has one channel") }
    if case .image(let properties) = metadata?.content, properties.colorSpace == .rgb {
      return reading(.model, "the metadata's color space")
    }
    if let shown { return reading(.model, shown) }
    if channels != .rgb { return reading(defaults.source, defaults.reason) }
    if let export { return reading(.exporter, "exports with \(export.fileName) take rgb") }
    return reading(.guess, "usual for models whose file does not say")
  }

  /// How pixels become integers, by their scale and zero point; nil for pixels as they are.
  ///
  /// Integers that stand for 0 to 255, 0 to 1 or -1 to 1, within what rounding a scale may change, are pixels as they are. Those that stand
  /// for the range of ImageNet's colors are quantized after that normalization. Integers that stand for anything else were
  /// quantized after a normalization that only the options can say.
  private static func pixels(
    ofIntegers tensor: Tensor, channels: Int
  ) -> (Normalization?, AssumptionSource, String) {
    let taken = "the input takes \(tensor.type.rawValue)"
    guard [.uint8, .int8].contains(tensor.type) else { return (nil, .model, taken) }
    guard tensor.quantization != nil else { return (nil, .model, taken + " without a scale") }
    guard let range = PixelRange(of: tensor) else { return (nil, .guess, taken + " of a scale that is none") }
    let found = "\(taken) that stand for \(range.text)"
    guard let usual = range.normalization(channels: channels) else {
      return (nil, .guess, found + ", which are no usual pixels")
    }
    return usual == .imageNet
      ? (.imageNet, .model, found + ", the range of ImageNet's colors") : (nil, .model, found)
  }
}
