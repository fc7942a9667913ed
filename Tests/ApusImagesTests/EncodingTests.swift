// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import ApusVision
import Foundation
import TestSupport
import Testing

@Suite struct EncodingTests {
  private func picture(_ format: PixelFormat, _ orientation: ImageOrientation = .up) throws -> ImageBuffer {
    var random = SeededGenerator(seed: 5)
    let stride = 21 * format.bytesPerPixel + 3
    return try ImageBuffer(
      bytes: random.bytes(stride * 17), width: 21, height: 17, bytesPerRow: stride, format: format,
      orientation: orientation)
  }

  @Test(
    "PNG and PNM keep every pixel as it is seen", arguments: PixelFormat.allCases, ImageOrientation.allCases)
  func losesNothing(format: PixelFormat, orientation: ImageOrientation) throws {
    let image = try picture(format, orientation)
    let target: PixelFormat = format == .gray ? .gray : format.hasAlpha ? .rgba : .rgb
    #expect(try ImageBuffer(decoding: image.encoded(as: .png)) == image.oriented().converted(to: target))
    #expect(
      try ImageBuffer(decoding: image.encoded(as: .pnm))
        == image.oriented().converted(to: format == .gray ? .gray : .rgb))
  }

  @Test("JPEG comes close", arguments: [PixelFormat.rgb, .bgra, .gray], [60, 100])
  func staysClose(format: PixelFormat, quality: Int) throws {
    var bytes: [UInt8] = []
    for index in 0..<40 * 30 {
      let level = UInt8(index % 40 * 3 + index / 40 * 4)
      for _ in 0..<format.bytesPerPixel { bytes.append(level) }
    }
    let image = try ImageBuffer(bytes: bytes, width: 40, height: 30, format: format, orientation: .left)
    let back = try ImageBuffer(decoding: image.encoded(as: .jpeg, quality: quality))
    let upright = image.oriented().converted(to: format == .gray ? .gray : .rgb)
    #expect(back.width == 30 && back.height == 40 && back.orientation == .up && back.format == upright.format)
    let worst = zip(back.bytes, upright.bytes).map { abs(Int($0) - Int($1)) }.max()
    #expect(try #require(worst) <= (quality == 100 ? 2 : 16))
  }

  @Test func refusesWhatItCannotWrite() throws {
    let image = try picture(.rgb)
    for quality in [0, 101, .min, .max] {
      let error = #expect(throws: ApusError.self) { try image.encoded(as: .jpeg, quality: quality) }
      #expect(error?.code == .invalidArgument)
    }
    #expect(throws: ApusError.self) { try image.encoded(as: .bmp) }
    for path in ["/nowhere/picture", "/nowhere/picture.gif", "/nowhere.png/picture"] {
      let error = #expect(throws: ApusError.self) { try image.write(toFile: path) }
      #expect(error?.code == .unsupportedImage)
    }
    let error = #expect(throws: ApusError.self) { try image.write(toFile: "/nowhere/picture.png") }
    #expect(error?.code == .unwritableFile)
  }

  @Test func writesWhatTheExtensionSays() throws {
    try withTemporaryFolder { folder in
      let image = try picture(.rgb)
      for (name, format) in [("a.png", ImageFileFormat.png), ("b.JPG", .jpeg), ("c.ppm", .pnm)] {
        let path = folder.appendingPathComponent(name).path
        try image.write(toFile: path)
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(ImageFileFormat(detecting: bytes) == format)
        #expect(try ImageBuffer(contentsOfFile: path).width == 21)
      }
    }
  }
}
