// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import TestSupport
import Testing

/// Where readings of models come from, and which of several sources decides.
@Suite struct ReadingsTests {
  private static let dequantize: Int32 = 6
  private static let quantize: Int32 = 114
  private static let absolute: Int32 = 101
  /// The mean colors of ImageNet.
  private static let imageNet = Normalization.meanStd(
    mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375])

  /// A classifier of the brightest value of each channel, with what an exporter appends.
  private func brightest(
    export: String? = nil, normalization: (mean: [Float], std: [Float])? = nil,
    type: UInt8 = DetectorModel.float32,
    quantization: (scale: Float, zeroPoint: Int64)? = nil
  ) -> DetectorModel {
    var model = DetectorModel(
      tensors: [
        .init(name: "image", shape: [1, 4, 4, 3], type: type, quantization: quantization),
        .init(name: "axes", shape: [2], type: DetectorModel.int32, data: [1, 0, 0, 0, 2, 0, 0, 0]),
        .init(name: "scores", shape: [1, 3], type: type, quantization: quantization),
      ],
      operators: [.init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2])], outputs: [2])
    model.metadataNormalization = normalization
    model.labels = export
    model.appendedName = "metadata.json"
    return model
  }

  /// A picture of one color, twice as wide as high, with black sides or another color there.
  private func picture(_ color: [UInt8], sides: [UInt8]? = nil) throws -> ImageBuffer {
    var bytes: [UInt8] = []
    for _ in 0..<8 {
      for x in 0..<16 { bytes += (4..<12).contains(x) ? color : sides ?? color }
    }
    return try ImageBuffer(bytes: bytes, width: 16, height: 8, format: .rgb)
  }

  /// The scores of the three channels.
  private func scores(
    _ model: DetectorModel, _ picture: ImageBuffer,
    _ change: (inout ImageClassifier.Options) -> Void = { _ in }
  ) throws -> [Float] {
    var options = ImageClassifier.Options()
    change(&options)
    let classes = try ImageClassifier(model: model.model(), options: options).classify(picture).categories
    return classes.sorted { $0.index < $1.index }.map(\.score)
  }

  private static let classifier = #"{"task": "classify", "names": {"0": "red", "1": "green", "2": "blue"}}"#

  @Test("an exported classifier takes pixels from 0 to 1, of the centered square")
  func exportedClassifier() throws {
    let model = brightest(export: Self.classifier)
    #expect(try scores(model, picture([0, 0, 0])) == [0, 0, 0])
    #expect(try scores(model, picture([255, 51, 0], sides: [255, 255, 255])) == [1, 0.2, 0])
    let readings = try ImageClassifier(model: model.model()).assumptions.readings
    for subject in ["pixels", "fit", "channels", "labels", "scores"] {
      #expect(readings.first { $0.subject == subject }?.source == .exporter, "\(subject)")
    }
    #expect(readings.first { $0.subject == "layout" }?.source == .guess)
  }

  @Test(
    "an export that names no task is trained as all of its exporter's, but for the classifiers of YOLO v5")
  func exportedWithoutTask() throws {
    var model = brightest(export: #"{"names": ["red", "green", "blue"]}"#)
    #expect(try scores(model, picture([255, 51, 0], sides: [255, 255, 255])) == [1, 0.2, 0])
    func pixels() throws -> Assumption? {
      try ImageClassifier(model: model.model()).assumptions.readings.first { $0.subject == "pixels" }
    }
    #expect(try pixels()?.source == .exporter)
    model.appendedName = "meta.txt"
    #expect(
      try pixels()?.source == .guess
        && pixels()?.value
          == Normalization.meanStd(
            mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375]
          ).description
    )
  }

  @Test(
    "another project's metadata.json says nothing about pixels",
    arguments: [
      #"{"name": "mine", "version": 1}"#, #"{"author": "me", "classes": ["a", "b"], "task": "image"}"#,
    ])
  func ignoresOtherDictionaries(text: String) throws {
    let readings = try ImageClassifier(model: brightest(export: text).model()).assumptions.readings
    for subject in ["pixels", "fit"] {
      #expect(readings.first { $0.subject == subject }?.source == .guess, "\(subject)")
    }
  }

  @Test("an exporter's names keep their numbers where some are missing")
  func keepsNumbersOfNames() throws {
    let model = brightest(export: #"{"task": "classify", "names": {"0": "red", "1": "green"}}"#)
    let classifier = try ImageClassifier(model: model.model())
    #expect((0..<3).map { classifier.labels?[$0] } == ["red", "green", nil])
  }

  /// A classifier of three classes with files appended to it.
  private func classifier(_ files: [(String, String)]) throws -> ImageClassifier {
    let bytes = brightest().bytes + storedArchive(files.map { (name: $0.0, bytes: Array($0.1.utf8)) })
    return try ImageClassifier(model: Model(bytes: bytes))
  }

  @Test("labels inside a model are found beside a licence, a description and other texts")
  func findsLabelsInside() throws {
    let names = ("labels.txt", "red\ngreen\nblue\n")
    for files in [
      [names], [names, ("README.txt", "About\n")], [("LICENSE.txt", "No\nwarranty\n"), names],
      [names, ("labels_de.txt", "rot\n")], [("LABELS.TXT", names.1)], [("my names.txt", names.1)],
    ] {
      let found = try classifier(files)
      #expect((0..<3).map { found.labels?[$0] } == ["red", "green", "blue"], "\(files)")
      #expect(found.assumptions.warnings.isEmpty)
    }
  }

  @Test("files inside a model that may have labels and are not read are named")
  func namesUnreadLabels() throws {
    for (files, said) in [
      ([("a.txt", "red\n"), ("b.txt", "red\n")], "a.txt, b.txt, and nothing says which has its labels"),
      ([("things.csv", "red\n")], "things.csv, which is not read"),
      ([("labels.txt", "red\u{0}\n")], "labels.txt in the model is not read ("),
      ([("labels.txt", "")], "labels.txt in the model is not read (line 1: there are no labels)"),
    ] as [([(String, String)], String)] {
      let found = try classifier(files)
      #expect(found.labels == nil)
      #expect(found.assumptions.warnings.contains { $0.contains(said) }, "\(found.assumptions.warnings)")
      let reading = found.assumptions.readings.first { $0.subject == "labels" }
      #expect(reading?.value == "none" && reading?.reason.contains(said) == true)
    }
    let licence = try classifier([("LICENSE.txt", "No\nwarranty\nat all\n")])
    #expect(licence.labels == nil && licence.assumptions.warnings.isEmpty)
  }

  @Test("the largest scores in their order are no scores of classes")
  func refusesRanks() throws {
    var model = brightest()
    model.tensors += [
      .init(name: "k", shape: [], type: DetectorModel.int32, data: [2, 0, 0, 0]),
      .init(name: "best", shape: [1, 2]), .init(name: "places", shape: [1, 2], type: DetectorModel.int32),
    ]
    model.operators.append(.init(code: 48, inputs: [2, 3], outputs: [4, 5]))
    model.outputs = [4]
    let error = #expect(throws: ApusError.self) { try ImageClassifier(model: model.model()) }
    #expect(error?.message.contains("TOPK_V2") == true)
  }

  /// A classifier whose graph begins with an operator and a constant.
  private func scaling(_ code: Int32, _ numbers: [Float]) -> DetectorModel {
    DetectorModel(
      tensors: [
        .init(name: "image", shape: [1, 4, 4, 3]),
        .init(name: "numbers", shape: [Int32(numbers.count)], data: DetectorModel.data(numbers)),
        .init(name: "scaled", shape: [1, 4, 4, 3]),
        .init(name: "axes", shape: [2], type: DetectorModel.int32, data: [1, 0, 0, 0, 2, 0, 0, 0]),
        .init(name: "scores", shape: [1, 3]),
      ],
      operators: [
        .init(code: code, inputs: [0, 1], outputs: [2]),
        .init(code: DetectorModel.reduceMax, inputs: [2, 3], outputs: [4]),
      ], outputs: [4])
  }

  @Test("a graph that scales pixels or takes the mean color off them says which pixels it takes")
  func graphsThatScale() throws {
    let (add, sub, mul, div): (Int32, Int32, Int32, Int32) = (0, DetectorModel.sub, DetectorModel.mul, 42)
    for (code, numbers, expected) in [
      (mul, [1 / 255], .raw), (mul, [2 / 255], .raw), (div, [127.5], .raw),
      (sub, [123.7, 116.8, 103.9], .raw),
      (add, [-127.5], .raw), (sub, [0.485, 0.456, 0.406], .unit), (add, [-0.5], .unit), (mul, [2], .signed),
      (mul, [0.1, 0.5, 0], .signed), (sub, [1], .signed), (add, [3], .signed),
    ] as [(Int32, [Float], Normalization)] {
      let assumptions = try ImageClassifier(model: scaling(code, numbers).model()).assumptions
      let pixels = try #require(assumptions.readings.first { $0.subject == "pixels" })
      #expect(pixels.value == expected.description, "\(code) \(numbers)")
      #expect(pixels.source == (expected == .signed ? .guess : .model))
    }
    // White is 255 / 255, whatever the guess would be; the options stay above it.
    let model = scaling(mul, [1 / 255])
    let white = try scores(model, picture([255, 51, 0]))
    #expect(zip(white, [1, 0.2, 0] as [Float]).allSatisfy { abs($0 - $1) < 1e-6 })
    #expect(try scores(model, picture([255, 0, 0])) { $0.normalization = .unit }[0] < 0.01)
  }

  @Test("a graph that doubles its numbers and takes one off takes pixels from 0 to 1")
  func graphsThatDouble() throws {
    for (code, offset, expected) in [
      (DetectorModel.sub, 1, .unit), (0, -1, .unit), (DetectorModel.sub, 2, .signed), (0, 1, .signed),
    ] as [(Int32, Float, Normalization)] {
      var model = scaling(DetectorModel.mul, [2])
      model.tensors += [
        .init(name: "offset", shape: [1], data: DetectorModel.data([offset])),
        .init(name: "moved", shape: [1, 4, 4, 3]),
      ]
      model.operators.insert(.init(code: code, inputs: [2, 5], outputs: [6]), at: 1)
      model.operators[2].inputs[0] = 6
      let pixels = try pixels(of: model)
      #expect(pixels.value == expected.description, "\(code) \(offset)")
      #expect(pixels.source == (expected == .unit ? .model : .guess))
      if expected == .unit { #expect(try scores(model, picture([255, 0, 255])) == [1, -1, 1]) }
    }
  }

  /// A classifier whose graph begins with two operators and a constant for each.
  private func scaling(_ first: (Int32, [Float]), _ second: (Int32, [Float])) -> DetectorModel {
    var model = scaling(first.0, first.1)
    model.tensors += [
      .init(name: "others", shape: [Int32(second.1.count)], data: DetectorModel.data(second.1)),
      .init(name: "moved", shape: [1, 4, 4, 3]),
    ]
    model.operators.insert(.init(code: second.0, inputs: [2, 5], outputs: [6]), at: 1)
    model.operators[2].inputs[0] = 6
    return model
  }

  @Test(
    "a graph that normalizes in one product and sum, or undoes a normalization, says which pixels it takes")
  func graphsThatNormalize() throws {
    let (add, sub, mul, div): (Int32, Int32, Int32, Int32) = (0, DetectorModel.sub, DetectorModel.mul, 42)
    func folded(_ means: [Float], _ deviations: [Float]) -> [(Int32, [Float])] {
      [(mul, deviations.map { 1 / $0 }), (add, zip(means, deviations).map { -$0 / $1 })]
    }
    for (steps, expected) in [
      (folded([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]), .unit),
      (
        folded([0.481_454_66, 0.457_827_5, 0.408_210_73], [0.268_629_54, 0.261_302_58, 0.275_777_11]), .unit
      ),
      ([(add, [1]), (mul, [127.5])], .signed), ([(add, [1]), (mul, [0.5])], .signed),
      ([(add, [1]), (div, [2])], .signed), ([(mul, [255]), (sub, [123.675, 116.28, 103.53])], .unit),
      // A batch normalization says nothing.
      ([(mul, [0.9, 1.1, 1]), (add, [0.1, -0.2, 0])], nil), ([(add, [1]), (mul, [3])], nil),
      ([(mul, [4, 4, 4]), (add, [2, 2, 2])], nil), ([(mul, [4, 4, 4]), (add, [-9, -9, -9])], nil),
    ] as [([(Int32, [Float])], Normalization?)] {
      let pixels = try pixels(of: scaling(steps[0], steps[1]))
      #expect(pixels.value == (expected ?? .signed).description, "\(steps)")
      #expect(pixels.source == (expected == nil ? .guess : .model), "\(steps)")
    }
    // A negative: one less the number.
    for (white, expected) in [(1, .unit), (255, .raw)] as [(Float, Normalization)] {
      var model = scaling(sub, [white])
      model.operators[0].inputs = [1, 0]
      #expect(try pixels(of: model).value == expected.description)
    }
  }

  @Test("a graph that subtracts ImageNet's mean color shows the order of channels")
  func graphsThatSubtractColors() throws {
    let (add, sub, mul): (Int32, Int32, Int32) = (0, DetectorModel.sub, DetectorModel.mul)
    let caffe: [Float] = [103.939, 116.779, 123.68]
    for (code, numbers, order, source) in [
      (sub, caffe, "bgr", .model), (sub, caffe.reversed(), "rgb", .model),
      (add, caffe.map { -$0 }, "bgr", .model),
      (sub, [104, 117, 123], "bgr", .model), (sub, [0.406, 0.456, 0.485], "bgr", .model),
      (sub, [0.485, 0.456, 0.406], "rgb", .model), (sub, [127.5, 127.5, 127.5], "rgb", .guess),
      (sub, [127.5], "rgb", .guess), (mul, [1 / 255], "rgb", .guess), (sub, [90, 100, 110], "rgb", .guess),
    ] as [(Int32, [Float], String, AssumptionSource)] {
      let readings = try ImageClassifier(model: scaling(code, numbers).model()).assumptions.readings
      let channels = try #require(readings.first { $0.subject == "channels" })
      #expect(channels.value == order && channels.source == source, "\(numbers) \(channels.text)")
    }
    // Red of the picture is the last number; the options stay above it.
    let model = scaling(sub, caffe)
    let found = try scores(model, picture([255, 0, 0]))
    #expect(zip(found, [-103.939, -116.779, 255 - 123.68] as [Float]).allSatisfy { abs($0 - $1) < 1e-3 })
    #expect(try scores(model, picture([255, 0, 0])) { $0.channels = .rgb }[0] > 100)
    // Turned channels may be in either order.
    var turned = scaling(sub, caffe)
    turned.tensors += [
      .init(name: "axis", shape: [1], type: DetectorModel.int32, data: [3, 0, 0, 0]),
      .init(name: "turned", shape: [1, 4, 4, 3]),
    ]
    turned.operators.insert(.init(code: 105, inputs: [0, 5], outputs: [6]), at: 0)
    turned.operators[1].inputs[0] = 6
    let readings = try ImageClassifier(model: turned.model()).assumptions.readings
    #expect(readings.first { $0.subject == "channels" }?.source == .guess)
  }

  /// Ranges of bytes: a scale, a zero point of int8, and the pixels that they suit; nil for none.
  private static let ranges: [(scale: Float, zeroPoint: Int64, pixels: Normalization?)] = [
    (1, -128, .raw), (1 / 255, -128, .unit), (2 / 255, -1, .signed), (4.757_9 / 255, -15, imageNet),
    // As PyTorch's MobileNet v2 of TensorFlow Lite for Microcontrollers has it.
    (0.018_631_22, -14, imageNet), (6 / 255, -1, nil), (0.5, -128, nil),
  ]

  @Test("floats that the graph quantizes first are the pixels that their range suits")
  func graphsThatQuantize() throws {
    for (scale, zeroPoint, expected) in Self.ranges {
      let model = DetectorModel(
        tensors: [
          .init(name: "image", shape: [1, 4, 4, 3]),
          .init(
            name: "bytes", shape: [1, 4, 4, 3], type: DetectorModel.int8, quantization: (scale, zeroPoint)),
          .init(name: "numbers", shape: [1, 4, 4, 3]),
          .init(name: "axes", shape: [2], type: DetectorModel.int32, data: [1, 0, 0, 0, 2, 0, 0, 0]),
          .init(name: "scores", shape: [1, 3]),
        ],
        operators: [
          .init(code: Self.quantize, inputs: [0], outputs: [1]),
          .init(code: Self.dequantize, inputs: [1], outputs: [2]),
          .init(code: DetectorModel.reduceMax, inputs: [2, 3], outputs: [4]),
        ], outputs: [4])
      let pixels = try pixels(of: model)
      #expect(pixels.value == (expected ?? .signed).description, "\(scale) \(zeroPoint)")
      #expect(pixels.source == (expected == nil ? .guess : .model))
      // Only where black is cut off is something lost.
      let warnings = try ImageClassifier(model: model.model()).assumptions.warnings
      #expect(warnings.contains { $0.contains("QUANTIZE") } == (scale == 0.5), "\(warnings)")
      var options = ImageClassifier.Options()
      options.normalization = .meanStd(mean: [255], std: [1])
      let given = try ImageClassifier(model: model.model(), options: options).assumptions.warnings
      #expect(given.contains { $0.contains("is cut off") }, "\(given)")
    }
  }

  @Test("bytes that stand for the range of ImageNet's colors are quantized after its normalization")
  func bytesOfImageNet() throws {
    for (scale, zeroPoint, expected) in Self.ranges {
      let model = brightest(type: DetectorModel.int8, quantization: (scale, zeroPoint))
      let pixels = try pixels(of: model)
      let isImageNet = expected == Self.imageNet
      #expect(pixels.value == (isImageNet ? Self.imageNet : .raw).description, "\(scale)")
      #expect(pixels.source == (expected == nil ? .guess : .model))
      guard isImageNet else { continue }
      let white = try scores(model, picture([255, 255, 255])) { $0.scores = .raw }
      let greatest = scale * Float(127 - zeroPoint)
      for (found, exact) in zip(white, [2.2489, 2.4286, 2.64] as [Float]) {
        #expect(abs(found - min(exact, greatest)) <= scale / 2 + 1e-4, "\(white)")
      }
      // The numbers are those of the colors, wherever their channels are.
      let reversed = try scores(model, picture([255, 255, 255])) {
        $0.scores = .raw
        $0.channels = .bgr
      }
      #expect(reversed == white.reversed())
    }
  }

  @Test("a classifier has the minimum score of the metadata, unless the caller gives one")
  func minimumOfTheMetadata() throws {
    var model = brightest()
    model.metadataThreshold = 0.25
    let color = try picture([255, 127, 0])
    #expect(try scores(model, color) == [1])
    #expect(try scores(model, color) { $0.scoreThreshold = -1 }.count == 3)
    #expect(try scores(brightest(), color).count == 3)
    let steps = try ImageClassifier(model: model.model()).assumptions.steps
    #expect(steps.contains { $0.contains("0.25") }, "\(steps)")
  }

  @Test(
    "a classifier's other outputs are left out where names or labels say which has the scores",
    arguments: [
      (["image", "scores"], false, [1]), (["Identity_1", "Identity"], true, [1]),
      (["Identity_1", "Identity"], false, nil), (["boxes", "embedding"], true, nil),
    ] as [([String], Bool, [Int]?)])
  func otherOutputs(names: [String], isLabelled: Bool, heads: [Int]?) throws {
    var model = DetectorModel(
      tensors: [
        .init(name: "pixels", shape: [1, 4, 4, 3]), .init(name: names[0], shape: [1, 4, 4, 3]),
        .init(name: "axes", shape: [2], type: DetectorModel.int32, data: [1, 0, 0, 0, 2, 0, 0, 0]),
        .init(name: names[1], shape: [1, 3]),
      ],
      operators: [
        .init(code: Self.absolute, inputs: [0], outputs: [1]),
        .init(code: DetectorModel.reduceMax, inputs: [1, 2], outputs: [3]),
      ], outputs: [1, 3])
    let labels = isLabelled ? LabelMap(["red", "green", "blue"]) : nil
    guard let heads else {
      #expect(throws: ApusError.self) { try ImageClassifier(model: model.model(), labels: labels) }
      return
    }
    let classifier = try ImageClassifier(model: model.model(), labels: labels)
    #expect(classifier.assumptions.warnings.contains { $0.contains("left out: \(names[0])") })
    #expect(classifier.assumptions.outputs.filter { $0.role.contains("classes") }.map(\.index) == heads)
    #expect(try classifier.classify(picture([255, 127, 0])).classifications.count == 1)
    // A row for each cell of a map is none for the picture.
    model.tensors[3].shape = [1, 4]
    model.tensors[2].data = [1, 0, 0, 0, 3, 0, 0, 0]
    #expect(throws: ApusError.self) { try ImageClassifier(model: model.model(), labels: labels) }
  }

  @Test(
    "numbers of the metadata for pixels from 0 to 1 are taken as they are, with a warning that says how else they can be meant",
    arguments: [
      (
        [0.5], [0.5],
        "white becomes 509.0; if the numbers are for pixels from 0 to 1, --pixels 127.5:127.5 says so"
      ),
      (
        [0.485, 0.456, 0.406], [0.229, 0.224, 0.225],
        "--pixels 123.675,116.28,103.53:58.395,57.12,57.375 says so"
      ),
      ([0], [1], "pixels stay 0 to 255; if the model takes pixels from 0 to 1, --pixels unit says so"),
      ([127.5], [127.5], nil), ([0], [255], nil), ([0, 0, 0], [2, 2, 2], nil),
    ] as [([Float], [Float], String?)])
  func smallNumbersOfTheMetadata(mean: [Float], std: [Float], words: String?) throws {
    let model = brightest(normalization: (mean, std))
    let assumptions = try ImageClassifier(model: model.model()).assumptions
    #expect(assumptions.readings.first { $0.subject == "pixels" }?.source == .model)
    let found = assumptions.warnings.filter { $0.contains("the metadata's normalization") }
    #expect(found.count == (words == nil ? 0 : 1) && found.first?.contains(words ?? "") != false, "\(found)")
    var options = ImageClassifier.Options()
    options.normalization = .signed
    #expect(try ImageClassifier(model: model.model(), options: options).assumptions.warnings.isEmpty)
  }

  @Test("no normalization is doubted of a graph that scales pixels of 0 to 255 itself")
  func trustsGraphsThatScale() throws {
    var model = scaling(DetectorModel.mul, [1 / 255])
    model.metadataNormalization = ([0], [1])
    #expect(try ImageClassifier(model: model.model()).assumptions.warnings.isEmpty)
  }

  @Test(
    "a normalization of the metadata that cannot be used is a warning with the reason",
    arguments: [
      ([127.5], [0], "a std of 0.0"), ([.nan], [1], "a mean of nan"), ([0], [-1], "a std of -1.0"),
      ([0], [.infinity], "a std of inf"),
      ([1, 2], [1], "2 numbers for mean, not 1 or 3 for an input of 3 channels"),
      ([1], [], "0 numbers for std"), ([], [], nil),
    ] as [([Float], [Float], String?)])
  func unusableMetadata(mean: [Float], std: [Float], reason: String?) throws {
    let model = brightest(normalization: (mean, std))
    let assumptions = try ImageClassifier(model: model.model()).assumptions
    let found = assumptions.warnings.filter { $0.contains("the metadata's normalization cannot be used") }
    #expect(found.count == (reason == nil ? 0 : 1), "\(assumptions.warnings)")
    #expect(found.allSatisfy { $0.contains(reason ?? "") && $0.contains("signed instead") }, "\(found)")
    #expect(assumptions.readings.first { $0.subject == "pixels" }?.source == .guess)
  }

  private func pixels(of model: DetectorModel) throws -> Assumption {
    try #require(
      try ImageClassifier(model: model.model()).assumptions.readings.first { $0.subject == "pixels" })
  }

  @Test("options go over metadata, metadata over the exporter, the exporter over the guess")
  func precedence() throws {
    let black = try picture([0, 0, 0])
    #expect(try scores(brightest(), black) == [-1, -1, -1])
    #expect(try scores(brightest(export: Self.classifier), black) == [0, 0, 0])
    let described = brightest(export: Self.classifier, normalization: ([10], [5]))
    #expect(try scores(described, black) == [-2, -2, -2])
    #expect(
      try scores(described, black) { $0.normalization = .meanStd(mean: [0, 3, 6], std: [3]) } == [0, -1, -2])
    #expect(try scores(described, picture([7, 0, 255])) { $0.normalization = .raw } == [7, 0, 255])
    let sources = try [brightest(), brightest(export: Self.classifier), described].map { model in
      try ImageClassifier(model: model.model()).assumptions.readings.first { $0.subject == "pixels" }?.source
    }
    #expect(sources == [.guess, .exporter, .model])
  }

  @Test("bgr is what the options say")
  func channelOrder() throws {
    let model = brightest(export: Self.classifier)
    #expect(try scores(model, picture([255, 51, 0])) { $0.channels = .bgr } == [0, 0.2, 1])
    #expect(throws: ApusError.self) { try scores(model, picture([0, 0, 0])) { $0.channels = .gray } }
  }

  @Test("bytes with a scale are normalized, then quantized; raw bytes are the pixels")
  func quantizedInputs() throws {
    let model = brightest(type: DetectorModel.uint8, quantization: (scale: 0.5, zeroPoint: 10))
    let color = try picture([100, 30, 200])
    // Unchanged pixels, as real numbers.
    #expect(try scores(model, color) { $0.scores = .raw } == [45, 10, 95])
    #expect(try scores(model, color) { ($0.scores, $0.normalization) = (.raw, .raw) } == [45, 10, 95])
    // (100 − 20) ÷ 4 = 20 and so on, in steps of a half.
    let half = Normalization.meanStd(mean: [20], std: [4])
    #expect(try scores(model, color) { ($0.scores, $0.normalization) = (.raw, half) } == [20, 2.5, 45])
    let bare = brightest(type: DetectorModel.uint8)
    #expect(throws: ApusError.self) { try scores(bare, color) { $0.normalization = .unit } }
  }

  @Test("a task that the exporter does not name is refused, with the one that answers")
  func otherTasks() throws {
    let model = try brightest(export: Self.classifier).model()
    let error = #expect(throws: ApusError.self) { try ObjectDetector(model: model) }
    #expect(error?.message.contains("'classify'") == true)
    for (task, answering) in [("pose", "keypoints"), ("segment", "detect"), ("semantic", "segment")] {
      let other = try brightest(export: #"{"task": "\#(task)"}"#).model()
      let error = #expect(throws: ApusError.self) { try ImageClassifier(model: other) }
      #expect(error?.message.contains(answering) == true)
    }
    // A word that no exporter is known for decides nothing.
    _ = try ImageClassifier(model: brightest(export: #"{"task": "count"}"#).model())
  }

  @Test(
    "every task has a reading of the layout, the pixels, the channels and the fit",
    arguments: TaskCase.all.filter { $0.error == nil })
  func everyTask(expected: TaskCase) throws {
    let model = try Model(bytes: expected.bytes)
    var options = KeypointDetector.Options()
    options.keypoints = expected.shape.map { ($0[0], $0[1]) }
    let assumptions =
      switch expected.task {
      case "classifier": try ImageClassifier(model: model).assumptions
      case "embedder": try ImageEmbedder(model: model).assumptions
      case "faces": try FaceDetector(model: model).assumptions
      case "segmenter": try ImageSegmenter(model: model).assumptions
      default: try KeypointDetector(model: model, options: options).assumptions
      }
    let subjects = Set(assumptions.readings.map(\.subject))
    #expect(subjects.isSuperset(of: ["layout", "pixels", "channels", "fit"]))
    #expect(["classifier", "segmenter"].contains(expected.task) == subjects.contains("labels"))
    #expect(assumptions.readings.allSatisfy { !$0.value.isEmpty && !$0.reason.isEmpty })
  }

  @Test(
    "every kind of detector has a reading of its layout and its labels",
    arguments: DetectorCase.all.filter { $0.error == nil })
  func everyDetector(expected: DetectorCase) throws {
    var options = ObjectDetector.Options()
    if let place = expected.options.firstIndex(of: "--layout") {
      options.layout = DetectorLayout(rawValue: expected.options[place + 1])
    }
    if let place = expected.options.firstIndex(of: "--anchors") {
      options.anchors = expected.options[place + 1].split(separator: ",").compactMap { Float($0) }
    }
    if let place = expected.options.firstIndex(of: "--candidates") {
      options.baseOptions.candidates = CandidateAxis(rawValue: expected.options[place + 1])
    }
    let readings = try ObjectDetector(model: Model(bytes: expected.bytes), options: options).assumptions
      .readings
    #expect(
      Set(readings.map(\.subject)).isSuperset(of: ["layout", "scores", "pixels", "channels", "fit", "labels"])
    )
    #expect((readings.first { $0.subject == "layout" }?.source == .given) == (options.layout != nil))
  }

  @Test(
    "what --pixels says",
    arguments: [
      ("unit", Normalization.unit), ("signed", .signed), ("raw", .raw),
      ("127.5:64", .meanStd(mean: [127.5], std: [64])),
      ("123.7,116.3,103.5:58.4,57.1,57.4", .meanStd(mean: [123.7, 116.3, 103.5], std: [58.4, 57.1, 57.4])),
      ("1, 2, 3:4", .meanStd(mean: [1, 2, 3], std: [4])), ("-1:0.5", .meanStd(mean: [-1], std: [0.5])),
    ])
  func parses(text: String, expected: Normalization) throws {
    #expect(try Normalization(parsing: text) == expected)
    #expect(try Normalization(parsing: expected.description) == expected)
  }

  @Test(
    "what --pixels cannot say",
    arguments: ["", ":", "1", "1:0", "1:-2", "nan:1", "1:inf", "1,2,3,4,5:1", "1:2:3", "Unit", "1,,2:1"])
  func refuses(text: String) {
    #expect(throws: ApusError.self) { try Normalization(parsing: text) }
  }
}
