// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

/// Every operator answers as the reference does, whatever the kernels and the number of threads.
@Suite struct GoldenTests {
  private static let threadCounts = [1, 2, 3]
  private static let kernelSets = Runtime.kernelSets.filter(\.isSupported).map(\.name)

  @Test("each operator answers as the reference", arguments: GoldenArchive.chosen)
  func answersAsTheReference(archive: GoldenArchive) throws {
    let contents = try archive.open()
    let cases = contents.cases.filter(archive.isChosen)
    try #require(!cases.isEmpty, "\(archive.name) has the cases \(contents.cases)")
    var failures: [String] = []
    for name in cases {
      do {
        let model = try contents.model(of: name)
        let inputs = try contents.arrays("input", of: name)
        let outputs = try contents.arrays("output", of: name)
        for kernels in Self.kernelSets {
          for threads in Self.threadCounts {
            do {
              try Self.run(
                model, inputs: inputs, outputs: outputs, kernels: kernels, threads: threads,
                tolerance: Self.exactWhenHybrid.contains(archive.name) && name.contains("hybrid")
                  ? 0 : Self.tolerance)
            } catch {
              throw GoldenFailure("with \(kernels) on \(threads) threads: \(error)")
            }
          }
        }
      } catch {
        failures.append("\(name) \(error)")
      }
    }
    let list = failures.prefix(10).joined(separator: "\n")
    #expect(
      failures.isEmpty, "\(archive.name): \(failures.count) of \(cases.count) cases differ\n\(list)")
  }

  @Test("a model describes results with the types that they have in a run")
  func describesTheTypesOfRuns() throws {
    let contents = try GoldenArchive(name: "MISDECLARED").open()
    for name in contents.cases {
      let model = try contents.model(of: name)
      let interpreter = try Interpreter(model: model)
      #expect(model.outputs.map(\.type) == interpreter.outputs.map(\.type), "\(name)")
      #expect(try model.tensors(ofSubgraph: 0).map(\.type) == interpreter.tensors.map(\.type), "\(name)")
      #expect(model.subgraphs[0].outputs.map(\.type) == interpreter.outputs.map(\.type), "\(name)")
    }
  }

  @Test("the environment names goldens that there are")
  func choosesGoldens() { #expect(!GoldenArchive.chosen.isEmpty) }

  @Test("every archive is read by a test")
  func readsEveryArchive() throws {
    #expect(
      try Set(GoldenArchive.names()) == Set(GoldenArchive.ofThisBuild.map(\.name) + ["GRAPHS"]))
  }

  @Test(
    "each operator has at least ten goldens for each common type", arguments: Runtime.operators.map(\.name))
  func hasGoldens(name: String) throws {
    let description = try #require(Runtime.operators.first { $0.name == name })
    let contents = try GoldenArchive(name: name).open()
    let common = description.types.filter { [.float32, .uint8, .int8].contains($0) }
    for type in common.map(\.rawValue) {
      let count = contents.cases.count { $0.hasPrefix("\(type)_") }
      #expect(count >= 10, "\(name) has \(count) goldens for \(type)")
    }
    #expect(contents.cases.count >= 10)
  }

  /// Of the largest magnitude. Cases whose answer the reference itself does not know as well are no goldens.
  private static let tolerance = 1e-4

  /// Products of floats that are quantized at run time have integer sums, so that the order of the last operations decides every
  /// bit. It is the reference's in these operators.
  private static let exactWhenHybrid: Set = ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"]

  private static func run(
    _ model: Model, inputs: [NumPyFile], outputs: [NumPyFile], kernels: KernelSetName, threads: Int,
    tolerance: Double
  ) throws {
    var options = Interpreter.Options()
    options.threadCount = threads
    options.kernels = kernels
    let interpreter = try Interpreter(model: model, options: options)
    guard interpreter.inputs.count == inputs.count, interpreter.outputs.count == outputs.count else {
      throw GoldenFailure("has \(interpreter.inputs.count) inputs and \(interpreter.outputs.count) outputs")
    }
    try interpreter.fill(inputs)
    // The second run finds memory as the first left it.
    for _ in 0..<2 {
      interpreter.resetVariables()
      try interpreter.invoke()
      for (position, expected) in outputs.enumerated() {
        try interpreter.compare(output: position, with: expected, tolerance: tolerance)
      }
    }
  }
}
