// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVideo
import Foundation
import Testing

/// Answers of Video4Linux drivers: structures made here with a C compiler's offsets for `linux/videodev2.h`.
@Suite struct CameraTests {
  /// Puts words and texts into a structure.
  private func fill(_ bytes: inout [UInt8], words: [(Int, UInt32)] = [], texts: [(Int, String)] = []) {
    for (offset, word) in words {
      for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: word >> UInt32(8 * index)) }
    }
    for (offset, text) in texts {
      bytes.replaceSubrange(offset..<(offset + text.utf8.count), with: text.utf8)
    }
  }

  private func word(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    UInt32(bytes[offset]) | UInt32(bytes[offset + 1]) << 8 | UInt32(bytes[offset + 2]) << 16
      | UInt32(bytes[offset + 3]) << 24
  }

  private static let yuyv: UInt32 = 0x5659_5559
  private static let mjpg: UInt32 = 0x4750_4A4D

  @Test func readsWhatADriverAnswers() throws {
    let device = try #require(
      try V4L2Questions(path: "/dev/video0") { request, bytes in
        let index = bytes.count == 104 ? 0 : Int(word(bytes, 0))
        switch request {
        case 0x8068_5600:
          #expect(bytes.count == 104)
          fill(
            &bytes, words: [(84, 0x84A0_0001), (88, 0x0420_0001)],
            texts: [(0, "uvcvideo"), (16, "HD Camera"), (48, "usb-0000:00:14.0-1")])
        case 0xC040_5602:
          #expect(bytes.count == 64 && word(bytes, 4) == 1)
          guard index < 2 else { return EINVAL }
          fill(
            &bytes, words: [(8, UInt32(index)), (44, index == 0 ? Self.yuyv : Self.mjpg)],
            texts: [(12, index == 0 ? "YUYV 4:2:2" : "Motion-JPEG")])
        case 0xC02C_564A:
          #expect(bytes.count == 44)
          if word(bytes, 4) == Self.yuyv {
            guard index < 2 else { return EINVAL }
            fill(&bytes, words: [(8, 1), (12, [640, 1280][index]), (16, [480, 720][index])])
          } else {
            fill(
              &bytes, words: [(8, 3), (12, 16), (16, 1920), (20, 8), (24, 32), (28, 1080), (32, 4)])
          }
        case 0xC034_564B:
          #expect(bytes.count == 52)
          if word(bytes, 4) == Self.yuyv {
            guard index < 2, word(bytes, 8) == 640, word(bytes, 12) == 480 else { return EINVAL }
            fill(&bytes, words: [(16, 1), (20, [1, 1001][index]), (24, [30, 15_000][index])])
          } else {
            fill(&bytes, words: [(16, 2), (20, 1), (24, 60), (28, 1), (32, 5)])
          }
        default: return ENOTTY
        }
        return 0
      }.device())
    #expect(device.name == "HD Camera" && device.driver == "uvcvideo" && device.bus == "usb-0000:00:14.0-1")
    #expect(device.formats.map(\.code) == ["YUYV", "MJPG"])
    #expect(device.formats.map(\.isCompressed) == [false, true])
    #expect(device.formats.map(\.description) == ["YUYV 4:2:2", "Motion-JPEG"])
    #expect(device.formats.map(\.isRange) == [false, true])
    #expect(device.formats[0].sizes.map(\.width) == [640, 1280])
    #expect(device.formats[0].sizes.map(\.height) == [480, 720])
    let rates: [[Double]] = [[30, 15_000 / 1001], []]
    #expect(device.formats[0].sizes.map(\.frameRates) == rates)
    #expect(device.formats[1].sizes.map(\.width) == [16, 1920])
    #expect(device.formats[1].sizes.map(\.height) == [32, 1080])
    #expect(device.formats[1].sizes.map(\.frameRates) == [[60, 5], [60, 5]])
  }

  @Test func aDriverThatNeverEndsOrWritesNonsenseIsBounded() throws {
    var questions = 0
    let device = try V4L2Questions(path: "/dev/video0") { _, bytes in
      questions += 1
      bytes = [UInt8](repeating: 0xFF, count: bytes.count)
      return 0
    }.device()
    #expect(device?.formats.count == 64 && questions < 10_000)
    #expect(device?.formats.first?.code == "????-BE")
    // Nor are structures trusted that come back short.
    let short = try V4L2Questions(path: "/dev/video0") { request, bytes in
      bytes = request == V4L2Questions.capability ? bytes.map { _ in 1 } : []
      return 0
    }.device()
    #expect(short?.formats.first?.code == "")
  }

  @Test func leavesOutWhatCapturesNoVideo() throws {
    // The second file of a webcam delivers metadata: the device captures, this file does not.
    let device = try V4L2Questions(path: "/dev/video1") { _, bytes in
      fill(&bytes, words: [(84, 0x84A0_0001), (88, 0x04A0_0000)])
      return 0
    }.device()
    #expect(device == nil)
    #expect(throws: ApusError.self) {
      try V4L2Questions(path: "/dev/null") { _, _ in ENOTTY }.device()
    }
  }

  @Test func ordersDevicesByNumber() {
    #expect(Camera.numbers(of: ["video10", "video2", "videotape", "tty", "video", "xvideo1"]) == [2, 10])
  }

  #if os(Linux)
    @Test func asksRealFiles() throws {
      var structure = [UInt8](repeating: 0, count: 104)
      #expect(try V4L2Handle("/dev/null").ask(V4L2Questions.capability, &structure) == ENOTTY)
      var short = [UInt8](repeating: 0, count: 103)
      #expect(try V4L2Handle("/dev/null").ask(V4L2Questions.capability, &short) == EINVAL)
      #expect(throws: ApusError.self) { try V4L2Handle("/dev/video98") }
    }
  #endif
}
