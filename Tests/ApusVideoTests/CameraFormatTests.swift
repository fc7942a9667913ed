// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVideo
import ApusVision
import TestSupport
import Testing

/// Forms of frames against the definitions of the kernel's documentation of pixel formats, pixel by pixel.
@Suite struct CameraFormatTests {
  /// Luma, U and V of a pixel, or red, green and blue, by where the documentation says that they lie.
  private func samples(_ code: String, _ bytes: [UInt8], _ x: Int, _ y: Int, _ stride: Int, _ height: Int)
    -> [UInt8]?
  {
    let plane = stride * height
    let pair = y * stride + x / 2 * 4
    let half = stride / 2
    let first = y * stride + x
    let quad = y * stride + 4 * x
    func at(_ places: Int...) -> [UInt8] { places.map { bytes[$0] } }
    switch code {
    case "YUYV": return at(pair + x % 2 * 2, pair + 1, pair + 3)
    case "UYVY": return at(pair + 1 + x % 2 * 2, pair, pair + 2)
    case "YVYU": return at(pair + x % 2 * 2, pair + 3, pair + 1)
    case "VYUY": return at(pair + 1 + x % 2 * 2, pair + 2, pair)
    case "NV12": return at(first, plane + y / 2 * stride + x / 2 * 2, plane + y / 2 * stride + x / 2 * 2 + 1)
    case "NV21": return at(first, plane + y / 2 * stride + x / 2 * 2 + 1, plane + y / 2 * stride + x / 2 * 2)
    case "NV16": return at(first, plane + y * stride + x / 2 * 2, plane + y * stride + x / 2 * 2 + 1)
    case "NV61": return at(first, plane + y * stride + x / 2 * 2 + 1, plane + y * stride + x / 2 * 2)
    case "NV24": return at(first, plane + y * 2 * stride + 2 * x, plane + y * 2 * stride + 2 * x + 1)
    case "NV42": return at(first, plane + y * 2 * stride + 2 * x + 1, plane + y * 2 * stride + 2 * x)
    case "YU12":
      let u = plane + y / 2 * half + x / 2
      return at(first, u, u + half * height / 2)
    case "YV12":
      let v = plane + y / 2 * half + x / 2
      return at(first, v + half * height / 2, v)
    case "422P":
      let u = plane + y * half + x / 2
      return at(first, u, u + half * height)
    case "BGR4", "XR24", "AR24": return at(quad + 2, quad + 1, quad)
    case "RGB4", "BA24", "BX24": return at(quad + 1, quad + 2, quad + 3)
    case "RA24", "RX24": return at(quad + 3, quad + 2, quad + 1)
    case "AB24", "XB24": return at(quad, quad + 1, quad + 2)
    case "RGB3": return at(y * stride + 3 * x, y * stride + 3 * x + 1, y * stride + 3 * x + 2)
    case "BGR3": return at(y * stride + 3 * x + 2, y * stride + 3 * x + 1, y * stride + 3 * x)
    default: return nil
    }
  }

