// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole

extension Inspection {
  /// The report for people; `all` leaves nothing out. Lines have at most as many characters as ``Output/columns`` says.
  func text(all: Bool) -> String {
    var sections = [headline]
    sections.append(shortened(inputs, all) { tensors("inputs", $0) })
    sections.append(shortened(outputs, all) { tensors("outputs", $0) })
    sections.append(shortened(operators, all, operatorTable))
    sections.append(shortened(subgraphs, all, subgraphTable))
    sections += [
      shortened(signatures, all, signatureText), metadataText, labelText(all: all), memoryText(all: all),
      plan?.text ?? "", batchText, conclusion,
    ]
    return folded(sections.filter { !$0.isEmpty }.joined(separator: "\n\n"), width: Output.columns)
  }

  /// The most important facts, for people: inputs, outputs, metadata, and whether the model runs.
  var summary: String {
    let sections = [
      headline, shortened(inputs, false) { tensors("inputs", $0) },
      shortened(outputs, false) { tensors("outputs", $0) }, metadataText, labelText(all: false), conclusion,
    ]
    return sections.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  /// The most rows of a list that is not shown as a whole.
  private static let maximumRows = 1_000

  /// The text of a list, or of its beginning.
  private func shortened<Item>(
    _ items: [Item], _ all: Bool, _ text: (ArraySlice<Item>) -> String
  ) -> String {
    let shown = all ? items[...] : items.prefix(Self.maximumRows)
    let more = items.count - shown.count
    return text(shown) + (more > 0 ? "\n… and \(more) more (--all shows them)" : "")
  }

  private var headline: String {
    var lines = ["\(oneLine(file)): \(bytes) bytes, schema version \(schemaVersion)"]
    if !description.isEmpty { lines.append(oneLine(description)) }
    return lines.joined(separator: "\n")
  }

  private func tensors(_ title: String, _ tensors: ArraySlice<TensorReport>) -> String {
    var rows = [["\(title):", "name", "type", "shape", "quantization"]]
    for (position, tensor) in tensors.enumerated() {
      var shape = TensorShape(tensor.shape).description
      if tensor.shapeSignature.contains(-1) {
        shape += " (" + tensor.shapeSignature.map { $0 < 0 ? "?" : "\($0)" }.joined(separator: "×") + ")"
      }
      rows.append([
        "\(position)", oneLine(tensor.name), tensor.type, shape, quantizationText(tensor.quantization),
      ])
    }
    return table(rows, width: Output.columns)
  }

  private func quantizationText(_ quantization: Quantization?) -> String {
    guard let quantization, let scale = quantization.scales.first else { return "" }
    if quantization.scales.count > 1 {
      return "\(quantization.scales.count) scales along dimension \(quantization.dimension)"
    }
    return "\(scale) × (q − \(quantization.zeroPoints.first ?? 0))"
  }

  private func operatorTable(_ operators: ArraySlice<OperatorReport>) -> String {
    var rows = [["operators:", "version", "count", "types"]]
    for entry in operators {
      rows.append([
        oneLine(entry.name) + (entry.custom ? " (custom)" : ""), "\(entry.version)", "\(entry.count)",
        entry.types.joined(separator: " "),
      ])
    }
    return table(rows, rightAligned: [1, 2], width: Output.columns)
  }

  private func subgraphTable(_ subgraphs: ArraySlice<SubgraphReport>) -> String {
    var rows = [["subgraphs:", "name", "tensors", "operators", "inputs", "outputs"]]
    for (index, entry) in subgraphs.enumerated() {
      rows.append([
        "\(index)", oneLine(entry.name), "\(entry.tensors)", "\(entry.operators)", "\(entry.inputs)",
        "\(entry.outputs)",
      ])
    }
    return table(rows, rightAligned: [2, 3, 4, 5], width: Output.columns)
  }

  private func signatureText(_ signatures: ArraySlice<SignatureReport>) -> String {
    guard !signatures.isEmpty else { return "" }
    let lines = signatures.map { signature in
      let inputs = signature.inputs.map { "\($0.name) = tensor \($0.tensor)" }.joined(separator: ", ")
      let outputs = signature.outputs.map { "\($0.name) = tensor \($0.tensor)" }.joined(separator: ", ")
      return oneLine("  \(signature.key) (subgraph \(signature.subgraph)): \(inputs) → \(outputs)")
    }
    return "signatures:\n" + lines.joined(separator: "\n")
  }

  private var metadataText: String {
    var lines: [String] = []
    if let metadata {
      for (name, value) in [
        ("name", metadata.name), ("description", metadata.description), ("version", metadata.version),
        ("author", metadata.author), ("license", metadata.license),
      ] where !value.isEmpty {
        lines.append("  \(name): \(oneLine(value))")
      }
      lines += metadata.inputs.enumerated().map { "  input \($0): \(tensorText($1))" }
      lines += metadata.outputs.enumerated().map { "  output \($0): \(tensorText($1))" }
    }
    if !associatedFiles.isEmpty {
      lines.append("  files: \(oneLine(associatedFiles.joined(separator: ", ")))")
    }
    lines += damage.map { "  damaged: \(oneLine($0))" }
    return lines.isEmpty ? "" : "metadata:\n" + lines.joined(separator: "\n")
  }

  private func tensorText(_ tensor: MetadataReport.TensorReport) -> String {
    var parts = [tensor.name]
    if !tensor.content.isEmpty { parts.append(tensor.content) }
    if !tensor.mean.isEmpty || !tensor.std.isEmpty { parts.append("mean \(tensor.mean), std \(tensor.std)") }
    if let threshold = tensor.scoreThreshold { parts.append("scores from \(threshold)") }
    if let file = tensor.labelFile { parts.append("labels in \(file)") }
    return oneLine(parts.joined(separator: ", "))
  }

  private func labelText(all: Bool) -> String {
    guard !labels.isEmpty else { return "" }
    let shown = all ? labels[...] : labels.prefix(8)
    let more = shown.count < labels.count ? ", …" : ""
    return "labels: \(labels.count): " + oneLine(shown.joined(separator: ", ")) + more
  }

  private func memoryText(all: Bool) -> String {
    guard let memoryPlan else { return "" }
    let title =
      "memory plan: arena \(memoryPlan.arenaBytes) bytes for \(memoryPlan.entries.count) tensors, "
      + "variables \(memoryPlan.variableBytes), packed weights \(memoryPlan.packedBytes)"
    let largest = memoryPlan.entries.sorted { ($0.bytes, $1.offset) > ($1.bytes, $0.offset) }
    let shown = all ? memoryPlan.entries[...] : largest.prefix(8)
    var rows = [["bytes", "block", "offset", "operators", "tensor"]]
    for entry in shown {
      rows.append([
        "\(entry.bytes)", "\(entry.block)", "\(entry.offset)", "\(entry.first)–\(entry.last)",
        entry.name.isEmpty ? "(scratch)" : oneLine(entry.name),
      ])
    }
    var text = title + "\n" + table(rows, rightAligned: [0, 1, 2], width: Output.columns)
    if shown.count < memoryPlan.entries.count {
      text += "\n… and \(memoryPlan.entries.count - shown.count) smaller ones (--all shows them)"
    }
    return text
  }

  private var batchText: String {
    guard let batch else { return "" }
    let reason = batch.reason.map { ": \(oneLine($0))" } ?? ""
    return batch.joins
      ? "batch: items of several callers can share a run, up to \(batch.most)\(reason)"
      : "batch: items of several callers cannot share a run\(reason)"
  }

  private var conclusion: String {
    let list = unsupported.map { "\n  " + oneLine($0) }.joined()
    if runs {
      return "multiply-accumulates: \(multiplyAccumulates ?? 0)\nthis build can run the model"
        + (unsupported.isEmpty ? "" : ", but not all of its functions:" + list)
    }
    return "this build cannot run the model:" + list
  }
}
