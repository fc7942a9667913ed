// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

private typealias Answer = DetectorModel.Answer

/// From where models with suppression inside count their classes.
@Suite struct ClassNumberingTests {
  private static let plain: [String?] = ["person", "bicycle", "car", "cat"]
  private static let listed: [String?] = ["__background__"] + plain

  private func picture() throws -> ImageBuffer {
    try ImageBuffer(bytes: [UInt8](repeating: 99, count: 64 * 64 * 3), width: 64, height: 64, format: .rgb)
  }

  /// One object of the class.
  private func model(_ names: [String], _ index: Float, beside: [Answer] = [], isLong: Bool = false)
    -> DetectorModel
  {
    var model = DetectorModel.answering(
      [
        Answer.boxes([0.1, 0.1, 0.5, 0.5, 0, 0, 0, 0]).named(names[0]),
        Answer.rows([index, 0]).named(names[1]), Answer.rows([0.9, 0]).named(names[2]),
      ] + beside, shape: [1, 64, 64, 3])
    if isLong {
      model.tensors[2].type = DetectorModel.int64
      model.tensors[2].data = [UInt8(index)] + [UInt8](repeating: 0, count: 15)
    }
    return model
  }

  private func detector(_ model: DetectorModel, _ labels: [String?], offset: Int? = nil) throws
    -> ObjectDetector
  {
    var options = ObjectDetector.Options()
    options.labelOffset = offset
    return try ObjectDetector(model: model.model(), labels: LabelMap(labels), options: options)
  }

  private func name(_ detector: ObjectDetector) throws -> String? {
    try detector.detect(picture()).detections.first?.category.label
  }

  private func reading(_ detector: ObjectDetector) -> Assumption? {
    detector.assumptions.readings.first { $0.subject == "class numbers" }
  }

  private static let scores = ["boxes", "labels", "scores"]
  private static let detection = ["detection_boxes", "detection_classes", "detection_scores"]

  @Test("labels of torchvision count the background that its list has")
  func readsTorchvision() throws {
    let detector = try detector(model(Self.scores, 4, isLong: true), Self.listed)
    #expect(try name(detector) == "cat")
    #expect(reading(detector)?.source == .guess && reading(detector)?.option == "--label-offset")
    #expect(detector.assumptions.warnings.contains { $0.contains("--label-offset 1") })
    let other = try self.detector(model(Self.scores, 3, isLong: true), Self.listed, offset: 1)
    #expect(try name(other) == "cat" && reading(other)?.source == .given)
    #expect(!other.assumptions.warnings.contains { $0.contains("--label-offset") })
  }

  @Test("without evidence, a background is no class of the model, which is a guess with a warning")
  func guesses() throws {
    let detector = try detector(model(["a", "classes of a", "scores"], 3), Self.listed)
    #expect(try name(detector) == "cat" && reading(detector)?.source == .guess)
    #expect(detector.assumptions.warnings.contains { $0.contains("--label-offset 0") })
  }

  @Test("a list without a background is that of the classes, a guess without a warning")
  func takesPlainLists() throws {
    for names in [["boxes", "classes", "scores"], ["location", "category", "score"]] {
      let detector = try detector(model(names, 3, isLong: true), Self.plain)
      #expect(try name(detector) == "cat" && reading(detector)?.source == .guess)
      #expect(!detector.assumptions.warnings.contains { $0.contains("--label-offset") })
    }
  }

  @Test("labels of torchvision count a background that the list has not, with a warning")
  func countsBackgroundsWithoutNames() throws {
    let detector = try detector(model(Self.scores, 4, isLong: true), Self.plain)
    #expect(try name(detector) == "cat" && reading(detector)?.value == "from a background")
    #expect(detector.assumptions.warnings.contains { $0.contains("--label-offset 0 takes class 0") })
    let other = try self.detector(model(Self.scores, 3, isLong: true), Self.plain, offset: 0)
    #expect(try name(other) == "cat" && reading(other)?.source == .given)
  }

