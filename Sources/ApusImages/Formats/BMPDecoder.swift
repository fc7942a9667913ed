// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

/// Decodes Windows and OS/2 bitmaps: 1, 4 and 8 bits with a palette (RLE4 and RLE8 too), 16, 24 and 32 bits with or
/// without masks, from bottom to top or from top to bottom.
///
/// Channels of fewer or more than 8 bits are scaled by `v · 255 / maximum`, rounded down. The fourth byte of 32-bit
/// pixels is alpha only where a mask says so.
struct BMPDecoder {
  /// One channel of a pixel with masks.
  private struct Mask {
    let shift: Int
    let maximum: Int

    init?(_ mask: Int) {
      guard mask != 0 else { return nil }
      shift = mask.trailingZeroBitCount
      maximum = mask >> shift
      // The bits of a channel are next to each other.
      guard maximum & (maximum + 1) == 0 else { return nil }
    }

    func value(of pixel: Int) -> UInt8 {
      UInt8((pixel >> shift & maximum) * 255 / maximum)
    }
  }

  private let bytes: [UInt8]
  private let cursor: ByteCursor
  private let headerSize: Int
  private let width: Int
  private let height: Int
  private let isTopDown: Bool
  private let bits: Int
  private let compression: Int
  private let pixelOffset: Int

  static func decode(_ bytes: [UInt8], limits: ImageLimits) throws(ApusError) -> ImageBuffer {
    try BMPDecoder(bytes, limits).decode()
  }

  private init(_ bytes: [UInt8], _ limits: ImageLimits) throws(ApusError) {
    self.bytes = bytes
    cursor = ByteCursor(bytes, of: "the bitmap")
    pixelOffset = try cursor.uint32(at: 10)
    headerSize = try cursor.uint32(at: 14)
    let isCore = headerSize == 12
    guard isCore || (40...124).contains(headerSize) else {
      throw ApusError(.unsupportedImage, "a bitmap header of \(headerSize) bytes is not known")
    }
    width = isCore ? try cursor.uint16(at: 18) : try cursor.int32(at: 18)
    let signedHeight = isCore ? try cursor.uint16(at: 20) : try cursor.int32(at: 22)
    height = abs(signedHeight)
    isTopDown = signedHeight < 0
    bits = try cursor.uint16(at: isCore ? 24 : 28)
    compression = isCore ? 0 : try cursor.uint32(at: 30)
    try limits.check(width: width, height: height)
    switch (compression, bits) {
    case (0, 1), (0, 4), (0, 8), (0, 16), (0, 24), (0, 32), (3, 16), (3, 32), (6, 16), (6, 32), (1, 8),
      (2, 4):
      break
    default:
      throw ApusError(
        .unsupportedImage, "a bitmap of \(bits) bits with compression \(compression) is not read")
    }
    guard pixelOffset >= 14 + headerSize, pixelOffset <= bytes.count else {
      throw ApusError(
        .malformedImage, "the pixels begin at byte \(pixelOffset) of \(bytes.count), in or before the header")
    }
  }

  private func decode() throws(ApusError) -> ImageBuffer {
    if compression == 1 || compression == 2 {
      return try paletteImage { indices throws(ApusError) in try decodeRuns(into: &indices) }
    }
    let stride = (width * bits + 31) / 32 * 4
    // The padding of the last row may be missing.
    let needed = stride * (height - 1) + (width * bits + 7) / 8
    guard bytes.count - pixelOffset >= needed else {
      throw ApusError(
        .malformedImage, "the pixels take \(needed) bytes, but \(bytes.count - pixelOffset) are left")
    }
    if bits <= 8 {
      return try paletteImage { indices throws(ApusError) in
        let mask = UInt8(truncatingIfNeeded: 1 << bits - 1)
        for y in 0..<height {
          let row = rowStart(y, stride: stride)
          for x in 0..<width {
            let bit = x * bits
            indices[y * width + x] = bytes[row + bit / 8] >> UInt8(8 - bits - bit % 8) & mask
          }
        }
      }
    }
    if bits == 24 || (bits == 32 && compression == 0) {
      return try plainImage(stride: stride)
    }
    return try maskedImage(stride: stride)
  }

  private func rowStart(_ y: Int, stride: Int) -> Int {
    pixelOffset + (isTopDown ? y : height - 1 - y) * stride
  }

  private func plainImage(stride: Int) throws(ApusError) -> ImageBuffer {
    let step = bits / 8
    var pixels = [UInt8](repeating: 0, count: width * height * 3)
    var target = 0
    for y in 0..<height {
      var source = rowStart(y, stride: stride)
      for _ in 0..<width {
        pixels[target] = bytes[source + 2]
        pixels[target + 1] = bytes[source + 1]
        pixels[target + 2] = bytes[source]
        target += 3
        source += step
      }
    }
    return try ImageBuffer(bytes: pixels, width: width, height: height, format: .rgb)
  }

