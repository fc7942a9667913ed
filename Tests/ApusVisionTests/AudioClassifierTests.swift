// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat
import ApusShapes
import ApusVision
import Foundation
import TestSupport
import Testing

@Suite struct AudioClassifierTests {
  private static let folder = ProcessInfo.processInfo.environment["APUS_TEST_DATA"]

  /// A model whose only class scores the largest sample of its input.
  private func loudness(
    shape: [Int32] = [1, 1_000], signature: [Int32]? = nil, type: UInt8 = DetectorModel.float32
  ) throws -> Model {
    try loudnessModel(shape: shape, signature: signature, type: type).model()
  }

  private func loudnessModel(
    shape: [Int32] = [1, 1_000], signature: [Int32]? = nil, type: UInt8 = DetectorModel.float32
  ) -> DetectorModel {
    let axes = (0..<shape.count).flatMap { [UInt8($0), 0, 0, 0] as [UInt8] }
    return DetectorModel(
      tensors: [
        .init(name: "sound", shape: shape, type: type, signature: signature),
        .init(name: "axes", shape: [Int32(shape.count)], type: DetectorModel.int32, data: axes),
        .init(name: "score", shape: shape.map { _ in 1 }, type: type),
      ],
      operators: [
        .init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2], options: [0: .byte(1)])
      ],
      outputs: [2])
  }

  /// A clip where each sample is its place, in steps of 1/8,192.
  private func ramp(_ count: Int) throws -> AudioClip {
    try AudioClip(samples: (0..<count).map { Float($0) / 8_192 }, sampleRate: 16_000)
  }

  @Test("windows follow each other, the last one is filled up with silence")
  func cutsWindows() throws {
    let classifier = try AudioClassifier(model: loudness())
    #expect(classifier.sampleRate == 16_000 && classifier.windowSampleCount == 1_000)
    for (count, ends) in [
      (1, [1]), (1_000, [1_000]), (1_001, [1_000, 1_001]), (3_000, [1_000, 2_000, 3_000]),
    ] {
      let result = try classifier.classify(ramp(count))
      #expect(result.windows.map { $0.categories[0].score } == ends.map { Float($0 - 1) / 8_192 })
      #expect(result.windows.map(\.start) == ends.indices.map { .seconds(Double($0) / 16) })
      #expect(result.scores(of: 0) == result.windows.map { $0.categories[0].score })
      // A window counts by how many of its samples are sound.
      let weights = ends.indices.map { Double($0 == 0 ? ends[0] : ends[$0] - ends[$0 - 1]) }
      let sum = zip(ends, weights).reduce(0.0) { $0 + Double($1.0 - 1) / 8_192 * $1.1 }
      let mean = sum / weights.reduce(0, +)
      #expect(abs(Double(result.categories[0].score) - mean) < 1e-6)
      #expect(result.windowDuration == .seconds(0.0625))
    }
  }

  @Test("all heads are encoded, as those of pictures are")
  func encodesHeads() throws {
    var model = loudnessModel()
    model.tensors.append(.init(name: "other", shape: [1, 1]))
    model.operators.append(
      .init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [3], options: [0: .byte(1)]))
    model.outputs.append(3)
    let classifier = try AudioClassifier(model: model.model())
    #expect(classifier.headCount == 2)
    func object(_ classifier: AudioClassifier) throws -> [String: Any] {
      let data = try JSONEncoder().encode(classifier.classify(ramp(1_500)))
      return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
    let two = try object(classifier)
    let window = try #require((two["windows"] as? [[String: Any]])?.last)
    for part in [two, window] {
      let heads = try #require(part["heads"] as? [[String: Any]])
      #expect(heads.map { $0["name"] as? String } == ["score", "other"] && part["classes"] == nil)
      #expect(heads.allSatisfy { ($0["classes"] as? [Any])?.count == 1 })
    }
    let one = try object(AudioClassifier(model: loudness()))
    #expect(one["heads"] == nil && (one["classes"] as? [Any])?.count == 1)
    #expect((one["windows"] as? [[String: Any]])?.allSatisfy { $0["classes"] != nil } == true)
  }

  @Test("some hundreds of numbers may be features rather than samples, unless the rate is given")
  func warnsOfFeatures() throws {
    for count in [64, 216, 650, 1_960, 3_999] as [Int32] {
      let model = try loudness(shape: [1, count])
      let warnings = try AudioClassifier(model: model).warnings
      #expect(warnings.contains { $0.contains("may be features of a sound; --rate") }, "\(warnings)")
      var options = AudioClassifier.Options()
      options.sampleRate = 16_000
      let given = try AudioClassifier(model: model, options: options)
      #expect(given.windowSampleCount == Int(count) && !given.warnings.contains { $0.contains("features") })
    }
    let usual = try AudioClassifier(model: loudness(shape: [1, 4_000])).warnings
    #expect(!usual.contains { $0.contains("features") })
    #expect(throws: ApusError.self) { try AudioClassifier(model: loudness(shape: [1, 63])) }
  }

  @Test("samples far beyond the usual range are warned of", arguments: [(1.5, false), (16_384, true)])
  func warnsOfLoudSamples(sample: Float, isLoud: Bool) throws {
    var options = AudioClassifier.Options()
    (options.scores, options.sampleRate) = (.raw, 16_000)
    let classifier = try AudioClassifier(model: loudness(), options: options)
    #expect(classifier.warnings.isEmpty, "\(classifier.warnings)")
    _ = try classifier.classify(AudioClip(samples: [0, -sample, 0.5], sampleRate: 16_000))
    _ = try classifier.classify(AudioClip(samples: [0, -2 * sample, 0.5], sampleRate: 16_000))
    #expect(classifier.warnings.contains { $0.contains("go beyond ±8, not −1 to 1") } == isLoud)
    #expect(classifier.warnings.count == (isLoud ? 1 : 0), "\(classifier.warnings)")
  }

  @Test("windows overlap as far as is wanted")
  func overlaps() throws {
    var options = AudioClassifier.Options()
    options.overlap = 0.75
    let result = try AudioClassifier(model: loudness(), options: options).classify(ramp(1_600))
    let expected: [Float] = [999, 1_249, 1_499, 1_599].map { $0 / 8_192 }
    #expect(result.windows.map { $0.categories[0].score } == expected)
    for overlap in [-0.1, 1, .nan] {
      options.overlap = overlap
      #expect(throws: ApusError.self) { try AudioClassifier(model: loudness(), options: options) }
    }
  }

  @Test("the shapes of waveforms are known, open ones get the length that is chosen, others are refused")
  func knowsShapes() throws {
    for shape in [
      [500], [1, 500], [1, 500, 1], [500, 1], [1, 1, 500], [1, 500, 1, 1], [1, 1, 500, 1], [1, 1, 1, 500],
    ] as [[Int32]] {
      let classifier = try AudioClassifier(model: loudness(shape: shape))
      #expect(classifier.windowSampleCount == 500, "\(shape)")
      #expect(try classifier.classify(ramp(500)).categories[0].score == 499 / 8_192, "\(shape)")
    }
    let open = try loudness(shape: [1, 1], signature: [-1, -1])
    #expect(throws: ApusError.self) { try AudioClassifier(model: open) }
    var options = AudioClassifier.Options()
    options.windowSampleCount = 450
    #expect(try AudioClassifier(model: open, options: options).classify(ramp(1_200)).windows.count == 3)
    #expect(throws: ApusError.self) { try AudioClassifier(model: loudness(), options: options) }
    for shape in [[2, 500], [1, 1], [1, 500, 2], [1, 1, 500, 2], [1, 1, 1, 1, 500]] as [[Int32]] {
      let error = #expect(throws: ApusError.self) { try AudioClassifier(model: loudness(shape: shape)) }
      #expect(error?.code == .invalidArgument)
    }
    // Bytes without a scale say nothing about loudness; pictures and detectors are no sound.
    #expect(throws: ApusError.self) { try AudioClassifier(model: loudness(type: DetectorModel.uint8)) }
    #expect(throws: ApusError.self) { try AudioClassifier(model: Model(bytes: EmbeddedShapes.modelBytes)) }
  }

  @Test("one number beside a waveform is the sample rate, as models of TensorFlow's commands take it")
  func givesTheRate() throws {
    let cast: Int32 = 53
    func model(_ second: DetectorModel.TensorSpec) throws -> Model {
      try DetectorModel(
        tensors: [
          .init(name: "data:0", shape: [1_000, 1]), second, .init(name: "score", shape: second.shape),
        ], inputCount: 2, operators: [.init(code: cast, inputs: [1], outputs: [2])], outputs: [2]
      ).model()
    }
    var options = AudioClassifier.Options()
    (options.scores, options.sampleRate) = (.raw, 8_000)
    let rate = DetectorModel.TensorSpec(name: "data:1", shape: [1], type: DetectorModel.int32)
    let classifier = try AudioClassifier(model: model(rate), options: options)
    #expect(classifier.windowSampleCount == 1_000)
    #expect(try classifier.classify(ramp(1_000)).categories[0].score == 8_000)
    let reading = try #require(classifier.readings.first { $0.subject == "input 1" })
    #expect(reading.source == .guess && reading.option == "--rate")
    #expect(classifier.warnings.contains { $0.contains("input 1 is taken for the sample rate, 8000") })
    let error = #expect(throws: ApusError.self) {
      try AudioClassifier(model: model(.init(name: "state", shape: [2, 128], type: DetectorModel.int32)))
    }
    #expect(error?.message.contains("data:0 (float32 1000×1), state (int32 2×128)") == true)
  }

  @Test("samples are -1 to 1, or -32768 to 32767 where the options, the type or the graph says so")
  func readsRanges() throws {
    let clip = try AudioClip(samples: [0, 0.5, -1], sampleRate: 16_000)
    func loudest(_ model: Model, _ range: SampleRange?) throws -> (Float, Assumption) {
      var options = AudioClassifier.Options()
      (options.scores, options.sampleRate, options.sampleRange) = (.raw, 16_000, range)
      let classifier = try AudioClassifier(model: model, options: options)
      let reading = try #require(classifier.readings.first { $0.subject == "samples" })
      return (try classifier.classify(clip).categories[0].score, reading)
    }
    let floats = try loudness()
    for (range, score, source) in [
      (nil, 0.5, .guess), (.signed, 0.5, .given), (.int16, 16_384, .given),
    ] as [(SampleRange?, Float, AssumptionSource)] {
      let found = try loudest(floats, range)
      #expect(found.0 == score && found.1.source == source && found.1.option == "--samples")
    }
    for (code, number, score, range) in [
      (42, 32_768, 0.5, "int16"), (DetectorModel.mul, 1 / 32_768, 0.5, "int16"),
      (DetectorModel.mul, 32_768, 16_384, "signed"),
    ] as [(Int32, Float, Float, String)] {
      var model = loudnessModel()
      model.tensors += [
        .init(name: "number", shape: [1], data: DetectorModel.data([number])),
        .init(name: "scaled", shape: [1, 1_000]),
      ]
      model.operators.insert(.init(code: code, inputs: [0, 3], outputs: [4]), at: 0)
      model.operators[1].inputs[0] = 4
      let found = try loudest(model.model(), nil)
      #expect(
        found.0 == score && found.1.source == .model && found.1.value.hasPrefix(range), "\(code) \(number)")
    }
  }

  @Test("a clip without samples, and rates that cannot be, are refused")
  func refuses() throws {
    let empty = try AudioClip(samples: [], sampleRate: 16_000)
    #expect(throws: ApusError.self) { try AudioClassifier(model: loudness()).classify(empty) }
    var options = AudioClassifier.Options()
    options.sampleRate = 3
    #expect(throws: ApusError.self) { try AudioClassifier(model: loudness(), options: options) }
  }

  @Test("labels and scores that do not suit a model are warned of, and options say what scores are")
  func warns() throws {
    let labels = LabelMap(["soft", "loud", "louder"])
    var options = AudioClassifier.Options()
    options.sampleRate = 16_000
    let classifier = try AudioClassifier(model: loudness(), labels: labels, options: options)
    #expect(classifier.warnings.count == 1 && classifier.warnings[0].contains("3 labels"))
    // Samples of a model's own scale are no probabilities.
    let loud = try AudioClip(samples: [Float](repeating: 22, count: 1_000), sampleRate: 16_000)
    let silent = try AudioClassifier(model: loudness(), options: options)
    #expect(silent.warnings.isEmpty)
    #expect(try silent.classify(loud).categories[0].score == 22)
    #expect(silent.warnings.contains { $0.contains("--scores") })
    options.scores = .probability
    let strict = try AudioClassifier(model: loudness(), options: options)
    #expect(throws: ApusError.self) { try strict.classify(loud) }
    #expect(strict.readings.contains { $0.subject == "scores" && $0.source == .given })
  }

  @Test("the mean is that of the scores that windows show, calibrated ones where there is a calibration")
  func averagesCalibratedScores() throws {
    var loud = loudnessModel()
    loud.labels = "1,10,-5\n"
    loud.appendedName = "calibration"
    loud.metadataCalibrations = [0.25]
    let samples = (0..<4_000).map { $0 < 1_000 ? Float(1) : 0 }
    let result = try AudioClassifier(model: loud.model()).classify(
      AudioClip(samples: samples, sampleRate: 16_000))
    // 1 / (1 + exp(5)) of silence, and 1 / (1 + exp(-5)) of the first window.
    let (low, high): (Float, Float) = (0.006_692_851, 0.993_307_15)
    let shown = result.windows.map { $0.categories[0].score }
    #expect(zip(shown, [high, low, low, low]).allSatisfy { abs($0 - $1) < 1e-6 } && shown.count == 4)
    #expect(abs(result.categories[0].score - (high + 3 * low) / 4) < 1e-6)
  }

  @Test("integers with a scale that no number has are refused", arguments: [0, -1, Float.infinity, .nan])
  func refusesScales(scale: Float) throws {
    for type in [DetectorModel.int16, DetectorModel.int8] {
      var model = loudnessModel(type: type)
      model.tensors[0].quantization = (scale, 0)
      model.tensors[2].quantization = (scale, 0)
      let bytes = model.bytes
      let error = #expect(throws: ApusError.self) { try AudioClassifier(model: Model(bytes: bytes)) }
      #expect(error?.message.contains("scale") == true, "\(error?.message ?? "")")
    }
  }

  @Test("cancelling stops between operators")
  func cancels() throws {
    let cancellation = Cancellation()
    cancellation.cancel()
    let error = #expect(throws: ApusError.self) {
      try AudioClassifier(model: loudness()).classify(ramp(10), cancellation: cancellation)
    }
    #expect(error?.code == .cancelled)
  }

  @Test(
    "YAMNet hears what it hears in LiteRT, window by window",
    .enabled(if: folder != nil, "APUS_TEST_DATA is not set"))
  func agreesWithLiteRT() async throws {
    let path = "\(Self.folder ?? "")/models/yamnet_audio_classifier_with_metadata.tflite"
    let model = try Model(contentsOfFile: path)
    let heard = try #require(AudioGoldens.all.first).heard
    let clip = try AudioClip(decoding: Array(#require(heard.first?.file)))
    for expected in heard {
      var options = AudioClassifier.Options()
      options.overlap = expected.overlap
      let classifier = try AudioClassifier(model: model, options: options)
      #expect(classifier.sampleRate == 16_000 && classifier.windowSampleCount == 15_600)
      let result = try await classifier.classify(clip)
      #expect(result.windows.count == expected.windows.count)
      var (sums, total) = ([Double](repeating: 0, count: 521), 0.0)
      for (window, golden) in zip(result.windows, expected.windows) {
        let scores = golden.scores.floats
        // The last window counts by how much sound it has.
        let weight = min(result.duration - window.start, result.windowDuration) / result.windowDuration
        #expect(window.start == .seconds(golden.start) && window.categories.count == 521)
        // The model's scores have steps of 1/256: before them it computes with floats, where the last bits may differ.
        for category in window.categories {
          #expect(abs(category.score - scores[category.index]) <= 1e-4, "\(category)")
          sums[category.index] += Double(scores[category.index]) * weight
        }
        total += weight
        let best = try #require(scores.indices.max { scores[$0] < scores[$1] })
        #expect(window.categories[0].score == scores[best])
      }
      for category in result.categories {
        #expect(abs(Double(category.score) - sums[category.index] / total) < 1e-4)
      }
      #expect(result.windows[0].categories[0].label == "Synthesizer")
      let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(result)) as? [String: Any]
      #expect(
        Set(try #require(object).keys) == ["seconds", "windowSeconds", "classes", "windows", "milliseconds"])
    }
  }
}
