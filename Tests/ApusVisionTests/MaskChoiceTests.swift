// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

private typealias Answer = DetectorModel.Answer

/// Which output of a segmenter has the mask, and outputs of other models that only look like one.
@Suite struct MaskChoiceTests {
  private func answer(_ name: String, _ shape: [Int32], _ value: Float = 0.5) -> Answer {
    Answer(name: name, shape: shape, values: [Float](repeating: value, count: Int(shape.reduce(1, *))))
  }

  private func picture() throws -> ImageBuffer {
    try ImageBuffer(bytes: [UInt8](repeating: 99, count: 64 * 64 * 3), width: 64, height: 64, format: .rgb)
  }

  private func model(_ answers: [Answer]) throws -> Model {
    try DetectorModel.answering(answers, shape: [1, 64, 64, 3]).model()
  }

  /// Scores of five classes for each of 32×32 cells; one class has the largest.
  private func scores(_ name: String, best: Int) -> Answer {
    let cell = (0..<5).map { Float($0 == best ? 9 : 0) }
    return Answer(name: name, shape: [1, 32, 32, 5], values: (0..<32 * 32).flatMap { _ in cell })
  }

  // MARK: Several masks

  @Test(
    "of several possible masks one is taken with a warning: not the auxiliary head of torchvision's segmenters"
  )
  func choosesHeads() throws {
    for (answers, place, other) in [
      ([scores("aux", best: 0), scores("out", best: 2)], 1, "0 (aux)"),
      ([scores("out", best: 2), scores("aux", best: 0)], 0, "1 (aux)"),
    ] {
      let segmenter = try ImageSegmenter(model: model(answers))
      #expect(segmenter.assumptions.outputs.map(\.index) == [place])
      #expect(try segmenter.segment(picture()).classes.map(\.index) == [2])
      let warning = try #require(segmenter.assumptions.warnings.first)
      #expect(
        warning.contains("2 outputs") && warning.contains("--output-index takes another: \(other)"),
        "\(warning)")
      let reading = try #require(segmenter.assumptions.readings.first { $0.subject == "output" })
      #expect(reading.source == .guess && reading.value == "\(place) (out)")
      // A choice of the caller is no guess.
      var options = ImageSegmenter.Options()
      options.outputIndex = 1 - place
      let chosen = try ImageSegmenter(model: model(answers), options: options)
      #expect(try chosen.segment(picture()).classes.map(\.index) == [0])
      #expect(chosen.assumptions.warnings.isEmpty)
      #expect(chosen.assumptions.readings.first { $0.subject == "output" }?.source == .given)
    }
    #expect(try ImageSegmenter(model: model([scores("out", best: 2)])).assumptions.warnings.isEmpty)
  }

  @Test("of the seven maps of U²-Net, d0 is the mask, wherever it is")
  func choosesTheFusedMap() throws {
    let maps = (0..<7).map { answer("d\($0)", [1, 64, 64, 1], $0 == 0 ? 0.9 : 0.1) }
    for answers in [maps, maps.reversed()] {
      let segmenter = try ImageSegmenter(model: model(answers))
      #expect(try segmenter.segment(picture()).classes.map(\.index) == [1])
      #expect(
        segmenter.assumptions.warnings.contains { $0.contains("7 outputs of the model may be the mask") })
    }
  }

  @Test("an output that the model does not have, or that is no mask, is refused as the choice")
  func refusesChoices() throws {
    let answers = [scores("out", best: 2), answer("score", [1, 7])]
    for (index, text) in [(2, "the output index is 2"), (-1, "the output index is -1"), (1, "score")] {
      var options = ImageSegmenter.Options()
      options.outputIndex = index
      let error = #expect(throws: ApusError.self) {
        try ImageSegmenter(model: model(answers), options: options)
      }
      #expect(
        error?.code == .invalidArgument && error?.message.contains(text) == true, "\(error?.message ?? "")")
    }
  }

  // MARK: Outputs of detectors

  /// Prototypes of an input of 64×64 as YOLO's segmenters have them: cells of 4 pixels.
  private let prototypes: (last: [Int32], first: [Int32]) = ([1, 16, 16, 32], [1, 32, 16, 16])

  @Test("prototypes of masks beside candidates are no scores of classes")
  func refusesPrototypes() throws {
    // 8×8 + 4×4 + 2×2 cells; a box, three classes and 32 coefficients, of YOLO v5 also an objectness and three anchors a cell.
    let beside: [[Answer]] = [
      [answer("rows", [1, 39, 84])], [answer("rows", [1, 84, 39])], [answer("rows", [1, 252, 40])],
      [answer("rows", [1, 116, 84])],
      [answer("rows", [1, 300, 38])],
      // As Qualcomm's exports of YOLO and FastSAM have them.
      [answer("boxes", [1, 84, 4]), answer("scores", [1, 84]), answer("mask_coeffs", [1, 84, 32])],
      [answer("boxes", [1, 84, 4]), answer("scores", [1, 84]), answer("masks", [1, 32, 84])],
    ]
    for rows in beside {
      for shape in [prototypes.last, prototypes.first] {
        let found = try model(rows + [answer("protos", shape)])
        let error = #expect(throws: ApusError.self) { try ImageSegmenter(model: found) }
        let message = error?.message ?? ""
        #expect(error?.code == .invalidArgument && message.contains("prototypes"), "\(message)")
        #expect(message.contains("'apus detect'") && message.contains("--labels with 32 names"), "\(message)")
        // Names of objects are no names of prototypes.
        #expect(throws: ApusError.self) {
          try ImageSegmenter(model: found, labels: LabelMap(["a", "b", "c"]))
        }
        let names = LabelMap((0..<32).map { "class \($0)" })
        #expect(try ImageSegmenter(model: found, labels: names).segment(picture()).classes.count == 1)
      }
    }
  }

  @Test("other rows beside a map are no candidates, but leave it in doubt")
  func doubtsMapsBesideRows() throws {
    for rows in [[1, 197, 96], [1, 84, 6], [1, 50, 39]] as [[Int32]] {
      let segmenter = try ImageSegmenter(
        model: model([answer("map", [1, 32, 32, 7]), answer("rows", rows)]))
      #expect(segmenter.assumptions.warnings.contains { $0.contains("'apus detect'") }, "\(rows)")
    }
    // A row of scores is the picture's class, as models of several tasks have it.
    let several = try ImageSegmenter(
      model: model([answer("map", [1, 32, 32, 7]), answer("class", [1, 10])]))
    #expect(several.assumptions.warnings.isEmpty)
  }

  @Test("heat maps of points and of CenterNet are doubted: their cells are of 4 pixels")
  func doubtsHeatMaps() throws {
    let heat = { (count: Int32) in answer("heat", [1, 16, 16, count]) }
    let sizes = [answer("wh", [1, 16, 16, 2]), answer("reg", [1, 16, 16, 2])]
    for answers in [[heat(17)], [heat(80)] + sizes, [heat(3)] + sizes, [heat(1)] + sizes] {
      let segmenter = try ImageSegmenter(model: model(answers))
      let warnings = segmenter.assumptions.warnings
      #expect(
        warnings.contains { $0.contains("'apus detect'") && $0.contains("'apus keypoints'") }, "\(warnings)")
    }
    #expect(try ImageSegmenter(model: model([heat(1)])).assumptions.warnings.isEmpty)
  }
}
