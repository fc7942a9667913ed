// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusFormat
import ApusRuntime

/// Measures one model in this process, whose memory counts as the model's.
struct ModelMeasurement {
  let path: String
  let options: Interpreter.Options
  let warmup: Int
  let runs: Int
  let profiles: Bool
  /// The file for a trace of the load and of all runs; nil for none.
  let trace: TraceOptions.EmptyFile?
  /// The file for the operators' times as node data; nil for none.
  let nodeData: String?

  /// Loads, runs and describes the model.
  func report() throws(ApusError) -> ModelReport {
    if trace != nil { try TraceOptions.start() }
    ResidentMemory.resetPeak()
    let before = ResidentMemory.current
    var prepared: (model: Model, interpreter: Interpreter)?
    let load = try milliseconds { () throws(ApusError) in
      let model = try Model(contentsOfFile: path)
      prepared = (model, try Interpreter(model: model, options: options))
    }
    guard let (model, interpreter) = prepared else {
      throw ApusError(.invalidArgument, "\(path): was not loaded")
    }
    try RandomBytes.fillInputs(of: interpreter)
    let first = try milliseconds { () throws(ApusError) in try interpreter.invoke() }
    for _ in 0..<warmup { try interpreter.invoke() }
    var times: [Double] = []
    times.reserveCapacity(runs)
    for _ in 0..<runs {
      times.append(try milliseconds { () throws(ApusError) in try interpreter.invoke() })
    }
    let peak = ResidentMemory.peak
    if let trace {
      Trace.stop()
      try TraceOptions.finish(trace)
    }

    let operators = try operators(of: model)
    let machine = try MachinePeak()
    let (threads, median) = (Double(options.threadCount), times.median)
    let atPeak = operators.reduce(0) { $0 + $1.milliseconds(at: machine) } / threads
    let lines = lines(operators, machine: machine)
    if let nodeData {
      let data = NodeData(lines, graph: model.file.subgraphs[0].name)
      try TraceOptions.write(data.file(), to: nodeData)
    }
    return ModelReport(
      model: path, threads: options.threadCount, kernels: interpreter.kernels, loadMs: load, firstMs: first,
      medianMs: median, p95Ms: times.percentile(0.95), minMs: times.min() ?? 0,
      peakRssMb: Double(peak) / 1_048_576, growthMb: Double(max(peak - before, 0)) / 1_048_576,
      arenaBytes: interpreter.memoryPlan.arenaByteCount, packedBytes: model.packedByteCount,
      macs: interpreter.multiplyAccumulates, gmacsPerSecond: rate(interpreter.multiplyAccumulates, median),
      peakShare: median > 0 ? atPeak / median : 0,
      operators: profiles ? lines : nil)
  }

  /// An operator with its median time.
  private struct MeasuredOperator {
    let entry: ProfileEntry
    let isFloat: Bool
    let median: Double

    /// How long its products take at the machine's peak, on one thread.
    func milliseconds(at machine: MachinePeak) -> Double {
      Double(entry.multiplyAccumulates) / (isFloat ? machine.floats : machine.bytes) / 1e6
    }
  }

  /// Measures each operator with an interpreter of its own: the clock is read between operators.
  private func operators(of model: Model) throws(ApusError) -> [MeasuredOperator] {
    var options = options
    options.profiles = true
    let interpreter = try Interpreter(model: model, options: options)
    try RandomBytes.fillInputs(of: interpreter)
    try interpreter.invoke()
    var times: [[Double]] = []
    if profiles || nodeData != nil {
      for _ in 0..<warmup { try interpreter.invoke() }
      for _ in 0..<runs {
        try interpreter.invoke()
        times.append(interpreter.profile.map { $0.duration / .milliseconds(1) })
      }
    }
    return interpreter.profile.enumerated().map { position, entry in
      MeasuredOperator(
        entry: entry, isFloat: isFloat(operator: entry.operatorIndex, of: model),
        median: times.compactMap { position < $0.count ? $0[position] : nil }.median)
    }
  }

  /// Whether an operator multiplies floats, not bytes: neither its input nor its filter has bytes.
  private func isFloat(operator index: Int, of model: Model) -> Bool {
    let subgraph = model.file.subgraphs[0]
    guard subgraph.operators.indices.contains(index) else { return true }
    return !subgraph.operators[index].inputs.prefix(2).contains { tensor in
      tensor >= 0 && [.uint8, .int8, .int4].contains(subgraph.tensors[tensor].type)
    }
  }

  private func lines(_ operators: [MeasuredOperator], machine: MachinePeak) -> [ModelReport.Operator] {
    let total = operators.reduce(0) { $0 + $1.median }
    return operators.map { measured in
      let atPeak = measured.milliseconds(at: machine) / Double(options.threadCount)
      return ModelReport.Operator(
        index: measured.entry.operatorIndex,
        name: measured.entry.name,
        absorbed: measured.entry.absorbed,
        output: measured.entry.output.dimensions,
        medianMs: measured.median, timeShare: total > 0 ? measured.median / total : 0,
        macs: measured.entry.multiplyAccumulates,
        gmacsPerSecond: rate(measured.entry.multiplyAccumulates, measured.median),
        peakShare: measured.median > 0 ? atPeak / measured.median : 0,
        kernels: measured.entry.implementation.kernelSet, implementation: measured.entry.implementation.text)
    }
  }

  private func rate(_ multiplyAccumulates: Int, _ milliseconds: Double) -> Double {
    milliseconds > 0 ? Double(multiplyAccumulates) / milliseconds / 1e6 : 0
  }
}
