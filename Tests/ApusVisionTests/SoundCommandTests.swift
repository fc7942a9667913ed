// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Models of sounds with several outputs, through the command-line tool.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct SoundCommandTests {
  @Test("every output of a model of sounds is shown, and an evaluation says which counts")
  func showsAllHeads() throws {
    try withTemporaryFolder { folder in
      let axes: [UInt8] = [0, 0, 0, 0, 1, 0, 0, 0]
      let model = DetectorModel(
        tensors: [
          .init(name: "sound", shape: [1, 4_000]),
          .init(name: "axes", shape: [2], type: DetectorModel.int32, data: axes),
          .init(name: "loud", shape: [1, 1]), .init(name: "soft", shape: [1, 1]),
        ],
        operators: [2, 3].map {
          .init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [$0], options: [0: .byte(1)])
        }, outputs: [2, 3])
      try Data(model.bytes).write(to: folder.appending(path: "model.tflite"))
      try FileManager.default.createDirectory(
        at: folder.appending(path: "set/0"), withIntermediateDirectories: true)
      try Data(wave(samples: 6_000)).write(to: folder.appending(path: "set/0/a.wav"))
      let text = try apus("hear set/0/a.wav --model model.tflite", in: folder)
      #expect(text.status == 0 && text.output.contains("\nloud\n") && text.output.contains("\nsoft\n"))
      let json = try apus("hear set/0/a.wav --model model.tflite --json", in: folder)
      #expect(json.output.contains(#""heads":[{"classes":"#) && json.output.contains(#""name":"soft""#))
      let found = try apus("evaluate set --model model.tflite --task classify", in: folder)
      #expect(
        found.errors.contains("warning: the model has 2 outputs; the accuracy is that of the first\n"),
        "\(found)")
    }
  }

  @Test("an evaluation of sounds has the rate and the window of apus hear, and says that a rate is a guess")
  func takesOptionsOfHear() throws {
    try withTemporaryFolder { folder in
      let axes: [UInt8] = [1, 0, 0, 0]
      let model = DetectorModel(
        tensors: [
          .init(name: "sound", shape: [1, 4_000]),
          .init(name: "axes", shape: [1], type: DetectorModel.int32, data: axes),
          .init(name: "loud", shape: [1, 1]),
        ],
        operators: [
          .init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2], options: [0: .byte(1)])
        ], outputs: [2])
      try Data(model.bytes).write(to: folder.appending(path: "model.tflite"))
      try FileManager.default.createDirectory(
        at: folder.appending(path: "set/0"), withIntermediateDirectories: true)
      try Data(wave(samples: 6_000)).write(to: folder.appending(path: "set/0/a.wav"))
      let command = "evaluate set --model model.tflite --task classify --resume done.jsonl"
      let guessed = try apus(command, in: folder)
      #expect(guessed.status == 0 && guessed.errors.contains("16000 Hz is a guess, --rate decides"))
      let other = try apus(command + " --rate 8000", in: folder)
      #expect(other.status != 0 && other.errors.contains("--rate as by default, not 8000"), "\(other)")
      try FileManager.default.removeItem(at: folder.appending(path: "done.jsonl"))
      let given = try apus(command + " --rate 8000 --window 4000 --overlap 0.5", in: folder)
      #expect(given.status == 0 && !given.errors.contains("guess"), "\(given)")
      let inspected = try apus("inspect model.tflite --as sound --rate 8000", in: folder)
      #expect(inspected.output.contains("4000 samples at 8000 Hz"))
      #expect(try apus("inspect model.tflite --rate 8000", in: folder).status == 64)
      let segment = try apus(
        "evaluate set --model model.tflite --task segment --truth set --rate 8000", in: folder)
      #expect(segment.status == 64 && segment.errors.contains("--rate is for --task classify"))
    }
  }

  /// A WAV file of 16 bits at 16 kHz.
  private func wave(samples: Int) -> [UInt8] {
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let head =
      number(1, 2) + number(1, 2) + number(16_000, 4) + number(32_000, 4) + number(2, 2) + number(16, 2)
    let data = (0..<samples).flatMap { number($0 % 1_000, 2) }
    let chunks =
      Array("WAVEfmt ".utf8) + number(16, 4) + head + Array("data".utf8) + number(data.count, 4) + data
    return Array("RIFF".utf8) + number(chunks.count, 4) + chunks
  }
}
