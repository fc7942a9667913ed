// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import ApusShapes
import ApusVision
import Testing

private typealias Answer = DetectorModel.Answer

private func picture(width: Int = 20, height: Int = 10) throws -> ImageBuffer {
  try ImageBuffer(
    bytes: [UInt8](repeating: 99, count: width * height * 3), width: width, height: height, format: .rgb)
}

/// Five boxes in the order of the outputs of the operator.
private func model(
  classes: [Float] = [0, 1, 2, 1, 7], scores: [Float] = [0.5, 0.75, 0.5, 0.75, 0.25], count: Float = 5,
  boxes: [Float]? = nil
) -> DetectorModel {
  let rows = classes.indices.map { row -> [Float] in [0, 0, 1, Float(row + 1) / 8] }
  let boxes = boxes ?? Array(rows.joined())
  return DetectorModel.answering([
    Answer.boxes(boxes).named("detection_boxes"), Answer.rows(classes).named("detection_classes"),
    Answer.rows(scores).named("detection_scores"), Answer.count(count).named("num_detections"),
  ])
}

private func detect(
  _ model: DetectorModel = model(), labels: LabelMap? = nil,
  _ change: (inout ObjectDetector.Options) -> Void = { _ in }
) throws -> [Detection] {
  var options = ObjectDetector.Options()
  change(&options)
  return try ObjectDetector(model: model.model(), labels: labels, options: options).detect(picture())
    .detections
}

private func message(_ body: () throws -> Void) -> String? {
  let error = #expect(throws: ApusError.self) { try body() }
  #expect(error?.code == .invalidArgument)
  return error?.message
}

@Suite struct ObjectDetectorTests {
  @Test("best first, equal scores in the model's order")
  func sortsStably() throws {
    let found = try detect { $0.scoreThreshold = 0 }
    #expect(found.map(\.score) == [0.75, 0.75, 0.5, 0.5, 0.25])
    #expect(found.map(\.boundingBox.maxX) == [0.25, 0.5, 0.125, 0.375, 0.625])
    let many = model(
      classes: [Float](repeating: 1, count: 300), scores: (0..<300).map { $0 % 3 == 0 ? 0.75 : 0.5 },
      count: 300, boxes: (0..<300).flatMap { [0, 0, 1, Float($0 + 1) / 512] })
    let edges = try detect(many) { $0.maxResults = .max }.map(\.boundingBox.maxX)
    #expect(edges[..<100].elementsEqual(edges[..<100].sorted()))
    #expect(edges[100...].elementsEqual(edges[100...].sorted()))
  }

  @Test("the minimum score of the metadata counts where none is given, as MediaPipe has it")
  func heedsTheMetadatasMinimum() throws {
    var described = model()
    described.metadataThreshold = 0.625
    #expect(try detect(described).map(\.score) == [0.75, 0.75])
    #expect(try detect(described) { $0.scoreThreshold = 0.25 }.count == 5)
    let steps = try ObjectDetector(model: described.model()).assumptions.steps
    #expect(steps.contains { $0.contains("0.625") && $0.contains("metadata") }, "\(steps)")
    // Evaluations count boxes from there on, whatever their own minimum is.
    var options = ObjectDetector.Options()
    options.scoreThreshold = 0.001
    let detector = try ObjectDetector(model: described.model(), options: options)
    #expect(detector.usualScoreThreshold == 0.625 && !detector.isThresholdExclusive)
    described.metadataThreshold = .nan
    #expect(try detect(described).count == 4)
    #expect(try ObjectDetector(model: described.model()).usualScoreThreshold == 0.5)
  }

  @Test("a score that equals the threshold is enough")
  func keepsScoresAtTheThreshold() throws {
    #expect(try detect { $0.scoreThreshold = 0.75 }.count == 2)
    #expect(try detect { $0.scoreThreshold = Float(0.75).nextUp }.isEmpty)
    #expect(try detect { $0.scoreThreshold = 0.5 }.count == 4)
    #expect(try detect { $0.scoreThreshold = -.infinity }.count == 5)
  }

