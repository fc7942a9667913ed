// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision
import TestSupport
import Testing

private typealias Answer = DetectorModel.Answer

/// Models whose outputs no honest model has: they get an answer or an error.
@Suite struct HostileAnswerTests {
  private func picture(_ level: UInt8 = 0, side: Int = 9) throws -> ImageBuffer {
    try ImageBuffer(
      bytes: [UInt8](repeating: level, count: side * side * 3), width: side, height: side, format: .rgb)
  }

  @Test("a face whose points are farther apart than integers reach is aligned all the same")
  func alignsFarPoints() throws {
    let box = BoundingBox(minX: 0, minY: 0, maxX: 1, maxY: 1)
    for size: Float in [1e15, 1e19, 1e30, .greatestFiniteMagnitude] {
      let points = [(0.25, 0.25), (0.75, 0.25), (0.5, 0.5), (0.5, 0.75)].map {
        Keypoint(x: Float($0.0) * size, y: Float($0.1) * size)
      }
      let face = Face(score: 1, boundingBox: box, rect: box.rect(width: 9, height: 9), keypoints: points)
      let aligned = try #require(face.aligned(in: picture(255), size: 8))
      #expect(aligned.width == 8 && aligned.height == 8)
    }
  }

  @Test("a model without outputs, or with more coordinates than embeddings have, is no embedder")
  func limitsEmbeddings() throws {
    let none = #expect(throws: ApusError.self) {
      try ImageEmbedder(model: DetectorModel.answering([]).model())
    }
    #expect(none?.message == "the model has no output, so no embedding")
    let large = DetectorModel.answering([Answer.rows([Float](repeating: 0, count: 1 << 20 + 1))])
    let error = #expect(throws: ApusError.self) { try ImageEmbedder(model: large.model()) }
    #expect(error?.code == .resourceLimit)
    #expect(throws: ApusError.self) { try ImageClassifier(model: DetectorModel.answering([]).model()) }
  }

  @Test("one number for each pixel is drawn from the smallest to the largest, whatever they are")
  func drawsAllFloats() throws {
    let most = Float.greatestFiniteMagnitude
    for (values, expected) in [
      ([-most, most, 0, most], [0, 255, 128, 255]), ([0, .leastNonzeroMagnitude, 0, 0], [0, 255, 0, 0]),
      ([most, most, most, most], [0, 0, 0, 0]),
    ] as [([Float], [UInt8])] {
      let model = DetectorModel.answering([Answer(shape: [1, 2, 2, 1], values: values)])
      let found = try PictureTransformer(model: model.model()).transform(picture())
      #expect(found.picture.bytes == expected)
    }
  }

  @Test("output pixels whose black or white is beyond all floats are refused")
  func refusesEndlessPixels() throws {
    let model = try DetectorModel.answering([
      Answer(shape: [1, 2, 2, 3], values: [Float](repeating: 0, count: 12))
    ])
    .model()
    for (mean, std) in [(1, .leastNormalMagnitude / 128), (3e38, 0.5), (-3e38, 1e-3)] as [(Float, Float)] {
      var options = PictureTransformer.Options()
      options.outputPixels = .meanStd(mean: [mean], std: [std])
      let error = #expect(throws: ApusError.self) { try PictureTransformer(model: model, options: options) }
      #expect(error?.code == .invalidArgument && error?.message.contains("--output-pixels") == true)
    }
  }

  @Test("scores of a mask that are not finite are refused: no other can be compared with them")
  func refusesOddMasks() throws {
    for value in [Float.nan, .infinity, -.infinity] {
      for (channels, form) in [(5, nil), (1, .probability), (1, .logit), (1, .raw)] as [(Int, ScoreForm?)] {
        var values = (0..<16 * channels).map { Float($0 % 7) / 8 - 0.25 }
        values[9] = value
        var options = ImageSegmenter.Options()
        options.scores = form
        let segmenter = try ImageSegmenter(
          model: DetectorModel.answering([Answer(shape: [1, 4, 4, Int32(channels)], values: values)]).model(),
          options: options)
        let error = #expect(throws: ApusError.self) { try segmenter.segment(picture()) }
        #expect(error?.code == .invalidData && error?.message.contains("\(value)") == true)
      }
    }
  }

  @Test("numbers that are given as logits may be large")
  func takesLargeLogits() throws {
    var options = ImageSegmenter.Options()
    options.scores = .logit
    let answer = Answer(shape: [1, 4, 4, 1], values: (0..<16).map { $0 < 4 ? -120 : 120 })
    let segmenter = try ImageSegmenter(model: DetectorModel.answering([answer]).model(), options: options)
    #expect(try segmenter.segment(picture()).classes.map(\.index) == [1, 0])
  }

  @Test("faces have at most 64 keypoints: thousands of each would be gigabytes of text")
  func limitsKeypoints() throws {
    func detector(keypoints: Int) throws -> FaceDetector {
      let columns = 4 + 2 * keypoints
      return try FaceDetector(
        model: DetectorModel.answering(
          [
            Answer(shape: [1, 896, Int32(columns)], values: [Float](repeating: 1, count: 896 * columns)),
            Answer(shape: [1, 896, 1], values: [Float](repeating: 1, count: 896)),
          ], shape: [1, 128, 128, 3]
        ).model())
    }
    let face = try #require(try detector(keypoints: 64).detect(picture()).faces.first)
    #expect(face.keypoints.count == 64)
    let error = #expect(throws: ApusError.self) { try detector(keypoints: 65) }
    #expect(error?.code == .invalidArgument)
  }

  @Test("objects of YOLO have at most 512 keypoints, however many the metadata names")
  func limitsKeypointsOfObjects() throws {
    func detector(keypoints: Int, values: Int) throws -> ObjectDetector {
      let columns = 6 + keypoints * values
      var model = DetectorModel.answering([
        Answer(
          shape: [1, 255, Int32(columns)],
          values: (0..<255).flatMap { _ in [0, 0, 1, 1, 0.9, 0] + [Float](repeating: 0.5, count: columns - 6)
          })
      ])
      model.labels = "{'task': 'pose', 'names': {0: 'face'}, 'kpt_shape': [\(keypoints), \(values)]}"
      model.appendedName = "metadata.json"
      return try ObjectDetector(model: model.model())
    }
    let found = try detector(keypoints: 512, values: 2).detect(picture()).detections
    #expect(found.count == 255 && found.allSatisfy { $0.keypoints.count == 512 })
    for (keypoints, values) in [(513, 2), (1, 4)] {
      let error = #expect(throws: ApusError.self) { try detector(keypoints: keypoints, values: values) }
      #expect(
        error?.message.contains("\(keypoints) keypoints of \(values) numbers, not at most 512 of 3") == true)
    }
  }

  @Test("masks have at most 1,024 prototypes: each object has a coefficient for each")
  func limitsPrototypes() throws {
    for (count, isFine) in [(1 << 10, true), (1 << 10 + 1, false)] {
      let model = DetectorModel.answering([
        Answer(
          shape: [1, 2, Int32(6 + count)],
          values: (0..<2).flatMap { _ in [0, 0, 1, 1, 0.9, 0] + [Float](repeating: 1, count: count) }),
        Answer(shape: [1, 2, 2, Int32(count)], values: [Float](repeating: 1, count: 4 * count)),
      ])
      if isFine {
        let found = try ObjectDetector(model: model.model()).detect(picture()).detections
        #expect(found.count == 2 && found.allSatisfy { $0.mask != nil })
      } else {
        #expect(throws: ApusError.self) { try ObjectDetector(model: model.model()) }
      }
    }
  }

  @Test("a model has at most 256 outputs, and may name one more than once")
  func limitsOutputs() throws {
    var model = DetectorModel.answering([Answer.rows([1, 0])])
    model.outputs = [Int32](repeating: 1, count: 256)
    #expect(try ImageEmbedder(model: model.model()).embed(picture()).embeddings.count == 256)
    model.outputs.append(1)
    let error = #expect(throws: ApusError.self) { try ImageEmbedder(model: model.model()) }
    #expect(error?.code == .resourceLimit && error?.message.hasPrefix("the model has 257 outputs") == true)
  }

  @Test("outputs that share a file of calibrations may mean it in their own way")
  func sharesCalibrations() throws {
    var model = DetectorModel.answering([Answer.rows([1, 1]), Answer.rows([1, 1])])
    // The sigmoid of zero times the score, times two; the other class has none.
    model.labels = "2,0,0\n"
    model.appendedName = "calibration"
    model.metadataCalibrations = [0.25, 0.5]
    let found = try ImageClassifier(model: model.model()).classify(picture()).classifications
    #expect(found.map { $0.categories.map(\.score) } == [[1, 0.25], [1, 0.5]])
  }

  @Test("wide integers of an input are computed as floats, so it has a limit of its own")
  func limitsWideIntegers() throws {
    let model = DetectorModel(
      tensors: [
        .init(name: "image", shape: [1, 1 << 13, 1 << 13 + 1, 1], type: DetectorModel.int32),
        .init(name: "scores", shape: [1, 2], data: DetectorModel.data([1, 0])),
      ], outputs: [1])
    let error = #expect(throws: ApusError.self) { try ImageClassifier(model: model.model()) }
    #expect(error?.code == .resourceLimit && error?.message.contains("67117056 elements") == true)
  }

  @Test("a row of tens of thousands of classes asks for the time before its end")
  func limitsRowsOfClasses() throws {
    let classes = 1 << 15
    let model = DetectorModel.answering([
      Answer(shape: [1, 2, 2, Int32(classes)], values: [Float](repeating: 0, count: 4 * classes))
    ])
    var options = ImageSegmenter.Options()
    // Preparing the model takes some of it on a busy machine.
    options.interpreter.timeLimit = .seconds(1)
    let segmenter = try ImageSegmenter(model: model.model(), options: options)
    let row = try ImageBuffer(
      bytes: [UInt8](repeating: 0, count: 1 << 15), width: 1 << 15, height: 1, format: .gray)
    let error = #expect(throws: ApusError.self) { try segmenter.segment(row) }
    #expect(error?.code == .resourceLimit && error?.message.hasPrefix("what follows the run") == true)
  }

  @Test("maps of PoseNet whose size the picture decides are refused where it is another than at first")
  func refusesGrowingMaps() throws {
    let (cast, add, mul, fill, max): (Int32, Int32, Int32, Int32, Int32) = (53, 0, 18, 94, 82)
    func ints(_ values: [Int32]) -> [UInt8] {
      values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    }
    var model = DetectorModel(
      tensors: [
        .init(name: "picture", shape: [1, 9, 9, 3]),
        .init(name: "axes", shape: [4], type: DetectorModel.int32, data: ints([0, 1, 2, 3])),
        .init(name: "brightest", shape: []),
        .init(name: "whole", shape: [], type: DetectorModel.int32),
        .init(name: "sides", shape: [4], type: DetectorModel.int32, data: ints([0, 1, 1, 0])),
        .init(name: "more", shape: [4], type: DetectorModel.int32),
        .init(name: "half", shape: [], data: DetectorModel.data([0.5])),
      ],
      operators: [
        .init(code: max, inputs: [0, 1], outputs: [2]), .init(code: cast, inputs: [2], outputs: [3]),
        .init(code: mul, inputs: [3, 4], outputs: [5]),
      ], outputs: [])
    for channels: Int32 in [17, 34, 64] {
      let first = Int32(model.tensors.count)
      model.tensors += [
        .init(
          name: "least \(channels)", shape: [4], type: DetectorModel.int32, data: ints([1, 3, 3, channels])),
        .init(name: "size \(channels)", shape: [4], type: DetectorModel.int32),
        .init(name: "map \(channels)", shape: [1, 3, 3, channels]),
      ]
      model.operators += [
        .init(code: add, inputs: [5, first], outputs: [first + 1]),
        .init(code: fill, inputs: [first + 1, 6], outputs: [first + 2]),
      ]
      model.outputs.append(first + 2)
    }
    let detector = try KeypointDetector(model: model.model())
    // Black is −1 and white 1, so that the maps have 2×2 and 4×4 cells.
    for level: UInt8 in [0, 255] {
      let error = #expect(throws: ApusError.self) { try detector.detect(picture(level)) }
      #expect(error?.code == .invalidData)
    }
    #expect(try detector.detect(picture(128)).imageWidth == 9)
  }

  @Test("masks over prototypes far larger than the input end where their memory does; the boxes stay")
  func limitsMasks() throws {
    let side = 2048
    let row: [Float] = [0, 0, 1, 1, 0.9, 0, 1]
    let model = DetectorModel.answering([
      Answer(shape: [1, 300, 7], values: (0..<300).flatMap { _ in row }),
      Answer(shape: [1, Int32(side), Int32(side), 1], values: [Float](repeating: 1, count: side * side)),
    ])
    let detector = try ObjectDetector(model: model.model())
    #expect(detector.assumptions.warnings.isEmpty)
    let found = try detector.detect(picture()).detections
    #expect(found.count == 300)
    #expect(found.map { $0.mask != nil } == (0..<300).map { $0 < (1 << 26) / (side * side) })
    #expect(detector.assumptions.warnings.contains { $0.contains("some objects have no mask") })
  }

  @Test("masks that have too many pixels of the picture together are left out with a warning")
  func limitsPixelsOfMasks() throws {
    let model = DetectorModel.answering([
      Answer(shape: [1, 300, 7], values: (0..<300).flatMap { _ in [0, 0, 1, 1, 0.9, 0, 1] as [Float] }),
      Answer(shape: [1, 2, 2, 1], values: [1, 1, 1, 1]),
    ])
    let detector = try ObjectDetector(model: model.model())
    #expect(try detector.detect(picture()).detections.allSatisfy { $0.mask != nil })
    #expect(detector.assumptions.warnings.isEmpty)
    let side = 1024
    let found = try detector.detect(picture(side: side)).detections
    #expect(found.map { $0.mask != nil } == (0..<300).map { $0 < (1 << 28) / (side * side) })
    #expect(detector.assumptions.warnings.contains { $0.contains("some objects have no mask") })
  }

  @Test("a classifier of sound whose number of scores changes from window to window is refused")
  func refusesGrowingScores() throws {
    let unique: Int32 = 103
    let count = 1024
    let model = DetectorModel(
      tensors: [
        .init(name: "sound", shape: [Int32(count)]), .init(name: "values", shape: [2]),
        .init(name: "places", shape: [Int32(count)], type: DetectorModel.int32),
      ], operators: [.init(code: unique, inputs: [0], outputs: [1, 2], options: [0: .byte(2)])], outputs: [1])
    let classifier = try AudioClassifier(model: model.model())
    /// As many samples as a window has, of these values.
    func window(_ values: [Float]) -> [Float] { (0..<count).map { values[$0 % values.count] } }
    let steady = try AudioClip(samples: window([0.1, 0.2]) + window([0.3, 0.4]), sampleRate: 16_000)
    #expect(try classifier.classify(steady).windows.count == 2)
    let growing = try AudioClip(samples: window([0.1]) + window([0.1, 0.2, 0.3]), sampleRate: 16_000)
    let error = #expect(throws: ApusError.self) { try classifier.classify(growing) }
    #expect(error?.code == .invalidData)
  }

  @Test("the best values are those of a sort, however many there are", arguments: [0, 1, 7, 5_000, .max])
  func collectsTheBest(limit: Int) {
    var random = SeededGenerator(seed: UInt64(truncatingIfNeeded: limit))
    // Few levels, so that order decides among equal scores; rising, falling and mixed.
    for kind in 0..<3 {
      var values: [(score: Float, place: Int)] = []
      for place in 0..<40_000 {
        let level = kind == 0 ? place / 8 : kind == 1 ? -place / 8 : Int(random.next() % 50)
        values.append((Float(level), place))
      }
      var best = BestValues<Int>(limit: limit)
      for value in values { best.add(value.place, score: value.score) }
      let sorted = values.sorted { $0.score > $1.score || $0.score == $1.score && $0.place < $1.place }
      #expect(best.sorted() == sorted.prefix(limit).map(\.place))
    }
  }
}
