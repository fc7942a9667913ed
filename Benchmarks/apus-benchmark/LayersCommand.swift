// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusFormat
import ArgumentParser

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `apus-benchmark layers MODEL…`: layers that are far slower than their like.
struct LayersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "layers",
    abstract:
      "Lists the layers that run below a share of the median rate of their like, over all models given.",
    discussion: """
      Layers are alike if they have the same operator and the same type of first input. Their rate is that of their \
      multiplications or, where these are no measure, of the elements of their output or of their first input, whichever has \
      more.
      """)

  @Argument(help: "The .tflite files.")
  var models: [String]

  @OptionGroup var engine: EngineOptions

  @Option(name: .long, help: "The share of the median rate.")
  var share = 0.2

  @Option(name: .long, help: "Layers that take fewer microseconds are left out.")
  var least = 10.0

  @Option(name: .long, help: "Inferences that are measured.")
  var runs = 20

  @Flag(help: "List the median rates, too.")
  var rates = false

  @Flag(help: "Print one JSON document.")
  var json = false

  /// One operator of one model.
  struct Layer: Encodable {
    let model: String
    let index: Int
    let name: String
    let type: String
    let output: [Int]
    let microseconds: Double
    /// Multiplications in a nanosecond, or elements.
    let rate: Double
    let multiplies: Bool
    /// Its rate by the median of its like.
    var share = 1.0
    let kernels: KernelSetName
    let implementation: String
    let notes: [String]

    /// The kind that similar layers share.
    var kind: String { "\(name) \(type)\(multiplies ? "" : ", elements")" }
  }

  func run() throws {
    guard (1...1_000_000).contains(runs), share > 0, share <= 1, least >= 0 else {
      throw ApusError(
        .invalidArgument, "--runs must be 1 or more, --share above 0 up to 1, --least not negative")
    }
    var layers: [Layer] = []
    for path in models {
      Output.progress(path)
      do { layers += try measured(path) } catch {
        // The others are measured all the same.
        Output.progress("\(path): \(error.message)")
      }
    }
    let medians = Dictionary(grouping: layers, by: \.kind).mapValues { $0.map(\.rate).median }
    for index in layers.indices {
      let median = medians[layers[index].kind] ?? 0
      layers[index].share = median > 0 ? layers[index].rate / median : 1
    }
    let slow = layers.filter { $0.share < share && $0.microseconds >= least }.sorted { $0.share < $1.share }
    if json { return try Output.writeJSON(slow) }
    if rates {
      for (kind, median) in medians.sorted(by: { $0.key < $1.key }) {
        Output.write("\(kind): \(rounded(median)) a nanosecond")
      }
    }
    for layer in slow {
      Output.write(
        """
        \(rounded(layer.share)) of its like: \(layer.model) #\(layer.index) \(layer.name) \(layer.type) \
        \(layer.output), \(rounded(layer.microseconds)) µs, \(layer.kernels): \(layer.implementation)
        """)
      for note in layer.notes { Output.write("  \(note)") }
    }
    Output.write(
      "\(slow.count) of \(layers.count) layers are below \(rounded(share)) of the median rate of their like")
  }

  private func rounded(_ number: Double) -> Double { (number * 1_000).rounded() / 1_000 }

  /// The layers of a model with their median times.
  private func measured(_ path: String) throws(ApusError) -> [Layer] {
    let model = try Model(contentsOfFile: path)
    var options = try engine.interpreterOptions
    options.profiles = true
    let interpreter = try Interpreter(model: model, options: options)
    try RandomBytes.fillInputs(of: interpreter)
    for _ in 0..<3 { try interpreter.invoke() }
    var times: [[Double]] = []
    for _ in 0..<runs {
      try interpreter.invoke()
      times.append(interpreter.profile.map { $0.duration / .milliseconds(1) })
    }
    let subgraph = model.file.subgraphs[0]
    return interpreter.profile.enumerated().compactMap { position, entry in
      let median = times.compactMap { position < $0.count ? $0[position] : nil }.median
      guard median > 0, subgraph.operators.indices.contains(entry.operatorIndex) else { return nil }
      let input = subgraph.operators[entry.operatorIndex].inputs.first ?? -1
      let inputCount = input >= 0 ? subgraph.tensors[input].shape.reduce(1) { $0 * max($1, 1) } : 0
      let count =
        entry.multiplyAccumulates > 0
        ? entry.multiplyAccumulates : max(entry.output.elementCount, inputCount)
      return Layer(
        model: URL(fileURLWithPath: path).lastPathComponent, index: entry.operatorIndex, name: entry.name,
        type: input >= 0 ? "\(subgraph.tensors[input].type)" : "none", output: entry.output.dimensions,
        microseconds: median * 1e3, rate: Double(count) / median / 1e6,
        multiplies: entry.multiplyAccumulates > 0, kernels: entry.implementation.kernelSet,
        implementation: entry.implementation.text, notes: entry.implementation.notes)
    }
  }
}
