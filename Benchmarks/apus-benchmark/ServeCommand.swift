// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ArgumentParser

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `apus-benchmark serve MODEL`: one model under the control of a program that measures several engines in turn.
///
/// Loads the model, runs it once and prints a line of JSON; then replies to each line of standard input with one: `run N`
/// with the milliseconds of N inferences, `outputs FOLDER` with the files in which it wrote the raw outputs, `memory` with
/// the resident bytes. It ends with its input.
struct ServeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Measures a model on request of lines on standard input: run N, outputs FOLDER, memory.")

  @Argument(help: "The .tflite file.")
  var model: String

  @OptionGroup var engine: EngineOptions

  @Option(name: .long, help: "A file of raw values for the next input; none for random data.")
  var input: [String] = []

  private struct Started: Encodable {
    let loadMs: Double
    let firstMs: Double
    let kernels: KernelSetName
    let beforeMb: Double
    let residentMb: Double
    let peakMb: Double
  }

  private struct Memory: Encodable {
    let residentMb: Double
    let peakMb: Double
  }

  private struct OutputFile: Encodable {
    let name: String
    let type: String
    let shape: [Int]
    let file: String
  }

  func run() throws {
    let options = try engine.interpreterOptions
    let inputs = try input.map(read)
    // Memory for replies is not the model's: it is allocated before the model.
    _ = try Output.encoded(memory)
    _ = try Output.encoded([Double](repeating: 0.1, count: 400))
    ResidentMemory.resetPeak()
    let before = ResidentMemory.current
    var prepared: Interpreter?
    let load = try milliseconds { () throws(ApusError) in
      prepared = try Interpreter(model: Model(contentsOfFile: model), options: options)
    }
    guard let interpreter = prepared else { throw ApusError(.invalidArgument, "\(model): was not loaded") }
    let first = try milliseconds { () throws(ApusError) in
      try fill(interpreter, inputs)
      try interpreter.invoke()
    }
    let memory = memory
    try Output.writeJSON(
      Started(
        loadMs: load, firstMs: first, kernels: interpreter.kernels, beforeMb: Double(before) / 1_048_576,
        residentMb: memory.residentMb, peakMb: memory.peakMb))
    while let line = readLine() {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      switch (words.first, words.dropFirst().first) {
      case ("run", let count?): try run(interpreter, count: count)
      case ("outputs", let folder?): try writeOutputs(of: interpreter, to: folder)
      case ("memory", nil): try Output.writeJSON(self.memory)
      default: throw ApusError(.invalidArgument, "'\(line)' is none of run N, outputs FOLDER, memory")
      }
    }
  }

  private var memory: Memory {
    Memory(
      residentMb: Double(ResidentMemory.current) / 1_048_576,
      peakMb: Double(ResidentMemory.peak) / 1_048_576)
  }

  private func read(_ path: String) throws(ApusError) -> [UInt8] {
    do { return [UInt8](try Data(contentsOf: URL(filePath: path))) } catch {
      throw ApusError(.unreadableFile, "\(path): cannot be read")
    }
  }

  private func fill(_ interpreter: Interpreter, _ inputs: [[UInt8]]) throws(ApusError) {
    if inputs.isEmpty { return try RandomBytes.fillInputs(of: interpreter) }
    guard inputs.count == interpreter.inputs.count else {
      throw ApusError(
        .invalidArgument,
        "the model has \(interpreter.inputs.count) inputs, but --input is given \(inputs.count) times")
    }
    for (position, bytes) in inputs.enumerated() {
      try interpreter.withInputBytes(at: position) { span throws(ApusError) in
        guard span.byteCount == bytes.count else {
          throw ApusError(
            .invalidArgument,
            "input \(position) takes \(span.byteCount) bytes, but the file has \(bytes.count)")
        }
        unsafe span.withUnsafeMutableBytes { unsafe $0.copyBytes(from: bytes) }
      }
    }
  }

  private func run(_ interpreter: Interpreter, count: String) throws {
    guard let count = Int(count), (1...1_000_000).contains(count) else {
      throw ApusError(.invalidArgument, "run takes a count from 1 to 1000000")
    }
    var times: [Double] = []
    times.reserveCapacity(count)
    for _ in 0..<count {
      times.append(try milliseconds { () throws(ApusError) in try interpreter.invoke() })
    }
    try Output.writeJSON(times)
  }

  private func writeOutputs(of interpreter: Interpreter, to folder: String) throws {
    var files: [OutputFile] = []
    for (position, tensor) in interpreter.outputs.enumerated() {
      let path = "\(folder)/output_\(position).bin"
      let bytes = try interpreter.withOutputBytes(at: position) { span in
        unsafe span.withUnsafeBytes { unsafe Array($0) }
      }
      do { try Data(bytes).write(to: URL(filePath: path)) } catch {
        throw ApusError(.unreadableFile, "\(path): cannot be written")
      }
      files.append(
        OutputFile(name: tensor.name, type: tensor.type.rawValue, shape: tensor.shape.dimensions, file: path))
    }
    try Output.writeJSON(files)
  }
}