  @Test(
    "the count is obeyed, up to the number of rows",
    arguments: [
      (0, 0), (1, 1), (4, 4), (5, 5), (6, 5), (1e30, 5), (-0.0, 0), (2.9, 2), (0.5, 0), (-0.01, 0),
    ] as [(Float, Int)])
  func obeysTheCount(count: Float, rows: Int) throws {
    #expect(try detect(model(count: count)) { $0.scoreThreshold = 0 }.count == rows)
  }

  @Test(
    "a count that no number of objects can be is an error that names its output",
    arguments: [-1, -300, .infinity, -.infinity, .nan] as [Float])
  func refusesCounts(count: Float) {
    let error = #expect(throws: ApusError.self) { try detect(model(count: count)) }
    #expect(error?.code == .invalidData)
    #expect(
      error?.message.contains("output 3 has \(count) as the number of objects") == true,
      "\(error?.message ?? "")")
  }

  @Test("scores, classes and boxes that are no numbers are errors where they count")
  func refusesWhatIsNoNumber() throws {
    for odd in [
      model(scores: [.nan, 0.75, 0.5, 0.5, 0.875]), model(scores: [0.75, 0.75, 0.5, 0.5, .infinity]),
      model(classes: [0, -1, 2, 3, 4], scores: [0.5, 0.5, 0.5, 0.5, 0.5]),
      model(classes: [0, 1, .nan, 1, 7]),
      model(classes: [0, 1e30, 2, 1, 7]),
    ] {
      let error = #expect(throws: ApusError.self) { try detect(odd) }
      #expect(error?.code == .invalidData)
    }
    var boxes = [Float](repeating: 0.5, count: 20)
    boxes[5] = .nan
    #expect(throws: ApusError.self) { try detect(model(boxes: boxes)) }
    // The last row does not count.
    boxes[5] = 0.5
    boxes[17] = .nan
    #expect(try detect(model(classes: [0, 1, 2, 1, .nan], boxes: boxes)).map(\.index) == [1, 1, 0, 2])
  }

  @Test("at most so many results, the best ones")
  func limitsResults() throws {
    #expect(try detect { $0.maxResults = 1 }.map(\.boundingBox.maxX) == [0.25])
    #expect(try detect { $0.maxResults = 3 }.map(\.score) == [0.75, 0.75, 0.5])
    #expect(try detect { $0.maxResults = .max }.count == 4)
    #expect(
      message { _ = try detect { $0.maxResults = 0 } } == "maxResults is 0, not 1 or more")
  }

  @Test("lists of labels allow or deny, before results are limited")
  func filtersByLabel() throws {
    let labels = LabelMap(["cat", "dog", "bird"])
    #expect(
      try detect(labels: labels) { $0.categoryAllowlist = ["cat", "bird"] }.map(\.label) == ["cat", "bird"])
    #expect(try detect(labels: labels) { $0.categoryDenylist = ["dog"] }.map(\.label) == ["cat", "bird"])
    let first = try detect(labels: labels) {
      $0.categoryDenylist = ["dog"]
      $0.maxResults = 1
    }
    #expect(first.map(\.label) == ["cat"])
    // Classes without label are neither denied nor allowed.
    #expect(
      try detect(labels: labels) { ($0.scoreThreshold, $0.categoryDenylist) = (0, ["cat", "dog", "bird"]) }
        .map(
          \.index) == [7])
    #expect(
      try detect(labels: labels) { ($0.scoreThreshold, $0.categoryAllowlist) = (0, ["bird"]) }.map(\.index)
        == [
          2
        ])
    #expect(
      message {
        _ = try detect(labels: labels) { ($0.categoryAllowlist, $0.categoryDenylist) = (["cat"], ["dog"]) }
      }?
      .contains("only one list") == true)
    #expect(
      message { _ = try detect(labels: labels) { $0.categoryAllowlist = ["cow"] } }?.contains("'cow'") == true
    )
    #expect(message { _ = try detect { $0.categoryDenylist = ["cat"] } }?.contains("'cat'") == true)
    #expect(message { _ = try detect { $0.scoreThreshold = .nan } } == "the score threshold is not a number")
  }

  @Test("labels begin after the row without a class, or where they are told to")
  func appliesTheLabelOffset() throws {
    let coco = LabelMap(["???", "person", "bicycle"])
    #expect(try detect(labels: coco).map(\.label) == ["bicycle", "bicycle", "person", nil])
    #expect(
      try detect(labels: coco) { $0.labelOffset = 0 }.map(\.label) == ["person", "person", nil, "bicycle"])
    let dictionary = LabelMap(["person", "bicycle"])
    #expect(try detect(labels: dictionary).map(\.label) == ["bicycle", "bicycle", "person", nil])
    #expect(
      try detect(labels: dictionary) { $0.labelOffset = -1 }.map(\.label) == [
        "person", "person", nil, "bicycle",
      ])
    #expect(try detect(labels: dictionary) { $0.labelOffset = .max }.allSatisfy { $0.label == nil })
  }

  @Test("labels inside the model are used; damage costs the labels alone")
  func readsLabelsOfTheModel() throws {
    var labelled = model()
    labelled.labels = "???\nperson\nbicycle\r\nkite\n"
    let detector = try ObjectDetector(model: labelled.model())
    #expect(detector.labels?.offset == 1)
    #expect(
      try detector.detect(picture()).detections.map(\.label) == ["bicycle", "bicycle", "person", "kite"])
    let given = try ObjectDetector(model: labelled.model(), labels: LabelMap(["one", "two", "three"]))
    #expect(try given.detect(picture()).detections.map(\.label) == ["two", "two", "one", "three"])
    let whole = labelled.bytes
    for missing in [1, 5, 30, 60] {
      let damaged = try ObjectDetector(model: Model(bytes: whole.dropLast(missing)))
      #expect(damaged.labels == nil)
      #expect(try damaged.detect(picture()).detections.map(\.index) == [1, 1, 0, 2])
    }
  }

  @Test(
    "labels inside the model are read in all forms that a file beside it may have",
    arguments: [
      ("labels.txt", "0 person\n1 bicycle\n2 kite\n"), ("labels.txt", "1: person\n2: bicycle\n3: kite\n"),
      ("labels.txt", "[\"person\", \"bicycle\", \"kite\"]"),
      ("labels.json", "{\"0\": \"person\", \"1\": \"bicycle\", \"2\": \"kite\"}"),
      ("classes.csv", "id,name\n0,person\n1,bicycle\n2,kite\n"), ("coco.names", "person\nbicycle\nkite\n"),
      (
        "labelmap.pbtxt",
        "item { id: 1 name: 'person' }\nitem { id: 2 name: 'bicycle' }\nitem { id: 3 name: 'kite' }\n"
      ),
    ])
  func readsFormsOfLabelsInside(name: String, text: String) throws {
    var labelled = model()
    (labelled.appendedName, labelled.labels) = (name, text)
    let detector = try ObjectDetector(model: labelled.model())
    #expect(
      try detector.detect(picture()).detections.map(\.label) == ["bicycle", "bicycle", "person", "kite"])
    #expect(LabelMap(of: try labelled.model())?[1] == "bicycle")
  }

  @Test(
    "the labels of a model without a task are the lines of a plain list, and nothing of other forms",
    arguments: [
      ("labels.txt", "person\nbicycle\n", true), ("labels.txt", "7 eleven\nshop\n", true),
      ("labels.txt", "0\n1\n2\n", true), ("labels.txt", "1st\n2nd\n", true),
      ("labels.txt", "0 person\n\n1 bicycle\n", false), ("labels.txt", "0: person\n1: bicycle\n", false),
      ("labels.txt", "item {\n  id: 1\n}\n", false), ("labels.txt", "[\"person\"]", false),
      ("labelmap.pbtxt", "item {\n  id: 1\n}\n", false), ("labels.json", "[\n\"person\"\n]", false),
      ("classes.csv", "id,name\n0,person\n", false), ("labels.yaml", "names:\n- person\n", false),
    ])
  func readsPlainLabels(name: String, text: String, isPlain: Bool) throws {
    var labelled = model()
    (labelled.appendedName, labelled.labels) = (name, text)
    let found = try labelled.model().labels
    #expect(found == (isPlain ? text.split(separator: "\n").map(String.init) : []))
  }

  @Test(
    "a calibration of scores is no list of labels; one that is missing or damaged is warned of",
    arguments: [
      ("calibration.txt", "2,0,0\n2,0,0\n", nil), ("calibration.txt", "2,0,0\ntwo\n", "line 2: 'two'"),
      ("calibration.txt", "1,2\n", "line 1: '1,2'"),
      ("calibration.txt", nil, "there is no file calibration.txt"),
    ] as [(String, String?, String?)])
  func warnsOfCalibrations(name: String, text: String?, warning: String?) throws {
    var calibrated = DetectorModel.answering([.rows([1, 1])])
    (calibrated.appendedName, calibrated.labels, calibrated.metadataCalibrations) = (name, text, [0.25])
    let loaded = try calibrated.model()
    #expect(loaded.labelFile == nil && LabelMap(of: loaded) == nil)
    let classifier = try ImageClassifier(model: loaded)
    let found = classifier.assumptions.warnings.filter { $0.contains("not calibrated") }
    #expect(
      found.count == (warning == nil ? 0 : 1) && found.allSatisfy { $0.contains(warning ?? "") }, "\(found)")
    // A detector reads them in the same way: the scores are its third output.
    var detector = model()
    (detector.appendedName, detector.labels, detector.metadataCalibrations) = (name, text, [0, 0, 0.25, 0])
    let warnings = try ObjectDetector(model: detector.model()).assumptions.warnings.filter {
      $0.contains("not calibrated")
    }
    #expect(
      warnings.count == found.count && warnings.allSatisfy { $0.contains(warning ?? "") }, "\(warnings)")
  }

  @Test("8-bit and float inputs, colors and gray", arguments: [0, 3, 9] as [UInt8], [1, 3] as [Int32])
  func takesEveryInput(type: UInt8, channels: Int32) throws {
    let answers = [
      Answer.boxes([0, 0, 1, 1]).named("boxes"), Answer.rows([4]).named("classes"),
      Answer.rows([0.5]).named("scores"), Answer.count(1).named("count"),
    ]
    let detector = try ObjectDetector(
      model: DetectorModel.answering(answers, shape: [1, 5, 7, channels], type: type).model())
    #expect((detector.inputWidth, detector.inputHeight) == (7, 5))
    #expect(
      try detector.detect(picture()).detections.map(\.rect) == [PixelRect(x: 0, y: 0, width: 20, height: 10)])
    let timings = try detector.detect(picture()).timings
    #expect(timings.preprocess > .zero && timings.total >= timings.inference)
  }

  @Test("inputs that are no pictures are named")
  func refusesOtherInputs() throws {
    let answers = [Answer.boxes([0, 0, 1, 1]), Answer.rows([4]), Answer.rows([0.5]), Answer.count(1)]
    func refusal(_ shape: [Int32], type: UInt8 = DetectorModel.uint8) -> String? {
      message {
        _ = try ObjectDetector(model: DetectorModel.answering(answers, shape: shape, type: type).model())
      }
    }
    #expect(refusal([1, 2, 8, 8])?.contains("1×2×8×8") == true)
    #expect(refusal([2, 8, 8, 3])?.contains("takes 2 pictures at once") == true)
    #expect(refusal([1, 8, 8, 5])?.contains("is not a picture") == true)
    // Truth values.
    #expect(refusal([1, 8, 8, 3], type: 6)?.contains("integers of 8 to 64 bits") == true)
    #expect(refusal([1, 0, 8, 3]) != nil)
    #expect(message { _ = try detect { $0.channels = .gray } }?.contains("3 channels") == true)
    #expect(message { _ = try detect { $0.inputSize = (9, 8) } }?.contains("not 9 × 8") == true)
  }

  @Test("a model that leaves its input size open needs one")
  func asksForAnOpenSize() throws {
    let answers = [Answer.boxes([0, 0, 1, 1]), Answer.rows([4]), Answer.rows([0.5]), Answer.count(1)]
    let open = DetectorModel.answering(answers, shape: [1, 1, 1, 3], signature: [1, -1, -1, 3])
    #expect(message { _ = try detect(open) }?.contains("leaves its size open") == true)
    var options = ObjectDetector.Options()
    options.inputSize = (12, 6)
    let detector = try ObjectDetector(model: open.model(), options: options)
    #expect((detector.inputWidth, detector.inputHeight) == (12, 6))
    #expect(try detector.detect(picture()).detections.count == 1)
    options.inputSize = (0, 6)
    #expect(throws: ApusError.self) { try ObjectDetector(model: open.model(), options: options) }
  }

  @Test("kernels and threads are the interpreter's, and their errors come through")
  func passesOptionsOn() throws {
    #expect(throws: ApusError.self) { try detect { $0.interpreter.kernels = "none such" } }
    #expect(throws: ApusError.self) { try detect { $0.interpreter.threadCount = 0 } }
    #expect(try detect { $0.interpreter.kernels = "portable" }.count == 4)
  }

  @Test("a cancelled run is an error, and the next one works")
  func canBeCancelled() throws {
    let detector = try ObjectDetector(model: DetectorModel.whiteBox(side: 8).model())
    let cancellation = Cancellation()
    cancellation.cancel()
    let error = #expect(throws: ApusError.self) { try detector.detect(picture(), cancellation: cancellation) }
    #expect(error?.code == .cancelled)
    _ = try detector.detect(picture())
  }
}

