// SPDX-License-Identifier: Apache-2.0
import Apus

/// An input or output as clients see it.
public struct TensorSpecification: Sendable {
  /// The name in the model's metadata and in answers.
  public let name: String
  /// Other names that requests may use.
  public let aliases: [String]
  /// The element type.
  public let datatype: DataType
  /// The engine's element type.
  public let elementType: ElementType
  /// The shape as exported; −1 where a dimension may change.
  public let shape: [Int]
  /// The shape in the file, with 1 where a dimension may change.
  public let defaultShape: [Int]
  /// How integers stand for real numbers, if they do.
  let quantization: QuantizationParameters?

  /// Why a shape does not fit, as a sentence; nil if it does.
  ///
  /// - Parameter isOpen: Whether the first dimension may be any number from 1; otherwise it is the file's.
  func mismatch(of wanted: [Int], isOpen: Bool) -> String? {
    let fits =
      wanted.count == shape.count
      && zip(wanted, shape).enumerated().allSatisfy { axis, pair in
        let (found, expected) = pair
        guard expected < 0 else { return found == expected }
        return axis == 0 && !isOpen ? found == defaultShape[0] : found >= 1
      }
    if fits { return nil }
    var expected = shape
    if !isOpen, let first = defaultShape.first { expected[0] = first }
    let text = { (shape: [Int]) in "[\(shape.map(String.init).joined(separator: ","))]" }
    return "Expected \(text(expected)), got \(text(wanted))"
      + (expected.contains(-1) ? ", where -1 is 1 or more" : "")
  }
}

extension TensorSpecification {
  /// The input or output with another shape for clients.
  func with(shape: [Int]) -> TensorSpecification {
    TensorSpecification(
      name: name, aliases: aliases, datatype: datatype, elementType: elementType, shape: shape,
      defaultShape: defaultShape, quantization: quantization)
  }

  /// The maximum number of bytes of a name; longer ones are no names.
  private static let longestName = 1_024

  /// The inputs or outputs of a function, named: the signature's names first, then the tensors'; empty, repeated and
  /// endless names become `input_K` or `output_K`, where K is the position, or else the next number that gives a name of its own.
  ///
  /// - Throws: a sentence about each tensor whose type does not exist in the protocol; `resourceLimit` for more tensors than
  ///   a request may name.
  static func all(
    _ tensors: [Tensor], signature: [Signature.Argument], role: String
  ) throws(ApusError) -> [TensorSpecification] {
    guard tensors.count <= RequestDescription.maximumTensors else {
      throw ApusError(
        .resourceLimit,
        "the model has \(tensors.count) \(role)s, more than \(RequestDescription.maximumTensors)")
    }
    let isName = { (name: String) in !name.isEmpty && name.utf8.count <= longestName }
    let signed = Dictionary(signature.map { ($0.tensor.index, $0.name) }) { first, _ in first }
    var known: Set<String> = []
    var names = tensors.map { tensor -> String? in
      let name = signed[tensor.index] ?? tensor.name
      return isName(name) && known.insert(name).inserted ? name : nil
    }
    // Another tensor may already be called so.
    for position in names.indices where names[position] == nil {
      let name = "\(role)_\(position)"
      if known.insert(name).inserted { names[position] = name }
    }
    for position in names.indices where names[position] == nil {
      var number = position + 1
      while !known.insert("\(role)_\(number)").inserted { number += 1 }
      names[position] = "\(role)_\(number)"
    }
    var reasons: [String] = []
    var result: [TensorSpecification] = []
    for (position, tensor) in tensors.enumerated() {
      let own = isName(tensor.name) ? tensor.name : ""
      guard let datatype = DataType(tensor.type) else {
        reasons.append(
          "\(role) \(position) (\(own)) is \(tensor.type), which the protocol cannot carry")
        continue
      }
      result.append(
        TensorSpecification(
          name: names[position] ?? "",
          aliases: [own, "\(role)_\(position)"].filter { !$0.isEmpty && !known.contains($0) },
          datatype: datatype, elementType: tensor.type, shape: tensor.shapeSignature,
          defaultShape: tensor.shape.dimensions, quantization: tensor.quantization))
    }
    if let first = reasons.first { throw ApusError(.unsupportedOperator, first, reasons: reasons) }
    return result
  }
}

extension [TensorSpecification] {
  /// The positions by name; where several tensors share one, the first of the names, and then of the aliases, has it.
  var positions: [String: Int] {
    let names = enumerated().map { ($1.name, $0) }
    let aliases = enumerated().flatMap { position, tensor in tensor.aliases.map { ($0, position) } }
    return Dictionary(names + aliases) { first, _ in first }
  }

  /// The names, for an error.
  var known: String { map { "'\($0.name)'" }.joined(separator: ", ") }
}
