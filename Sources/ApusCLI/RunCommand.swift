// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusImages
import ApusTesting
import ApusVision
import ArgumentParser
import FoundationEssentials

/// `apus run`: any model on raw tensors.
struct RunCommand: TracedCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Runs a model on .npy tensors, or on seeded random data.",
    usage: "apus run <model> [--input <file> ...] [--output-dir <folder>] [<options>]",
    discussion: """
      For example:
        apus run model.tflite --input picture.npy --output-dir results
        apus run model.tflite --threads 2 --warmup 2 --runs 20 --profile
      """)

  @Argument(help: "The .tflite file.")
  var model: String

  @Option(name: .long, help: "A .npy file for the next input, in the model's order.")
  var input: [String] = []

  @Option(name: .long, help: "The function to run; by default the model's main one. See apus inspect.")
  var signature: String?

  @Option(name: .long, help: "How many runs are measured; times are medians.")
  var runs = 1

  @Option(name: .long, help: "How many runs precede them.")
  var warmup = 0

  @Option(name: .long, help: "Where output_0.npy, output_1.npy, … are written.")
  var outputDir: String?

  @Option(
    name: .long,
    help:
      "A folder for every input and every tensor that an operator computes, as .npy files named after them.")
  var tensors: String?

  @OptionGroup var engine: EngineOptions

  @OptionGroup var limits: LimitOptions

  @OptionGroup var traceOptions: TraceOptions

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
    let kernels: KernelSetName
    let threads: Int
    let milliseconds: Double
    let outputs: [Output]
    let operators: [Operator]?
  }

  func validate() throws {
    guard (1...1_000).contains(runs) else { throw ValidationError("--runs is \(runs), not 1 to 1000") }
    guard (0...1_000).contains(warmup) else { throw ValidationError("--warmup is \(warmup), not 0 to 1000") }
  }

  func run() throws {
    let model = try Model(contentsOfFile: model)
    let inputs = try model.inputs(ofSignature: signature)
    var options = try engine.interpreterOptions
    limits.apply(to: &options)
    options.profiles = profile
    options.preservesAllTensors = tensors != nil
    let files = try inputFiles(for: inputs)
    options.inputShapes = Dictionary(
      uniqueKeysWithValues: files.enumerated().map { ($0, TensorShape($1.head.shape)) })
    let interpreter = try Interpreter(model: model, options: options, signature: signature)
    try protectInputs(from: interpreter)
    try fillInputs(of: interpreter, with: files)
    let (milliseconds, entries) = try measure(interpreter)

    var outputs: [Report.Output] = []
    if let outputDir { try makeFolder(outputDir) }
    for (position, tensor) in interpreter.outputs.enumerated() {
      var file: String?
      if let outputDir {
        let path = Self.path(ofOutput: position, in: outputDir)
        try write(tensor, at: position, of: interpreter, to: path)
        file = path
      }
      outputs.append(
        .init(name: tensor.name, type: tensor.type.rawValue, shape: tensor.shape.dimensions, file: file))
    }
    if let tensors { try writeTensors(of: interpreter, to: tensors) }
    if json {
      let operators = entries.map {
        Report.Operator(
          index: $0.entry.operatorIndex, name: $0.entry.name, output: $0.entry.output.dimensions,
          milliseconds: $0.milliseconds)
      }
      try Output.writeJSON(
        Report(
          model: self.model, kernels: interpreter.kernels, threads: options.threadCount,
          milliseconds: milliseconds,
          outputs: outputs, operators: profile ? operators : nil))
      return
    }
    for output in outputs {
      let place = output.file.map { " → \(oneLine($0))" } ?? ""
      Output.write("\(oneLine(output.name)): \(output.type) \(TensorShape(output.shape))\(place)")
    }
    if profile { Output.write(ProfileText(entries).text) }
    let count = runs > 1 ? " (median of \(runs) runs)" : ""
    Output.write(
      "\(decimal(milliseconds, 3)) ms\(count), kernels \(interpreter.kernels), threads \(options.threadCount)"
    )
  }

  /// Runs the model as often as asked.
  ///
  /// - Returns: The median of the times of the runs that are measured, and of each step in them.
  private func measure(_ interpreter: Interpreter) throws(ApusError) -> (Double, [ProfileText.Row]) {
    // Every run begins anew, as the first does: outputs do not depend on how many runs there are.
    for _ in 0..<warmup {
      interpreter.resetVariables()
      try interpreter.invoke()
    }
    var times: [Double] = []
    var profiles: [[ProfileEntry]] = []
    for _ in 0..<runs {
      interpreter.resetVariables()
      times.append(
        try milliseconds { () throws(ApusError) in try interpreter.invoke() })
      if profile { profiles.append(interpreter.profile) }
    }
    let last = profiles.last ?? []
    // Where data decides what is run, runs may differ in their steps: those of the last one stand for themselves.
    let alike = profiles.filter { $0.map(\.operatorIndex) == last.map(\.operatorIndex) }
    let rows = last.indices.map { step in
      ProfileText.Row(
        entry: last[step], milliseconds: alike.map { $0[step].duration / .milliseconds(1) }.median)
    }
    return (times.median, rows)
  }

  /// A file whose head is read, and whose elements are read into the input once there is one.
  ///
  /// Only pipes stay open in between: a process has few open files, and a model may have more inputs.
  private struct InputFile {
    let head: NumPyArray
    private let path: String
    private let headByteCount: Int
    /// A pipe after its head.
    private let pipe: FileReader?

    init(_ path: String) throws(ApusError) {
      self.path = path
      let file = try FileReader(path)
      pipe = file.byteCount == nil ? file : nil
      do throws(ApusError) {
        let start = try file.next(NumPyArray.minimumHead)
        let count = try NumPyArray.headByteCount(of: start)
        headByteCount = max(count, start.count)
        head = try NumPyArray(file: start + file.next(headByteCount - start.count))
      } catch {
        throw error.code == .unreadableFile
          ? error : ApusError(error.code, "the file '\(path)': \(error.message)")
      }
    }

    /// The file after its head.
    func elements() throws(ApusError) -> FileReader {
      if let pipe { return pipe }
      let file = try FileReader(path)
      _ = try file.next(headByteCount)
      return file
    }
  }

  /// The files, each of its input's type and of a shape that the model allows.
  private func inputFiles(for tensors: [Tensor]) throws -> [InputFile] {
    guard input.isEmpty || input.count == tensors.count else {
      throw ApusError(
        .invalidArgument, "the model has \(tensors.count) inputs, but --input is given \(input.count) times")
    }
    let files = try input.map { try InputFile($0) }
    for (position, file) in files.enumerated() {
      let (tensor, head) = (tensors[position], file.head)
      guard head.fits(tensor.type) else {
        throw ApusError(
          .invalidArgument,
          "input \(position) (\(tensor.name)) is \(tensor.type), but \(input[position]) holds \(head.typeName)"
            + Self.advice(for: tensor.type))
      }
      if head.shape != tensor.shape.dimensions {
        try checkResize(of: tensor, to: head.shape, position: position)
      }
    }
    return files
  }

  /// How a file of the right type is made.
  private static func advice(for type: ElementType) -> String {
    guard NumPyArray.type(of: type) != nil else { return "" }
    let name = NumPyArray(type: NumPyArray.type(of: type) ?? "", shape: [], bytes: []).typeName
    return "; save it with NumPy's astype('\(name)')"
  }

  /// Reads the files piece by piece: beside the inputs, they take no memory.
  private func fillInputs(of interpreter: Interpreter, with files: [InputFile]) throws {
    let tensors = interpreter.inputs
    for (position, file) in files.enumerated() {
      let elements = try file.elements()
      try interpreter.withInputBytes(at: position) { span throws(ApusError) in
        var offset = 0
        var positions = file.head.order.isColumnMajor ? NumPyOrder.Positions(shape: file.head.shape) : nil
        while true {
          var piece = try elements.next(Self.pieceByteCount)
          if piece.isEmpty { break }
          file.head.order.swapBytes(&piece)
          let bytes = NumPyArray(type: file.head.type, shape: [], bytes: piece).tensorBytes(
            of: tensors[position].type)
          guard bytes.count <= span.byteCount - offset else {
            throw ApusError(
              .invalidArgument,
              "input \(position) takes \(span.byteCount) bytes, but the file '\(input[position])' has more")
          }
          // Elements in the order of columns go to their places one by one.
          let size = max(positions == nil ? bytes.count : tensors[position].type.byteCount ?? 1, 1)
          for start in stride(from: 0, to: bytes.count, by: size) {
            let target = (positions?.next()).map { $0 * size } ?? offset
            guard start + size <= bytes.count, target <= span.byteCount - size else {
              throw ApusError(.invalidArgument, "the elements of \(input[position]) are not whole")
            }
            for index in 0..<size {
              span.storeBytes(of: bytes[start + index], toByteOffset: target + index, as: UInt8.self)
            }
          }
          offset += bytes.count
        }
        guard offset == span.byteCount else {
          throw ApusError(
            .invalidArgument,
            "input \(position) takes \(span.byteCount) bytes, but the file '\(input[position])' has \(offset)"
          )
        }
      }
    }
    if files.isEmpty {
      for zero in RandomBytes.zeroInputs(of: tensors) { Output.writeError("warning: " + oneLine(zero)) }
      try RandomBytes.fillInputs(of: interpreter)
    }
  }

  /// How much of a file is in memory at a time; whole elements of every type.
  private static let pieceByteCount = 1 << 20

  /// Refuses folders in which an output or a tensor would replace an input or the model.
  private func protectInputs(from interpreter: Interpreter) throws {
    let outputs = outputDir.map { folder in
      interpreter.outputs.indices.map { Self.path(ofOutput: $0, in: folder) }
    }
    let tensors = tensors.map { folder in
      TensorRun(interpreter).tensors.map { Self.path(of: $0, in: folder) }
    }
    for (option, targets) in [("--output-dir", outputs ?? []), ("--tensors", tensors ?? [])] {
      for target in targets where FileIdentity(ofFileAt: target) != nil {
        guard let file = (input + [model]).first(where: { FileIdentity.areSame($0, target) }) else {
          continue
        }
        throw ValidationError("\(option) would replace the input '\(file)': choose another folder")
      }
    }
  }

  private static func path(ofOutput position: Int, in folder: String) -> String {
    "\(folder)/output_\(position).npy"
  }

  private static func path(of tensor: RecordedTensor, in folder: String) -> String {
    "\(folder)/\(tensor.fileName).npy"
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

  /// Writes the inputs of the run, and every tensor that an operator computed.
  private func writeTensors(of interpreter: Interpreter, to folder: String) throws(ApusError) {
    try makeFolder(folder)
    let run = TensorRun(interpreter)
    for tensor in run.tensors {
      guard let array = try run.array(of: tensor) else { continue }
      try writeWholeFile(array.file, to: Self.path(of: tensor, in: folder))
    }
  }

  /// Writes an output piece by piece.
  private func write(
    _ tensor: Tensor, at position: Int, of interpreter: Interpreter, to path: String
  ) throws(ApusError) {
    func array(_ bytes: [UInt8]) throws(ApusError) -> NumPyArray {
      do { return try NumPyArray(tensor: bytes, of: tensor.type, shape: tensor.shape.dimensions) } catch {
        throw ApusError(error.code, "output \(position) (\(tensor.name)): \(error.message)")
      }
    }
    let head = try array([]).head
    try writeWholeFile(to: path) { number throws(ApusError) in
      if number == 0 { return head }
      return try interpreter.withOutputBytes(at: position) { span throws(ApusError) -> [UInt8]? in
        let first = (number - 1) * Self.pieceByteCount
        guard first < span.byteCount else { return nil }
        let piece = span.extracting(first..<min(first + Self.pieceByteCount, span.byteCount))
        return try array(unsafe piece.withUnsafeBytes { unsafe Array($0) }).bytes
      }
    }
  }
}
