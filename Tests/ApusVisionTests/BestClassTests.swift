// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

private typealias Answer = DetectorModel.Answer

/// Candidates with their best class, with masks or other outputs beside them.
@Suite struct BestClassTests {
  private static let side = 160
  private static let cells = 20 * 20 + 10 * 10 + 5 * 5

  private func picture() throws -> ImageBuffer {
    let side = Self.side
    return try ImageBuffer(
      bytes: [UInt8](repeating: 99, count: side * side * 3), width: side, height: side, format: .rgb)
  }

  private func model(_ answers: [Answer], side: Int = side) -> DetectorModel {
    .answering(answers, shape: [1, Int32(side), Int32(side), 3], type: DetectorModel.float32)
  }

  /// One object in five candidates, from (40, 32) to (104, 128); others are hardly there.
  private func candidates(_ rows: Int) -> [Answer] {
    var boxes = [Float](repeating: 0, count: 4 * rows)
    var (scores, classes) = ([Float](repeating: 0.02, count: rows), [Float](repeating: 0, count: rows))
    for place in 0..<5 {
      let x = Float(place)
      boxes.replaceSubrange(4 * (100 + place)..<4 * (101 + place), with: [40 + x, 32, 104 + x, 128])
      (scores[100 + place], classes[100 + place]) = (0.9 - 0.05 * x, 16)
    }
    return [
      Answer(shape: [1, Int32(rows), 4], values: boxes).named("boxes"), Answer.rows(scores).named("scores"),
      Answer.rows(classes).named("class_idx"),
    ]
  }

  /// Coefficients of two prototypes, the first of which covers the left half of the object.
  private func masks(_ rows: Int, isPlanar: Bool) -> [Answer] {
    let (side, count) = (Self.side / 4, 2)
    let coefficients = (0..<2 * rows).map { Float(1 - $0 % 2) }
    var prototypes = [Float](repeating: -1, count: side * side * count)
    for y in 0..<side {
      for x in 0..<side where x < 18 {
        prototypes[isPlanar ? y * side + x : (y * side + x) * count] = 1
      }
    }
    let shape = isPlanar ? [1, count, side, side] : [1, side, side, count]
    return [
      Answer(shape: [1, Int32(rows), 2], values: coefficients).named("masks"),
      Answer(shape: shape.map(Int32.init), values: prototypes).named("protos"),
    ]
  }

  @Test("with masks, candidates are suppressed, and the one object has its mask", arguments: [false, true])
  func readsMasks(isPlanar: Bool) throws {
    let (rows, masks) = (candidates(Self.cells), masks(Self.cells, isPlanar: isPlanar))
    for answers in [rows + masks, masks + rows, [rows[0], rows[1], masks[0], rows[2], masks[1]]] {
      let detector = try ObjectDetector(model: model(answers).model())
      #expect(detector.layout == .yoloBestClass)
      let found = try detector.detect(picture()).detections
      #expect(found.map(\.index) == [16] && found.map(\.score) == [0.9])
      #expect(found.map(\.rect) == [PixelRect(x: 40, y: 32, width: 64, height: 96)])
      let mask = try #require(found.first?.mask)
      let pixels = mask.pixels()
      #expect(mask.width == 64 && mask.height == 96)
      #expect(pixels[48 * 64 + 16] != 0 && pixels[48 * 64 + 48] == 0)
      #expect(detector.assumptions.outputs.count == 5)
    }
  }

  @Test("the layout can be chosen where masks stand beside")
  func takesTheLayout() throws {
    var options = ObjectDetector.Options()
    options.layout = .yoloBestClass
    let answers = candidates(Self.cells) + masks(Self.cells, isPlanar: false)
    let detector = try ObjectDetector(model: model(answers).model(), options: options)
    #expect(try detector.detect(picture()).detections.count == 1)
  }

  @Test("one class with masks is read without an output for its number")
  func readsOneClass() throws {
    let rows = candidates(Self.cells)
    let masks = masks(Self.cells, isPlanar: false)
    let found = try ObjectDetector(model: model([rows[0], rows[1], masks[0], masks[1]]).model()).detect(
      picture()
    ).detections
    #expect(found.map(\.score) == [0.9] && found.first?.mask != nil)
  }

  @Test("rows of no grid are candidates where those beside each other overlap")
  func seesOverlap() throws {
    let detector = try ObjectDetector(model: model(candidates(517)).model())
    #expect(detector.layout == .yoloBestClass)
    #expect(try detector.detect(picture()).detections.map(\.score) == [0.9])
  }

  @Test("more rows than a suppression keeps whose objects cover each other are refused")
  func refusesUnsuppressed() throws {
    var answers = candidates(517)
    // The candidates of the object are no neighbors.
    for row in [101, 102, 103, 104] {
      answers[0].values.replaceSubrange(
        4 * (3 * row)..<4 * (3 * row) + 4, with: answers[0].values[4 * row..<4 * row + 4])
      answers[0].values.replaceSubrange(4 * row..<4 * row + 4, with: [0, 0, 0, 0])
      for output in [1, 2] {
        answers[output].values[3 * row] = answers[output].values[row]
        answers[output].values[row] = 0
      }
    }
    let detector = try ObjectDetector(model: model(answers).model())
    #expect(detector.layout == .postProcessed)
    let error = #expect(throws: ApusError.self) { try detector.detect(picture()) }
    #expect(error?.message.contains("--layout yolo-best-class") == true, "\(error?.message ?? "")")
  }

  @Test("boxes in rows and scores of a class in rows of their own are read, as of PP-YOLOE")
  func readsMixedOrientation() throws {
    let rows = candidates(Self.cells)
    var scores = [Float](repeating: 0.02, count: 3 * Self.cells)
    for row in 0..<Self.cells { scores[2 * Self.cells + row] = rows[1].values[row] }
    let model = model([rows[0], Answer(shape: [1, 3, Int32(Self.cells)], values: scores)])
    let found = try ObjectDetector(model: model.model()).detect(picture()).detections
    #expect(found.map(\.index) == [2] && found.map(\.score) == [0.9])
  }
}
