// SPDX-License-Identifier: Apache-2.0

import Apus
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  /// Runs the probe beside this test's executable, which counts allocations by glibc's `mtrace`.
  @Suite(
    .enabled(if: builtExecutable("AllocationProbe") != nil, "the probe or libc_malloc_debug.so.0 is missing"))
  struct AllocationTests {
    /// The allocations of later runs, in the trace's own words.
    private func allocations(_ folders: [URL], threads: Int, isTraced: Bool = false) throws -> [String] {
      try withTemporaryFolder {
        try allocations(folders, threads: threads, isTraced: isTraced, trace: $0.appending(path: "trace"))
      }
    }

    private func allocations(_ folders: [URL], threads: Int, isTraced: Bool, trace: URL) throws -> [String] {
      let probe: URL = try #require(builtExecutable("AllocationProbe"))
      var text = ""
      // glibc's `mtrace` is not safe where several threads allocate, as they do while the program starts: a signal there is tried again.
      for attempt in 1...3 {
        let process = Process()
        process.executableURL = probe
        process.arguments = ["\(threads)"] + folders.map(\.path)
        process.environment = ProcessInfo.processInfo.environment.merging([
          "LD_PRELOAD": "libc_malloc_debug.so.0", "MALLOC_TRACE": trace.path,
        ]) { $1 }
        if isTraced { process.environment?["APUS_PROBE_TRACE"] = "1" }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        if process.terminationReason == .uncaughtSignal, attempt < 3 { continue }
        try #require(process.terminationStatus == 0 && process.terminationReason == .exit)
        break
      }
      #expect(text == "\(folders.count) models ran\n")
      let lines = try String(contentsOf: trace, encoding: .utf8).split(separator: "\n")
      try #require(lines.first == "= Start", "nothing was traced")
      return lines.map(String.init).filter { $0.contains(" + ") || $0.contains(" > ") }
    }

    @Test("an allocation is seen")
    func sees() throws {
      #expect(try allocations([], threads: 77).contains { $0.hasSuffix("0x4d") })
    }

    @Test("memory stays flat over many runs and many lives")
    func flatMemory() throws {
      let size: Int32 = 64
      let model = TestModel(
        tensors: ["a", "b", "c"].map { .init(name: $0, shape: [size, size]) },
        operators: [.init(code: .batchMatMul, inputs: [0, 1], outputs: [2])], inputs: [0, 1], outputs: [2])
      try withTemporaryFolder { folder in
        let file = folder.appending(path: "model.tflite")
        try Data(model.bytes).write(to: file)
        let process = Process()
        let probe: URL = try #require(builtExecutable("AllocationProbe"))
        process.executableURL = probe
        process.arguments = ["lives", file.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let growth = try #require(Int(text.dropLast()), "\(text)")
        // A tensor of each of the lives that leaked would be 16 MB.
        // A huge page of the kernel is 2 MB.
        #expect(growth < 4 << 20)
      }
    }

    @Test(
      "runs after the first allocate nothing, also where data decides shapes, traced or not",
      arguments: [1, 3],
      [false, true])
    func chains(threads: Int, isTraced: Bool) throws {
      try withTemporaryFolder { folder in
        var folders: [URL] = []
        for (index, model) in [TestModel.chain(shape: [1, 100_000]), .dynamic].enumerated() {
          let place = folder.appending(path: "\(index)")
          try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
          try Data(model.bytes).write(to: place.appending(path: "model.tflite"))
          folders.append(place)
        }
        let shape: [UInt8] = Array(repeating: 0, count: 128) + [3, 0, 0, 0, 2, 0, 0, 0]
        try Data(shape).write(to: folders[1].appending(path: "input_1.npy"))
        #expect(try allocations(folders, threads: threads, isTraced: isTraced) == [])
      }
    }

    // Loops and branches among the goldens change the shapes of their values, for which they plan anew.
    @Test(
      "changing matrices whose bytes less their zero point fit no byte allocate nothing", arguments: [1, 3])
    func wideMatrices(threads: Int) throws {
      let depth: Int32 = 1000
      let model = TestModel(
        tensors: [
          .init(name: "x", type: TestModel.int8, shape: [20, depth], scale: 0.1, zeroPoint: 3),
          .init(name: "w", type: TestModel.int8, shape: [depth, 40], scale: 0.1, zeroPoint: 7),
          .init(name: "y", type: TestModel.int8, shape: [20, 40], scale: 1, zeroPoint: 0),
        ],
        operators: [.init(code: .batchMatMul, inputs: [0, 1], outputs: [2])], inputs: [0, 1],
        outputs: [2])
      try withTemporaryFolder { folder in
        try Data(model.bytes).write(to: folder.appending(path: "model.tflite"))
        let least = [UInt8](repeating: 0, count: 128) + [UInt8](repeating: 0x80, count: 40 * Int(depth))
        try Data(least).write(to: folder.appending(path: "input_1.npy"))
        #expect(try allocations([folder], threads: threads) == [])
      }
    }

    @Test(
      "no operator allocates while it runs",
      arguments: GoldenArchive.ofThisBuild.filter { !["IF", "WHILE"].contains($0.name) })
    func operators(archive: GoldenArchive) throws {
      let contents = try archive.open()
      try withTemporaryFolder { folder in
        var folders: [URL] = []
        for name in contents.cases {
          let model = try contents.model(of: name)
          let inputs = try contents.arrays("input", of: name)
          guard zip(model.inputs, inputs).allSatisfy({ $0.shape.dimensions == $1.shape }) else { continue }
          let place = folder.appending(path: name)
          try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
          for entry in contents.archive.entries where entry.name.hasPrefix("\(name)/") {
            try Data(contents.archive.contents(of: entry.name)).write(to: folder.appending(path: entry.name))
          }
          folders.append(place)
        }
        try #require(!folders.isEmpty)
        #expect(try allocations(folders, threads: 2) == [])
      }
    }

    @Test(
      "whole detectors allocate nothing after the first run",
      .enabled(if: PublishedModels.folder != nil, "APUS_TEST_DATA names no folder"),
      arguments: ["coco_ssd_mobilenet_v1_1.0_quant_2018_06_29", "thermal_face_automl_edge_fast"])
    func detectors(name: String) throws {
      let models = try #require(PublishedModels.folder)
      try withTemporaryFolder { folder in
        try FileManager.default.createSymbolicLink(
          at: folder.appending(path: "model.tflite"),
          withDestinationURL: URL(fileURLWithPath: "\(models)/\(name).tflite"))
        #expect(try allocations([folder], threads: 2) == [])
      }
    }
  }
#endif

/// The published models that tests may read, where there are any.
enum PublishedModels {
  /// The folder of `.tflite` files.
  static let folder = ProcessInfo.processInfo.environment["APUS_TEST_DATA"].map { "\($0)/models" }
}
