// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

/// Readings that the graph decides, or else the first answer, for all pictures.
@Suite struct DecidedOnceTests {
  private typealias Operator = DetectorModel.OperatorSpec
  private typealias Tensor = DetectorModel.TensorSpec
  private static let (add, conv2D, fullyConnected, argMax): (Int32, Int32, Int32, Int32) = (0, 3, 9, 56)

  private func gray(_ value: UInt8, width: Int = 32, height: Int = 32) throws -> ImageBuffer {
    try ImageBuffer(
      bytes: [UInt8](repeating: value, count: width * height * 3), width: width, height: height, format: .rgb)
  }

  private func ints(_ values: [UInt8]) -> [UInt8] { values.flatMap { [$0, 0, 0, 0] } }

  private func message(_ body: () throws -> Void) -> String {
    let error = #expect(throws: ApusError.self) { try body() }
    return error?.message ?? ""
  }

  /// Outputs that are tables of numbers times the brightest value of the picture: nothing in the graph bounds them.
  private func scaled(_ tables: [(shape: [Int32], values: [Float])], side: Int32 = 32) -> DetectorModel {
    var model = DetectorModel(
      tensors: [
        Tensor(name: "image", shape: [1, side, side, 3]),
        Tensor(name: "axes", shape: [3], type: DetectorModel.int32, data: ints([1, 2, 3])),
        Tensor(name: "brightest", shape: [1]),
      ], operators: [Operator(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2])], outputs: [])
    for (index, table) in tables.enumerated() {
      let place = Int32(model.tensors.count)
      model.tensors.append(
        Tensor(name: "table \(index)", shape: table.shape, data: DetectorModel.data(table.values)))
      model.tensors.append(Tensor(name: "output \(index)", shape: table.shape))
      model.operators.append(Operator(code: DetectorModel.mul, inputs: [2, place], outputs: [place + 1]))
      model.outputs.append(place + 1)
    }
    return model
  }

  // MARK: Classifiers

  private func classifier(_ values: [Float]) throws -> ImageClassifier {
    var options = ImageClassifier.Options()
    options.normalization = .unit
    return try ImageClassifier(
      model: scaled([([1, Int32(values.count)], values)]).model(), options: options)
  }

  private func scores(_ classifier: ImageClassifier) -> Assumption? {
    classifier.assumptions.readings.first { $0.subject == "scores" }
  }

  @Test("where the graph is silent, a first answer of 0 to 1 makes all later ones probabilities")
  func probabilities() throws {
    let classifier = try classifier([0.25, 2.5])
    #expect(classifier.isUndecided && scores(classifier)?.source == .guess)
    #expect(try classifier.classify(gray(51)).scoreForm == .probability)
    #expect(!classifier.isUndecided && scores(classifier)?.value == "probability")
    let text = message { _ = try classifier.classify(gray(255)) }
    #expect(text.contains("a score of 2.5, not 0 to 1") && text.contains("--scores"), "\(text)")
    #expect(try classifier.classify(gray(51)).categories.map(\.score) == [0.5, 0.05])
  }

  @Test(
    "where the graph is silent, a first answer beyond 0 to 1 makes all later ones own numbers")
  func ownNumbers() throws {
    let classifier = try classifier([0.25, 2.5])
    #expect(classifier.assumptions.warnings.isEmpty)
    #expect(try classifier.classify(gray(255)).scoreForm == .raw)
    #expect(scores(classifier)?.value == "raw")
    #expect(classifier.assumptions.warnings.contains { $0.contains("--scores logit") })
    // The form is that of the model, though these numbers could be probabilities.
    let dark = try classifier.classify(gray(51))
    #expect(dark.scoreForm == .raw && dark.categories.map(\.score) == [0.5, 0.05])
  }

  @Test("an answer with a score that is no number decides nothing")
  func notANumber() throws {
    let classifier = try classifier([0.25, .nan])
    #expect(message { _ = try classifier.classify(gray(255)) }.contains("nan"))
    #expect(classifier.isUndecided)
  }

  /// Numbers of a layer, and what comes behind it.
  private func layered(_ behind: [Operator], outputs: [Int32]) -> DetectorModel {
    DetectorModel(
      tensors: [
        Tensor(name: "image", shape: [1, 4, 4, 3]),
        Tensor(name: "axes", shape: [2], type: DetectorModel.int32, data: ints([1, 2])),
        Tensor(name: "brightest", shape: [1, 3]),
        Tensor(name: "weights", shape: [3, 3], data: DetectorModel.data([1, 0, 0, 0, 1, 0, 0, 0, 1])),
        Tensor(name: "layer", shape: [1, 3]),
        Tensor(name: "bias", shape: [3], data: DetectorModel.data([1, 2, 3])),
        Tensor(name: "sum", shape: [1, 3]), Tensor(name: "result", shape: [1, 3]),
      ],
      operators: [
        Operator(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2]),
        Operator(code: Self.fullyConnected, inputs: [2, 3, -1], outputs: [4]),
      ] + behind, outputs: outputs)
  }

  @Test(
    "a bias, a factor and a sum behind layers leave them the model's own numbers")
  func biasedLayers() throws {
    let (mul, sub) = (DetectorModel.mul, DetectorModel.sub)
    for behind in [
      [Operator(code: Self.add, inputs: [4, 5], outputs: [6])],
      [Operator(code: sub, inputs: [5, 4], outputs: [6])],
      [Operator(code: mul, inputs: [4, 5], outputs: [6])],
      [
        Operator(code: Self.add, inputs: [4, 5], outputs: [7]),
        Operator(code: Self.add, inputs: [7, 4], outputs: [6]),
      ],
    ] {
      let classifier = try ImageClassifier(model: layered(behind, outputs: [6]).model())
      #expect(scores(classifier)?.value == "raw" && scores(classifier)?.source == .model)
      #expect(!classifier.isUndecided)
    }
    for behind in [
      // A product of two layers, a sum with what is no layer, and a sum whose activation bounds it.
      [Operator(code: mul, inputs: [4, 4], outputs: [6])],
      [Operator(code: Self.add, inputs: [4, 2], outputs: [6])],
      [Operator(code: Self.add, inputs: [4, 5], outputs: [6], options: [0: .byte(1)])],
    ] {
      let classifier = try ImageClassifier(model: layered(behind, outputs: [6]).model())
      #expect(scores(classifier)?.source == .guess)
    }
  }

  @Test("a scale that no probabilities have makes numbers the model's own, from the first picture on")
  func scalesOfOwnNumbers() throws {
    for (scale, zeroPoint, isOwn) in [(0.1, 128, true), (1, 0, true), (1 / 256, 0, false), (0.006, 0, false)]
      as [(Float, Int64, Bool)]
    {
      let model = DetectorModel(
        tensors: [
          Tensor(name: "image", shape: [1, 4, 4, 3]),
          Tensor(name: "axes", shape: [2], type: DetectorModel.int32, data: ints([1, 2])),
          Tensor(name: "brightest", shape: [1, 3]),
          // QUANTIZE.
          Tensor(
            name: "numbers", shape: [1, 3], type: DetectorModel.uint8, quantization: (scale, zeroPoint)),
        ],
        operators: [
          Operator(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2]),
          Operator(code: 114, inputs: [2], outputs: [3]),
        ], outputs: [3])
      let classifier = try ImageClassifier(model: model.model())
      #expect((scores(classifier)?.value == "raw") == isOwn, "\(scale)")
      #expect(!isOwn || scores(classifier)?.source == .model)
    }
  }

  @Test("units and scores that a kind of model cannot have are refused, not ignored")
  func givenInVain() throws {
    let points = try scaled([([1, 1, 17, 3], [Float](repeating: 0.5, count: 51))]).model()
    var options = KeypointDetector.Options()
    options.boxUnits = .pixel
    let text = message { _ = try KeypointDetector(model: points, options: options) }
    #expect(text.contains("box units are given as pixel") && text.contains("fraction"), "\(text)")
    options.boxUnits = .fraction
    _ = try KeypointDetector(model: points, options: options)
  }

  @Test("probabilities are no numbers of 0 to 255")
  func bytes() throws {
    var options = ImageClassifier.Options()
    options.scores = .byte
    let table = scaled([([1, 3], [0.25, 0.5, 0.25])])
    options.normalization = .unit
    let classifier = try ImageClassifier(model: table.model(), options: options)
    #expect(message { _ = try classifier.classify(gray(255)) }.contains("0 to 255"))
  }

  // MARK: Faces and points

  /// BlazeFace for 64 × 64 pixels: one of its 224 anchors has the score `face`, the others have `otherwise`.
  private func faces(_ face: Float, otherwise: Float) throws -> FaceDetector {
    var scores = [Float](repeating: otherwise, count: 224)
    scores[77] = face
    let predictions = (0..<224 * 16).map { Float([0, 0, 16, 16][min($0 % 16, 3)]) }
    var options = FaceDetector.Options()
    options.normalization = .unit
    return try FaceDetector(
      model: scaled([([1, 224, 16], predictions), ([1, 224, 1], scores)], side: 64).model(), options: options)
  }

  @Test(
    "scores of faces that all lie from 0 to 1 are probabilities, others are logits")
  func scoresOfFaces() throws {
    let likely = try faces(0.9, otherwise: 0.01)
    #expect(likely.isUndecided)
    // As logits, all 224 would have a score above a half.
    let found = try likely.detect(gray(255)).faces
    #expect(found.count == 1 && abs(found[0].score - 0.9) < 1e-6)
    #expect(likely.assumptions.readings.contains { $0.subject == "scores" && $0.value == "probability" })
    #expect(likely.assumptions.warnings.contains { $0.contains("--scores probability") })
    let logits = try faces(2, otherwise: -9)
    let other = try logits.detect(gray(255)).faces
    // 1 ÷ (1 + e⁻²)
    #expect(other.count == 1 && abs(other[0].score - 0.880797) < 1e-5)
    #expect(!logits.isUndecided && logits.assumptions.warnings.isEmpty)
  }

  @Test("what faces have shown is among what an embedder of faces assumes")
  func facesOfAnEmbedder() throws {
    var options = ImageEmbedder.Options()
    options.normalization = .unit
    let task = FaceEmbedder(
      detector: try faces(0.9, otherwise: 0.01),
      embedder: try ImageEmbedder(model: scaled([([1, 4], [3, 0, 4, 0])]).model(), options: options))
    let before = task.assumptions
    #expect(task.isUndecided)
    // All points of the face are in one place: it has no upright position.
    #expect(try task.embed(gray(255)).faces.isEmpty)
    #expect(task.assumptions != before)
    #expect(task.assumptions.readings.contains { $0.subject == "faces' scores" && $0.value == "probability" })
  }

  @Test("MoveNet's scores are logits where the options say so")
  func scoresOfPoints() throws {
    let values = (0..<51).map { Float($0 % 3 == 2 ? 2 : 0.5) }
    var options = KeypointDetector.Options()
    (options.scores, options.normalization) = (.logit, .unit)
    let detector = try KeypointDetector(model: scaled([([1, 1, 17, 3], values)]).model(), options: options)
    let points = try detector.detect(gray(255)).poses.first?.keypoints ?? []
    #expect(points.count == 17 && points.allSatisfy { abs(($0.score ?? 0) - 0.880797) < 1e-5 })
    #expect(detector.assumptions.readings.contains { $0.subject == "scores" && $0.source == .given })
  }

  // MARK: Detectors

  @Test("which of two rows are classes is among the readings, before an answer tells and after it")
  func orderOfRows() throws {
    typealias Answer = DetectorModel.Answer
    let boxes = Answer.boxes([0, 0, 0.5, 0.5, 0.5, 0.5, 1, 1])
    let model = DetectorModel.answering([boxes, Answer.rows([0.9, 0.8]), Answer.rows([3, 1]), .count(2)])
    let detector = try ObjectDetector(model: model.model())
    func reading() -> String? {
      detector.assumptions.readings.first { $0.subject == "classes and scores" }?.value
    }
    #expect(reading() == "classes in output 1, scores in output 2" && detector.isUndecided)
    #expect(try detector.detect(gray(99)).detections.map(\.index) == [3, 1])
    #expect(reading() == "classes in output 2, scores in output 1" && !detector.isUndecided)
    #expect(detector.assumptions.outputs.first { $0.index == 2 }?.role == "classes")
  }

  @Test("objects are counted before those that lie in the bars of a letterbox are left out, as YOLO does")
  func objectsInBars() throws {
    // A picture of 32 × 16 stands between bars of 8 pixels. The better object is in the upper one.
    var values = [Float](repeating: 0, count: 5 * 21)
    for (cell, numbers) in [[0.5, 0.1, 0.2, 0.1, 0.9], [0.5, 0.5, 0.2, 0.2, 0.8]].enumerated() {
      for (column, number) in numbers.enumerated() { values[column * 21 + cell] = Float(number) }
    }
    func detections(_ count: Int?) throws -> [Float] {
      var options = ObjectDetector.Options()
      (options.layout, options.maxResults, options.scores) = (.yolo8, count, .probability)
      (options.normalization, options.boxUnits) = (.unit, .fraction)
      return try ObjectDetector(model: scaled([([1, 5, 21], values)]).model(), options: options)
        .detect(gray(255, width: 32, height: 16)).detections.map(\.score)
    }
    #expect(try detections(nil) == [0.8])
    #expect(try detections(2) == [0.8])
    #expect(try detections(1) == [])
  }

  // MARK: Masks

  private func mask(_ values: [Float], _ scores: ScoreForm?) throws -> SegmentationResult {
    var options = ImageSegmenter.Options()
    (options.scores, options.normalization) = (scores, .unit)
    let table = (0..<16).map { values[$0 % 4] }
    let model = scaled([([1, 4, 4, 1], table)])
    return try ImageSegmenter(model: model.model(), options: options).segment(gray(255))
  }

  @Test("a mask whose numbers its form of scores cannot have is an error that names the form that fits")
  func oddMasks() throws {
    for (values, form, remedy) in [
      ([0, 255, 100, 200], .logit, "--scores byte"), ([0, 1, 0.5, 0.25], .logit, "--scores probability"),
      ([0.5, 1, 0.5, 0.25], .byte, "--scores probability"), ([0, 4_000, 100, 200], .logit, "apus transform"),
      ([0, 255, 100, 200], .probability, "--scores byte"), ([-3, 5, 1, 1], .probability, "--scores logit"),
    ] as [([Float], ScoreForm, String)] {
      let text = message { _ = try mask(values, form) }
      #expect(text.contains(remedy), "\(values) \(form): \(text)")
    }
    #expect(try mask([-300, 300, 5, -5], .logit).classes.map(\.share) == [0.5, 0.5])
    let bytes = try mask([0, 255, 100, 200], .byte)
    #expect((0..<4).map { bytes.category(x: 8 * $0 + 4, y: 4) } == [0, 1, 0, 1])
    // Bytes that are all dark, or a mask of whole ones and zeros, have no fractions.
    #expect(try mask([0, 1, 1, 0], .byte).classes.map(\.index) == [0])
  }

  @Test("logits that are never negative are warned of until some are")
  func positiveMasks() throws {
    let model = DetectorModel(
      tensors: [
        Tensor(name: "image", shape: [1, 4, 4, 1]),
        Tensor(name: "half", shape: [1], data: DetectorModel.data([0.5])),
        Tensor(name: "mask", shape: [1, 4, 4, 1]),
      ],
      operators: [Operator(code: Self.add, inputs: [0, 1], outputs: [2], options: [0: .byte(0)])],
      outputs: [2])
    let segmenter = try ImageSegmenter(model: model.model())
    func isWarned() -> Bool { segmenter.assumptions.warnings.contains { $0.contains("is negative") } }
    #expect(!isWarned())
    #expect(try segmenter.segment(gray(255)).classes.map(\.index) == [1])
    #expect(isWarned())
    #expect(try segmenter.segment(gray(0)).classes.map(\.index) == [0])
    #expect(!isWarned())
  }

  @Test("logits of numbers that the graph keeps from being negative are refused before any picture")
  func boundedMasks() throws {
    let constant = DetectorModel.answering(
      [.init(shape: [1, 4, 4, 1], values: (0..<16).map { Float($0 * 17) })], shape: [1, 32, 32, 3])
    var options = ImageSegmenter.Options()
    options.scores = .logit
    let text = message { _ = try ImageSegmenter(model: constant.model(), options: options) }
    #expect(text.contains("--scores byte") && text.contains("0 to 255"), "\(text)")
  }

  /// The class of the brightest channel, and of pixels as they are, for an input of 4 × 4.
  private func classes(_ type: UInt8, isBrightest: Bool) -> DetectorModel {
    DetectorModel(
      tensors: [
        Tensor(name: "image", shape: [1, 4, 4, isBrightest ? 3 : 1]),
        Tensor(name: "axis", shape: [1], type: DetectorModel.int32, data: ints([3])),
        Tensor(name: "classes", shape: isBrightest ? [1, 4, 4] : [1, 4, 4, 1], type: type),
      ],
      operators: [
        isBrightest
          ? Operator(code: Self.argMax, inputs: [0, 1], outputs: [2], options: [0: .byte(type)])
          : Operator(code: 53, inputs: [0], outputs: [2], options: [1: .byte(type)])
      ], outputs: [2])
  }

  @Test("how many classes a mask may have depends on the model, never on the picture")
  func countsOfClasses() throws {
    for (type, isBrightest, count) in [
      (DetectorModel.int32, true, 3), (DetectorModel.int64, true, 3), (DetectorModel.int32, false, 65_536),
      (DetectorModel.uint8, false, 256),
    ] as [(UInt8, Bool, Int)] {
      var options = ImageSegmenter.Options()
      options.normalization = .raw
      let segmenter = try ImageSegmenter(
        model: classes(type, isBrightest: isBrightest).model(), options: options)
      for value: UInt8 in [0, 7, 255] {
        #expect(try segmenter.segment(gray(value)).classCount == count, "\(type) \(value)")
      }
    }
  }

  @Test(
    "the bars of a letterbox are in no mask, and in no picture of the picture's size",
    arguments: [true, false])
  func leavesOutBars(isWide: Bool) throws {
    let model = DetectorModel(
      tensors: [Tensor(name: "image", shape: [1, 4, 4, 1]), Tensor(name: "mask", shape: [1, 4, 4, 1])],
      operators: [Operator(code: 14, inputs: [0], outputs: [1])], outputs: [1])
    let picture = try gray(200, width: isWide ? 32 : 16, height: isWide ? 16 : 32)
    var options = ImageSegmenter.Options()
    (options.fit, options.normalization) = (.letterbox(fill: .black), .signed)
    let found = try ImageSegmenter(model: model.model(), options: options).segment(picture)
    #expect(found.classes.map(\.index) == [1] && found.categoryMask.allSatisfy { $0 == 1 })
    var others = PictureTransformer.Options()
    (others.fit, others.normalization, others.fitsOutput) = (.letterbox(fill: .black), .signed, true)
    let numbers = try PictureTransformer(model: model.model(), options: others).transform(picture)
    #expect(numbers.values.count == 512 && numbers.maximum - numbers.minimum < 1e-6)
  }

  @Test("names that are fewer than the classes that ARG_MAX finds are warned of")
  func countsNamesOfClasses() throws {
    let model = try classes(DetectorModel.int32, isBrightest: true).model()
    for (names, isWarned) in [(["a", "b", "c"], false), (["a", "b"], true)] {
      let segmenter = try ImageSegmenter(model: model, labels: LabelMap(names))
      #expect(segmenter.labels?.offset == 0)
      #expect(
        segmenter.assumptions.warnings.contains { $0.contains("\(names.count) labels for 3 classes") }
          == isWarned)
    }
  }

  // MARK: Options

  @Test("anchors and keypoints are read as the command line and the server have them")
  func parses() throws {
    #expect(try ObjectDetector.Options.anchors(parsing: "10,13, 16,30.5") == [10, 13, 16, 30.5])
    #expect(try KeypointDetector.Options.keypoints(parsing: "21x3") == (21, 3))
    #expect(try KeypointDetector.Options.keypoints(parsing: "4x2") == (4, 2))
    for text in ["", "1,", "x", "1;2", "nan,1", "inf,1"] {
      #expect(message { _ = try ObjectDetector.Options.anchors(parsing: text) }.hasPrefix("anchors are '"))
    }
    for text in ["", "17", "17x", "x3", "0x3", "-1x3", "17x4", "17x1", "17x3x1", "99999999999999999999x3"] {
      #expect(message { _ = try KeypointDetector.Options.keypoints(parsing: text) }.contains("17x3"))
    }
  }

  @Test("divisors for pixels from 0 to 1 are warned of with the numbers for 0 to 255")
  func divisors() throws {
    func warnings(_ text: String) throws -> [String] {
      var options = ImageClassifier.Options()
      options.normalization = try Normalization(parsing: text)
      return try ImageClassifier(model: scaled([([1, 2], [0, 1])]).model(), options: options)
        .assumptions.warnings
    }
    #expect(
      try warnings("0.5:0.5").contains { $0.contains("white becomes 509") && $0.contains("127.5:127.5") })
    let tiny = try warnings("0:0.00001")
    #expect(tiny.contains { $0.contains("no model takes") && !$0.contains("0.003") }, "\(tiny)")
    #expect(try warnings("127.5:127.5").isEmpty)
  }
}
