// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import TestSupport
import Testing

private typealias Answer = DetectorModel.Answer

/// Heads with values and shapes that no honest model has: they get an answer whose numbers make sense, or an error.
@Suite struct HostileHeadTests {
  private func picture() throws -> ImageBuffer {
    try ImageBuffer(bytes: [UInt8](repeating: 90, count: 9 * 7 * 3), width: 9, height: 7, format: .rgb)
  }

  /// The shapes that each layout has for an input of 64 × 64 pixels.
  private static let shapes: [(DetectorLayout, [[Int32]])] = [
    (.yolox, [[1, 84, 7]]), (.yoloxRaw, [[1, 84, 7]]), (.yolo6, [[1, 7, 84]]),
    (.yolo3, [[1, 8, 8, 24], [1, 4, 4, 24], [1, 2, 2, 24]]),
    (.yolo4, [[1, 2, 2, 3, 8], [1, 4, 4, 3, 8], [1, 8, 8, 3, 8]]),
    (.yolo3Tiny, [[1, 4, 4, 24], [1, 2, 2, 24]]), (.yolo4Tiny, [[1, 24, 4, 4], [1, 24, 2, 2]]),
    (.yolo5Raw, [[1, 3, 8, 8, 8], [1, 3, 4, 4, 8], [1, 3, 2, 2, 8]]),
    (.yolo7Raw, [[1, 8, 8, 24], [1, 4, 4, 24], [1, 2, 2, 24]]),
    (.yolo4Boxes, [[1, 252, 4], [1, 252, 3]]), (.yoloNAS, [[1, 84, 4], [1, 84, 3]]),
    (.yoloNAS, [[1, 4, 84], [1, 3, 84]]), (.yoloBestClass, [[1, 84, 4], [1, 84], [1, 84]]),
    (.rtDETR, [[1, 300, 4], [1, 300, 5]]),
    (.rtDETR, [[1, 300, 9]]), (.detr, [[1, 100, 4], [1, 100, 5]]), (.yolo7EndToEnd, [[1, 100, 7]]),
    (.efficientDet, [[1, 100, 7]]), (.yoloOBBEndToEnd, [[1, 100, 7]]), (.yoloOBB, [[1, 8, 84]]),
    (.classFirst, [[100, 7]]), (.classFirst, [[100, 6]]), (.classFirst, [[100, 6], [1]]),
    (.fomo, [[1, 8, 8, 3]]),
  ]

  private static let values: [Float] = [
    .nan, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 1e30, -1e30, 0, -0.0, 1,
    0.5, -3, 1e-38, 2, 300, 7,
  ]

  private func detector(_ layout: DetectorLayout?, _ shapes: [[Int32]], _ value: (Int) -> Float) throws
    -> ObjectDetector
  {
    let answers = shapes.map { shape in
      Answer(shape: shape, values: (0..<Int(shape.reduce(1, *))).map(value))
    }
    var options = ObjectDetector.Options()
    options.layout = layout
    options.scoreThreshold = 0
    return try ObjectDetector(
      model: DetectorModel.answering(answers, shape: [1, 64, 64, 3]).model(), options: options)
  }

  /// Looks at a picture: what is found has numbers that a picture can have.
  private func expectSense(_ detector: ObjectDetector) throws {
    do {
      for found in try detector.detect(picture()).detections {
        #expect((0...1).contains(found.score))
        #expect(found.index >= 0 && found.rect.width >= 0 && found.rect.height >= 0)
        #expect(found.rect.x.isFinite && found.rect.maxY.isFinite)
        #expect(found.orientedBox.map { $0.angle.isFinite } ?? true)
      }
    } catch let error as ApusError {
      #expect([.invalidData, .invalidArgument, .resourceLimit].contains(error.code))
    }
  }

  @Test("values that no model gives make no nonsense", arguments: shapes.indices)
  func survivesValues(index: Int) throws {
    let (layout, shapes) = Self.shapes[index]
    for value in Self.values {
      try expectSense(try detector(layout, shapes) { _ in value })
      try expectSense(try detector(layout, shapes) { $0.isMultiple(of: 5) ? value : 0.5 })
    }
    var random = SeededGenerator(seed: UInt64(index))
    for _ in 0..<8 {
      try expectSense(try detector(layout, shapes) { _ in Self.values.randomElement(using: &random) ?? 0 })
      try expectSense(try detector(layout, shapes) { _ in .random(in: -3...3, using: &random) })
    }
  }

