// SPDX-License-Identifier: Apache-2.0

import Apus
import Foundation
import TestSupport
import Testing

#if os(Linux) && arch(x86_64)
  /// A refusal by the system costs speed, not answers: executable pages, early or late, and threads.
  @Suite(.enabled(if: builtExecutable("FaultProbe") != nil, "the probe is missing"))
  struct RefusalTests {
    /// A line of the probe.
    private struct Answer: Equatable {
      let kernels: Substring
      let digest: Substring
      let hasCodeInFile: Bool
    }

    /// Products of bytes, whose results are the same in each kernel set, worth several threads.
    private static func product(_ rows: Int32, _ depth: Int32, _ columns: Int32) -> TestModel {
      TestModel(
        tensors: [
          .init(name: "x", type: TestModel.int8, shape: [rows, depth], scale: 0.1, zeroPoint: 3),
          .init(name: "w", type: TestModel.int8, shape: [depth, columns], scale: 0.1, zeroPoint: 7),
          .init(name: "y", type: TestModel.int8, shape: [rows, columns], scale: 1, zeroPoint: 0),
        ],
        operators: [.init(code: .batchMatMul, inputs: [0, 1], outputs: [2])], inputs: [0, 1],
        outputs: [2])
    }

    /// Runs two models while the system refuses something; nil where it cannot be made to.
    private func answers(refusing fault: String) throws -> [Answer]? {
      try withTemporaryFolder { folder in
        let models = [Self.product(40, 64, 48), Self.product(400, 515, 390)]
        var files: [String] = []
        for (index, model) in models.enumerated() {
          let file = folder.appending(path: "\(index).tflite")
          try Data(model.bytes).write(to: file)
          files.append(file.path)
        }
        let process = Process()
        let probe: URL = try #require(builtExecutable("FaultProbe"))
        process.executableURL = probe
        process.arguments = [fault] + files
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        if process.terminationReason == .exit, process.terminationStatus == 77 { return nil }
        try #require(
          process.terminationReason == .exit && process.terminationStatus == 0, "\(fault): \(text)")
        return text.split(separator: "\n").map { line in
          let words = line.split(separator: " ")
          return Answer(kernels: words[0], digest: words[1], hasCodeInFile: words[2] == "true")
        }
      }
    }

    @Test("without executable pages, portable kernels give the same")
    func code() throws {
      guard let found = try answers(refusing: "code") else { return }
      let usual = try #require(try answers(refusing: "nothing"))
      #expect(found.map(\.digest) == usual.map(\.digest) && found.count == 2)
      #expect(found.allSatisfy { !$0.kernels.hasPrefix("x86") && !$0.hasCodeInFile })
    }

    @Test("pages that can no longer be made executable are replaced")
    func laterCode() throws {
      guard let found = try answers(refusing: "code-later") else { return }
      let usual = try #require(try answers(refusing: "nothing"))
      #expect(found.map(\.digest) == usual.map(\.digest) && found.map(\.kernels) == usual.map(\.kernels))
      #expect(usual.allSatisfy { !$0.hasCodeInFile })
      // A machine without these sets generates no code.
      if usual[1].kernels.hasPrefix("x86") { #expect(found.map(\.hasCodeInFile) == [false, true]) }
    }

    @Test("without threads, one thread gives the same")
    func threads() throws {
      guard let found = try answers(refusing: "threads") else { return }
      #expect(found == (try answers(refusing: "nothing")))
    }
  }
#endif