  private func maskedImage(stride: Int) throws(ApusError) -> ImageBuffer {
    var masks = [0x7C00, 0x03E0, 0x001F, 0]
    if compression != 0 {
      // The masks follow a header of 40 bytes, and are part of a longer one at the same place.
      let hasAlphaMask = compression == 6 || headerSize >= 56
      for index in 0..<(hasAlphaMask ? 4 : 3) { masks[index] = try cursor.uint32(at: 54 + 4 * index) }
    }
    guard let red = Mask(masks[0]), let green = Mask(masks[1]), let blue = Mask(masks[2]) else {
      throw ApusError(.malformedImage, "the bitmap's color masks are empty or have gaps: \(masks)")
    }
    let alpha = Mask(masks[3])
    let step = alpha == nil ? 3 : 4
    var pixels = [UInt8](repeating: 0, count: width * height * step)
    var target = 0
    for y in 0..<height {
      let row = rowStart(y, stride: stride)
      for x in 0..<width {
        let pixel = bits == 16 ? try cursor.uint16(at: row + 2 * x) : try cursor.uint32(at: row + 4 * x)
        pixels[target] = red.value(of: pixel)
        pixels[target + 1] = green.value(of: pixel)
        pixels[target + 2] = blue.value(of: pixel)
        if let alpha { pixels[target + 3] = alpha.value(of: pixel) }
        target += step
      }
    }
    return try ImageBuffer(
      bytes: pixels, width: width, height: height, format: alpha == nil ? .rgb : .rgba)
  }

  /// The picture of palette indices; gray where the whole palette is.
  private func paletteImage(_ fill: (inout [UInt8]) throws(ApusError) -> Void) throws(ApusError)
    -> ImageBuffer
  {
    let entrySize = headerSize == 12 ? 3 : 4
    let start = 14 + headerSize
    let declared = headerSize == 12 ? 0 : try cursor.uint32(at: 46)
    let wanted = declared == 0 || declared > 1 << bits ? 1 << bits : declared
    let count = min(wanted, (pixelOffset - start) / entrySize)
    var indices = [UInt8](repeating: 0, count: width * height)
    try fill(&indices)
    if let wrong = indices.first(where: { $0 >= count }) {
      throw ApusError(.malformedImage, "a pixel has entry \(wrong) of a palette of \(count)")
    }
    let palette = (0..<count).map { entry in
      let at = start + entry * entrySize
      return (red: bytes[at + 2], green: bytes[at + 1], blue: bytes[at])
    }
    if palette.allSatisfy({ $0.red == $0.green && $0.green == $0.blue }) {
      for index in indices.indices { indices[index] = palette[Int(indices[index])].red }
      return try ImageBuffer(bytes: indices, width: width, height: height, format: .gray)
    }
    var pixels = [UInt8](repeating: 0, count: indices.count * 3)
    for index in indices.indices {
      let color = palette[Int(indices[index])]
      pixels[3 * index] = color.red
      pixels[3 * index + 1] = color.green
      pixels[3 * index + 2] = color.blue
    }
    return try ImageBuffer(bytes: pixels, width: width, height: height, format: .rgb)
  }

  /// Runs and literals of 8 or 4 bits. What is skipped keeps entry 0, and what reaches beyond a row's end is dropped, as other
  /// readers do.
  private func decodeRuns(into indices: inout [UInt8]) throws(ApusError) {
    var (x, y, position) = (0, 0, pixelOffset)
    func put(_ byte: Int, _ isSecond: Bool, into indices: inout [UInt8]) {
      if x < width, y < height {
        let value = bits == 8 ? byte : isSecond ? byte & 15 : byte >> 4
        indices[(isTopDown ? y : height - 1 - y) * width + x] = UInt8(value)
      }
      x += 1
    }
    while y < height {
      // The end of the last row may be the end of the file.
      if y == height - 1, x >= width, position + 2 > bytes.count { return }
      let first = try cursor.uint8(at: position)
      let second = try cursor.uint8(at: position + 1)
      position += 2
      if first > 0 {
        for index in 0..<first { put(second, index % 2 == 1, into: &indices) }
        continue
      }
      switch second {
      case 0:
        x = 0
        y += 1
      case 1: return
      case 2:
        x += try cursor.uint8(at: position)
        y += try cursor.uint8(at: position + 1)
        position += 2
      default:
        let perByte = 8 / bits
        for index in 0..<second {
          put(try cursor.uint8(at: position + index / perByte), index % perByte == 1, into: &indices)
        }
        // Literals are padded to two bytes.
        position += ((second + perByte - 1) / perByte + 1) / 2 * 2
      }
    }
  }
}
