// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import ApusVision
import Foundation
import TestSupport
import Testing

@Suite struct DecodingTests {
  @Test func hasFiles() {
    #expect(PictureFixture.all.count == 101)
  }

  @Test("every kind of file has the pixels that Pillow reads", arguments: PictureFixture.all)
  func decodes(fixture: PictureFixture) throws {
    let image = try ImageBuffer(decoding: fixture.file)
    #expect(image.width == fixture.width && image.height == fixture.height)
    #expect(image.orientation == fixture.orientation)
    #expect(image.format == fixture.format || image.format == .gray)
    let pixels = image.converted(to: fixture.format).bytes
    #expect(pixels.count == fixture.pixels.count)
    let worst = zip(pixels, fixture.pixels).map { abs(Int($0) - Int($1)) }.max()
    #expect(try #require(worst) <= fixture.tolerance)
  }

  @Test("a file that ends early is an error, wherever it ends", arguments: PictureFixture.all)
  func refusesTruncation(fixture: PictureFixture) throws {
    for length in 0..<fixture.file.count {
      do throws(ApusError) {
        let image = try ImageBuffer(decoding: Array(fixture.file[..<length]))
        // Bytes after the last pixel may be missing: padding, an end marker, a checksum. A plain number that
        // loses its last digit is another number.
        let worst =
          zip(image.converted(to: fixture.format).bytes, fixture.pixels).dropLast()
          .map { abs(Int($0) - Int($1)) }.max() ?? 0
        #expect(worst <= fixture.tolerance, "\(length) of \(fixture.file.count) bytes")
      } catch {
        #expect(
          error.code == .malformedImage || error.code == .unsupportedImage && length < 12,
          "\(length): \(error)")
      }
    }
  }

  @Test("bytes between the segments of a JPEG are told as what they are")
  func refusesStrayBytes() throws {
    let files = PictureFixture.all.map(\.file).filter { $0.starts(with: [0xFF, 0xD8]) }
    #expect(!files.isEmpty)
    for var file in files {
      let end = 4 + Int(file[4]) << 8 + Int(file[5])
      file.insert(contentsOf: [0, 0], at: end)
      let error = #expect(throws: ApusError.self) { try ImageBuffer(decoding: file) }
      #expect(error?.message == "the JPEG has bytes between its segments that belong to none")
    }
  }

  @Test("any damage gives a picture or an error", arguments: PictureFixture.all)
  func survivesMutants(fixture: PictureFixture) throws {
    var random = SeededGenerator(seed: UInt64(fixture.file.count))
    // Small limits keep a header that claims a huge picture from costing the test its time.
    let limits = ImageLimits(maximumSide: 4_096, maximumPixelCount: 1 << 20)
    for _ in 0..<300 {
      var bytes = fixture.file
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        // Headers are where damage does most.
        let end = Bool.random(using: &random) ? min(bytes.count, 160) : bytes.count
        let at = Int.random(in: 0..<end, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: bytes[at] = 0
        case 1: bytes[at] = 255
        case 2: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 3: bytes.removeSubrange(at..<min(bytes.count, at + 5))
        case 4: bytes.insert(contentsOf: random.bytes(3), at: at)
        default: bytes[at] = UInt8.random(in: 0...255, using: &random)
        }
        if bytes.count < 8 { bytes = fixture.file }
      }
      do throws(ApusError) {
        let image = try ImageBuffer(decoding: bytes, limits: limits)
        #expect(image.width <= 4_096 && image.height <= 4_096)
      } catch {
        #expect([.malformedImage, .unsupportedImage, .resourceLimit].contains(error.code))
      }
    }
  }

  @Test func refusesHugePicturesBeforeDecoding() {
    func fails(_ bytes: [UInt8], _ limits: ImageLimits = ImageLimits()) -> ApusError.Code? {
      do {
        _ = try ImageBuffer(decoding: bytes, limits: limits)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(fails(Array("P6 999999 999999 255\n".utf8)) == .resourceLimit)
    #expect(fails(Array("P6 16384 8192 255\n".utf8)) == .malformedImage)
    #expect(fails(Array("P5 99999999999999999999 1 255\n".utf8)) == .malformedImage)
    #expect(fails(Array("P5 0 1 255\n".utf8)) == .malformedImage)
    var png = PictureFixture.named("png rgb").file
    png.replaceSubrange(16..<24, with: [0, 0, 0x40, 0, 0, 0, 0x20, 0])
    #expect(fails(png) == .malformedImage)
    png.replaceSubrange(16..<24, with: [0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF])
    #expect(fails(png) == .resourceLimit)
    var bmp = PictureFixture.named("bmp 24 bits").file
    bmp.replaceSubrange(18..<26, with: [0, 0x40, 0, 0, 0, 0x20, 0, 0])
    #expect(fails(bmp) == .malformedImage)
    bmp.replaceSubrange(18..<26, with: [0, 0, 0, 0x80, 0, 0, 0, 0x80])
    #expect(fails(bmp) == .malformedImage)
    var jpeg = PictureFixture.named("jpeg 4:4:4").file
    let frame = jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 }!
    jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0x40, 0, 0x20, 0])
    #expect(fails(jpeg) == .malformedImage)
    jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xF0, 0, 0xF0, 0])
    #expect(fails(jpeg) == .resourceLimit)
    let small = ImageLimits(maximumSide: 8)
    #expect(PictureFixture.all.allSatisfy { fails($0.file, small) == .resourceLimit })
    #expect(fails(png, ImageLimits(maximumFileSize: 10)) == .resourceLimit)
  }

  @Test("of a file that is no picture, only the beginning is read", .timeLimit(.minutes(1)))
  func endlessFile() throws {
    let limits = ImageLimits(maximumFileSize: .max)
    let zeros = try #require(FileHandle(forReadingAtPath: "/dev/zero"))
    let file = "/dev/fd/\(zeros.fileDescriptor)"
    let error = #expect(throws: ApusError.self) { try ImageBuffer(contentsOfFile: file, limits: limits) }
    #expect(error?.code == .unsupportedImage && error?.message.contains(file) == true)
    var image = try ImageBuffer(bytes: [1], width: 1, height: 1, format: .gray)
    #expect(throws: ApusError.self) { try image.reload(contentsOfFile: file, limits: limits) }
    // A device that is not open already is refused by its kind.
    let device = #expect(throws: ApusError.self) { try ImageBuffer(contentsOfFile: "/dev/zero") }
    #expect(device?.code == .unreadableFile && device?.message.contains("it is a device") == true)
  }

  @Test(
    "a stranger is refused by name",
    arguments: [
      ([UInt8](), ApusError.Code.malformedImage), ([0x42], .unsupportedImage),
      (Array("GIF89a".utf8), .unsupportedImage),
      (Array("P7\nWIDTH 1\n".utf8), .unsupportedImage), (Array("BM".utf8), .malformedImage),
      ([0xFF, 0xD8, 0xFF], .malformedImage), (Array("P6\n".utf8), .malformedImage),
      (Array("P5 1 1 65536\n00".utf8), .malformedImage), (Array("P2 1 1 9 10".utf8), .malformedImage),
      (Array("P5 1 1 9 z".utf8), .malformedImage), (Array("P1 1 1 2".utf8), .malformedImage),
    ])
  func refuses(bytes: [UInt8], code: ApusError.Code) {
    let error = #expect(throws: ApusError.self) { try ImageBuffer(decoding: bytes) }
    #expect(error?.code == code)
  }

  @Test(
    "damaged EXIF costs the orientation, never the picture",
    arguments: [
      [], [0x49, 0x49, 42, 0], [0x49, 0x49, 42, 0, 0xFF, 0xFF, 0xFF, 0xFF],
      [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0xFF, 0xFF],
      [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 9, 0, 0, 0],
      [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 2, 0, 1, 0, 0, 0, 6, 0, 0, 0],
      [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 2, 0, 0, 0, 6, 0, 0, 0],
    ] as [[UInt8]])
  func ignoresDamagedEXIF(tiff: [UInt8]) throws {
    #expect(try ImageBuffer(decoding: jpeg(withTIFF: tiff)).orientation == .up)
  }

  @Test func readsEXIFOfBothByteOrdersAndWidths() throws {
    let short: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]
    #expect(try ImageBuffer(decoding: jpeg(withTIFF: short)).orientation == .right)
    let long: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 4, 0, 0, 0, 1, 0, 0, 0, 8]
    #expect(try ImageBuffer(decoding: jpeg(withTIFF: long)).orientation == .left)
  }

  private func jpeg(withTIFF tiff: [UInt8]) -> [UInt8] {
    let plain = PictureFixture.named("jpeg gray").file
    let length = tiff.count + 8
    var bytes = Array(plain[..<2])
    bytes += [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255), 0x45, 0x78, 0x69, 0x66, 0, 0]
    bytes += tiff
    return bytes + plain[2...]
  }

  @Test func aMissingFileIsNamed() {
    let error = #expect(throws: ApusError.self) { try ImageBuffer(contentsOfFile: "/nowhere/cat.png") }
    #expect(error?.code == .unreadableFile && error?.message.contains("/nowhere/cat.png") == true)
  }

  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["APUS_TEST_DATA"] != nil, "APUS_TEST_DATA names no folder"),
    arguments: [
      ("burger.jpg", 480, 325), ("cats_and_dogs.jpg", 1_200, 600), ("grace_hopper.bmp", 512, 600),
      ("multi_objects.jpg", 902, 358), ("segmentation_input_rotation0.jpg", 257, 257),
      ("sparrow.png", 1_280, 851),
    ])
  func readsRealPictures(name: String, width: Int, height: Int) throws {
    let folder = try #require(ProcessInfo.processInfo.environment["APUS_TEST_DATA"])
    let image = try ImageBuffer(contentsOfFile: "\(folder)/images/\(name)")
    #expect(image.width == width && image.height == height)
  }

  @Test func readingAgainIsReading() throws {
    var image = try ImageBuffer(bytes: [1, 2, 3], width: 1, height: 1, format: .rgb)
    for fixture in PictureFixture.all + PictureFixture.all.reversed() {
      try image.reload(decoding: fixture.file)
      #expect(try image == ImageBuffer(decoding: fixture.file))
    }
    let copy = image
    try image.reload(decoding: PictureFixture.named("jpeg 4:2:0").file)
    #expect(try copy == ImageBuffer(decoding: PictureFixture.all[0].file))
    #expect(throws: ApusError.self) { try image.reload(decoding: [1, 2, 3]) }
    #expect(image.width == 1 && image.bytes == [0])
    #expect(throws: ApusError.self) {
      try image.reload(decoding: Array(PictureFixture.named("jpeg 4:2:0").file.dropLast(100)))
    }
    #expect(image.width == 1 && image.bytes == [0])
  }

  @Test("what the decoder takes for garbage hides no scans")
  func aHiddenBombOfScansIsRefused() throws {
    let file = PictureFixture.named("jpeg progressive").file
    let last = try #require(file.indices.dropLast().last { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
    let scan = file[last..<file.count - 2]
    var bomb = Array(file[2..<last])
    for _ in 0..<150 { bomb += scan }
    bomb += [0xFF, 0xD9]
    let length = bomb.count + 2
    #expect(length < 1 << 16)
    // Markers that begin no segment; if they did, it would be as long as the bomb, and the picture would follow.
    for marker: UInt8 in [0x00, 0x02, 0xBF] {
      let hidden = [0xFF, 0xD8, 0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + bomb
      let error = #expect(throws: ApusError.self) { try ImageBuffer(decoding: hidden + file[2...]) }
      // The decoder knows no reserved markers, and refuses them itself.
      #expect(error?.code == (marker == 0 ? .malformedImage : .unsupportedImage))
      #expect(ImageBuffer.storedSize(ofFile: hidden + file[2...]) == nil)
    }
  }

  @Test("the size in a header is the decoder's", arguments: PictureFixture.all)
  func readsSizes(fixture: PictureFixture) throws {
    let size = try #require(ImageBuffer.storedSize(ofFile: fixture.file))
    let image = try ImageBuffer(decoding: fixture.file)
    #expect(size.width == image.width && size.height == image.height)
    let byteCount = try #require(
      ImageBuffer.decodingByteCount(ofFileBeginningWith: fixture.file, reduction: .none, isDrawnOn: false))
    #expect(byteCount >= image.bytes.count)
  }

  @Test func sizesAreThoseOfTheDecoderAndCountWhatItNeeds() throws {
    // A comment ends with either kind of line.
    let size = try #require(ImageBuffer.storedSize(ofFile: Array("P5 #\r1000 1000 255 #\n1 1".utf8)))
    #expect(size.width == 1_000 && size.height == 1_000)
    func byteCount(_ name: String, _ reduction: ImageReduction = .none) -> Int? {
      let bytes = Array(PictureFixture.named(name).file)
      return ImageBuffer.decodingByteCount(
        ofFileBeginningWith: bytes, reduction: reduction, isDrawnOn: false)
    }
    let pixels = { (name: String) in PictureFixture.named(name).width * PictureFixture.named(name).height }
    #expect(byteCount("jpeg 4:2:0") == 4 * pixels("jpeg 4:2:0"))
    #expect(byteCount("jpeg progressive") == 12 * pixels("jpeg progressive"))
    // Beyond the limit nothing is decoded.
    #expect(
      ImageBuffer.decodingByteCount(
        ofFileBeginningWith: Array("P6 999999 999999 255\n".utf8), reduction: .none, isDrawnOn: false) == 0)
  }

  @Test func aBombOfScansIsRefused() throws {
    let file = PictureFixture.named("jpeg progressive").file
    let starts = file.indices.dropLast().filter { file[$0] == 0xFF && file[$0 + 1] == 0xDA }
    // Pillow writes ten scans.
    #expect(starts.count == 10)
    #expect(try ImageBuffer(decoding: file, limits: ImageLimits(maximumScanCount: 10)).width > 0)
    let few = #expect(throws: ApusError.self) {
      try ImageBuffer(decoding: file, limits: ImageLimits(maximumScanCount: 9))
    }
    #expect(few?.code == .resourceLimit)
    // The last scan again and again, as a decoder would go over the whole picture for each.
    let last = try #require(starts.last)
    let scan = file[last..<file.count - 2]
    var bomb = Array(file[..<last])
    for _ in 0..<150 { bomb += scan }
    bomb += [0xFF, 0xD9]
    let error = #expect(throws: ApusError.self) { try ImageBuffer(decoding: bomb) }
    #expect(error?.code == .resourceLimit)
    #expect(error?.message.contains("159 scans") == true)
    // A few scans of many pixels.
    var limits = ImageLimits()
    limits.maximumScannedPixelCount = 99
    let scanned = #expect(throws: ApusError.self) { try ImageBuffer(decoding: file, limits: limits) }
    #expect(
      scanned?.code == .resourceLimit && scanned?.message.hasPrefix("the 10 scans of the JPEG have ") == true)
  }

  @Test(
    "a picture of a kind that is not read is named, with what to do",
    arguments: [
      ("HEIC", [0, 0, 0, 24] + Array("ftypheic".utf8)), ("AVIF", [0, 0, 0, 24] + Array("ftypavis".utf8)),
      ("GIF", Array("GIF87a".utf8)),
      ("TIFF", [0x4D, 0x4D, 0, 42, 0, 0, 0, 8]), ("a web page", Array("<html><body>".utf8)),
      ("a .tflite model", [8, 0, 0, 0] + Array("TFL3".utf8)),
    ] as [(String, [UInt8])])
  func namesOtherKinds(name: String, bytes: [UInt8]) {
    let error = #expect(throws: ApusError.self) { try ImageBuffer(decoding: bytes) }
    #expect(
      error?.code == .unsupportedImage && error?.message.contains(name) == true, "\(error?.message ?? "")")
  }

  @Test("a PNG rewritten for iOS, and one without a header, are told as what they are")
  func namesOtherPNGs() throws {
    let png = PictureFixture.named("png rgb").file
    let added =
      Array(png[..<8]) + [0, 0, 0, 4] + Array("CgBI".utf8) + [0x50, 0, 0x20, 2, 0x2B, 0xD5, 0xB3, 0x7F]
    let error = #expect(throws: ApusError.self) { try ImageBuffer(decoding: added + png[8...]) }
    #expect(error?.code == .unsupportedImage && error?.message.contains("rewritten for iOS (CgBI)") == true)
    #expect(ImageBuffer.storedSize(ofFile: added + png[8...]) == nil)
    let headless = Array(png[..<8] + png[33...])
    let other = #expect(throws: ApusError.self) { try ImageBuffer(decoding: headless) }
    #expect(other?.code == .malformedImage && other?.message.contains("not with its header (IHDR)") == true)
  }

  @Test("an animated WebP is told with what to do")
  func namesAnimations() throws {
    var file = Array("RIFF".utf8) + [22, 0, 0, 0] + Array("WEBPVP8X".utf8) + [10, 0, 0, 0]
    file += [2, 0, 0, 0, 31, 0, 0, 15, 0, 0]
    let error = #expect(throws: ApusError.self) { try ImageBuffer(decoding: file) }
    #expect(error?.code == .unsupportedImage)
    // Without libwebp, nothing is known of the file.
    let words =
      error?.message.contains("libwebp") == true
      ? "WebP" : "the WebP is animated, and only still pictures are read"
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
  }

  @Test("extensions of JPEG and WebP name their formats")
  func knowsExtensions() {
    for name in ["a.jfif", "a.JPE", "b.c/a.Jpeg"] { #expect(ImageFileFormat(path: name) == .jpeg) }
    #expect(ImageFileFormat(path: "a.webp") == .webp && ImageFileFormat(path: "a.heic") == nil)
  }
}
