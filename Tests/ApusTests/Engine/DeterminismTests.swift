// SPDX-License-Identifier: Apache-2.0

import Apus
import Foundation
import Testing

/// Models compute equal bytes with any number of threads, in the first run and in the last, and in every build.
///
/// `APUS_SOAK_RUNS` is the number of runs of each model, without which nothing is run: CI compares whole models with LiteRT for
/// each kernel set and number of threads. `APUS_DIGESTS` names a file of digests, one for each model and kernel
/// set: where there is one, they are compared with it, and otherwise it is written, so that debug and release builds meet.
@Suite(.serialized) struct DeterminismTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let runs = environment["APUS_SOAK_RUNS"].flatMap(Int.init) ?? 0

  private static let models: [URL] = {
    guard let folder = PublishedModels.folder else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".tflite") }.sorted().map { URL(filePath: "\(folder)/\($0)") }
  }()

  /// Fills the inputs with the same bytes, runs, and returns a digest of the outputs' bytes.
  private static func digest(_ interpreter: Interpreter) throws(ApusError) -> UInt64 {
    for position in interpreter.inputs.indices {
      let isFloat = interpreter.inputs[position].type == .float32
      try interpreter.withInputBytes(at: position) { span in
        for offset in 0..<span.byteCount {
          // Floats get small positive exponents; integers stay small indices.
          let byte = UInt8(truncatingIfNeeded: (offset &* 7 &+ position) & 0x3F)
          span.storeBytes(of: isFloat && offset % 4 == 3 ? 0x3E : byte, toByteOffset: offset, as: UInt8.self)
        }
      }
    }
    interpreter.resetVariables()
    try interpreter.invoke()
    // FNV-1a.
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    for position in interpreter.outputs.indices {
      try interpreter.withOutputBytes(at: position) { span in
        span.withUnsafeBytes { bytes in
          for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
      }
    }
    return digest
  }

  @Test(
    "each model gives the same bytes with 1 to 8 threads, in every run and build",
    .enabled(if: runs > 0 && !models.isEmpty, "APUS_TEST_DATA or APUS_SOAK_RUNS is not set"),
    arguments: models)
  func sameBytes(file: URL) throws {
    let model = try Model(contentsOfFile: file.path)
    guard model.unsupportedOperators.isEmpty,
      !model.operatorCounts.contains(where: { $0.name.hasPrefix("RANDOM") })
    else { return }
    var found: [KernelSetName: UInt64] = [:]
    for kernels in Runtime.kernelSets where kernels.isSupported {
      for threads in 1...8 {
        var options = Interpreter.Options()
        (options.kernels, options.threadCount) = (kernels.name, threads)
        let interpreter = try Interpreter(model: model, options: options)
        let digest = try Self.digest(interpreter)
        #expect(found[kernels.name] ?? digest == digest, "\(kernels.name), \(threads) threads")
        found[kernels.name] = digest
        guard threads == 2, kernels.isDefault else { continue }
        var others = 0
        for _ in 1..<Self.runs where try Self.digest(interpreter) != digest { others += 1 }
        #expect(others == 0, "\(others) of \(Self.runs) runs")
      }
    }
    if let path = Self.environment["APUS_DIGESTS"] { try compare(found, file.lastPathComponent, path) }
  }

  /// Compares digests with those of a file, or adds them to it.
  private func compare(_ found: [KernelSetName: UInt64], _ name: String, _ path: String) throws {
    var lines = ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n").map(
      String.init)
    for (kernels, digest) in found.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let place = "\(name) \(kernels) "
      let line = place + String(digest, radix: 16)
      if let known = lines.first(where: { $0.hasPrefix(place) }) {
        #expect(known == line)
      } else {
        lines.append(line)
      }
    }
    try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
  }
}
