// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusPixels

/// A picture in memory: bytes, their layout, and the orientation in which to view them.
///
/// The bytes are checked when the buffer is made; afterwards every pixel can be read.
///
/// ```swift
/// let frame = try ImageBuffer(
///   bytes: cameraBytes, width: 640, height: 480, bytesPerRow: 2_560, format: .bgra, orientation: .right)
/// ```
public struct ImageBuffer: Sendable {
  /// The maximum side of a picture, in pixels.
  public static let maximumSide = 32_768
  /// The maximum number of pixels: 2²⁸.
  public static let maximumPixelCount = 1 << 28

  /// The pixels, row by row from the top as stored.
  ///
  /// If the picture is a video's frame in luma and chroma, its pixels are computed when they are first read; a model's input is
  /// filled from luma and chroma.
  public var bytes: [UInt8] { frame?.pixels ?? stored }
  /// The pixels as they were given.
  private let stored: [UInt8]
  /// The luma and chroma that the pixels come from, if there are any.
  package let frame: LumaChromaFrame?
  /// The width as stored, in pixels.
  public let width: Int
  /// The height as stored, in pixels.
  public let height: Int
  /// The distance from one row to the next, in bytes.
  public let bytesPerRow: Int
  /// The order of the bytes of one pixel.
  public let format: PixelFormat
  /// The orientation in which to view the stored rows.
  public var orientation: ImageOrientation
  /// How many pixels of the file became one in each direction when it was read at a smaller scale; otherwise 1.
  public let reduction: Int
  /// The damage of the file that the picture was read from, in the words of the library that read it: the picture is whole, but parts of it
  /// may be wrong. Nil if there is none, and for pictures that are made of others.
  public package(set) var flaw: String?
  private let fullWidth: Int
  private let fullHeight: Int

  /// Makes a picture from its bytes.
  ///
  /// - Parameters:
  ///   - bytes: At least `(height - 1) * bytesPerRow + width * format.bytesPerPixel` bytes; more are ignored.
  ///   - width: The pixels in a stored row.
  ///   - height: The stored rows.
  ///   - bytesPerRow: The distance between rows in bytes; nil for rows without gaps.
  ///   - format: The meaning of a pixel's bytes.
  ///   - orientation: The orientation in which to view the stored rows.
  /// - Throws: `malformedImage` for an empty picture, a row stride shorter than a row or too few bytes;
  ///   `resourceLimit` beyond ``maximumSide`` and ``maximumPixelCount``.
  public init(
    bytes: [UInt8], width: Int, height: Int, bytesPerRow: Int? = nil, format: PixelFormat,
    orientation: ImageOrientation = .up
  ) throws(ApusError) {
    try Self.check(width: width, height: height)
    let rowBytes = width * format.bytesPerPixel
    let stride = bytesPerRow ?? rowBytes
    guard stride >= rowBytes else {
      throw ApusError(
        .malformedImage,
        "a row of \(width) \(format.rawValue) pixels takes \(rowBytes) bytes, but rows are \(stride) apart")
    }
    let (leading, overflow) = stride.multipliedReportingOverflow(by: height - 1)
    let (needed, overflow2) = leading.addingReportingOverflow(rowBytes)
    guard !overflow, !overflow2 else {
      throw ApusError(.malformedImage, "\(height) rows of \(stride) bytes are more than memory can hold")
    }
    guard bytes.count >= needed else {
      throw ApusError(
        .malformedImage,
        "a \(width) × \(height) \(format.rawValue) picture takes \(needed) bytes, but there are \(bytes.count)"
      )
    }
    stored = bytes
    frame = nil
    self.width = width
    self.height = height
    self.bytesPerRow = stride
    self.format = format
    self.orientation = orientation
    reduction = 1
    (fullWidth, fullHeight) = (width, height)
  }

