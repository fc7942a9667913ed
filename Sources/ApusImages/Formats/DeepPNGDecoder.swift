// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import ApusVision

/// Decodes PNGs of 16 bits a sample to 8 bits: the high byte of each sample, as OpenCV, TensorFlow and Pillow take it.
///
/// The PNG library would compute with light, or round.
struct DeepPNGDecoder {
  /// The part of a picture that an interlaced file has at a time; the whole picture in others.
  private struct Pass {
    let x: Int
    let y: Int
    let stepX: Int
    let stepY: Int

    static let whole = [Pass(x: 0, y: 0, stepX: 1, stepY: 1)]
    static let adam7 = [
      Pass(x: 0, y: 0, stepX: 8, stepY: 8), Pass(x: 4, y: 0, stepX: 8, stepY: 8),
      Pass(x: 0, y: 4, stepX: 4, stepY: 8), Pass(x: 2, y: 0, stepX: 4, stepY: 4),
      Pass(x: 0, y: 2, stepX: 2, stepY: 4), Pass(x: 1, y: 0, stepX: 2, stepY: 2),
      Pass(x: 0, y: 1, stepX: 1, stepY: 2),
    ]

    func width(of width: Int) -> Int { (width - x + stepX - 1) / stepX }
    func height(of height: Int) -> Int { (height - y + stepY - 1) / stepY }
  }

  private let width: Int
  private let height: Int
  /// The samples of a pixel.
  private let channels: Int
  private let passes: [Pass]
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
    passes = bytes[28] == 1 ? Pass.adam7 : Pass.whole
    let key = PNGChunks(bytes).prefix { $0.type != "IDAT" }.first { $0.type == "tRNS" }.map { bytes[$0.data] }
    transparent = key.flatMap { [1, 3].contains(channels) && $0.count == 2 * channels ? Array($0) : nil }
  }

  private func image(_ bytes: [UInt8]) throws(ApusError) -> ImageBuffer {
    let hasAlpha = transparent != nil || channels.isMultiple(of: 2)
    let format: PixelFormat = hasAlpha ? .rgba : channels == 3 ? .rgb : .gray
    let step = 2 * channels
    var rowsByteCount = 0
    for pass in passes where pass.width(of: width) > 0 {
      rowsByteCount += pass.height(of: height) * (1 + step * pass.width(of: width))
    }
    try requireMemory(
      rowsByteCount + format.bytesPerPixel * width * height, for: "a picture of \(width) × \(height) pixels")
    var rows = try inflated(bytes, byteCount: rowsByteCount)
    var pixels = [UInt8](repeating: 255, count: format.bytesPerPixel * width * height)
    var start = 0
    for pass in passes {
      let (columns, lines) = (pass.width(of: width), pass.height(of: height))
      guard columns > 0 else { continue }
      for line in 0..<lines {
        try unfilter(&rows, at: start, byteCount: columns * step, hasUpper: line > 0)
        for column in 0..<columns {
          let place = (pass.y + line * pass.stepY) * width + pass.x + column * pass.stepX
          write(rows, start + 1 + column * step, to: &pixels, place * format.bytesPerPixel, format)
        }
        start += 1 + columns * step
      }
    }
    return try ImageBuffer(bytes: pixels, width: width, height: height, format: format)
  }

  /// The filtered rows of all passes, from the data chunks.
  private func inflated(_ bytes: [UInt8], byteCount: Int) throws(ApusError) -> [UInt8] {
    var data: [UInt8] = []
    for chunk in PNGChunks(bytes) where chunk.type == "IDAT" {
      let whole = bytes[chunk.whole.lowerBound + 4..<chunk.data.upperBound]
      let sum = bytes[chunk.data.upperBound..<chunk.whole.upperBound].reduce(0) { $0 << 8 | UInt32($1) }
      guard CRC32.checksum(Array(whole)) == sum else {
        throw ApusError(
          .malformedImage, "the PNG's data at byte \(chunk.data.lowerBound) has a wrong checksum")
      }
      data += bytes[chunk.data]
    }
    guard data.count > 6, data[0] & 15 == 8, data[1] & 32 == 0,
      (Int(data[0]) << 8 | Int(data[1])).isMultiple(of: 31)
    else {
      throw ApusError(.malformedImage, "the PNG ends early, or its data is not compressed with deflate")
    }
    do { return try Inflate.inflate(data[2...], expectedSize: byteCount) } catch {
      throw ApusError(.malformedImage, "the PNG's data: \(error.message)")
    }
  }

  /// Adds to a row what its filter took away; the byte at `start` names the filter.
  private func unfilter(_ rows: inout [UInt8], at start: Int, byteCount: Int, hasUpper: Bool)
    throws(ApusError)
  {
    let filter = rows[start]
    guard filter <= 4 else { throw ApusError(.malformedImage, "a row of the PNG has the filter \(filter)") }
    if filter == 0 { return }
    let step = 2 * channels
    for index in start + 1..<start + 1 + byteCount {
      let isFirst = index - start <= step
      let left = isFirst ? 0 : Int(rows[index - step])
      let up = hasUpper ? Int(rows[index - 1 - byteCount]) : 0
      let upLeft = isFirst || !hasUpper ? 0 : Int(rows[index - 1 - byteCount - step])
      let prediction =
        switch filter {
        case 1: left
        case 2: up
        case 3: (left + up) / 2
        default: Self.paeth(left, up, upLeft)
        }
      rows[index] &+= UInt8(prediction)
    }
  }

  private static func paeth(_ left: Int, _ up: Int, _ upLeft: Int) -> Int {
    let (toLeft, toUp, toUpLeft) = (abs(up - upLeft), abs(left - upLeft), abs(left + up - 2 * upLeft))
    return toLeft <= toUp && toLeft <= toUpLeft ? left : toUp <= toUpLeft ? up : upLeft
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
