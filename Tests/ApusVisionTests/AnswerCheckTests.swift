// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

/// Answers that their model's reading cannot have, and readings that answers decide.
@Suite struct AnswerCheckTests {
  private static let fullyConnected: Int32 = 9
  private static let logistic: Int32 = 14

  private func gray(_ value: UInt8) throws -> ImageBuffer {
    try ImageBuffer(
      bytes: [UInt8](repeating: value, count: 32 * 32 * 3), width: 32, height: 32, format: .rgb)
  }

  // MARK: Detectors

  /// A YOLO v8 head of one class whose numbers are these times the brightest pixel; cells without numbers have another score.
  private func yolo(_ cells: [[Float]], otherwise: Float = 0) -> DetectorModel {
    let count = 16 + 4 + 1
    var values = [Float](repeating: 0, count: 4 * count) + [Float](repeating: otherwise, count: count)
    for (cell, numbers) in cells.enumerated() {
      for (column, number) in numbers.enumerated() { values[column * count + cell] = number }
    }
    return DetectorModel(
      tensors: [
        .init(name: "image", shape: [1, 32, 32, 3]),
        .init(
          name: "axes", shape: [3], type: DetectorModel.int32, data: [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]),
        .init(name: "brightest", shape: [1]),
        .init(name: "table", shape: [1, 5, 21], data: DetectorModel.data(values)),
        .init(name: "candidates", shape: [1, 5, 21]),
      ],
      operators: [
        .init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2]),
        .init(code: DetectorModel.mul, inputs: [2, 3], outputs: [4]),
      ], outputs: [4])
  }

  private func detector(_ cells: [[Float]], _ change: (inout ObjectDetector.Options) -> Void = { _ in })
    throws
    -> ObjectDetector
  {
    var options = ObjectDetector.Options()
    options.layout = .yolo8
    change(&options)
    return try ObjectDetector(model: yolo(cells).model(), options: options)
  }

  private static let fractions: [Float] = [0.5, 0.5, 0.25, 0.5, 0.9]
  private static let pixels: [Float] = [16, 16, 8, 16, 0.9]

  @Test("candidates below the threshold decide nothing, however many there are")
  func candidatesThatDoNotCount() throws {
    let expected = try detector([Self.fractions]).detect(gray(255)).detections
    #expect(expected.map(\.rect) == [PixelRect(x: 12, y: 8, width: 8, height: 16)])
    for others in [[[2.1, 0.1, 0, 0, 0]], [[Float]](repeating: [300, 300, 20, 20, 0.2], count: 20)] {
      #expect(try detector([Self.fractions] + others).detect(gray(255)).detections == expected)
    }
  }

  @Test("boxes beyond 2 are pixels, which a warning says; later answers cannot be fractions")
  func decidesOnce() throws {
    let detector = try detector([Self.pixels]) { $0.scoreThreshold = 0.05 }
    #expect(detector.assumptions.warnings.isEmpty)
    // A tenth of the brightness is a tenth of every number: by themselves, they would be fractions.
    let dark = try gray(25)
    #expect(
      try detector.detect(gray(255)).detections.map(\.rect) == [PixelRect(x: 12, y: 8, width: 8, height: 16)])
    #expect(detector.assumptions.warnings.count == 1)
    #expect(detector.assumptions.warnings[0].contains("--box-units pixel"))
    #expect(detector.assumptions.readings.first { $0.subject == "box units" }?.value == "pixel")
    let error = #expect(throws: ApusError.self) { try detector.detect(dark) }
    #expect(error?.code == .invalidData && error?.message.contains("--box-units") == true)
  }

  @Test("what is given is never asked of answers")
  func givenUnits() throws {
    let detector = try detector([Self.pixels]) { ($0.scoreThreshold, $0.boxUnits) = (0.05, .pixel) }
    #expect(try detector.detect(gray(25)).detections.count == 1)
    #expect(try detector.detect(gray(255)).detections.count == 1)
    #expect(detector.assumptions.warnings.isEmpty)
    #expect(detector.assumptions.readings.first { $0.subject == "box units" }?.source == .given)
  }

  @Test(
    "answers that no reading can have are errors that name the options",
    arguments: [
      ([[0.5, 0.5, 0.25, 0.5, 2.3]], "--scores"),
      ([[0.5, 0.5, 0.25, 0.5, 1.2]], "--scores"),
      ([[0.5, 0.5, -0.25, 0.5, 0.9]], "--layout"),
      ([[0.5, 0.5, 0.25, 0.5, 0.9], [16, 16, 8, 16, 0.8]], "--box-units"),
      ([[2.1, 2.1, 0.1, 0.1, 0.9]], "--box-units"),
      ([[Float]](repeating: [0.5, 0.5, 0.1, 0.1, 0.7], count: 21), "--layout"),
    ] as [([[Float]], String)])
  func refuses(cells: [[Float]], option: String) throws {
    let error = #expect(throws: ApusError.self) { try detector(cells).detect(gray(255)) }
    #expect(error?.code == .invalidData)
    #expect(error?.message.contains(option) == true, "\(error?.message ?? "")")
  }

  @Test("a box that no reading can have is left out if it has hardly any score, unless it is alone")
  func leavesOutFaintBoxes() throws {
    let faint: [Float] = [1.5, 0.5, 0.25, 0.5, 0.01]
    let options: (inout ObjectDetector.Options) -> Void = { $0.scoreThreshold = 0.001 }
    let expected = try detector([Self.fractions], options).detect(gray(255)).detections
    #expect(expected.count == 1)
    #expect(try detector([Self.fractions, faint], options).detect(gray(255)).detections == expected)
    for cells in [
      [faint], [Self.fractions, [1.5, 0.5, 0.25, 0.5, 0.06]],
      [Self.fractions, [.nan, 0.5, 0.25, 0.5, 0.01]],
    ] {
      let error = #expect(throws: ApusError.self) { try detector(cells, options).detect(gray(255)) }
      #expect(error?.code == .invalidData)
    }
  }

  @Test("a score that rounding brings above 1 is 1, and changes no other score")
  func roundsScores() throws {
    let found = try detector([[0.3, 0.5, 0.2, 0.5, 1.0001], [0.7, 0.5, 0.2, 0.5, 0.5]]).detect(gray(255))
      .detections
    #expect(found.map(\.score) == [1, 0.5])
  }

  @Test("logits become probabilities where the options say so")
  func yoloLogits() throws {
    var options = ObjectDetector.Options()
    (options.layout, options.scores) = (.yolo8, .logit)
    let model = try yolo([[0.5, 0.5, 0.25, 0.5, 2], [0.2, 0.2, 0.1, 0.1, -2]], otherwise: -9).model()
    let detector = try ObjectDetector(model: model, options: options)
    let scores = try detector.detect(gray(255)).detections.map(\.score)
    // 1 ÷ (1 + e⁻²); −2 is 0.12, below the threshold.
    #expect(scores.count == 1 && abs(scores[0] - 0.880797) < 1e-5)
  }

  // MARK: Classifiers

  /// The brightest value of each channel through a layer without an activation, and perhaps a sigmoid.
  private func classifier(_ weights: [Float], sigmoid: Bool = false) -> DetectorModel {
    let classes = Int32(weights.count / 3)
    var model = DetectorModel(
      tensors: [
        .init(name: "image", shape: [1, 4, 4, 3]),
        .init(name: "axes", shape: [2], type: DetectorModel.int32, data: [1, 0, 0, 0, 2, 0, 0, 0]),
        .init(name: "brightest", shape: [1, 3]),
        .init(name: "weights", shape: [classes, 3], data: DetectorModel.data(weights)),
        .init(name: "numbers", shape: [1, classes]), .init(name: "chances", shape: [1, classes]),
      ],
      operators: [
        .init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2]),
        .init(code: Self.fullyConnected, inputs: [2, 3, -1], outputs: [4]),
      ], outputs: [4])
    if sigmoid {
      model.operators.append(.init(code: Self.logistic, inputs: [4], outputs: [5]))
      model.outputs = [5]
    }
    return model
  }

  private func classes(
    _ model: DetectorModel, labels: [String]? = nil,
    _ change: (inout ImageClassifier.Options) -> Void = { _ in }
  ) throws -> ClassificationResult {
    var options = ImageClassifier.Options()
    options.normalization = .unit
    change(&options)
    return try ImageClassifier(
      model: model.model(), labels: labels.map { LabelMap($0) }, options: options
    ).classify(gray(255))
  }

  @Test("a layer's own numbers are said to be raw; as logits, they become probabilities by softmax")
  func linearClassifier() throws {
    let model = classifier([1, 0, 0, 0, 2, 0])
    let classifier = try ImageClassifier(model: model.model())
    #expect(classifier.assumptions.warnings.contains { $0.contains("--scores logit") })
    let scores = classifier.assumptions.readings.first { $0.subject == "scores" }
    #expect(scores?.value == "raw" && scores?.source == .model)
    let raw = try classes(model)
    #expect(raw.scoreForm == .raw && raw.categories.map(\.score) == [2, 1])
    let soft = try classes(model) { $0.scores = .logit }
    // e² ÷ (e² + e)
    #expect(soft.scoreForm == .probability && abs(soft.categories[0].score - 0.731059) < 1e-5)
    #expect(throws: ApusError.self) { try classes(model) { $0.scores = .probability } }
    // Probabilities that round to 0 have the order of their logits.
    let far = self.classifier([300, 0, 0, 10, 0, 0, 20, 0, 0, 30, 0, 0])
    let ranked = try classes(far) { $0.scores = .logit }.categories
    #expect(ranked.map(\.index) == [0, 3, 2, 1] && ranked.dropFirst().allSatisfy { $0.score == 0 })
  }

  @Test("a sigmoid computes probabilities, and that is known")
  func sigmoidClassifier() throws {
    let assumptions = try ImageClassifier(model: classifier([1, 0, 0, 0, 2, 0], sigmoid: true).model())
      .assumptions
    #expect(assumptions.warnings.isEmpty)
    #expect(assumptions.readings.first { $0.subject == "scores" }?.source == .model)
  }

  @Test("one probability with two labels is that of the second", arguments: [true, false])
  func twoLabels(sigmoid: Bool) throws {
    let found = try classes(classifier([2, 0, 0], sigmoid: sigmoid), labels: ["cat", "dog"]).categories
    #expect(found.map(\.label) == ["dog", "cat"] && found.map(\.index) == [1, 0])
    #expect(abs(found[0].score - 0.880797) < 1e-5 && abs(found[0].score + found[1].score - 1) < 1e-6)
    let one = try classes(classifier([2, 0, 0], sigmoid: true), labels: ["dog"]).categories
    #expect(one.map(\.label) == ["dog"] && abs(one[0].score - 0.880797) < 1e-5)
  }

  @Test("one number from -1 to 1 with two labels is refused until the caller says where it decides")
  func twoLabelsOfTanh() throws {
    var model = classifier([0.2, 0, 0], sigmoid: true)
    model.operators[model.operators.count - 1].code = 28
    let error = #expect(throws: ApusError.self) { try classes(model, labels: ["cat", "dog"]) }
    #expect(error?.message.contains("--scores logit") == true, "\(error?.message ?? "")")
    let found = try classes(model, labels: ["cat", "dog"]) { $0.scores = .logit }.categories
    #expect(found.map(\.label) == ["dog", "cat"])
  }

  // MARK: Embeddings

  @Test("what is not finite is nobody, and no embedding")
  func notFinite() throws {
    var gallery = EmbeddingGallery()
    try gallery.add("Ada", Embedding([1, 0]))
    #expect(gallery.nearest(to: Embedding([.nan, 0])).isEmpty)
    #expect(gallery.nearest(to: Embedding([.infinity, 0])).isEmpty)
    #expect(gallery.name(of: Embedding([.nan, .nan])) == nil)
    let embedder = try ImageEmbedder(model: classifier([.nan, 0, 0, 0, 1, 0]).model())
    #expect(throws: ApusError.self) { try embedder.embed(gray(255)) }
  }
}
