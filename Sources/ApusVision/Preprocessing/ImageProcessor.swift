// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusKernels
import ApusPixels
import ApusRuntime

/// Turns pictures of any size, format and orientation into the pixels that a model expects.
///
/// The result is that of ``ImageBuffer/oriented()``, then cropping, resizing by ``Resampling`` and
/// reordering of channels, in one pass over the picture. Alpha is dropped. A gray input takes the luminance
/// of the resized color.
///
/// ```swift
/// let processor = try ImageProcessor(width: 300, height: 300, fit: .letterbox())
/// let prepared = processor.prepare(picture)
/// let box = prepared.transform.imageRect(ofModelBox: modelBox)
/// ```
public struct ImageProcessor: Hashable, Sendable {
  /// The channels of a model's input, in order.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
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
  /// How pictures of other proportions are fitted.
  public let fit: FitPolicy
  /// How pixels are computed.
  public let resampling: Resampling

  /// Makes a processor for inputs of that size.
  ///
  /// - Throws: `invalidArgument` for an empty input or one with a side beyond ``ImageBuffer/maximumSide``.
  public init(
    width: Int, height: Int, channels: Channels = .rgb, fit: FitPolicy = .stretch,
    resampling: Resampling = .automatic
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
    // No model is known here: a letterbox without a color is black.
    self.fit = fit.completed(by: .stretch)
    self.resampling = resampling
  }

  /// The picture at the size of the model's input, with the mapping back.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - threads: The maximum number of threads; the bytes do not depend on it.
  public func prepare(_ image: ImageBuffer, threads: Int = 1) -> PreparedImage {
    prepare(image, makeTransform(for: image, nil), threads: threads, kernels: Runtime.pictureKernels)
  }

  /// A part of the picture at the size of the model's input, with the mapping back to the whole picture.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part, in pixels after orientation. Its edges are rounded to the nearest pixel; what lies outside
  ///     the picture is left out.
  ///   - threads: The maximum number of threads; the bytes do not depend on it.
  /// - Throws: `invalidArgument` for a region without pixels in the picture.
  public func prepare(_ image: ImageBuffer, region: PixelRect, threads: Int = 1) throws(ApusError)
    -> PreparedImage
  {
    prepare(
      image, try transform(for: image, region: region), threads: threads, kernels: Runtime.pictureKernels)
  }

  /// How the input relates to a picture, or to a part of one.
  ///
  /// - Throws: `invalidArgument` for a region without pixels in the picture.
  public func transform(for image: ImageBuffer, region: PixelRect?) throws(ApusError) -> ImageTransform {
    guard let region else { return makeTransform(for: image, nil) }
    return makeTransform(for: image, try image.wholePixels(of: region))
  }

  private func makeTransform(
    for image: ImageBuffer, _ region: ImageTransform.Region?
  ) -> ImageTransform {
    ImageTransform(
      imageWidth: image.uprightWidth, imageHeight: image.uprightHeight, inputWidth: width,
      inputHeight: height, fit: fit, region: region, reduction: image.reduction,
      original: (image.originalWidth, image.originalHeight))
  }

  package func prepare(
    _ image: ImageBuffer, _ transform: ImageTransform, threads: Int, kernels: KernelSet
  ) -> PreparedImage {
    var bytes = filledInput()
    let resize = resize(of: image, transform, .interleaved, kernels)
    var output = bytes.mutableSpan
    let source = image.resizedBytes
    resize.run(source.span, into: &output, team: ThreadTeam(count: threads))
    return PreparedImage(
      bytes: bytes, width: width, height: height, channels: channels, transform: transform)
  }

  private func filledInput() -> [UInt8] {
    let fill = fillColor
    if Set(fill).count == 1 { return [UInt8](repeating: fill[0], count: width * height * channels.count) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(width * height * 3)
    for _ in 0..<width * height { bytes.append(contentsOf: fill) }
    return bytes
  }

  /// The color around the picture, channel by channel.
  var fillColor: [UInt8] {
    guard let fill = fit.fill else { return [UInt8](repeating: 0, count: channels.count) }
    return switch channels {
    case .gray: [fill.luminance]
    case .rgb: [fill.red, fill.green, fill.blue]
    case .bgr: [fill.blue, fill.green, fill.red]
    }
  }

  /// The resize in the stored raster, so that memory is read along its rows, and only the small result is turned.
  func resize(
    of image: ImageBuffer, _ transform: ImageTransform, _ order: ChannelOrder, _ kernels: KernelSet
  ) -> PictureResize {
    let (source, target) = (transform.source, transform.target)
    let across = ResizeAxis(source: source.width, target: target.width, resampling)
    let down = ResizeAxis(source: source.height, target: target.height, resampling)
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
    let region =
      if let frame = image.frame {
        PictureResize.Source(
          frame.planes, x: x, y: y, width: regionWidth, height: regionHeight, kernels: kernels)
      } else {
        PictureResize.Source(
          offset: y * image.bytesPerRow + x * image.format.bytesPerPixel, width: regionWidth,
          height: regionHeight, bytesPerPixel: image.format.bytesPerPixel, bytesPerRow: image.bytesPerRow)
      }
    return PictureResize(
      columns: columns.taps, rows: rows.taps, source: region,
      placement: PicturePlacement(
        channels: placedChannels(of: image.format), origin: steps.origin + target.y * width + target.x,
        perColumn: steps.perColumn, perRow: steps.perRow,
        pixelStep: order == .interleaved ? channels.count : 1,
        channelStep: order == .interleaved ? 1 : width * height),
      kernels: kernels)
  }

  private func placedChannels(of format: PixelFormat) -> PicturePlacement.Channels {
    let (red, green, blue) = (format.redOffset, format.greenOffset, format.blueOffset)
    return switch channels {
    case .rgb: .three(red, green, blue)
    case .bgr: .three(blue, green, red)
    case .gray: format == .gray ? .one : .luminance(red, green, blue)
    }
  }
}
