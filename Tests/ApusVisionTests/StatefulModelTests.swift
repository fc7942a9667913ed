// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

/// Models that keep values between runs: an answer depends on its own picture or sound, not on those before it.
@Suite struct StatefulModelTests {
  private static let rnn: Int32 = 24

  /// The sums of `W · x` over all runs, where `x` is the input itself or the brightest value of each channel.
  private func model(input: [Int32], inputs count: Int32) -> DetectorModel {
    let isPicture = input.count == 4
    var weights = [Float](repeating: 0, count: 2 * Int(count))
    (weights[0], weights[Int(count) + 1]) = (1, 2)
    var model = DetectorModel(
      tensors: [
        .init(name: "input", shape: input),
        .init(name: "axes", shape: [2], type: DetectorModel.int32, data: [1, 0, 0, 0, 2, 0, 0, 0]),
        .init(name: "brightest", shape: [1, count]),
        .init(name: "weights", shape: [2, count], data: DetectorModel.data(weights)),
        .init(name: "recurrent", shape: [2, 2], data: DetectorModel.data([1, 0, 0, 1])),
        .init(name: "bias", shape: [2], data: DetectorModel.data([0, 0])),
        .init(name: "state", shape: [1, 2], isVariable: true), .init(name: "sums", shape: [1, 2]),
      ],
      operators: [
        .init(code: Self.rnn, inputs: [isPicture ? 2 : 0, 3, 4, 5, 6], outputs: [7])
      ], outputs: [7])
    if isPicture {
      model.operators.insert(.init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2]), at: 0)
    }
    return model
  }

  @Test("outputs of apus run do not depend on how many runs are measured")
  func measuresFirstRuns() throws {
    guard builtExecutable("apus") != nil else { return }
    try withTemporaryFolder { folder in
      try Data(model(input: [1, 64], inputs: 64).bytes).write(to: folder.appending(path: "m.tflite"))
      for (place, options) in ["", " --runs 3", " --warmup 2"].enumerated() {
        let answer = try apus("run m.tflite --output-dir \(place) --tensors \(place)\(options)", in: folder)
        #expect(answer.status == 0, "\(answer)")
        for name in ["output_0", "sums"] {
          #expect(
            try Data(contentsOf: folder.appending(path: "\(place)/\(name).npy"))
              == Data(contentsOf: folder.appending(path: "0/\(name).npy")))
        }
      }
      let replaced = try apus("run m.tflite --input 0/input_0.npy --tensors ./0", in: folder)
      #expect(
        replaced.status == 64
          && replaced.errors.contains("--tensors would replace the input '0/input_0.npy'"),
        "\(replaced)")
      #expect(try apus("run m.tflite --input 0/input_0.npy --tensors other", in: folder).status == 0)
    }
  }

  @Test("every picture is the first")
  func forgetsPictures() throws {
    var options = ImageClassifier.Options()
    (options.scores, options.normalization) = (.raw, .unit)
    let classifier = try ImageClassifier(
      model: model(input: [1, 4, 4, 3], inputs: 3).model(), options: options)
    let white = try ImageBuffer(
      bytes: [UInt8](repeating: 255, count: 12), width: 2, height: 2, format: .rgb)
    for _ in 0..<3 { #expect(try classifier.classify(white).categories.map(\.score) == [2, 1]) }
  }

  @Test("windows of a sound follow each other, and every sound is the first")
  func forgetsSounds() throws {
    var options = AudioClassifier.Options()
    (options.scores, options.sampleRate) = (.raw, 16_000)
    let classifier = try AudioClassifier(model: model(input: [1, 64], inputs: 64).model(), options: options)
    let clip = try AudioClip(samples: [Float](repeating: 0.5, count: 128), sampleRate: 16_000)
    for _ in 0..<3 {
      let windows = try classifier.classify(clip).windows
      #expect(windows.map { $0.categories.map(\.score) } == [[1, 0.5], [2, 1]])
    }
  }
}
