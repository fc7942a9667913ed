// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Evaluations of small models that tests describe, through the command-line tool.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct EvaluationModelTests {
  @Test("the type of raw files is said where it is a guess, and floats are not taken for bytes")
  func saysTypeOfRawFiles() throws {
    try withTemporaryFolder { folder in
      let model = quantizedModel()
      try Data(model.bytes).write(to: folder.appending(path: "model.tflite"))
      try FileManager.default.createDirectory(
        at: folder.appending(path: "set/0"), withIntermediateDirectories: true)
      let file = folder.appending(path: "set/0/a.bin")
      let command = "evaluate set --model model.tflite --task classify"
      for value in [0, 0x40] as [UInt8] {
        try Data(repeating: value, count: 64).write(to: file)
        let guessed = try apus(command, in: folder)
        #expect(
          guessed.status == 0 && guessed.errors.contains("are read as int8, the type of the model's input"),
          "\(guessed)")
      }
      let given = try apus(command + " --type int8", in: folder)
      #expect(given.status == 0 && !given.errors.contains("--type"), "\(given)")
      let floats = (1...16).map { Float($0) / 7 }
      try floats.withUnsafeBytes { Data($0) }.write(to: file)
      let refused = try apus(command, in: folder)
      #expect(refused.status == 2 && refused.errors.contains("look like float32, not int8"), "\(refused)")
      #expect(try apus(command + " --type int8", in: folder).status == 0)
    }
  }

  /// A model that takes 64 bytes and returns the maximum of each of four rows.
  private func quantizedModel() -> DetectorModel {
    DetectorModel(
      tensors: [
        .init(name: "rows", shape: [1, 4, 16], type: DetectorModel.int8, quantization: (0.1, 0)),
        .init(name: "axes", shape: [1], type: DetectorModel.int32, data: [2, 0, 0, 0]),
        .init(name: "scores", shape: [1, 4], type: DetectorModel.int8, quantization: (0.1, 0)),
      ],
      operators: [
        .init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2], options: [0: .byte(0)])
      ], outputs: [2])
  }
}
