// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusTesting
import ApusVision
import ArgumentParser
import FoundationEssentials

/// `apus diff`: where a model's tensors begin to differ from a reference.
struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Compares a model with another, or with dumped tensors, tensor by tensor.",
    usage: "apus diff <model> <reference> [--input <file> ...] [--tolerance <share>] [<options>]",
    discussion: """
      The reference is a model, such as the float one, or a folder of .npy files named after tensors, as 'apus run --tensors' writes it. \
      Two models run on --input, or else on seeded random data; a folder has its inputs as input_0.npy and so on. The status is 1 if a \
      tensor leaves its tolerance.

      For example:
        apus diff int8.tflite float.tflite --input picture.npy
        apus diff model.tflite reference --json
      """)

  @Argument(help: "The .tflite file.")
  var model: String

  @Argument(help: "Another .tflite file, or a folder of .npy files.")
  var reference: String

  @Option(name: .long, help: "A .npy file for the next input, in the model's order.")
  var input: [String] = []

  @Option(
    name: .long,
    help: """
      The allowed difference as a share of a reference tensor's largest magnitude; by default 0 for integers of the same scale \
      or of none, 0.0001 for floats, 0.01 where one is of 16 bits, and 0.1 between integers and floats.
      """)
  var tolerance: Double?

  @OptionGroup var engine: EngineOptions

  @OptionGroup var limits: LimitOptions

  @Flag(help: "Print one JSON document.")
  var json = false

  private struct Report: Encodable {
    struct Entry: Encodable {
      let index: Int
      let name: String
      let operatorIndex: Int?
      let `operator`: String?
      let shape: [Int]
      let largestDifference: Double
      let allowedDifference: Double
      let element: Int
      let found: Double
      let expected: Double
      let signalToNoise: Double
      let withinTolerance: Bool
      let problem: String?

      init(_ difference: TensorDifference) {
        index = difference.index
        name = difference.name
        operatorIndex = difference.producer?.index
        self.operator = difference.producer?.name
        shape = difference.shape.dimensions
        largestDifference = difference.largest
        allowedDifference = difference.allowed
        element = difference.position
        found = difference.found
        expected = difference.expected
        signalToNoise = difference.signalToNoise
        withinTolerance = difference.isWithinTolerance
        problem = difference.problem
      }
    }
    let model: String
    let reference: String
    let tensors: [Entry]
    let first: Entry?
    let uncompared: [String]
  }

  func validate() throws {
    if let tolerance {
      guard tolerance >= 0, tolerance.isFinite else {
        throw ValidationError("--tolerance is \(tolerance), not a finite number from 0 on")
      }
    }
  }

  func run() throws {
    let comparison = try comparison()
    if json {
      try Output.writeJSON(
        Report(
          model: model, reference: reference, tensors: comparison.differences.map(Report.Entry.init),
          first: comparison.first.map(Report.Entry.init), uncompared: comparison.uncompared))
    } else {
      write(comparison)
    }
    if comparison.first != nil { throw ExitCode(1) }
  }

  private func comparison() throws -> TensorComparison {
    if FolderEntry.isFolder(self.model) {
      throw ApusError(
        .invalidArgument,
        "'\(self.model)' is a folder; the model comes first, then the folder of its reference")
    }
    let model = try Model(contentsOfFile: model)
    var options = try engine.interpreterOptions
    limits.apply(to: &options)
    if FolderEntry.isFolder(reference) {
      return try TensorComparison(
        of: model, withReference: reference, inputs: input, tolerance: tolerance, options: options)
    }
    guard !reference.lowercased().hasSuffix(".npy") else {
      throw ApusError(
        .invalidArgument,
        "'\(reference)' is one tensor; name the folder that it is in, or another .tflite file")
    }
    let other = try Model(contentsOfFile: reference)
    guard input.isEmpty else {
      return try TensorComparison(
        of: model, with: other, inputs: input, tolerance: tolerance, options: options)
    }
    guard model.inputs.count == other.inputs.count else {
      throw ApusError(
        .invalidArgument, "the models have \(model.inputs.count) and \(other.inputs.count) inputs")
    }
    for zero in RandomBytes.zeroInputs(of: model.inputs) { Output.writeError("warning: " + oneLine(zero)) }
    var arrays: [NumPyArray] = []
    for (position, pair) in zip(model.inputs, other.inputs).enumerated() {
      arrays.append(try Self.randomArray(for: pair.0, and: pair.1, seed: position + 1))
    }
    return try TensorComparison(
      of: model, with: other, arrays: arrays, tolerance: tolerance, options: options)
  }

  /// Random values that both tensors can hold: if only the second has a scale, the real numbers that its integers represent.
  private static func randomArray(
    for tensor: Tensor, and other: Tensor, seed: Int
  ) throws(ApusError) -> NumPyArray {
    let source = !tensor.isScaled && other.isScaled ? other : tensor
    guard let width = source.type.byteCount, source.shape.elementCount <= 1 << 24 else {
      throw ApusError(
        .invalidArgument, "the input \(source.name) is \(source.type) \(source.shape); give it with --input")
    }
    var random = RandomBytes(seed: seed)
    let bytes = random.bytes(of: source.type, count: source.shape.elementCount * width)
    let array = try NumPyArray(tensor: bytes, of: source.type, shape: source.shape.dimensions)
    guard source != tensor, tensor.type != source.type else { return array }
    return NumPyArray(
      floats: source.reals(try array.numbers()).map { Float($0) }, shape: source.shape.dimensions)
  }

  private func write(_ comparison: TensorComparison) {
    var rows = [["#", "operator", "tensor", "shape", "largest difference", "allowed", "dB", ""]]
    for difference in comparison.differences {
      let isCompared = difference.problem == nil
      rows.append([
        difference.producer.map { "\($0.index)" } ?? "", difference.producer?.name ?? "",
        Self.brief(difference.name),
        difference.shape.description, isCompared ? Self.brief(difference.largest) : "–",
        isCompared ? Self.brief(difference.allowed) : "–",
        isCompared ? decimal(difference.signalToNoise, 1) : "–",
        difference.isWithinTolerance ? "" : difference.problem ?? "differs",
      ])
    }
    Output.write(table(rows, rightAligned: [0, 4, 5, 6]))
    let count = comparison.differences.count { !$0.isWithinTolerance }
    let missing = comparison.uncompared.count
    Output.write("")
    Output.write(
      "\(comparison.differences.count) tensors compared, \(count) beyond the tolerance"
        + (missing > 0 ? ", \(missing) without a counterpart" : ""))
    if let name = comparison.uncompared.first {
      Output.write(oneLine("without a counterpart: \(Self.brief(name))\(missing > 1 ? " and others" : "")"))
    }
    if let first = comparison.first { Output.write(oneLine("first: \(first)")) }
  }

  /// The first of the names that a converter joined.
  private static func brief(_ name: String) -> String {
    name.firstIndex(of: ";").map { "\(name[..<$0]);…" } ?? name
  }

  /// A number with some five digits.
  private static func brief(_ value: Double) -> String {
    guard value != 0, value.isFinite else { return value == 0 ? "0" : "\(value)" }
    return "\(Float(value))"
  }
}
