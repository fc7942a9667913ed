import Apus

/// Turns pictures of any size, format and orientation into the pixels that a model expects.
///
/// The result is that of ``ImageBuffer/oriented()``, then cropping, resizing by ``ResizeFilter`` and
/// reordering of channels, in one pass over the picture. Alpha is dropped. A gray input takes the luminance
/// of the resized color.
///
/// ```swift
/// let processor = try ImageProcessor(width: 300, height: 300, fit: .letterbox())
/// let prepared = try processor.prepare(picture)
/// let box = prepared.transform.imageRect(ofModelBox: modelBox)
/// ```
public struct ImageProcessor: Hashable, Sendable {
  /// The channels of a model's input, in order.
  public enum Channels: String, CaseIterable, Hashable, Sendable {
    /// Red, green, blue.
    case rgb
    /// Blue, green, red.
    case bgr
    /// One channel of luminance.
    case gray

    /// How many channels there are.
    public var count: Int { self == .gray ? 1 : 3 }
  }

  /// The width of the model's input.
  public let width: Int
  /// The height of the model's input.
  public let height: Int
  /// The channels of the model's input.
  public let channels: Channels
  /// How pictures of other proportions are fitted in.
  public let fit: FitPolicy
  /// How pixels are computed.
  public let filter: ResizeFilter

  /// Makes a processor for inputs of that size.
  ///
  /// - Throws: `invalidArgument` for an empty input or one with a side beyond ``ImageBuffer/maximumSide``.
  public init(
    width: Int, height: Int, channels: Channels = .rgb, fit: FitPolicy = .stretch,
    filter: ResizeFilter = .automatic
  ) throws(ApusError) {
    guard width > 0, height > 0, width <= ImageBuffer.maximumSide, height <= ImageBuffer.maximumSide,
      width * height <= ImageBuffer.maximumPixelCount
    else {
      throw ApusError(
        .invalidArgument, "an input of \(width) × \(height) pixels is not possible for pictures")
    }
    self.width = width
    self.height = height
    self.channels = channels
    self.fit = fit
    self.filter = filter
  }

  /// The picture as the model is to see it, with the way back.
  public func prepare(_ image: ImageBuffer) -> PreparedImage {
    let transform = ImageTransform(
      imageWidth: image.uprightWidth, imageHeight: image.uprightHeight, inputWidth: width,
      inputHeight: height, fit: fit)
    var bytes = filledInput()
    resample(image, transform, into: &bytes)
    return PreparedImage(
      bytes: bytes, width: width, height: height, channels: channels, transform: transform)
  }

  private func filledInput() -> [UInt8] {
    guard case .letterbox(let fill) = fit else {
      return [UInt8](repeating: 0, count: width * height * channels.count)
    }
    if channels == .gray { return [UInt8](repeating: fill.luminance, count: width * height) }
    let pixel =
      channels == .rgb ? [fill.red, fill.green, fill.blue] : [fill.blue, fill.green, fill.red]
    if pixel.allSatisfy({ $0 == fill.red }) {
      return [UInt8](repeating: fill.red, count: width * height * 3)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(width * height * 3)
    for _ in 0..<width * height { bytes.append(contentsOf: pixel) }
    return bytes
  }

  /// Resizes in the stored raster, so that memory is read along its rows, and turns only the small result.
  private func resample(_ image: ImageBuffer, _ transform: ImageTransform, into bytes: inout [UInt8]) {
    let (source, target) = (transform.source, transform.target)
    let across = ResizeAxis(source: source.width, target: target.width, filter: filter)
    let down = ResizeAxis(source: source.height, target: target.height, filter: filter)
    let orientation = image.orientation
    var columns = orientation.swapsSides ? down : across
    var rows = orientation.swapsSides ? across : down
    var (x, regionWidth) = orientation.swapsSides ? (source.y, source.height) : (source.x, source.width)
    var (y, regionHeight) = orientation.swapsSides ? (source.x, source.width) : (source.y, source.height)
    if orientation.reversesColumns {
      columns = columns.reversed(source: regionWidth)
      x = image.width - x - regionWidth
    }
    if orientation.reversesRows {
      rows = rows.reversed(source: regionHeight)
      y = image.height - y - regionHeight
    }
    let steps = orientation.steps(width: target.width, height: target.height, rowStride: width)
    let origin = steps.origin + target.y * width + target.x

    let format = image.format
    let step = format.bytesPerPixel
    let first = channels == .bgr ? format.blueOffset : format.redOffset
    let last = channels == .bgr ? format.redOffset : format.blueOffset
    var sums = [UInt32](repeating: 0, count: regionWidth * step)
    var output = bytes.mutableSpan
    for row in 0..<rows.count {
      for (tap, weight) in (rows.offsets[row]..<rows.offsets[row + 1]).enumerated() {
        let begin = (y + rows.starts[row] + tap) * image.bytesPerRow + x * step
        accumulate(
          image.bytes.span.extracting(begin..<begin + regionWidth * step), rows.weights[weight],
          adding: tap > 0, into: &sums)
      }
      let line = sums.span
      var index = origin + row * steps.perRow
      for column in 0..<columns.count {
        let taps = columns.offsets[column]..<columns.offsets[column + 1]
        let base = columns.starts[column] * step
        if format == .gray {
          let value = combine(line, base, 1, columns.weights, taps)
          for channel in 0..<channels.count { output[index * channels.count + channel] = value }
        } else {
          let one = combine(line, base + first, step, columns.weights, taps)
          let two = combine(line, base + format.greenOffset, step, columns.weights, taps)
          let three = combine(line, base + last, step, columns.weights, taps)
          if channels == .gray {
            output[index] = grayLevel(red: one, green: two, blue: three)
          } else {
            output[index * 3] = one
            output[index * 3 + 1] = two
            output[index * 3 + 2] = three
          }
        }
        index += steps.perColumn
      }
    }
  }
}

/// Adds a weighted row, or starts with it. A sum is at most 255 · 32,768 < 2²³.
@inline(__always)
private func accumulate(_ row: Span<UInt8>, _ weight: UInt16, adding: Bool, into sums: inout [UInt32]) {
  var sums = sums.mutableSpan
  precondition(row.count == sums.count)
  if adding {
    for index in 0..<row.count { sums[index] &+= UInt32(row[index]) &* UInt32(weight) }
  } else {
    for index in 0..<row.count { sums[index] = UInt32(row[index]) &* UInt32(weight) }
  }
}

/// The weighted mean of one channel; the sum is at most 255 · 2³⁰, so rounding cannot exceed 255.
@inline(__always)
private func combine(_ line: Span<UInt32>, _ base: Int, _ step: Int, _ weights: [UInt16], _ taps: Range<Int>)
  -> UInt8
{
  var sum: UInt64 = 1 << 29
  var index = base
  for tap in taps {
    sum &+= UInt64(line[index]) &* UInt64(weights[tap])
    index &+= step
  }
  return UInt8(truncatingIfNeeded: sum >> 30)
}
