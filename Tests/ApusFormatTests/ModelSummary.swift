// SPDX-License-Identifier: Apache-2.0

import ApusFormat

extension ModelFile {
  /// Everything that was decoded, as text of a fixed form.
  ///
  /// The same form is made from the schema's generated Python reader, so that a checksum tells whether both
  /// found the same.
  var summary: String {
    var lines = ["model \(schemaVersion) \(description)"]
    for code in operatorCodes { lines.append("code \(code.name) \(code.version)") }
    for subgraph in subgraphs {
      lines.append("subgraph \(subgraph.name) \(list(subgraph.inputs)) \(list(subgraph.outputs))")
      lines += subgraph.tensors.map(line)
      lines += subgraph.operators.map(line)
    }
    for entry in metadata { lines.append("metadata \(entry.name) \(entry.buffer)") }
    for signature in signatures {
      let sides = [signature.inputs, signature.outputs].map { side in
        side.map { "\($0.name)=\($0.tensor)" }.joined(separator: ",")
      }
      lines.append("signature \(signature.key) \(signature.subgraph) \(sides[0]) \(sides[1])")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func line(_ tensor: TensorEntry) -> String {
    let range = tensor.data ?? 0..<0
    let sum = (try? withBytes(of: range) { $0.prefix(64).reduce(0) { $0 + Int($1) } }) ?? -1
    var quantization = "-"
    if let entry = tensor.quantization {
      quantization =
        "\(list(entry.scales.map(\.bitPattern))) \(list(entry.zeroPoints)) "
        + "\(list(entry.minimums.map(\.bitPattern))) "
        + "\(list(entry.maximums.map(\.bitPattern))) \(entry.quantizedDimension) \(entry.detailsType)"
    }
    var sparsity = "-"
    if let entry = tensor.sparsity {
      let levels = entry.dimensions.map { level in
        switch level.format {
        case .dense(let size): "d\(size)"
        case .sparseCSR(let segments, let indices): "s\(list(segments))\(list(indices))"
        }
      }
      sparsity = list(entry.traversalOrder) + list(entry.blockMap) + levels.joined(separator: ";")
    }
    return
      "tensor \(tensor.name) \(tensor.type.schemaName) \(list(tensor.shape)) \(list(tensor.shapeSignature)) "
      + "\(tensor.hasRank ? 1 : 0) \(tensor.buffer) \(range.count) \(sum) \(tensor.isVariable ? 1 : 0) "
      + "\(quantization) \(sparsity)"
  }

  private func line(_ entry: OperatorEntry) -> String {
    let flags = list(entry.mutatingVariableInputs.map { $0 ? 1 : 0 })
    return "operator \(operatorCodes[entry.operatorCode].name) \(list(entry.inputs)) \(list(entry.outputs)) "
      + "\(list(entry.intermediates)) \(flags) \(entry.optionsType) \(entry.options2Type) "
      + "\(entry.customOptions?.count ?? 0)"
  }

  private func list<T>(_ values: [T]) -> String {
    "[" + values.map { "\($0)" }.joined(separator: ",") + "]"
  }
}

/// The 64-bit FNV-1a checksum of a text.
func checksum(_ text: String) -> UInt64 {
  text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}
