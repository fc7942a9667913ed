// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusImages
import ApusVision
import ArgumentParser
import FoundationEssentials

/// `apus run`: any model on raw tensors.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs a model on .npy tensors, or on seeded random data.",
    usage: "apus run <model> [--input <file> ...] [--output-dir <folder>] [<options>]",
    discussion: """
      For example:
        apus run model.tflite --input picture.npy --output-dir results
        apus run model.tflite --threads 2 --profile
      """)

  @Argument(help: "The .tflite file.")
  var model: String

  @Option(name: .long, help: "A .npy file for the next input, in the model's order.")
  var input: [String] = []

  @Option(name: .long, help: "Where output_0.npy, output_1.npy, … are written.")
  var outputDir: String?

  @OptionGroup var engine: EngineOptions

  @OptionGroup var limits: LimitOptions

  @Flag(help: "Print the time of each operator.")
  var profile = false

  @Flag(help: "Print one JSON document.")
  var json = false

  struct Report: Encodable {
    struct Output: Encodable {
      let name: String
      let type: String
      let shape: [Int]
      let file: String?
    }
    struct Operator: Encodable {
      let index: Int
      let name: String
      let output: [Int]
      let milliseconds: Double
    }
    let model: String
    let kernels: String
    let threads: Int
    let milliseconds: Double
    let outputs: [Output]
    let operators: [Operator]?
  }

  func run() throws {
    let model = try Model(contentsOfFile: model)
    var options = try engine.interpreterOptions
    limits.apply(to: &options)
    options.profiles = profile
    let arrays = try inputArrays(for: model)
    options.inputShapes = Dictionary(
      uniqueKeysWithValues: arrays.enumerated().map { ($0, TensorShape($1.shape)) })
    let interpreter = try Interpreter(model: model, options: options)
    try fillInputs(of: interpreter, with: arrays)
    let start = ContinuousClock.now
    try interpreter.invoke()
    let milliseconds = (ContinuousClock.now - start).milliseconds

    var outputs: [Report.Output] = []
    if let outputDir { try makeFolder(outputDir) }
    for (position, tensor) in interpreter.outputs.enumerated() {
      var file: String?
      if let outputDir {
        file = "\(outputDir)/output_\(position).npy"
        let array = try array(of: tensor, at: position, in: interpreter)
        try writeWholeFile(pieces: [array.head, array.bytes], to: "\(outputDir)/output_\(position).npy")
      }
      outputs.append(
        .init(name: tensor.name, type: tensor.type.rawValue, shape: tensor.shape.dimensions, file: file))
    }
    let entries = profile ? interpreter.profile : []
    if json {
      let operators = entries.map {
        Report.Operator(
          index: $0.operatorIndex, name: $0.name, output: $0.output.dimensions, milliseconds: $0.milliseconds)
      }
      try Output.writeJSON(
        Report(
          model: self.model, kernels: interpreter.kernels, threads: options.threadCount,
          milliseconds: milliseconds,
          outputs: outputs, operators: profile ? operators : nil))
      return
    }
    for output in outputs {
      let place = output.file.map { " → \($0)" } ?? ""
      Output.write("\(output.name): \(output.type) \(TensorShape(output.shape))\(place)")
    }
    if profile { Output.write(ProfileText(entries).text) }
    Output.write(
      "\(decimal(milliseconds, 3)) ms, kernels \(interpreter.kernels), threads \(options.threadCount)")
  }

  /// The arrays of the files, each of its input's type and of a shape that the model allows.
  private func inputArrays(for model: Model) throws -> [NumPyArray] {
    let tensors = model.inputs
    guard input.isEmpty || input.count == tensors.count else {
      throw ApusError(
        .invalidArgument, "the model has \(tensors.count) inputs, but --input is given \(input.count) times")
    }
    let arrays = try input.map { path in
      let bytes = try readWholeFile(at: path, limit: 1 << 30)
      do throws(ApusError) { return try NumPyArray(file: bytes) } catch {
        throw ApusError(error.code, "the file '\(path)': \(error.message)")
      }
    }
    for (position, array) in arrays.enumerated() {
      let tensor = tensors[position]
      guard array.fits(tensor.type) else {
        throw ApusError(
          .invalidArgument,
          "input \(position) (\(tensor.name)) is \(tensor.type), but \(input[position]) holds \(array.type)")
      }
      if array.shape != tensor.shape.dimensions {
        try checkResize(of: tensor, to: array.shape, position: position)
      }
    }
    return arrays
  }

  private func fillInputs(of interpreter: Interpreter, with arrays: [NumPyArray]) throws {
    for (position, array) in arrays.enumerated() {
      let bytes = array.tensorBytes(of: interpreter.inputs[position].type)
      try interpreter.withInputBytes(at: position) { span throws(ApusError) in
        guard span.byteCount == bytes.count else {
          throw ApusError(
            .invalidArgument,
            "input \(position) takes \(span.byteCount) bytes, but the file has \(bytes.count)")
        }
        for index in bytes.indices {
          span.storeBytes(of: bytes[index], toByteOffset: index, as: UInt8.self)
        }
      }
    }
    if arrays.isEmpty {
      try RandomBytes.fillInputs(of: interpreter)
    }
  }

  private func makeFolder(_ path: String) throws(ApusError) {
    do { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
      throw ApusError(.unwritableFile, "cannot make the folder '\(path)'")
    }
  }

  /// An input takes another shape only where the model leaves a dimension open, or has no fixed shape at all.
  private func checkResize(of tensor: Tensor, to shape: [Int], position: Int) throws(ApusError) {
    let signature = tensor.shapeSignature
    let isOpen =
      signature.isEmpty
      || signature.count == shape.count && zip(signature, shape).allSatisfy { $0 < 0 || $0 == $1 }
    guard isOpen else {
      throw ApusError(
        .invalidArgument,
        "input \(position) (\(tensor.name)) has the shape \(tensor.shape), but \(input[position]) has \(TensorShape(shape))"
      )
    }
  }

  private func array(of tensor: Tensor, at position: Int, in interpreter: Interpreter) throws -> NumPyArray {
    let bytes = try interpreter.withOutputBytes(at: position) { span throws(ApusError) in
      // Of `bfloat16`, an array twice as large is made.
      let factor = tensor.type == .bfloat16 ? 3 : 1
      try requireMemory(factor * span.byteCount, for: "output \(position) (\(tensor.name))")
      return unsafe span.withUnsafeBytes { unsafe Array($0) }
    }
    do { return try NumPyArray(tensor: bytes, of: tensor.type, shape: tensor.shape.dimensions) } catch {
      throw ApusError(error.code, "output \(position) (\(tensor.name)): \(error.message)")
    }
  }
}