  @Test("unasked, such outputs are recognized or refused", arguments: shapes.indices)
  func recognizesOrRefuses(index: Int) throws {
    var random = SeededGenerator(seed: UInt64(100 + index))
    for value in [Float.nan, 0, 1, .infinity] {
      do { try expectSense(try detector(nil, Self.shapes[index].1) { _ in value }) } catch let error
        as ApusError
      {
        #expect(error.code == .invalidArgument)
      }
    }
    do {
      try expectSense(try detector(nil, Self.shapes[index].1) { _ in .random(in: 0...1, using: &random) })
    } catch let error as ApusError {
      #expect(error.code == .invalidArgument)
    }
  }

  @Test("a chosen layout does not fit outputs of other shapes", arguments: DetectorLayout.allCases)
  func refusesShapes(layout: DetectorLayout) throws {
    for shapes: [[Int32]] in [
      [[1, 3]], [[1, 1, 1, 1]], [[5]], [[1, 5, 4], [1, 6, 3]], [[1, 8, 8, 24], [1, 8, 8, 24]],
      [[1, 2, 3, 4, 5]],
    ] {
      do { try expectSense(try detector(layout, shapes) { _ in 0.5 }) } catch let error as ApusError {
        #expect(error.code == .invalidArgument)
      }
    }
  }

  @Test("rows without a row find nothing")
  func findsNothingInNoRows() throws {
    for layout in [DetectorLayout.yolo7EndToEnd, .efficientDet] {
      let found = try detector(layout, [[0, 7]]) { _ in 0 }.detect(picture())
      #expect(found.detections.isEmpty)
    }
  }

