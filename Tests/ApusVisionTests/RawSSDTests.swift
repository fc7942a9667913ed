// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

private typealias Answer = DetectorModel.Answer

/// Raw outputs of single-shot detectors: the column of the background, and boxes that are decoded already.
@Suite struct RawSSDTests {
  private static let side = 64
  /// The anchors of six layers for an input of 64 × 64 pixels.
  private static let count = SSDCount.sixLayers(side)

  private enum SSDCount {
    /// Strides 16 to 512; the first layer has three anchors a cell, others six.
    static func sixLayers(_ side: Int) -> Int {
      let cells = [16, 32, 64, 128, 256, 512].map { stride in
        let cells = (side + stride - 1) / stride
        return cells * cells
      }
      return 3 * cells[0] + 6 * cells[1...].reduce(0, +)
    }
  }

  private func picture() throws -> ImageBuffer {
    try ImageBuffer(bytes: [UInt8](repeating: 99, count: 64 * 64 * 3), width: 64, height: 64, format: .rgb)
  }

  private func model(_ boxes: [Float], _ scores: [Float], names: (String, String) = ("box", "class"))
    -> DetectorModel
  {
    let columns = scores.count / (boxes.count / 4)
    return .answering(
      [
        Answer.boxes(boxes).named(names.0),
        Answer(shape: [1, Int32(boxes.count / 4), Int32(columns)], values: scores).named(names.1),
      ], shape: [1, 64, 64, 3])
  }

  /// Scores of each box; one has an object.
  private func scores(_ nothing: [Float], _ object: [Float], count: Int = count) -> [Float] {
    (0..<count).flatMap { $0 == 7 ? object : nothing }
  }

  private func encodings(_ count: Int = count) -> [Float] { [Float](repeating: 0, count: 4 * count) }

  @Test("scores that sum to 1 prove a background, which is the first column")
  func seesBackground() throws {
    let scores = scores([0.97, 0.01, 0.01, 0.01], [0.02, 0.02, 0.94, 0.02])
    let detector = try ObjectDetector(model: model(encodings(), scores).model())
    let found = try detector.detect(picture()).detections
    #expect(found.map(\.index) == [1] && found.map(\.score) == [0.94])
    let reading = detector.assumptions.readings.first { $0.subject == "background" }
    #expect(reading?.source == .model && reading?.value == "the first column")
  }

  @Test("91 columns are a guess, which labels decide")
  func guessesBackground() throws {
    let nothing = [Float](repeating: 0.01, count: 91)
    var object = nothing
    object[17] = 0.9
    let model = model(encodings(), scores(nothing, object))
    let detector = try ObjectDetector(model: model.model())
    #expect(try detector.detect(picture()).detections.map(\.index) == [16])
    let reading = detector.assumptions.readings.first { $0.subject == "background" }
    #expect(reading?.source == .guess && reading?.option == "--labels")
    let labels = LabelMap((0..<91).map { "class \($0)" }, offset: 0)
    let named = try ObjectDetector(model: model.model(), labels: labels)
    #expect(try named.detect(picture()).detections.map(\.category.label) == ["class 17"])
  }

  @Test("a class that is best nearly everywhere is refused")
  func refusesBackground() throws {
    let scores = scores([0.9, 0.3, 0.3], [0.1, 0.8, 0.1])
    let detector = try ObjectDetector(model: model(encodings(), scores).model())
    let error = #expect(throws: ApusError.self) { try detector.detect(picture()) }
    #expect(error?.message.contains("background") == true, "\(error?.message ?? "")")
  }

  // MARK: Decoded boxes

  @Test(
    "decoded boxes are no encodings: by their name, and where all are corners",
    arguments: ["raw_detection_boxes", "boxes"])
  func readsDecodedBoxes(name: String) throws {
    let count = 50
    var boxes = [[Float]](repeating: [0.4, 0.45, 0.6, 0.55], count: count).flatMap { $0 }
    boxes.replaceSubrange(28..<32, with: [0.125, 0.25, 0.375, 0.875])
    let scores = scores([0, 0.01, 0.02], [0, 0.02, 0.9], count: count)
    for order in [nil, BoxOrder.ltrb] {
      var options = ObjectDetector.Options()
      options.boxOrder = order
      let detector = try ObjectDetector(
        model: model(boxes, scores, names: (name, "raw_detection_scores")).model(), options: options)
      let found = try detector.detect(picture()).detections
      let expected =
        order == nil && name != "boxes"
        ? PixelRect(x: 16, y: 8, width: 40, height: 16) : PixelRect(x: 8, y: 16, width: 16, height: 40)
      #expect(found.map(\.rect) == [expected] && found.map(\.score) == [0.9])
      let reading = detector.assumptions.readings.first { $0.subject == "box order" }
      #expect(reading?.source == (order != nil ? .given : name == "boxes" ? .guess : .model))
    }
  }
}