  /// Makes a picture whose sizes are known to be right: the result of an operation on a checked one.
  ///
  /// - Parameters:
  ///   - reduction: How many pixels of the file, in each direction, became one.
  ///   - full: The size as stored in the file; nil if it is the picture's.
  package init(
    trusted bytes: [UInt8], width: Int, height: Int, format: PixelFormat,
    orientation: ImageOrientation = .up, reduction: Int = 1, full: (width: Int, height: Int)? = nil
  ) {
    let rowBytes = width * format.bytesPerPixel
    precondition(width > 0 && height > 0 && bytes.count == rowBytes * height)
    stored = bytes
    frame = nil
    self.width = width
    self.height = height
    self.bytesPerRow = rowBytes
    self.format = format
    self.orientation = orientation
    self.reduction = reduction
    (fullWidth, fullHeight) = (full?.width ?? width, full?.height ?? height)
  }

  /// Makes a picture of luma and chroma, whose pixels are rgb.
  package init(_ frame: LumaChromaFrame) {
    stored = []
    self.frame = frame
    width = frame.planes.width
    height = frame.planes.height
    bytesPerRow = 3 * width
    format = .rgb
    orientation = .up
    reduction = 1
    (fullWidth, fullHeight) = (width, height)
  }

  /// Takes the bytes for reuse, and leaves one black pixel.
  package mutating func takeBytes() -> [UInt8] {
    let taken = bytes
    self = ImageBuffer(trusted: [0], width: 1, height: 1, format: .gray)
    return taken
  }

  /// Checks the dimensions of a picture before anything is allocated for it.
  package static func check(width: Int, height: Int) throws(ApusError) {
    guard width > 0, height > 0 else {
      throw ApusError(.malformedImage, "the picture is empty: \(width) × \(height) pixels")
    }
    guard width <= maximumSide, height <= maximumSide, width * height <= maximumPixelCount else {
      throw ApusError(
        .resourceLimit,
        """
        a picture of \(width) × \(height) pixels is beyond the limit of \(maximumSide) per side \
        and \(maximumPixelCount) in all
        """)
    }
  }

  /// The width after orientation: the stored height if the orientation swaps the sides.
  public var uprightWidth: Int { orientation.swapsSides ? height : width }

  /// The height after orientation: the stored width if the orientation swaps the sides.
  public var uprightHeight: Int { orientation.swapsSides ? width : height }

  /// The size of the picture in the file as stored.
  var storedFullSize: (width: Int, height: Int) { (fullWidth, fullHeight) }

  /// The width of the picture in the file after orientation; larger than this one's if it was read at a smaller scale.
  public var originalWidth: Int { orientation.swapsSides ? fullHeight : fullWidth }

  /// The height of the picture in the file after orientation; larger than this one's if it was read at a smaller scale.
  public var originalHeight: Int { orientation.swapsSides ? fullWidth : fullHeight }

  /// Whether there are no gaps between rows and nothing after the last one.
  public var isTightlyPacked: Bool {
    frame != nil
      || bytesPerRow == width * format.bytesPerPixel && stored.count == bytesPerRow * height
  }

  /// The color of a stored pixel, or nil outside the picture; a gray pixel has three equal channels.
  public func pixel(x: Int, y: Int) -> PixelColor? {
    guard x >= 0, x < width, y >= 0, y < height else { return nil }
    let base = y * bytesPerRow + x * format.bytesPerPixel
    let bytes = bytes
    return PixelColor(
      red: bytes[base + format.redOffset], green: bytes[base + format.greenOffset],
      blue: bytes[base + format.blueOffset], alpha: format.alphaOffset.map { bytes[base + $0] } ?? 255)
  }
}

extension ImageBuffer: Hashable {
  /// Whether pixels, sizes, format, orientation and the size in the file are equal, however the pixels came.
  public static func == (first: ImageBuffer, second: ImageBuffer) -> Bool {
    (first.width, first.height, first.bytesPerRow) == (second.width, second.height, second.bytesPerRow)
      && (first.format, first.orientation) == (second.format, second.orientation)
      && (first.reduction, first.fullWidth, first.fullHeight)
        == (second.reduction, second.fullWidth, second.fullHeight)
      && first.bytes == second.bytes
  }

  /// Hashes the pixels, sizes, format and orientation.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(bytes)
    hasher.combine(width)
    hasher.combine(height)
    hasher.combine(bytesPerRow)
    hasher.combine(format)
    hasher.combine(orientation)
  }
}