  @Test("anchors are pairs of positive numbers, as many for each grid")
  func checksAnchors() throws {
    for anchors: [Float] in [
      [], [1], [1, 2, 3], [1, 2, 3, 4], [0, 1, 1, 1, 1, 1], [.nan, 1, 1, 1, 1, 1], [1e30, 1, 1, 1, 1, 1],
    ] {
      var options = ObjectDetector.Options()
      options.layout = .yolo3
      options.anchors = anchors
      let answers = [8, 4, 2].map { side in
        Answer(
          shape: [1, Int32(side), Int32(side), 24], values: [Float](repeating: 0, count: side * side * 24))
      }
      let error = #expect(throws: ApusError.self) {
        try ObjectDetector(
          model: DetectorModel.answering(answers, shape: [1, 64, 64, 3]).model(), options: options)
      }
      #expect(error?.code == .invalidArgument && error?.message.contains("anchors") == true)
    }
  }

  @Test("anchors that a model does not take are refused, never ignored")
  func refusesUselessAnchors() throws {
    let answers = [
      Answer(shape: [1, 84, 4], values: [Float](repeating: 0.5, count: 336)),
      Answer(shape: [1, 84, 3], values: [Float](repeating: 0.5, count: 252)),
    ]
    var options = ObjectDetector.Options()
    (options.layout, options.anchors) = (.yoloNAS, [1, 2])
    let error = #expect(throws: ApusError.self) {
      try ObjectDetector(
        model: DetectorModel.answering(answers, shape: [1, 64, 64, 3]).model(), options: options)
    }
    #expect(error?.code == .invalidArgument && error?.message.contains("yolo-nas") == true)
  }

  @Test("cells are joined in the order of the rule, however many boxes there are", arguments: 0..<4)
  func joinsCells(seed: Int) throws {
    // The rule as it is written: a cell joins the first box of all that it touches.
    var random = SeededGenerator(seed: UInt64(seed))
    let share = Float(seed + 1) / 5
    let cells = (0..<64).map { _ in Float.random(in: 0...1, using: &random) < share ? Float(0.75) : 0.25 }
    var boxes: [(left: Int, top: Int, right: Int, bottom: Int)] = []
    for (place, value) in cells.enumerated() where value > 0.5 {
      let (x, y) = (place % 8, place / 8)
      let touched = boxes.firstIndex {
        $0.right >= x && $0.bottom >= y && $0.left <= x + 1 && $0.top <= y + 1
      }
      if let touched {
        let box = boxes[touched]
        boxes[touched] = (min(box.left, x), min(box.top, y), max(box.right, x + 1), max(box.bottom, y + 1))
      } else {
        boxes.append((x, y, x + 1, y + 1))
      }
    }
    var options = ObjectDetector.Options()
    (options.layout, options.scoreThreshold) = (.fomo, 0.5)
    let answer = Answer(shape: [1, 8, 8, 2], values: cells.flatMap { [1 - $0, $0] })
    let found = try ObjectDetector(
      model: DetectorModel.answering([answer], shape: [1, 64, 64, 3]).model(), options: options
    ).detect(picture()).detections
    #expect(
      found.map(\.boundingBox)
        == boxes.map {
          let box = BoundingBox(
            minX: Float($0.left) / 8, minY: Float($0.top) / 8, maxX: Float($0.right) / 8,
            maxY: Float($0.bottom) / 8)
          return Detection(
            category: Category(index: 0, score: 0), boundingBox: box, imageWidth: 9, imageHeight: 7
          ).boundingBox
        })
  }

  @Test("bytes that round every score of a class to 0 are no reason to refuse an answer")
  func allowsConstantZeros() throws {
    let answers = [
      Answer(shape: [1, 100, 4], values: (0..<400).map { $0 % 4 < 2 ? 0.5 : 0.25 }),
      Answer(shape: [1, 100, 3], values: (0..<300).map { $0 == 4 ? 0.5 : 0 }),
    ]
    var options = ObjectDetector.Options()
    (options.layout, options.scores, options.scoreThreshold) = (.rtDETR, .probability, 0)
    let found = try ObjectDetector(
      model: DetectorModel.answering(answers, shape: [1, 64, 64, 3]).model(), options: options
    ).detect(picture()).detections
    #expect(found.first?.category.index == 1 && found.first?.score == 0.5)
  }

  @Test("YOLOX takes blue first, from 0 to 255, at the top left of gray")
  func preparesPicturesOfYOLOX() throws {
    let input = try detector(.yolox, [[1, 84, 7]]) { _ in 0 }.assumptions.input
    #expect(input.channels == "bgr")
    #expect(input.fit.contains("at the top left") && input.fit.contains("(114, 114, 114)"))
    let transform = try ImageProcessor(width: 64, height: 64, fit: .yolox).transform(
      for: ImageBuffer(
        bytes: [UInt8](repeating: 0, count: 30 * 45 * 3), width: 30, height: 45, format: .rgb), region: nil)
    // int(30 · 64 / 45) = 42
    let (x, y) = transform.imagePoint(modelX: 42.0 / 64, modelY: 1)
    #expect(abs(x - 30) < 1e-4 && abs(y - 45) < 1e-4)
    let origin = transform.imagePoint(modelX: 0, modelY: 0)
    #expect(origin.x == 0 && origin.y == 0)
  }

  @Test("an answer has angle and corners, or a center, where its model gives them")
  func encodesForms() throws {
    // One box of 0.4 × 0.2 in the middle, turned by an eighth.
    let row: [Float] = [0.5, 0.5, 0.4, 0.2, 0.9, 0, .pi / 4]
    let turned = try detector(.yoloOBBEndToEnd, [[1, 2, 7]]) { $0 < 7 ? row[$0] : 0 }.detect(picture())
    let box = try #require(turned.detections.first?.orientedBox)
    #expect(abs(box.angle - .pi / 4) < 1e-2 && box.corners.count == 4)
    let grid = try detector(.fomo, [[1, 8, 8, 2]]) { $0 == 1 ? 0.75 : -1 }.detect(picture())
    let center = try #require(grid.detections.first?.center)
    #expect(abs(center.x - 9.0 / 16) < 1e-4 && abs(center.y - 7.0 / 16) < 1e-4)
  }
}