/// Pictures of every fit and orientation, through a model that looks at every pixel.
@Suite struct ObjectDetectorGeometryTests {
  private static let white = (x: 24, y: 4, width: 24, height: 12)
  private static let (width, height) = (64, 32)

  /// A black picture with a white box, stored so that it looks the same in every orientation.
  private static func picture(_ orientation: ImageOrientation, _ format: PixelFormat) throws -> ImageBuffer {
    let (storedWidth, storedHeight) = orientation.swapsSides ? (height, width) : (width, height)
    let step = format.bytesPerPixel
    var bytes = [UInt8](repeating: 0, count: storedWidth * storedHeight * step)
    for y in white.y..<white.y + white.height {
      for x in white.x..<white.x + white.width {
        let (column, row) =
          switch orientation {
          case .up: (x, y)
          case .upMirrored: (width - 1 - x, y)
          case .down: (width - 1 - x, height - 1 - y)
          case .downMirrored: (x, height - 1 - y)
          case .leftMirrored: (y, x)
          case .right: (y, width - 1 - x)
          case .rightMirrored: (height - 1 - y, width - 1 - x)
          case .left: (height - 1 - y, x)
          }
        for byte in 0..<step { bytes[(row * storedWidth + column) * step + byte] = 255 }
      }
    }
    return try ImageBuffer(
      bytes: bytes, width: storedWidth, height: storedHeight, format: format, orientation: orientation)
  }

