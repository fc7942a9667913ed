// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import ApusVision
import TestSupport
import Testing

@Suite struct DrawingTests {
  private func gray(_ width: Int, _ height: Int, _ orientation: ImageOrientation = .up) throws -> ImageBuffer
  {
    try ImageBuffer(
      bytes: [UInt8](repeating: 90, count: width * height), width: width, height: height, format: .gray,
      orientation: orientation)
  }

  private func detection(
    _ x: Float, _ y: Float, _ width: Float, _ height: Float, index: Int = 0, score: Float = 0.97,
    label: String? = "triangle"
  ) -> Detection {
    Detection(
      category: Category(index: index, score: score, label: label),
      boundingBox: BoundingBox(minX: 0, minY: 0, maxX: 1, maxY: 1),
      rect: PixelRect(x: x, y: y, width: width, height: height))
  }

  @Test("draws the box in the color of its class, where it is seen", arguments: ImageOrientation.allCases)
  func drawsABox(orientation: ImageOrientation) throws {
    let image = try gray(200, 150, orientation)
    let result = try image.drawing(
      [detection(40, 60, 60, 50, index: 3)],
      style: AnnotationStyle(lineWidth: 4, showsName: false, showsScore: false))
    #expect(result.width == image.uprightWidth && result.format == .rgb && result.orientation == .up)
    let color = ClassPalette.standard[3]
    for (x, y) in [(40, 80), (100, 80), (70, 60), (70, 110)] { #expect(result.pixel(x: x, y: y) == color) }
    for (x, y) in [(70, 80), (30, 80), (110, 80), (70, 50), (70, 120)] {
      #expect(result.pixel(x: x, y: y) == PixelColor(red: 90, green: 90, blue: 90))
    }
  }

  @Test("a turned box is drawn by its corners, and a center is a dot")
  func drawsTurnedBoxes() throws {
    let image = try gray(200, 150)
    var turned = detection(50, 25, 100, 100, index: 3)
    turned.orientedBox = OrientedBox(
      corners: [(100, 25), (150, 75), (100, 125), (50, 75)].map { PixelPoint(x: $0.0, y: $0.1) })
    var dot = detection(4, 100, 40, 40, index: 5)
    dot.center = PixelPoint(x: 24, y: 120)
    let style = AnnotationStyle(lineWidth: 4, showsName: false, showsScore: false)
    let result = try image.drawing([turned, dot], style: style)
    for (x, y) in [(100, 25), (125, 50), (125, 100), (75, 100), (75, 50)] {
      #expect(result.pixel(x: x, y: y) == ClassPalette.standard[3])
    }
    // The upright box, and the middle.
    for (x, y) in [(60, 25), (149, 30), (100, 75)] {
      #expect(result.pixel(x: x, y: y) == PixelColor(red: 90, green: 90, blue: 90))
    }
    #expect(result.pixel(x: 24, y: 120) == ClassPalette.standard[5])
  }

  @Test("bands of rows are drawn as the whole picture is", arguments: [1, 200 * 7, 200 * 149])
  func drawsBands(pixelCount: Int) throws {
    let image = try gray(200, 150)
    let detections = [
      detection(40, 60, 60, 50, index: 3), detection(-5, 20, 300, 110), detection(90, 2, 9, 9),
    ]
    let drawn = try image.drawing(detections, bandPixelCount: pixelCount) { () throws(ApusError) in }
    #expect(try drawn == image.drawing(detections))
  }

  @Test func withoutDetectionsNothingChanges() throws {
    let image = try gray(30, 20)
    #expect(try image.drawing([Detection]()) == image.converted(to: .rgb))
  }

  @Test("whatever a model answers is drawn or left out", arguments: 0..<20)
  func survivesAnyDetection(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let values: [Float] = [
      .nan, .infinity, -.infinity, 0, -1, 5, 31, 1e9, -1e9, 3e38, -3e38, .leastNonzeroMagnitude, 0.5,
    ]
    let labels = [
      nil, "", "a", "\u{0}", "two\nlines", String(repeating: "w", count: 9_000), "\u{1F600}\u{202E}é漢字",
      "%s%n",
    ]
    for (width, height) in [(1, 1), (32, 24), (3, 200)] {
      let detections = (0..<40).map { _ in
        detection(
          values.randomElement(using: &random) ?? 0, values.randomElement(using: &random) ?? 0,
          values.randomElement(using: &random) ?? 0, values.randomElement(using: &random) ?? 0,
          index: [Int.min, -1, 0, 7, .max].randomElement(using: &random) ?? 0,
          score: values.randomElement(using: &random) ?? 0, label: labels.randomElement(using: &random) ?? nil
        )
      }
      let style = AnnotationStyle(
        lineWidth: values.randomElement(using: &random), fontSize: values.randomElement(using: &random))
      let result = try gray(width, height).drawing(detections, style: style)
      #expect(result.width == width && result.height == height)
    }
  }

  @Test func captionsNameTheClassAndThePercentage() {
    let style = AnnotationStyle()
    #expect(style.caption(for: detection(0, 0, 1, 1)) == "triangle 97 %")
    #expect(style.caption(for: detection(0, 0, 1, 1, index: 7, score: 0.005, label: nil)) == "class 7 1 %")
    #expect(style.caption(for: detection(0, 0, 1, 1, score: .nan, label: "a\nb")) == "a b ? %")
    #expect(AnnotationStyle(showsScore: false).caption(for: detection(0, 0, 1, 1)) == "triangle")
    #expect(AnnotationStyle(showsName: false).caption(for: detection(0, 0, 1, 1)) == "97 %")
  }

  @Test func captionsOfMatchesNameThePersonAndTheDistance() {
    let style = AnnotationStyle()
    #expect(style.caption(for: .init(name: "Ada", distance: 0.424)) == "Ada 0.42")
    #expect(style.caption(for: .init(name: "Ada", distance: 1.999)) == "Ada 2.00")
    #expect(style.caption(for: .init(name: nil, distance: 10.05)) == "unknown 10.05")
    #expect(style.caption(for: .init(name: "A\nda")) == "A da")
    for distance in [Double.nan, .infinity, -1, 1e300] {
      #expect(style.caption(for: .init(name: "Ada", distance: distance)) == "Ada")
    }
  }

  @Test("each face gets the frame of its nearest name; without faces, the whole picture does")
  func drawsNames() throws {
    let style = AnnotationStyle(lineWidth: 4, showsName: false, showsScore: false)
    let box = PixelRect(x: 40, y: 60, width: 60, height: 50)
    let matches: [GalleryResult.Match] = [
      .init(name: "Ada", distance: 0.1, box: box), .init(name: "Bo", distance: 0.2, box: box),
      .init(name: nil, box: PixelRect(x: 140, y: 60, width: 30, height: 50)),
      .init(name: "Bo", box: PixelRect(x: .nan, y: 0, width: 5, height: 5)),
    ]
    let image = try gray(200, 150)
    let faces = try image.drawing(matches: matches, style: style)
    // FNV-1a of the names, halved, modulo the twenty colors: 17 for Ada, 15 for Bo.
    #expect(faces.pixel(x: 40, y: 80) == ClassPalette.standard[17])
    #expect(faces.pixel(x: 140, y: 80) == PixelColor(hex: 0x808080))
    #expect(faces.pixel(x: 1, y: 1) == PixelColor(hex: 0x5A5A5A))
    let whole = try image.drawing(matches: [.init(name: "Bo")], style: style)
    #expect(whole.pixel(x: 0, y: 75) == ClassPalette.standard[15])
    #expect(whole.pixel(x: 100, y: 75) == PixelColor(hex: 0x5A5A5A))
  }

  @Test("a classified picture gets the frame of its best class")
  func drawsAClass() throws {
    let image = try gray(200, 150)
    let style = AnnotationStyle(lineWidth: 4, showsName: false, showsScore: false)
    let drawn = try image.drawing(
      categories: [Category(index: 4, score: 0.8), Category(index: 2, score: 0.2)], style: style)
    #expect(drawn.pixel(x: 0, y: 75) == ClassPalette.standard[4])
    #expect(drawn.pixel(x: 100, y: 75) == PixelColor(hex: 0x5A5A5A))
    #expect(try image.drawing(categories: []) == image.converted(to: .rgb))
  }

  @Test func theSameCallDrawsTheSameBytes() throws {
    let detections = (0..<6).map { detection(Float($0 * 20), 30, 40, 40, index: $0) }
    let image = try gray(160, 100)
    #expect(try image.drawing(detections) == image.drawing(detections))
  }

  @Test(
    "what no font has is drawn as its code point, never as an empty box",
    arguments: ["\u{10FFFD}", "\u{F5AA5}"])
  func spellsUnknownCharacters(character: String) throws {
    let digits = String(try #require(character.unicodeScalars.first).value, radix: 16, uppercase: true)
    func drawn(_ label: String) throws -> ImageBuffer {
      try gray(320, 80).drawing([detection(4, 40, 300, 30, label: label)])
    }
    #expect(try drawn(character) == drawn("U+\(digits)"))
    #expect(try drawn("a" + character + character) == drawn("a U+\(digits) U+\(digits)"))
  }

  @Test("marks that change the direction of a text are left out")
  func keepsTheOrderOfCaptions() {
    #expect(
      AnnotationStyle(showsScore: false).caption(for: detection(0, 0, 1, 1, label: "a\u{202E}b\u{2028}c"))
        == "a b c")
  }
}