  @Test("pixels lie where the documentation says", arguments: CameraFormat.all.map(\.code))
  func findsPixels(code: String) throws {
    let (width, height, stride) = (6, 4, 32)
    var random = SeededGenerator(seed: 3)
    let bytes = random.bytes(3 * stride * height)
    guard samples(code, bytes, 0, 0, stride, height) != nil else { return }
    let format = try #require(CameraFormat.named(code))
    // Full range keeps luma as it is where chroma is in the middle; the colors are those of the same samples as one YUYV pair.
    let color = VideoColor(range: .full)
    let picture = try format.picture(bytes, width: width, height: height, stride: stride, color: color)
      .converted()
    let hasColors =
      code.contains("RGB") || code.contains("BGR") || code.hasSuffix("24") && !code.hasPrefix("NV")
    for y in 0..<height {
      for x in 0..<width {
        let sample = try #require(samples(code, bytes, x, y, stride, height))
        let pixel = try #require(picture.pixel(x: x, y: y))
        let expected: PixelColor
        if hasColors {
          expected = PixelColor(red: sample[0], green: sample[1], blue: sample[2], alpha: 255)
        } else {
          let single = try RawPicture(
            bytes: [sample[0], sample[1], sample[0], sample[2]], width: 1, height: 1, layout: .yuyv,
            color: color
          ).converted()
          expected = try #require(single.pixel(x: 0, y: 0))
        }
        #expect(
          pixel.red == expected.red && pixel.green == expected.green && pixel.blue == expected.blue,
          "\(code) at \(x), \(y)")
      }
    }
  }

  @Test(
    "words of bits are spread over 0 to 255",
    arguments: [
      ("RGBP", [0x00, 0xF8], [255, 0, 0]), ("RGBP", [0xE0, 0x07], [0, 255, 0]),
      ("RGBP", [0x1F, 0x00], [0, 0, 255]),
      ("RGBP", [0x00, 0x80], [132, 0, 0]), ("RGBR", [0xF8, 0x00], [255, 0, 0]),
      ("RGBO", [0x00, 0x7C], [255, 0, 0]),
      ("XR15", [0xE0, 0x03], [0, 255, 0]), ("RGBQ", [0x00, 0x1F], [0, 0, 255]),
      ("R444", [0x50, 0x0F], [255, 85, 0]),
      ("RGB1", [0xE3], [255, 0, 255]),
      ("RX15", [0x3E, 0x00], [0, 0, 255]), ("XB15", [0x1F, 0x00], [255, 0, 0]),
      ("BA15", [0x00, 0xF8], [0, 0, 255]),
      ("RA12", [0x00, 0xF0], [255, 0, 0]), ("AB12", [0x00, 0x0F], [0, 0, 255]),
      ("GA12", [0xF0, 0x00], [255, 0, 0]),
      ("BGRH", [0xFC, 0x00, 0x00, 0x00], [0, 0, 255]), ("BGRH", [0x00, 0x0F, 0xC0, 0x00], [255, 0, 0]),
      ("YUV4", [9, 77, 128, 128], [77, 77, 77]), ("VUYA", [128, 128, 77, 9], [77, 77, 77]),
      ("YUVX", [77, 128, 128, 9], [77, 77, 77]), ("YUVP", [0x10, 0x84], [128, 128, 128]),
      ("YUVO", [0x10, 0x42], [128, 128, 128]), ("Y444", [0x88, 0x08], [128, 128, 128]),
      ("Y10", [0xFF, 0x03], [255, 255, 255]),
      ("Y12", [0x00, 0x08], [128, 128, 128]),
      ("Y16", [0x34, 0x12], [0x12, 0x12, 0x12]), ("Y16-BE", [0x34, 0x12], [0x34, 0x34, 0x34]),
      // More bits than the form has.
      ("Y10", [0xFF, 0xFF], [255, 255, 255]),
    ] as [(String, [Int], [Int])])
  func spreadsBits(code: String, bytes: [Int], expected: [Int]) throws {
    let picture = try #require(CameraFormat.named(code)).picture(
      bytes.map { UInt8($0) }, width: 1, height: 1, stride: 0, color: VideoColor(range: .full)
    ).converted()
    let pixel = try #require(picture.pixel(x: 0, y: 0))
    #expect([pixel.red, pixel.green, pixel.blue].map(Int.init) == expected)
  }

  @Test("squares of a sensor give their colors", arguments: ["RGGB", "GRBG", "GBRG", "BA81"])
  func readsSensors(code: String) throws {
    // A scene of one color: red 200, green 100, blue 50.
    let letters = code == "BA81" ? "BGGR" : code
    let levels: [Character: UInt8] = ["R": 200, "G": 100, "B": 50]
    let square = letters.map { levels[$0] ?? 0 }
    let bytes = (0..<15).map { place -> UInt8 in
      let (y, x) = place.quotientAndRemainder(dividingBy: 5)
      return square[y % 2 * 2 + x % 2]
    }
    let picture = try #require(CameraFormat.named(code)).picture(
      bytes, width: 5, height: 3, stride: 5, color: VideoColor()
    ).converted()
    for y in 0..<3 {
      for x in 0..<5 {
        let pixel = try #require(picture.pixel(x: x, y: y))
        #expect([pixel.red, pixel.green, pixel.blue] == [200, 100, 50], "\(x), \(y)")
      }
    }
  }

  @Test("JPEGs have the size that the driver announced", arguments: ["MJPG", "JPEG"])
  func refusesJPEGsOfAnotherSize(code: String) throws {
    let format = try #require(CameraFormat.named(code))
    let bytes = try ImageBuffer(
      bytes: [UInt8](repeating: 99, count: 64 * 48), width: 64, height: 48, format: .gray
    ).encoded(as: .jpeg)
    let picture = try format.picture(bytes, width: 64, height: 48, stride: 0, color: VideoColor())
    #expect(picture.width == 64 && picture.height == 48)
    for (width, height, message) in [
      (32, 48, "picture of 64 × 48 pixels is beyond the limit"),
      (48, 64, "a frame is a JPEG of 64 × 48 pixels, not of 48 × 64"),
      (128, 96, "a frame is a JPEG of 64 × 48 pixels, not of 128 × 96"),
    ] {
      let error = #expect(throws: ApusError.self) {
        try format.picture(bytes, width: width, height: height, stride: 0, color: VideoColor())
      }
      #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }
  }

  @Test("frames with too few bytes are refused", arguments: CameraFormat.all)
  func refusesShortFrames(format: CameraFormat) throws {
    for count in [0, 1, 3, 40] {
      #expect(throws: ApusError.self) {
        try format.picture(
          [UInt8](repeating: 1, count: count), width: 7, height: 7, stride: 0, color: VideoColor())
      }
    }
    #expect(throws: ApusError.self) {
      try format.picture([1, 2, 3], width: .max, height: .max, stride: .max, color: VideoColor())
    }
    // One column and row are enough for no trap.
    if format.code != "MJPG", format.code != "JPEG" {
      let one = try format.picture(
        [UInt8](repeating: 7, count: 16), width: 1, height: 1, stride: 0, color: VideoColor())
      #expect(one.converted().width == 1)
    }
  }
}
