// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

private typealias Answer = DetectorModel.Answer

/// Outputs that look like those of another task.
@Suite struct LookalikeTests {
  private func answer(_ shape: [Int32], _ value: Float) -> Answer {
    Answer(shape: shape, values: [Float](repeating: value, count: Int(shape.reduce(1, *))))
  }

  private func picture(_ side: Int) throws -> ImageBuffer {
    try ImageBuffer(
      bytes: [UInt8](repeating: 99, count: side * side * 3), width: side, height: side, format: .rgb)
  }

  @Test("a map with the proportions of the picture comes before rows of points, wherever it is")
  func prefersMaps() throws {
    let points = answer([1, 10, 8], 0.25)
    let map = answer([1, 4, 4, 1], 0.75)
    let masks = answer([1, 20, 4, 4], 0.25)
    for (answers, place) in [([points, map], 1), ([map, points], 0), ([points, masks, map], 2)] {
      let model = try DetectorModel.answering(answers, shape: [1, 32, 32, 3]).model()
      let segmenter = try ImageSegmenter(model: model)
      #expect(segmenter.assumptions.outputs.map(\.index) == [place])
      #expect(try segmenter.segment(picture(32)).classes.map(\.index) == [1])
      let transformed = try PictureTransformer(model: model).transform(picture(32))
      #expect(transformed.width == 4 && transformed.height == 4)
    }
  }

