// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

/// Graphs that an engine has once got wrong, shrunk: `Tools/goldens/graphs.py` keeps them.
@Suite struct GraphGoldenTests {
  private static let archive = GoldenArchive(name: "GRAPHS")
  private static let cases = (try? archive.open().cases) ?? []
  private static let kernelSets = Runtime.kernelSets.filter(\.isSupported).map(\.name)

  @Test("there are such graphs")
  func exist() {
    #expect(!Self.cases.isEmpty)
  }

  @Test(
    "each graph answers as the reference, run by run, with one set of data after the other", arguments: cases)
  func answersAsTheReference(name: String) throws {
    let contents = try Self.archive.open()
    let model = try contents.model(of: name)
    var sets: [(inputs: [NumPyFile], outputs: [NumPyFile])] = []
    for prefix in ["", "set_1_"] {
      let outputs = try contents.arrays("\(prefix)output", of: name)
      if !outputs.isEmpty { sets.append((try contents.arrays("\(prefix)input", of: name), outputs)) }
    }
    for kernels in Self.kernelSets {
      // Of one kernel set, every way of running gives the same bytes.
      var first: [[[UInt8]]]?
      for threads in [1, 2, 5] {
        for preserves in [false, true] {
          do {
            var options = Interpreter.Options()
            options.kernels = kernels
            options.threadCount = threads
            options.preservesAllTensors = preserves
            let interpreter = try Interpreter(model: model, options: options)
            var found: [[[UInt8]]] = []
            for set in sets + sets.prefix(1) {
              interpreter.resetVariables()
              try interpreter.fill(set.inputs)
              try interpreter.invoke()
              try #require(interpreter.outputs.count == set.outputs.count)
              for (position, expected) in set.outputs.enumerated() {
                try interpreter.compare(output: position, with: expected, tolerance: 1e-4)
              }
              found.append(try set.outputs.indices.map { try interpreter.bytes(ofOutputAt: $0) })
            }
            if let first, first != found { throw GoldenFailure("other bytes than with one thread") }
            first = found
          } catch {
            Issue.record("with \(kernels) on \(threads) threads, preservesAllTensors \(preserves): \(error)")
          }
        }
      }
    }
  }

  @Test("each graph answers as the reference without any one of the passes", arguments: cases)
  func answersWithoutPasses(name: String) throws {
    let contents = try Self.archive.open()
    let model = try contents.model(of: name)
    let (inputs, outputs) = (try contents.arrays("input", of: name), try contents.arrays("output", of: name))
    for (pass, passes) in Passes.optional.map({ ($0.name, Passes.all.without([$0])) }) + [("all", .none)] {
      var options = Interpreter.Options()
      options.passes = passes
      do {
        let interpreter = try Interpreter(model: model, options: options)
        try interpreter.fill(inputs)
        try interpreter.invoke()
        for (position, expected) in outputs.enumerated() {
          try interpreter.compare(output: position, with: expected, tolerance: 1e-4)
        }
      } catch {
        Issue.record("without \(pass): \(error)")
      }
    }
  }
}
