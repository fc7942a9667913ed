// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// How the numbers of an output become pixels: decided once, for the model.
struct OutputPixels: Hashable, Sendable {
  /// The normalization that made numbers of pixels; nil for one number for each pixel, which is no color.
  let normalization: Normalization?
  /// Where the reading comes from.
  let source: AssumptionSource
  /// The evidence for the reading, in words.
  let reason: String

  /// How far beyond black and white numbers may lie, as a share of the distance between them: networks overshoot at edges.
  private static let overshoot: Float = 0.5

  init(_ normalization: Normalization?, _ source: AssumptionSource, _ reason: String) {
    (self.normalization, self.source, self.reason) = (normalization, source, reason)
  }

  /// The reading that the model's quantization and last operators allow; nil if they say nothing, or allow no picture.
  ///
  /// - Parameters:
  ///   - output: The output's position.
  ///   - count: How many channels it has.
  init?(of output: Int, channels count: Int, in prepared: PreparedModel) throws(ApusError) {
    let tensor = prepared.outputs[output]
    if let found = prepared.description(of: output)?.normalization, [1, count].contains(found.mean.count),
      [1, count].contains(found.std.count), found.mean.allSatisfy(\.isFinite),
      found.std.allSatisfy({ $0.isFinite && $0 > 0 })
    {
      self.init(Self.normalization(found.mean, found.std), .model, "the metadata's normalization")
      return
    }
    let stored = ValueBounds(ofQuantized: tensor.type, tensor.quantization)
    let bounds = try ValueBounds(ofOutput: output, of: prepared.model)
    if let exact = Self.reading(of: bounds) {
      self.init(exact, .model, "the last operators and the quantization allow \(bounds)")
    } else if stored != .unknown, tensor.quantization != nil, let near = Self.nearest(to: stored) {
      self.init(near, .model, "the quantization allows \(stored)")
    } else if stored != .unknown, tensor.quantization == nil, tensor.type == .uint8 || tensor.type == .int8 {
      self.init(
        tensor.type == .uint8 ? .raw : .meanStd(mean: [128], std: [1]), .model,
        "the output has bytes without a scale")
    } else {
      return nil
    }
  }

  /// The reading that follows from how the input takes pixels: what the operators make of that range, or else the same.
  ///
  /// - Parameters:
  ///   - count: How many channels the output has.
  ///   - input: How the input takes pixels.
  static func following(
    _ input: Normalization, of output: Int, channels count: Int, in model: Model
  ) throws(ApusError) -> OutputPixels {
    if case .meanStd(let mean, let std) = input,
      ![1, count].contains(mean.count) || ![1, count].contains(std.count)
    {
      return OutputPixels(.unit, .guess, "usual for pictures: the output does not say")
    }
    guard input != .perImageStandardization else {
      return OutputPixels(.unit, .guess, "usual for pictures: the output does not say")
    }
    let same = OutputPixels(input, .guess, "as the input takes them: the output does not say")
    let channels = (0..<count).map { same.range($0, of: count) }
    guard let black = channels.map(\.black).min(), let white = channels.map(\.white).max() else {
      return same
    }
    let range = ValueBounds(Double(black), Double(white))
    guard let exact = reading(of: try ValueBounds(ofOutput: output, of: model, input: range)), exact != input
    else { return same }
    return OutputPixels(exact, .guess, "what the operators make of the input's \(range)")
  }

  /// How pixels were made into numbers, by the normalization of an output's metadata: a pixel is (number − mean) ÷ std. Where deviations
  /// are above 1, they are those of pixels: the numbers of the input were repeated, and a number is (pixel − mean) ÷ std.
  private static func normalization(_ mean: [Float], _ std: [Float]) -> Normalization {
    guard std.allSatisfy({ $0 <= 1 }) else { return .meanStd(mean: mean, std: std) }
    let channels = (0..<max(mean.count, std.count)).map { channel in
      (mean: mean[mean.count == 1 ? 0 : channel], std: std[std.count == 1 ? 0 : channel])
    }
    let ranges = channels.map { ValueBounds(Double($0.mean), Double($0.mean + 255 * $0.std)) }
    if let first = ranges.first, let exact = reading(of: first),
      ranges.allSatisfy({ reading(of: $0) == exact })
    {
      return exact
    }
    return .meanStd(mean: channels.map { -$0.mean / $0.std }, std: channels.map { 1 / $0.std })
  }

  /// The reading with exactly these bounds.
  private static func reading(of bounds: ValueBounds) -> Normalization? {
    if bounds.isNear(0, 1) { return .unit }
    if bounds.isNear(-1, 1) { return .signed }
    return bounds.isNear(0, 255) ? .raw : nil
  }

  /// The reading whose numbers a calibrated range covers: it may be somewhat more, or less, than black to white.
  private static func nearest(to bounds: ValueBounds) -> Normalization? {
    func covers(_ low: Double, _ high: Double) -> Bool {
      let span = high - low
      return bounds.lower >= low - 0.4 * span && bounds.lower <= low + 0.3 * span
        && bounds.upper >= high - 0.5 * span && bounds.upper <= high + 0.4 * span
    }
    if covers(0, 255) { return .raw }
    if covers(0, 1) { return .unit }
    return covers(-1, 1) ? .signed : nil
  }

  /// The reading for people.
  var assumption: Assumption {
    Assumption(
      "output pixels", normalization?.description ?? "one number for each pixel", source, reason: reason,
      option: "--output-pixels")
  }

  /// The numbers of black and of white in a channel.
  func range(_ channel: Int, of count: Int) -> (black: Float, white: Float) {
    switch normalization {
    case .signed: return (-1, 1)
    case .meanStd(let mean, let std):
      let (mean, std) = (mean[mean.count == 1 ? 0 : channel], std[std.count == 1 ? 0 : channel])
      return (-mean / std, (255 - mean) / std)
    case .unit, .perImageStandardization, nil: return (0, 1)
    }
  }

  /// Holds the numbers of an answer against the reading.
  ///
  /// - Throws: `invalidData` for numbers that it cannot have.
  func check(_ low: Float, _ high: Float, channel: Int, of count: Int) throws(ApusError) {
    guard normalization != nil else { return }
    let (black, white) = range(channel, of: count)
    let beyond = Self.overshoot * (white - black)
    func contradiction(_ other: Normalization?) -> ApusError {
      let others = other.map { "--output-pixels \($0) fits" } ?? "--output-pixels decides"
      return ApusError(
        .invalidData,
        """
        the picture has numbers from \(low) to \(high), but black is \(black) and white is \(white) \
        (\(assumption.value), \(source == .guess ? "a guess" : source.text): \(reason)); \(others)
        """)
    }
    guard low >= black - beyond, high <= white + beyond else {
      throw contradiction(Self.fitting(low, high))
    }
    // All but black where white is 255: those are fractions.
    if source == .guess, white > 100, low >= -1.5, high <= 1.5, high - low > 0.05 {
      throw contradiction(low < -0.25 ? .signed : .unit)
    }
  }

  /// The only reading whose range such numbers fill.
  private static func fitting(_ low: Float, _ high: Float) -> Normalization? {
    if low >= -128, high > 3, high <= 383 { return .raw }
    if low < -0.25, low >= -2, high <= 2 { return .signed }
    return low >= -0.5 && high <= 1.5 ? .unit : nil
  }
}