  @Test("by an output's metadata, a pixel is (number - mean) / std, unless the input's numbers are repeated")
  func readsNormalizationsOfOutputs() throws {
    for (mean, std, numbers) in [
      ([-1], [2 / 255], [-1, 1]), ([0], [1 / 255], [0, 1]), ([0], [1], [0, 255]),
      ([127.5], [127.5], [-1, 1]),
      ([0], [255], [0, 1]), ([-2, -1, 0], [4 / 255, 2 / 255, 1 / 255], [-2, 0]),
    ] as [([Float], [Float], [Float])] {
      // Eight rows of black and eight of white in the first channel.
      let values = (0..<256).flatMap { pixel in
        (0..<3).map { channel -> Float in
          if mean.count == 1 { return numbers[pixel / 128] }
          return mean[channel] + (pixel < 128 ? 0 : 255 * std[channel])
        }
      }
      var model = DetectorModel.answering(
        [Answer(shape: [1, 16, 16, 3], values: values)], shape: [1, 16, 16, 3])
      model.outputNormalization = (mean, std)
      let transformed = try PictureTransformer(model: model.model()).transform(picture(16))
      let pixels = transformed.picture
      let (black, white) = (pixels.pixel(x: 3, y: 2), pixels.pixel(x: 3, y: 12))
      #expect(
        black?.red == 0 && black?.blue == 0 && white?.red == 255 && white?.blue == 255, "\(mean) \(std)")
    }
  }

  @Test("coarse cells of numbers that nothing calls scores of classes are warned of")
  func warnsOfRawGrids() throws {
    let grid = try DetectorModel.answering([answer([1, 4, 4, 30], 0.5)], shape: [1, 64, 64, 3]).model()
    let warnings = try ImageSegmenter(model: grid).assumptions.warnings
    #expect(warnings.contains { $0.contains("raw outputs of detectors") }, "\(warnings)")
    let names = LabelMap((0..<30).map { "class \($0)" })
    #expect(try ImageSegmenter(model: grid, labels: names).assumptions.warnings.isEmpty)
    let fine = try DetectorModel.answering([answer([1, 32, 32, 30], 0.5)], shape: [1, 64, 64, 3]).model()
    #expect(try ImageSegmenter(model: fine).assumptions.warnings.isEmpty)
  }

  @Test("a detector of palms is no detector of faces, though it has as many anchors")
  func refusesPalms() throws {
    func detector(_ columns: Int32) throws -> FaceDetector {
      try FaceDetector(
        model: DetectorModel.answering(
          [answer([1, 224, columns], 1), answer([1, 224, 1], -9)], shape: [1, 64, 64, 3]
        ).model())
    }
    #expect(try detector(16).detect(picture(64)).faces.isEmpty)
    let error = #expect(throws: ApusError.self) { try detector(18) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("apus hands") == true, "\(error?.message ?? "")")
  }

  @Test("a detector of faces may have an output for each grid of cells, in any order")
  func joinsGrids() throws {
    // Back camera: two anchors in each of 16 × 16 cells, six in each of 8 × 8.
    let (fine, coarse, columns) = (512, 384, 16)
    var predictions = (0..<(fine + coarse) * columns).map { Float($0 % 89) - 44 }
    var scores = [Float](repeating: -9, count: fine + coarse)
    for (row, side) in [(70, Float(60)), (700, 90)] {
      scores[row] = 3 + side / 90
      (predictions[row * columns + 2], predictions[row * columns + 3]) = (side, side)
    }
    func answer(_ values: some Sequence<Float>, _ columns: Int) -> DetectorModel.Answer {
      let values = Array(values)
      return DetectorModel.Answer(
        shape: [1, Int32(values.count / columns), Int32(columns)], values: values)
    }
    func faces(_ answers: [DetectorModel.Answer]) throws -> [Face] {
      let model = try DetectorModel.answering(answers, shape: [1, 256, 256, 3]).model()
      let detector = try FaceDetector(model: model)
      #expect(detector.assumptions.kind == "back camera")
      let error = #expect(throws: ApusError.self) { try ObjectDetector(model: model) }
      #expect(error?.message.contains("apus faces") == true, "\(error?.message ?? "")")
      return try detector.detect(picture(256)).faces
    }
    let expected = try faces([answer(predictions, columns), answer(scores, 1)])
    #expect(expected.count == 2)
    let parts = [
      answer(predictions[..<(fine * columns)], columns), answer(predictions[(fine * columns)...], columns),
      answer(scores[..<fine], 1), answer(scores[fine...], 1),
    ]
    for order in [[0, 1, 2, 3], [0, 2, 1, 3], [3, 1, 2, 0]] {
      #expect(try faces(order.map { parts[$0] }) == expected, "\(order)")
    }
  }

  @Test("an embedding of one number at length 1 is warned of: it is the same for every picture")
  func warnsOfOneNumber() throws {
    let model = try DetectorModel.answering([answer([1, 1], 0.3)], shape: [1, 8, 8, 3]).model()
    for (normalizes, expected) in [(true, 1), (false, 0)] {
      var options = ImageEmbedder.Options()
      options.normalizesEmbeddings = normalizes
      #expect(try ImageEmbedder(model: model, options: options).assumptions.warnings.count == expected)
    }
  }

  @Test("an embedding beside the features of each patch is the embedding")
  func leavesOutPatches() throws {
    let (features, pooler) = (answer([1, 197, 96], 0.5), answer([1, 192], 0.25))
    for (answers, place) in [([features, pooler], 1), ([pooler, features], 0)] {
      let embedder = try ImageEmbedder(
        model: DetectorModel.answering(answers, shape: [1, 8, 8, 3]).model())
      #expect(embedder.dimensions == [192])
      let warnings = embedder.assumptions.warnings
      #expect(warnings.count == 1 && warnings[0].contains("left out") && warnings[0].contains("1×197×96"))
      let found = try embedder.embed(picture(8)).embeddings
      #expect(found.map(\.headIndex) == [place] && found[0].values == [Float](repeating: 0.25, count: 192))
    }
    // Without a row there is no embedding, and a number beside rows of boxes is their count.
    for answers in [[features], [answer([1, 10, 4], 0.5), answer([1], 3)]] {
      #expect(throws: ApusError.self) {
        try ImageEmbedder(model: DetectorModel.answering(answers, shape: [1, 8, 8, 3]).model())
      }
    }
  }
}
