// SPDX-License-Identifier: Apache-2.0

import Apus
import Foundation
import Testing

/// Models that fuzzers and mutants found, in `Fuzzing/Kept`: each gives a result or an error, soon.
@Suite struct KeptTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fuzzing/Kept")

  /// The models of one target.
  private static func models(_ target: String) -> [URL] {
    let place = folder.appending(path: target)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
    return names.sorted().map { place.appending(path: $0) }
  }

  @Test("there are files for each way of running")
  func files() {
    #expect(Self.models("run").count >= 12 && !Self.models("differential").isEmpty)
  }

  @Test(
    "past findings give a result or an error within seconds",
    arguments: models("run") + models("differential"))
  func findings(file: URL) throws {
    var bytes = [UInt8](try Data(contentsOf: file))
    // The byte `m` announces a model.
    if bytes.first == UInt8(ascii: "m"), file.path.contains("/differential/") { bytes.removeFirst() }
    for kernels in Runtime.kernelSets where kernels.isSupported {
      var options = Interpreter.Options()
      options.kernels = kernels.name
      options.loopLimit = 1 << 12
      options.timeLimit = .seconds(1)
      let began = ContinuousClock.now
      do throws(ApusError) {
        let interpreter = try Interpreter(model: Model(bytes: bytes), options: options)
        for position in interpreter.inputs.indices {
          try interpreter.withInputBytes(at: position) { span in
            for offset in 0..<min(span.byteCount, 1 << 16) {
              span.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)
            }
          }
        }
        try interpreter.invoke()
      } catch {
        // Names are quoted as they are: what writes to a terminal replaces their control characters.
        #expect(!error.message.isEmpty)
      }
      #expect(ContinuousClock.now - began < .seconds(20), "\(kernels.name)")
    }
  }
}
