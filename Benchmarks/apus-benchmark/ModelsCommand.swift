// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ArgumentParser

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `apus-benchmark MODEL…`: load, latency, memory and rate of models.
struct ModelsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "models", abstract: "Measures models on seeded random data; the default.")

  @Argument(help: "The .tflite files.")
  var models: [String]

  @OptionGroup var engine: EngineOptions

  @Option(name: .long, help: "Inferences before the measured ones.")
  var warmup = 5

  @Option(name: .long, help: "Measured inferences.")
  var runs = 50

  @Option(name: .long, help: "The time limit of a run, in seconds, to see what it costs; none otherwise.")
  var timeLimit: Double?

  @Flag(help: "Also measure each operator.")
  var profile = false

  @OptionGroup var traceOptions: TraceOptions

  @Option(
    name: .long,
    help: "A file for each operator's time as node data, which Model Explorer colors a model's graph with.")
  var nodeData: String?

  @Flag(help: "Print one JSON document.")
  var json = false

  func run() throws {
    guard (0...1_000_000).contains(warmup) else {
      throw ApusError(.invalidArgument, "--warmup is \(warmup), not 0 to 1000000")
    }
    guard (1...1_000_000).contains(runs) else {
      throw ApusError(.invalidArgument, "--runs is \(runs), not 1 to 1000000")
    }
    guard timeLimit.map({ $0 > 0 && $0 <= 1e9 }) ?? true else {
      throw ApusError(
        .invalidArgument, "--time-limit is \(timeLimit ?? 0), not more than 0 and up to 1000000000")
    }
    guard models.count == 1 || traceOptions.trace == nil && nodeData == nil else {
      throw ApusError(.invalidArgument, "--trace and --node-data take one model, not \(models.count)")
    }
    let trace = try traceOptions.trace.map { path throws(ApusError) in
      try TraceOptions.empty(path, of: "--trace")
    }
    if let nodeData { try TraceOptions.empty(nodeData, of: "--node-data", mark: "\"gradient\"") }
    var options = try engine.interpreterOptions
    options.timeLimit = timeLimit.map { .seconds($0) }
    try Runtime.checkKernels(named: options.kernels)
    // A model that cannot be read is known before others are measured.
    for model in models { _ = try Model(contentsOfFile: model) }
    var reports: [ModelReport] = []
    for model in models {
      let report: ModelReport
      if models.count == 1 {
        let measurement = ModelMeasurement(
          path: model, options: options, warmup: warmup, runs: runs, profiles: profile,
          trace: trace, nodeData: nodeData)
        do { report = try measurement.report() } catch {
          throw ApusError(
            error.code, error.message.contains(model) ? error.message : "\(model): \(error.message)")
        }
      } else {
        Output.progress(model)
        report = try reportOfChild(model)
      }
      reports.append(report)
      if !json { Output.write(report.text) }
    }
    if json { try Output.writeJSON(reports) }
  }

  /// Measures a model in a process of its own, so that the peaks of several do not mix.
  private func reportOfChild(_ model: String) throws -> ModelReport {
    var arguments = [
      "models", "--json", "--threads", "\(engine.threads)", "--warmup", "\(warmup)", "--runs", "\(runs)",
      "--precision", engine.precision.rawValue,
    ]
    if let kernels = engine.kernels { arguments += ["--kernels", kernels] }
    if let timeLimit { arguments += ["--time-limit", "\(timeLimit)"] }
    if profile { arguments.append("--profile") }
    let output = try ChildFailure.output(arguments: arguments + ["--", model])
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard let report = try decoder.decode([ModelReport].self, from: Data(output)).first else {
      throw ApusError(.invalidArgument, "\(model): was not measured")
    }
    return report
  }
}
