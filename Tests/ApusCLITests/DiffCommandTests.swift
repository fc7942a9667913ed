// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import Foundation
import TestSupport
import Testing

/// `apus diff` and `apus run --tensors`: files, tables and statuses. What differs is tested with the library.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct DiffCommandTests {
  private struct Golden: Decodable {
    let name: String
    let model: Data
    let files: [String: Data]
  }

  /// A folder with `model.tflite` and LiteRT's tensors of a run in `reference`.
  private func withReference(_ body: (URL) throws -> Void) throws {
    let goldens: [Golden] = TestSupport.goldens("tensors")
    let golden = try #require(goldens.first { $0.name == "convolutions" })
    try withTemporaryFolder { folder in
      let reference = folder.appending(path: "reference")
      try FileManager.default.createDirectory(at: reference, withIntermediateDirectories: true)
      try golden.model.write(to: folder.appending(path: "model.tflite"))
      for (file, bytes) in golden.files { try bytes.write(to: reference.appending(path: "\(file).npy")) }
      try body(folder)
    }
  }

  @Test func comparesWithDumpedTensors() throws {
    try withReference { folder in
      let same = try apus("diff model.tflite reference", in: folder)
      #expect(same.status == 0 && same.errors.isEmpty)
      #expect(same.output.contains("5 tensors compared, 0 beyond the tolerance"))
      let file = folder.appending(path: "reference/tensor_9.npy")
      var bytes = try Data(contentsOf: file)
      bytes[bytes.count - 1] ^= 1
      try bytes.write(to: file)
      let other = try apus("diff model.tflite reference", in: folder)
      #expect(other.status == 1 && other.errors.isEmpty)
      #expect(other.output.contains("first: operator #2, CONV_2D: tensor 9 (t9): element 1 is "))
      let json = try apus("diff model.tflite reference --json", in: folder)
      #expect(json.status == 1 && json.output.contains(#""first":{"#))
      #expect(try apus("diff model.tflite reference --tolerance 1", in: folder).status == 0)
    }
  }

  @Test func dumpedTensorsAreTheReferences() throws {
    try withReference { folder in
      let run = try apus(
        "run model.tflite --input reference/input_0.npy --input reference/input_1.npy --tensors dump",
        in: folder)
      #expect(run.status == 0 && run.errors.isEmpty)
      for index in [3, 6, 9, 10, 12] {
        let written = try Data(contentsOf: folder.appending(path: "dump/t\(index).npy"))
        let expected = try Data(contentsOf: folder.appending(path: "reference/tensor_\(index).npy"))
        #expect(written == expected, "t\(index)")
      }
      #expect(try apus("diff model.tflite dump", in: folder).status == 0)
    }
  }

  @Test func comparesModels() throws {
    try withReference { folder in
      let same = try apus("diff model.tflite model.tflite", in: folder)
      #expect(same.status == 0 && same.output.contains("5 tensors compared, 0 beyond the tolerance"))
      let missing = try apus("diff model.tflite nowhere.tflite", in: folder)
      #expect(missing.status == 1 && missing.errors.hasPrefix("error: cannot "))
      let empty = try apus("diff model.tflite .", in: folder)
      #expect(empty.status == 1 && empty.errors.contains("the folder '.' has no input_0.npy"))
      #expect(try apus("diff model.tflite reference --tolerance=-1", in: folder).status == 64)
    }
  }

  @Test("inputs that random data leaves at zero are said, of run and diff")
  func saysWhatIsZero() throws {
    // The input is the output: elements of the type 2 are int32, of 6 bool.
    func model(_ type: UInt8) -> Data {
      Data(
        FlatTable([
          0: .int(3), 1: .tables([]),
          2: .tables([
            FlatTable([
              0: .tables([FlatTable([0: .ints([1, 64]), 1: .byte(type), 3: .text("x")])]), 1: .ints([0]),
              2: .ints([0]), 3: .tables([]),
            ])
          ]), 4: .tables([FlatTable()]),
        ]).file(identifier: "TFL3"))
    }
    try withTemporaryFolder { folder in
      try model(2).write(to: folder.appending(path: "integers.tflite"))
      try model(6).write(to: folder.appending(path: "booleans.tflite"))
      for command in ["run integers.tflite", "diff integers.tflite integers.tflite"] {
        let answer = try apus(command, in: folder)
        #expect(answer.status == 0)
        #expect(
          answer.errors.contains(
            "warning: input 0 (x) is int32: random data leaves it 0; choose data with --input"))
      }
      let booleans = try apus("run booleans.tflite --output-dir out", in: folder)
      #expect(booleans.status == 0 && booleans.errors.isEmpty)
      let elements = try Data(contentsOf: folder.appending(path: "out/output_0.npy")).suffix(64)
      #expect(Set(elements) == [0, 1])
    }
  }

  @Test("random data has values for small types")
  func randomValues() {
    for type in ElementType.allCases where RandomBytes.makesValues(of: type) {
      var random = RandomBytes(seed: 1)
      let bytes = random.bytes(of: type, count: 64)
      #expect(Set(bytes).count > 1, "\(type)")
      if type == .float16 {
        for place in stride(from: 0, to: 64, by: 2) {
          // From -1 to 1.
          #expect(UInt16(bytes[place]) | UInt16(bytes[place + 1] & 0x7F) << 8 <= 0x3C00)
        }
      }
    }
  }
}
