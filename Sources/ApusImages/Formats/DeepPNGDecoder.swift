// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import ApusVision

/// Decodes PNGs of 16 bits a sample to 8 bits: the high byte of each sample, as OpenCV, TensorFlow and Pillow take it.
///
/// The PNG library would compute with light, or round.
struct DeepPNGDecoder {
  private let width: Int
  private let height: Int
  /// The samples of a pixel.
  private let channels: Int
  private let isInterlaced: Bool
  /// The sample values that stand for a transparent pixel.
  private let transparent: [UInt8]?

  /// Whether a PNG's header says 16 bits.
  static func accepts(_ bytes: [UInt8]) -> Bool { bytes.count > 33 && bytes[24] == 16 }

  /// Decodes a file whose size is within the limits.
  static func decode(_ bytes: [UInt8], width: Int, height: Int) throws(ApusError) -> ImageBuffer {
    try DeepPNGDecoder(bytes, width: width, height: height).image(bytes)
  }

  private init(_ bytes: [UInt8], width: Int, height: Int) throws(ApusError) {
    (self.width, self.height) = (width, height)
    guard let header = PNGChunks(bytes).first(where: { _ in true }), header.type == "IHDR",
      header.data.count == 13
    else {
      throw ApusError(.malformedImage, "the PNG does not begin with its header")
    }
    guard let channels = [0: 1, 2: 3, 4: 2, 6: 4][bytes[25]], bytes[26] == 0, bytes[27] == 0, bytes[28] <= 1
    else {
      throw ApusError(
        .malformedImage,
        "the PNG has 16 bits with the color type \(bytes[25]), compression \(bytes[26]), filter \(bytes[27]), "
          + "interlace \(bytes[28])")
    }
    self.channels = channels
    isInterlaced = bytes[28] == 1
    let key = PNGChunks(bytes).prefix { $0.type != "IDAT" }.first { $0.type == "tRNS" }.map { bytes[$0.data] }
    transparent = key.flatMap { [1, 3].contains(channels) && $0.count == 2 * channels ? Array($0) : nil }
  }

  private func image(_ bytes: [UInt8]) throws(ApusError) -> ImageBuffer {
    let hasAlpha = transparent != nil || channels.isMultiple(of: 2)
    let format: PixelFormat = hasAlpha ? .rgba : channels == 3 ? .rgb : .gray
    let rows = try PNGRows(
      bytes, width: width, height: height, channels: channels, sampleBits: 16, isInterlaced: isInterlaced,
      extraByteCount: format.bytesPerPixel * width * height)
    var pixels = [UInt8](repeating: 255, count: format.bytesPerPixel * width * height)
    rows.forEachRow { bytes, pass, line, columns, start in
      for column in 0..<columns {
        let place = (pass.y + line * pass.stepY) * width + pass.x + column * pass.stepX
        write(bytes, start + column * 2 * channels, to: &pixels, place * format.bytesPerPixel, format)
      }
    }
    return try ImageBuffer(bytes: pixels, width: width, height: height, format: format)
  }

  /// The high bytes of a pixel; gray with alpha becomes three equal channels.
  private func write(
    _ rows: [UInt8], _ source: Int, to pixels: inout [UInt8], _ target: Int, _ format: PixelFormat
  ) {
    let colors = format == .gray ? 1 : 3
    for channel in 0..<colors {
      pixels[target + channel] = rows[source + (channels < 3 ? 0 : 2 * channel)]
    }
    if channels.isMultiple(of: 2) {
      pixels[target + 3] = rows[source + 2 * (channels - 1)]
    } else if let transparent, rows[source..<source + 2 * channels].elementsEqual(transparent) {
      pixels[target + 3] = 0
    }
  }
}