  // 16 pixels show 64 × 32 in steps of whole pixels under each policy, so that the box is found exactly.
  @Test(
    "boxes come back to the picture from every fit and orientation",
    arguments: [FitPolicy.stretch, .centerCrop, .letterbox()], ImageOrientation.allCases)
  func mapsBoxesBack(fit: FitPolicy, orientation: ImageOrientation) throws {
    var options = ObjectDetector.Options()
    options.fit = fit
    options.normalization = .unit
    let detector = try ObjectDetector(model: DetectorModel.whiteBox(side: 16).model(), options: options)
    for format in PixelFormat.allCases {
      let found = try detector.detect(Self.picture(orientation, format)).detections
      #expect(found.map(\.rect) == [PixelRect(x: 24, y: 4, width: 24, height: 12)])
      #expect(found.map(\.boundingBox) == [BoundingBox(minX: 0.375, minY: 0.125, maxX: 0.75, maxY: 0.5)])
      #expect(found.map(\.index) == [2] && found.map(\.score) == [1])
    }
  }

  @Test("objects in the bars of a letterbox are none of the picture's")
  func leavesOutWhatLiesInTheBars() throws {
    // A picture of 20 × 10 pixels fills the middle half of a square input.
    let boxes: [Float] = [
      0, 0.1, 0.2, 0.9, 0.3, 0.1, 0.6, 0.9, 0.8, 0.1, 0.95, 0.9, 0.2, 0.1, 0.3, 0.9, 0.26, 0.1, 0.74, 0.9,
    ]
    let found = try detect(model(scores: [0.9, 0.8, 0.7, 0.6, 0.5], boxes: boxes)) {
      $0.fit = .letterbox()
    }
    #expect(found.map(\.score) == [0.8, 0.6, 0.5])
    // All five boxes lie in the picture if it fills the input.
    #expect(
      try detect(model(scores: [0.9, 0.8, 0.7, 0.6, 0.5], boxes: boxes)) { $0.fit = .stretch }.count == 5)
  }

  @Test("floats are normalized as told, else as the metadata says, else from −1 to 1")
  func normalizesFloats() throws {
    var model = DetectorModel.whiteBox(side: 16)
    func score(_ normalization: Normalization? = nil) throws -> Float? {
      var options = ObjectDetector.Options()
      options.normalization = normalization
      options.scoreThreshold = -.infinity
      // The score is the brightest value, and edges are its multiples.
      (options.scores, options.boxUnits) = (.raw, .pixel)
      return try ObjectDetector(model: model.model(), options: options).detect(Self.picture(.up, .rgb))
        .detections.first?.score
    }
    #expect(try score() == 1)
    #expect(try score(.meanStd(mean: [5], std: [25])) == 10)
    model.metadataNormalization = ([55], [100])
    #expect(try score() == 2)
    #expect(try score(.unit) == 1)
    // A standard deviation of zero is no use, and costs nothing else.
    model.metadataNormalization = ([55], [0])
    #expect(try score() == 1)
  }
}

/// The model and the picture that are part of the library.
@Suite struct EmbeddedShapesTests {
  @Test("the embedded model finds every kind of shape in the embedded picture, with any kernels and threads")
  func findsEveryShape() throws {
    let picture = try ImageBuffer(decoding: EmbeddedShapes.pictureBytes)
    let expected = try ObjectDetector.shapes().detect(picture).detections
    #expect(Set(expected.compactMap(\.label)) == Set(EmbeddedShapes.labels))
    for set in Runtime.kernelSets where set.isSupported {
      for threads in 1...3 {
        var options = ObjectDetector.Options()
        options.interpreter.kernels = set.name
        options.interpreter.threadCount = threads
        #expect(try ObjectDetector.shapes(options: options).detect(picture).detections == expected)
      }
    }
  }

  @Test("shapes can have other names")
  func takesOtherNames() throws {
    let picture = try ImageBuffer(decoding: EmbeddedShapes.pictureBytes)
    let found = try ObjectDetector.shapes(labels: LabelMap(["T", "R", "P", "C"])).detect(picture).detections
    #expect(Set(found.compactMap(\.label)) == ["T", "R", "P", "C"])
  }
}
