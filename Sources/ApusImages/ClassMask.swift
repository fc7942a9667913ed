// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

/// The class of each pixel as a PNG has it: gray values, or the indices of a palette, never colors.
///
/// ```swift
/// let mask = try ClassMask(contentsOfFile: "SegmentationClass/2007_000033.png")
/// mask.indices[0]
/// ```
///
/// Datasets such as PASCAL VOC, ADE20K and Cityscapes have such files.
public struct ClassMask: Hashable, Sendable {
  /// The width in pixels.
  public let width: Int
  /// The height in pixels.
  public let height: Int
  /// The class of each pixel, row by row.
  public let indices: [UInt16]

  /// Wraps the class of each pixel.
  ///
  /// - Throws: `invalidArgument` if their number is not width times height.
  public init(width: Int, height: Int, indices: [UInt16]) throws(ApusError) {
    let (count, overflow) = width.multipliedReportingOverflow(by: height)
    guard width > 0, height > 0, !overflow, count == indices.count else {
      throw ApusError(
        .invalidArgument, "\(indices.count) classes are not those of \(width) × \(height) pixels")
    }
    (self.width, self.height, self.indices) = (width, height, indices)
  }

  /// Reads a PNG of gray values or of a palette, with 1 to 16 bits a pixel.
  ///
  /// - Throws: `unreadableFile`; `unsupportedImage` for a file of colors or of another format; `malformedImage` for damage; `resourceLimit`.
  public init(contentsOfFile path: String, limits: ImageLimits = ImageLimits()) throws(ApusError) {
    let bytes = try readWholeFile(at: path, limit: limits.maximumFileSize)
    do { try self.init(decoding: bytes, limits: limits) } catch {
      throw ApusError(error.code, "the mask '\(path)': \(error.message)")
    }
  }

  /// Decodes the bytes of a PNG of gray values or of a palette.
  ///
  /// - Throws: `unsupportedImage` for a file of colors or of another format; `malformedImage` for damage; `resourceLimit`.
  public init(decoding bytes: [UInt8], limits: ImageLimits = ImageLimits()) throws(ApusError) {
    guard ImageFileFormat(detecting: bytes) == .png else {
      throw ApusError(
        .unsupportedImage,
        "it is not a PNG; a mask has the class of each pixel as its gray value or the index of its color")
    }
    guard let (width, height) = ImageBuffer.storedSize(ofFile: bytes), bytes.count > 33,
      PNGChunks(bytes).first(where: { _ in true })?.type == "IHDR"
    else { throw ApusError(.malformedImage, "the PNG does not begin with its header") }
    try limits.check(width: width, height: height)
    let (bits, color) = (Int(bytes[24]), bytes[25])
    guard [0, 3].contains(color) else {
      throw ApusError(
        .unsupportedImage,
        "it has colors, not classes: a mask is a PNG of gray values or of a palette, not of red, green and blue or with transparency"
      )
    }
    guard [1, 2, 4, 8].contains(bits) || bits == 16 && color == 0, bytes[26] == 0, bytes[27] == 0,
      bytes[28] <= 1
    else { throw ApusError(.malformedImage, "the PNG has a header that no PNG has") }
    let rows = try PNGRows(
      bytes, width: width, height: height, channels: 1, sampleBits: bits, isInterlaced: bytes[28] == 1,
      extraByteCount: 2 * width * height)
    var indices = [UInt16](repeating: 0, count: width * height)
    rows.forEachRow { bytes, pass, line, columns, start in
      for column in 0..<columns {
        let place = (pass.y + line * pass.stepY) * width + pass.x + column * pass.stepX
        if bits == 16 {
          indices[place] = UInt16(bytes[start + 2 * column]) << 8 | UInt16(bytes[start + 2 * column + 1])
        } else {
          // The first pixel has the highest bits.
          let bit = column * bits
          let shift = 8 - bits - bit % 8
          indices[place] = UInt16(bytes[start + bit / 8] >> UInt8(shift)) & (1 << UInt16(bits) - 1)
        }
      }
    }
    (self.width, self.height, self.indices) = (width, height, indices)
  }
}
