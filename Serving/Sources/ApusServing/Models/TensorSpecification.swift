// SPDX-License-Identifier: Apache-2.0
import Apus

/// An input or output as clients see it.
public struct TensorSpecification: Sendable {
  /// The name in metadata and answers.
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
  /// - Parameter batches: Whether the first dimension may be any number from 1; otherwise it is the file's.
  func mismatch(of wanted: [Int], batches: Bool) -> String? {
    let fits =
      wanted.count == shape.count
      && zip(wanted, shape).enumerated().allSatisfy { axis, pair in
        let (found, expected) = pair
        guard expected < 0 else { return found == expected }
        return axis == 0 && !batches ? found == defaultShape[0] : found >= 1
      }
    if fits { return nil }
    var expected = shape
    if !batches, let first = defaultShape.first { expected[0] = first }
    let text = { (shape: [Int]) in "[\(shape.map(String.init).joined(separator: ","))]" }
    return "Expected \(text(expected)), got \(text(wanted))"
      + (expected.contains(-1) ? ", where -1 is 1 or more" : "")
  }
}

extension TensorSpecification {
  /// The inputs or outputs of a function, named: the signature's names first, then the tensors'; empty and repeated
  /// names become `input_K` or `output_K`.
  ///
  /// - Throws: a sentence about each tensor whose type does not exist in the protocol.
  static func all(
    _ tensors: [Tensor], signature: [Signature.Argument], role: String
  ) throws(ApusError) -> [TensorSpecification] {
    var names: [String] = []
    var reasons: [String] = []
    for (position, tensor) in tensors.enumerated() {
      let name = signature.first { $0.tensor.index == tensor.index }?.name ?? tensor.name
      names.append(name.isEmpty || names.contains(name) ? "\(role)_\(position)" : name)
    }
    var result: [TensorSpecification] = []
    for (position, tensor) in tensors.enumerated() {
      guard let datatype = DataType(tensor.type) else {
        reasons.append(
          "\(role) \(position) (\(tensor.name)) is \(tensor.type), which the protocol cannot carry")
        continue
      }
      let others = [tensor.name, "\(role)_\(position)"]
      result.append(
        TensorSpecification(
          name: names[position], aliases: others.filter { !$0.isEmpty && !names.contains($0) },
          datatype: datatype, elementType: tensor.type, shape: tensor.shapeSignature,
          defaultShape: tensor.shape.dimensions, quantization: tensor.quantization))
    }
    if let first = reasons.first { throw ApusError(.unsupportedOperator, first, reasons: reasons) }
    return result
  }
}

extension [TensorSpecification] {
  /// The position of a name.
  func position(named name: String) -> Int? {
    firstIndex { $0.name == name } ?? firstIndex { $0.aliases.contains(name) }
  }

  /// The names, for an error.
  var known: String { map { "'\($0.name)'" }.joined(separator: ", ") }
}
