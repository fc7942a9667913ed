// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

/// Decodes PBM, PGM and PPM: P1 to P6, one or two bytes a sample.
///
/// Samples of a maximum up to 255 are scaled to it and rounded half up. Larger ones are scaled to 16 bits, and their high byte
/// counts, as in a PNG. Of several pictures in one file, the first is read.
struct NetpbmDecoder {
  private let bytes: [UInt8]
  private var position = 2

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  static func decode(_ bytes: [UInt8], limits: ImageLimits) throws(ApusError) -> ImageBuffer {
    var decoder = NetpbmDecoder(bytes)
    let kind = bytes[1] - 0x30
    let (width, height) = try decoder.size()
    try limits.check(width: width, height: height)
    let isBitmap = kind == 1 || kind == 4
    let maximum = isBitmap ? 1 : try decoder.number("the largest sample", limit: 65_535)
    guard maximum > 0 else { throw ApusError(.malformedImage, "the largest sample is 0") }
    let format: PixelFormat = kind == 3 || kind == 6 ? .rgb : .gray
    let count = width * height * format.bytesPerPixel
    if kind >= 4 { try decoder.skipOneSpace() }
    let available = bytes.count - decoder.position
    let needed =
      switch kind {
      case 1: count
      case 2, 3: 2 * count - 1
      case 4: (width + 7) / 8 * height
      default: maximum > 255 ? 2 * count : count
      }
    guard available >= needed else {
      throw ApusError(
        .malformedImage, "the pixels take at least \(needed) bytes, but \(available) are left")
    }
    let pixels: [UInt8] =
      switch kind {
      case 1: try decoder.bits(count)
      case 4: decoder.packedBits(width: width, height: height)
      case 2, 3: try decoder.plainSamples(count, maximum: maximum)
      default: try decoder.samples(count, maximum: maximum)
      }
    return try ImageBuffer(bytes: pixels, width: width, height: height, format: format)
  }

  /// The width and height that a file begins with.
  static func size(of bytes: [UInt8]) throws(ApusError) -> (width: Int, height: Int) {
    var decoder = NetpbmDecoder(bytes)
    return try decoder.size()
  }

  private mutating func size() throws(ApusError) -> (width: Int, height: Int) {
    (try number("the width", limit: 1 << 30), try number("the height", limit: 1 << 30))
  }

  /// Skips white space and comments, which reach from `#` to the end of the line.
  private mutating func skipSpace() {
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "#") {
        while position < bytes.count, bytes[position] != 0x0A, bytes[position] != 0x0D { position += 1 }
      } else if Self.isSpace(bytes[position]) {
        position += 1
      } else {
        return
      }
    }
  }

  private mutating func skipOneSpace() throws(ApusError) {
    guard position < bytes.count, Self.isSpace(bytes[position]) else {
      throw ApusError(.malformedImage, "white space was expected at byte \(position), before the pixels")
    }
    position += 1
  }

  private mutating func number(_ what: String, limit: Int) throws(ApusError) -> Int {
    skipSpace()
    var value = 0
    let start = position
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
      value = value * 10 + Int(bytes[position]) - 0x30
      position += 1
      guard value <= limit else {
        throw ApusError(.malformedImage, "\(what) at byte \(start) is more than \(limit)")
      }
    }
    guard position > start else {
      throw ApusError(.malformedImage, "\(what) was expected at byte \(start)")
    }
    return value
  }

  private mutating func bits(_ count: Int) throws(ApusError) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    while result.count < count {
      skipSpace()
      guard position < bytes.count, bytes[position] == 0x30 || bytes[position] == 0x31 else {
        throw ApusError(.malformedImage, "0 or 1 was expected at byte \(position)")
      }
      result.append(bytes[position] == 0x30 ? 255 : 0)
      position += 1
    }
    return result
  }

  private func packedBits(width: Int, height: Int) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(width * height)
    let stride = (width + 7) / 8
    for y in 0..<height {
      for x in 0..<width {
        let byte = bytes[position + y * stride + x / 8]
        result.append(byte >> (7 - UInt8(x % 8)) & 1 == 0 ? 255 : 0)
      }
    }
    return result
  }

  /// A sample of a file whose largest one is `maximum`, at most 65,535.
  private static func eightBits(_ sample: Int, of maximum: Int) -> UInt8 {
    let largest = maximum > 255 ? 65_535 : 255
    let scaled = (2 * sample * largest + maximum) / (2 * maximum)
    return UInt8(maximum > 255 ? scaled >> 8 : scaled)
  }

  private mutating func plainSamples(_ count: Int, maximum: Int) throws(ApusError) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    for _ in 0..<count {
      result.append(Self.eightBits(try number("a sample", limit: maximum), of: maximum))
    }
    return result
  }

  private func samples(_ count: Int, maximum: Int) throws(ApusError) -> [UInt8] {
    if maximum == 255 { return Array(bytes[position..<position + count]) }
    var result: [UInt8] = []
    result.reserveCapacity(count)
    let isWide = maximum > 255
    for index in 0..<count {
      let at = isWide ? position + 2 * index : position + index
      let value = isWide ? Int(bytes[at]) << 8 | Int(bytes[at + 1]) : Int(bytes[at])
      guard value <= maximum else {
        throw ApusError(.malformedImage, "the sample \(value) at byte \(at) is more than \(maximum)")
      }
      result.append(Self.eightBits(value, of: maximum))
    }
    return result
  }
}
