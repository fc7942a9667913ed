// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision
import TestSupport
import Testing

/// A picture of noise; padding bytes are noise too, so that reading them shows.
func noise(
  _ width: Int, _ height: Int, _ format: PixelFormat, padding: Int = 0, orientation: ImageOrientation = .up,
  seed: UInt64 = 1
) throws -> ImageBuffer {
  var random = SeededGenerator(seed: seed)
  let stride = width * format.bytesPerPixel + padding
  return try ImageBuffer(
    bytes: random.bytes(stride * height), width: width, height: height, bytesPerRow: stride, format: format,
    orientation: orientation)
}

/// Where the pixel seen at (u, v) is stored, in the words of the EXIF specification.
func storedPosition(_ u: Int, _ v: Int, _ image: ImageBuffer) -> (x: Int, y: Int) {
  let (right, bottom) = (image.width - 1, image.height - 1)
  switch image.orientation.rawValue {
  case 1: return (u, v)  // row 0 is the top, column 0 the left
  case 2: return (right - u, v)  // top, right
  case 3: return (right - u, bottom - v)  // bottom, right
  case 4: return (u, bottom - v)  // bottom, left
  case 5: return (v, u)  // left, top
  case 6: return (v, bottom - u)  // right, top
  case 7: return (right - v, bottom - u)  // right, bottom
  default: return (right - v, u)  // left, bottom
  }
}

@Suite struct ImageBufferTests {
  @Test(
    "an impossible picture is refused by name",
    arguments: [
      (0, 4, 12, 48, ApusError.Code.malformedImage), (4, 0, 12, 48, .malformedImage),
      (-1, 4, 12, 48, .malformedImage), (4, Int.min, 12, 48, .malformedImage),
      (4, 4, 11, 48, .malformedImage), (4, 4, -12, 48, .malformedImage), (4, 4, 12, 47, .malformedImage),
      (4, 4, Int.max, 48, .malformedImage), (4, 4, Int.max / 2, 48, .malformedImage),
      (32_769, 1, 98_307, 98_307, .resourceLimit), (32_768, 32_768, 98_304, 48, .resourceLimit),
      (Int.max, Int.max, 12, 48, .resourceLimit),
    ])
  func refuses(width: Int, height: Int, stride: Int, count: Int, code: ApusError.Code) {
    let error = #expect(throws: ApusError.self) {
      try ImageBuffer(
        bytes: [UInt8](repeating: 0, count: count), width: width, height: height, bytesPerRow: stride,
        format: .rgb)
    }
    #expect(error?.code == code)
  }

  @Test func acceptsALastRowWithoutPadding() throws {
    let image = try ImageBuffer(
      bytes: Array(0..<27), width: 3, height: 3, bytesPerRow: 9 + 0, format: .rgb)
    #expect(image.pixel(x: 2, y: 2) == PixelColor(red: 24, green: 25, blue: 26))
    let padded = try ImageBuffer(bytes: Array(0..<13), width: 3, height: 2, bytesPerRow: 10, format: .gray)
    #expect(padded.pixel(x: 2, y: 1)?.red == 12)
    #expect(padded.converted(to: .gray).bytes == [0, 1, 2, 10, 11, 12])
  }

  @Test func namesChannelsInTheOrderOfTheFormat() throws {
    let cases: [(PixelFormat, [UInt8])] = [
      (.rgb, [1, 2, 3]), (.bgr, [3, 2, 1]), (.rgba, [1, 2, 3, 4]), (.bgra, [3, 2, 1, 4]),
      (.argb, [4, 1, 2, 3]), (.abgr, [4, 3, 2, 1]),
    ]
    for (format, bytes) in cases {
      let image = try ImageBuffer(bytes: bytes, width: 1, height: 1, format: format)
      let alpha: UInt8 = format.hasAlpha ? 4 : 255
      #expect(image.pixel(x: 0, y: 0) == PixelColor(red: 1, green: 2, blue: 3, alpha: alpha))
    }
  }

  @Test func answersNilOutsideThePicture() throws {
    let image = try noise(3, 2, .rgb)
    for (x, y) in [(-1, 0), (0, -1), (3, 0), (0, 2), (Int.max, Int.max), (Int.min, 0)] {
      #expect(image.pixel(x: x, y: y) == nil)
    }
  }

  @Test("every conversion keeps every color", arguments: PixelFormat.allCases, PixelFormat.allCases)
  func converts(from: PixelFormat, to: PixelFormat) throws {
    for padding in [0, 1, 5] {
      let image = try noise(7, 5, from, padding: padding)
      let result = image.converted(to: to)
      #expect(result.format == to && result.isTightlyPacked)
      for y in 0..<5 {
        for x in 0..<7 {
          var expected = try #require(image.pixel(x: x, y: y))
          if to == .gray && from != .gray {
            let red = Double(expected.red) * 0.299
            let green = Double(expected.green) * 0.587
            let level = (red + green + Double(expected.blue) * 0.114).rounded()
            let found = try #require(result.pixel(x: x, y: y)?.red)
            // The specified weights are these, rounded to 16 bits.
            #expect(abs(Double(found) - level) <= 1)
            expected = PixelColor(red: found, green: found, blue: found)
          }
          if !to.hasAlpha { expected.alpha = 255 }
          #expect(result.pixel(x: x, y: y) == expected)
        }
      }
    }
  }

  @Test(
    "applies each orientation as EXIF defines it", arguments: ImageOrientation.allCases, PixelFormat.allCases)
  func orients(orientation: ImageOrientation, format: PixelFormat) throws {
    for (width, height, padding) in [(1, 1, 0), (5, 3, 0), (3, 5, 2), (1, 4, 3), (4, 1, 1)] {
      let image = try noise(width, height, format, padding: padding, orientation: orientation)
      let upright = image.oriented()
      #expect(upright.orientation == .up && upright.format == format && upright.isTightlyPacked)
      #expect(upright.width == image.uprightWidth && upright.height == image.uprightHeight)
      for v in 0..<upright.height {
        for u in 0..<upright.width {
          let (x, y) = storedPosition(u, v, image)
          #expect(upright.pixel(x: u, y: v) == image.pixel(x: x, y: y))
        }
      }
    }
  }

  @Test("rectangles turn with the pixels, and back", arguments: ImageOrientation.allCases)
  func turnsRectangles(orientation: ImageOrientation) throws {
    let image = try noise(9, 5, .gray, orientation: orientation)
    for v in 0..<image.uprightHeight {
      for u in 0..<image.uprightWidth {
        let seen = PixelRect(x: Float(u), y: Float(v), width: 1, height: 1)
        let (x, y) = storedPosition(u, v, image)
        let stored = PixelRect(x: Float(x), y: Float(y), width: 1, height: 1)
        #expect(orientation.stored(seen, width: 9, height: 5) == stored)
        #expect(orientation.upright(stored, width: 9, height: 5) == seen)
      }
    }
  }
}
