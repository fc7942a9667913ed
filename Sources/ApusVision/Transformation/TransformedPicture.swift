// SPDX-License-Identifier: Apache-2.0
import Apus

/// A picture that a model made of a picture, or one number for each pixel.
public struct TransformedPicture: VisionResult, Hashable {
  /// The width of the picture that the model was asked about, after orientation.
  public let imageWidth: Int
  /// The height of the picture that the model was asked about, after orientation.
  public let imageHeight: Int
  /// The width of the result, in pixels.
  public let width: Int
  /// The height of the result, in pixels.
  public let height: Int
  /// The channels of the result: 1, 3 or 4.
  public let channelCount: Int
  /// The model's numbers: rows, columns, channels in the model's order.
  public let values: [Float]
  /// The smallest of the numbers.
  public let minimum: Float
  /// The largest of the numbers.
  public let maximum: Float
  /// The time of each stage.
  public var timings = StageTimings()

  private let isBGR: Bool
  private let pixels: OutputPixels

  /// Makes a result, for tests and tasks of one's own.
  ///
  /// - Parameters:
  ///   - imageWidth: Columns of the picture as it is to be looked at.
  ///   - imageHeight: Its rows.
  ///   - width: Columns of the numbers.
  ///   - height: Rows of the numbers.
  ///   - channelCount: Channels of the numbers: 1, 3 or 4.
  ///   - values: The numbers: rows, columns, channels red, green, blue and alpha, or one for each pixel.
  ///   - normalization: How numbers were made of pixels; nil for numbers that are no colors.
  ///   - timings: The time of each stage.
  /// - Throws: `invalidArgument` for other numbers of channels or values, an empty result, or values that are not finite.
  public init(
    imageWidth: Int, imageHeight: Int, width: Int, height: Int, channelCount: Int, values: [Float],
    normalization: Normalization?, timings: StageTimings = StageTimings()
  ) throws(ApusError) {
    let (area, overflows) = width.multipliedReportingOverflow(by: height)
    guard width > 0, height > 0, !overflows, [1, 3, 4].contains(channelCount),
      values.count.isMultiple(of: channelCount), values.count / channelCount == area,
      values.allSatisfy(\.isFinite)
    else {
      throw ApusError(
        .invalidArgument,
        "\(values.count) values are not those of \(width) × \(height) pixels with \(channelCount) channels, or not finite"
      )
    }
    self.init(
      imageWidth: imageWidth, imageHeight: imageHeight, width: width, height: height,
      channelCount: channelCount, values: values, isBGR: false,
      pixels: OutputPixels(normalization, .given, ""))
    self.timings = timings
  }

  /// Keeps the numbers of an answer, which are finite.
  init(
    imageWidth: Int, imageHeight: Int, width: Int, height: Int, channelCount: Int, values: [Float],
    isBGR: Bool, pixels: OutputPixels
  ) {
    (self.imageWidth, self.imageHeight) = (imageWidth, imageHeight)
    (self.width, self.height, self.channelCount) = (width, height, channelCount)
    self.values = values
    self.isBGR = isBGR
    self.pixels = pixels
    var (low, high) = (values.first ?? 0, values.first ?? 0)
    for value in values {
      low = min(low, value)
      high = max(high, value)
    }
    (minimum, maximum) = (low, high)
  }

  /// Whether the numbers are colors; otherwise there is one for each pixel, such as a depth.
  public var isPicture: Bool { pixels.normalization != nil }

  /// The result as a picture of 8 bits: colors from black to white; other numbers in gray from the smallest to the largest.
  public var picture: ImageBuffer {
    var bytes = [UInt8](repeating: 0, count: values.count)
    for channel in 0..<channelCount {
      let (low, high) = isPicture ? pixels.range(channel, of: channelCount) : (minimum, maximum)
      // Halves, where the range is that of all floats.
      let unit: Float = (high - low).isFinite ? 1 : 0.5
      let black = low * unit
      let scale = high > low ? 255 / (high * unit - black) : 0
      // Channels stored as blue, green, red become red, green, blue.
      let target = isBGR && channel < 3 && channelCount > 1 ? 2 - channel : channel
      for pixel in 0..<width * height {
        let value = (values[pixel * channelCount + channel] * unit - black) * scale
        bytes[pixel * channelCount + target] = value > 0 ? UInt8(min(value, 255).rounded()) : 0
      }
    }
    return ImageBuffer(
      trusted: bytes, width: width, height: height,
      format: channelCount == 1 ? .gray : channelCount == 3 ? .rgb : .rgba)
  }

  /// One number for each pixel in steps from 0, the smallest, to 65,535, the largest; nil for a picture.
  public var steps: [UInt16]? {
    guard !isPicture else { return nil }
    // In double precision: the range may be that of all floats.
    let span = Double(maximum) - Double(minimum)
    return values.map { span > 0 ? UInt16(((Double($0) - Double(minimum)) / span * 65_535).rounded()) : 0 }
  }
}

extension TransformedPicture {
  private enum CodingKeys: String, CodingKey {
    case width, height, minimum, maximum, kind
    case timings = "milliseconds"
  }

  /// Encodes `width` and `height` of the result, `minimum` and `maximum` of the model's numbers, `kind` (`picture` or `numbers`) and
  /// `milliseconds`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(width, forKey: .width)
    try container.encode(height, forKey: .height)
    try container.encode(minimum, forKey: .minimum)
    try container.encode(maximum, forKey: .maximum)
    try container.encode(isPicture ? "picture" : "numbers", forKey: .kind)
    try container.encode(timings, forKey: .timings)
  }
}

extension TransformedPicture: TimedResult {}
