// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVideo
import ApusVision
import TestSupport
import Testing

@Suite struct RawPictureTests {
  /// Red, green and blue by the formulas of ITU-R BT.601, BT.709 and BT.2020, SMPTE 240M and FCC 73.682, in floating point.
  private func reference(_ y: UInt8, _ u: UInt8, _ v: UInt8, _ color: VideoColor) -> [Double] {
    // Of ITU-T H.273, table 4.
    let (red, blue) =
      switch color.matrix {
      case .bt601: (0.299, 0.114)
      case .bt709: (0.2126, 0.0722)
      case .bt2020: (0.2627, 0.0593)
      case .smpte240m: (0.212, 0.087)
      case .fcc: (0.3, 0.11)
      }
    let green = 1 - red - blue
    let isFull = color.range == .full
    let luma = isFull ? Double(y) : (Double(y) - 16) * 255 / 219
    let cb = (Double(u) - 128) * (isFull ? 1 : 255.0 / 224)
    let cr = (Double(v) - 128) * (isFull ? 1 : 255.0 / 224)
    let r = luma + 2 * (1 - red) * cr
    let b = luma + 2 * (1 - blue) * cb
    let g = luma - (2 * (1 - blue) * blue * cb + 2 * (1 - red) * red * cr) / green
    return [r, g, b].map { min(max($0, 0), 255) }
  }

  /// Where luma, U and V of a pixel lie, by the definitions of the layouts.
  private func places(_ x: Int, _ y: Int, _ layout: RawPicture.Layout, _ stride: Int, _ height: Int) -> [Int]
  {
    let plane = stride * height
    let half = (stride + 1) / 2
    let chroma = plane + 2 * half * (layout == .nv16 || layout == .nv61 ? y : y / 2) + x / 2 * 2
    let quarter = plane + half * (layout == .i422 ? y : y / 2) + x / 2
    let rows = layout == .i422 ? height : (height + 1) / 2
    let pair = y * stride + x / 2 * 4
    return switch layout {
    case .nv12, .nv16: [y * stride + x, chroma, chroma + 1]
    case .nv21, .nv61: [y * stride + x, chroma + 1, chroma]
    case .i420, .i422: [y * stride + x, quarter, quarter + half * rows]
    case .yv12: [y * stride + x, quarter + half * rows, quarter]
    case .uyvy: [pair + x % 2 * 2 + 1, pair, pair + 2]
    case .vyuy: [pair + x % 2 * 2 + 1, pair + 2, pair]
    case .yvyu: [pair + x % 2 * 2, pair + 3, pair + 1]
    default: [pair + x % 2 * 2, pair + 1, pair + 3]
    }
  }

  @Test(
    "colors follow the standard's formulas", arguments: LumaChromaTests.layouts,
    VideoColor.Matrix.allCases)
  func convertsByTheFormulas(layout: RawPicture.Layout, matrix: VideoColor.Matrix) throws {
    for range in VideoColor.Range.allCases {
      let color = VideoColor(matrix: matrix, range: range)
      for (width, height, gap) in [(1, 1, 0), (2, 2, 0), (7, 5, 0), (16, 9, 6), (33, 4, 3), (140, 3, 1)] {
        var random = SeededGenerator(seed: UInt64(width))
        let isPacked = [.yuyv, .yvyu, .uyvy, .vyuy].contains(layout)
        let stride = (isPacked ? 4 * ((width + 1) / 2) : width) + gap
        let bytes = random.bytes(stride * (height + 2) * 3)
        let picture = try RawPicture(
          bytes: bytes, width: width, height: height, bytesPerRow: stride, layout: layout, color: color
        ).converted()
        #expect(picture.format == .rgb && picture.width == width && picture.height == height)
        for y in 0..<height {
          for x in 0..<width {
            let place = places(x, y, layout, stride, height)
            let expected = reference(bytes[place[0]], bytes[place[1]], bytes[place[2]], color)
            let found = picture.bytes[(3 * (y * width + x))..<(3 * (y * width + x) + 3)]
            // Half a step, and what products of 16 bits lose.
            for (value, expected) in zip(found, expected) {
              #expect(abs(Double(value) - expected) <= 0.55)
            }
          }
        }
      }
    }
  }

  @Test func keepsColorsAndGrays() throws {
    let rgb = try RawPicture(bytes: [1, 2, 3, 4, 5, 6, 99], width: 1, height: 2, layout: .rgb24).converted()
    #expect(rgb.bytes == [1, 2, 3, 4, 5, 6] && rgb.format == .rgb)
    let bgr = try RawPicture(
      bytes: [1, 2, 3, 0, 4, 5, 6, 0], width: 1, height: 2, bytesPerRow: 4, layout: .bgr24
    ).converted()
    #expect(bgr.bytes == [1, 2, 3, 4, 5, 6] && bgr.format == .bgr)
    let full = VideoColor(range: .full)
    #expect(
      try RawPicture(bytes: [0, 16, 235], width: 3, height: 1, layout: .gray8, color: full).converted().bytes
        == [0, 16, 235])
    #expect(
      try RawPicture(bytes: [0, 16, 235], width: 3, height: 1, layout: .gray8).converted().bytes == [
        0, 0, 255,
      ])
  }

  @Test("sizes that do not fit the bytes are refused", arguments: RawPicture.Layout.allCases)
  func refusesWrongSizes(layout: RawPicture.Layout) throws {
    let bytes = [UInt8](repeating: 7, count: 4 * 4 * 3)
    #expect(throws: ApusError.self) { try RawPicture(bytes: bytes, width: 0, height: 4, layout: layout) }
    #expect(throws: ApusError.self) { try RawPicture(bytes: bytes, width: 4, height: -1, layout: layout) }
    #expect(throws: ApusError.self) { try RawPicture(bytes: bytes, width: 64, height: 4, layout: layout) }
    #expect(throws: ApusError.self) {
      try RawPicture(bytes: bytes, width: .max, height: .max, layout: layout)
    }
    #expect(throws: ApusError.self) {
      try RawPicture(bytes: bytes, width: 4, height: 4, bytesPerRow: 3, layout: layout)
    }
    #expect(throws: ApusError.self) {
      try RawPicture(bytes: bytes, width: 4, height: 4, bytesPerRow: .max, layout: layout)
    }
  }
}