  @Test(
    "classes that are called as those of TensorFlow's detection API may count a background, which a warning says"
  )
  func warnsOfDetectionClasses() throws {
    let detector = try detector(model(Self.detection, 3), Self.plain)
    #expect(try name(detector) == "cat" && reading(detector)?.value == "from the first object")
    #expect(detector.assumptions.warnings.contains { $0.contains("--label-offset=-1 takes class 1") })
    #expect(try name(self.detector(model(Self.detection, 4), Self.plain, offset: -1)) == "cat")
  }

  @Test("64-bit labels of a transformer's queries count objects, with a warning")
  func readsQueries() throws {
    var model = DetectorModel.answering(
      [
        Answer.boxes([0.1, 0.1, 0.5, 0.5] + [Float](repeating: 0, count: 4 * 299)).named("boxes"),
        Answer.rows([Float](repeating: 0, count: 300)).named("labels"),
        Answer.rows([0.9] + [Float](repeating: 0, count: 299)).named("scores"),
      ], shape: [1, 64, 64, 3])
    model.tensors[2].type = DetectorModel.int64
    model.tensors[2].data = [3] + [UInt8](repeating: 0, count: 300 * 8 - 1)
    let detector = try detector(model, Self.plain)
    #expect(try name(detector) == "cat" && reading(detector)?.value == "from the first object")
    #expect(detector.assumptions.warnings.contains { $0.contains("--label-offset=-1 takes class 1") })
  }

  @Test("as many names as no count of the scores beside gives are warned of")
  func countsNames() throws {
    for (columns, isWarned) in [(5, false), (9, true)] {
      let beside = Answer(shape: [1, 2, Int32(columns)], values: [Float](repeating: 0, count: 2 * columns))
        .named("detection_multiclass_scores")
      let detector = try detector(model(Self.detection, 4, beside: [beside]), Self.plain)
      #expect(
        detector.assumptions.warnings.contains { $0.contains("names may be those of other") } == isWarned)
    }
  }

  @Test("a class whose row says that there is none is warned of")
  func warnsOfPlaceholders() throws {
    let labels: [String?] = ["person", "???", "car", "cat"]
    for (index, isWarned) in [(Float(1), true), (2, false)] {
      let detector = try detector(model(["boxes", "classes", "scores"], index), labels)
      _ = try detector.detect(picture())
      #expect(detector.assumptions.warnings.contains { $0.contains("'???'") } == isWarned)
    }
  }

  @Test(
    "scores of all classes beside prove that TensorFlow's detection API counts from 1",
    arguments: [plain, listed])
  func readsTheDetectionAPI(labels: [String?]) throws {
    let beside = Answer(shape: [1, 2, 5], values: [Float](repeating: 0, count: 10))
      .named("detection_multiclass_scores")
    let detector = try detector(model(Self.detection, 4, beside: [beside]), labels)
    #expect(try name(detector) == "cat" && reading(detector)?.source == .model)
    #expect(!detector.assumptions.warnings.contains { $0.contains("--label-offset") })
  }

  @Test("a class of 0 contradicts a count from the background")
  func refusesTheBackground() throws {
    let detector = try detector(model(Self.scores, 0, isLong: true), Self.listed)
    let error = #expect(throws: ApusError.self) { try detector.detect(picture()) }
    #expect(error?.message.contains("--label-offset") == true, "\(error?.message ?? "")")
    #expect(try name(self.detector(model(Self.scores, 0, isLong: true), Self.listed, offset: 1)) == "person")
  }

  @Test("the operator counts objects, which is no question")
  func knowsTheOperator() throws {
    let detector = try detector(DetectorModel.postProcess(order: [0, 1, 2, 3]), ["???", "one", "two"])
    #expect(try name(detector) == "two" && reading(detector) == nil)
  }

  @Test("classes in bytes are rounded to whole numbers, and steps above 1 are warned of")
  func readsClassesInSteps() throws {
    for (scale, isWarned) in [(Float(0.31), false), (1.43, true)] {
      var model = model(Self.detection, 0)
      model.tensors[2].type = DetectorModel.uint8
      model.tensors[2].quantization = (scale, 0)
      model.tensors[2].data = [UInt8((17 / scale).rounded()), 0]
      let detector = try ObjectDetector(model: model.model())
      #expect(try detector.detect(picture()).detections.map(\.index) == [17])
      #expect(detector.assumptions.warnings.contains { $0.contains("steps of") } == isWarned)
    }
  }
}
