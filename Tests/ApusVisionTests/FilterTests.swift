// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusShapes
import ApusVision
import Foundation
import TestSupport
import Testing

/// A small picture, and what NumPy and SciPy have for it after a chain; made by `Tools/pictures/filters.py`.
struct FilterCase: Decodable, Sendable, CustomTestStringConvertible {
  let chain: String
  let width, height: Int
  let format: String
  let pixels: Data
  let result: Data

  var testDescription: String { "\(chain), \(format) \(width) × \(height)" }

  static let all: [FilterCase] = goldens("filters")
}

/// A shape of `Examples/Pictures/hidden.png`; made by `Tools/pictures/hidden.py`.
struct HiddenShape: Decodable {
  let label: String
  let x, y, width, height: Float

  static let all: [HiddenShape] = goldens("hidden")
}

@Suite struct FilterTests {
  private func picture(_ expected: FilterCase) throws -> ImageBuffer {
    try ImageBuffer(
      bytes: Array(expected.pixels), width: expected.width, height: expected.height,
      format: #require(PixelFormat(rawValue: expected.format)))
  }

  private static let reveal: FilterChain = [
    .prewitt(strength: 0.7), .closing(radius: 1), .inversion, .gaussianBlur(radius: 1), .erosion(radius: 1),
  ]

  @Test func hasCases() {
    #expect(FilterCase.all.count == 85)
    #expect(HiddenShape.all.count == 4)
  }

  @Test("every byte is that of NumPy and SciPy", arguments: FilterCase.all)
  func agrees(expected: FilterCase) throws {
    let result = try FilterChain(parsing: expected.chain).apply(picture(expected))
    #expect(result.format.rawValue == expected.format)
    #expect(result.bytes == Array(expected.result))
  }

  @Test("a picture is filtered as it is seen, and its rows may have padding")
  func ignoresStorage() throws {
    let expected = try #require(FilterCase.all.first { $0.chain == "gaussian:2.5" && $0.format == "rgb" })
    let plain = try picture(expected)
    // The picture stored on its side: each stored row is a column of what is seen, and padding.
    var stored = [UInt8](repeating: 9, count: plain.width * (plain.height * 3 + 5))
    for y in 0..<plain.height {
      for x in 0..<plain.width {
        for channel in 0..<3 {
          stored[x * (plain.height * 3 + 5) + y * 3 + channel] =
            plain.bytes[(y * plain.width + x) * 3 + channel]
        }
      }
    }
    let turned = try ImageBuffer(
      bytes: stored, width: plain.height, height: plain.width, bytesPerRow: plain.height * 3 + 5,
      format: .rgb,
      orientation: .leftMirrored)
    #expect(try StandardFilter.gaussianBlur(radius: 2.5).apply(turned).bytes == Array(expected.result))
  }

  @Test("a chain as text is the chain as values, and filters say what they are")
  func parses() throws {
    let text = "prewitt:0.7,closing:1,invert,gaussian:1,erosion:1"
    let parsed = try FilterChain(parsing: text).filters.map { $0 as? StandardFilter }
    #expect(parsed == Self.reveal.filters.map { $0 as? StandardFilter })
    for filter in parsed.compactMap({ $0 }) + [.sobel(strength: 2, of: .luminance), .dilation(radius: 9)] {
      #expect(try FilterChain(parsing: "\(filter)").filters.map { $0 as? StandardFilter } == [filter])
    }
  }

  @Test(
    "what is no filter is refused, with its name",
    arguments: [
      "", "blur", "prewitt:-1", "prewitt:nan", "prewitt:1:blue", "prewitt:1:red:2", "erosion:1.5",
      "erosion:-1",
      "erosion:1e300", "gaussian:62", "gaussian:inf", "invert:1", "closing:1,,invert", "erosion:1 ", "Invert",
    ])
  func refuses(text: String) {
    let error = #expect(throws: ApusError.self) { try FilterChain(parsing: text) }
    #expect(error?.code == .invalidArgument)
    let many = String(repeating: "invert,", count: 300) + "invert"
    #expect(throws: ApusError.self) { try FilterChain(parsing: many) }
  }

  @Test("parameters of values are checked as well")
  func checksValues() throws {
    let picture = try ImageBuffer(bytes: [1, 2, 3], width: 1, height: 1, format: .rgb)
    for filter: StandardFilter in [
      .erosion(radius: -1), .prewitt(strength: .infinity), .sobel(strength: .nan),
      .gaussianBlur(radius: .nan),
      .gaussianBlur(radius: 1e9),
    ] {
      #expect(throws: ApusError.self) { try filter.apply(picture) }
    }
    // No radius is too large for a window of minima.
    #expect(try StandardFilter.closing(radius: .max).apply(picture).bytes == [1, 2, 3])
  }

  @Test("a filter of one's own is a step like any other")
  func takesOwnFilters() throws {
    struct Threshold: ImageFilter {
      func apply(_ image: ImageBuffer) throws(ApusError) -> ImageBuffer {
        let gray = image.oriented().converted(to: .gray)
        return try ImageBuffer(
          bytes: gray.bytes.map { $0 < 128 ? 0 : 255 }, width: gray.width, height: gray.height, format: .gray)
      }
    }
    var chain: FilterChain = [.inversion]
    chain.append(Threshold())
    let picture = try ImageBuffer(bytes: [0, 100, 200], width: 3, height: 1, format: .gray)
    #expect(try chain.apply(picture).bytes == [255, 255, 0])
    #expect(try FilterChain([chain, StandardFilter.inversion]).apply(picture).bytes == [0, 0, 255])
  }

  @Test("shapes that the model does not see are found after the chain")
  func reveals() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Examples/Pictures/hidden.png")
    let picture = try ImageBuffer(contentsOfFile: file.path)
    let detector = try ObjectDetector.shapes()
    #expect(try detector.detect(picture).detections.isEmpty)
    let found = try detector.detect(Self.reveal.apply(picture)).detections
    #expect(found.count == HiddenShape.all.count)
    for shape in HiddenShape.all {
      let drawn = BoundingBox(
        minX: shape.x, minY: shape.y, maxX: shape.x + shape.width, maxY: shape.y + shape.height)
      let best = try #require(found.first { $0.category.label == shape.label })
      let box = BoundingBox(minX: best.rect.x, minY: best.rect.y, maxX: best.rect.maxX, maxY: best.rect.maxY)
      // The model's own precision, see Tools/shapes.
      #expect(best.score > 0.8 && box.intersectionOverUnion(drawn) > 0.75)
    }
  }
}
