// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusVision

extension TaskAssumptions {
  /// The assumptions for people.
  var text: String {
    var lines = ["as \(task): \(kind) (\(reason))", "", "readings:"]
    lines += readings.map { "  \($0.text)" }
    lines += ["", "input: \(input.name)"]
    lines += [
      "  tensor: \(input.type) \(TensorShape(input.shape)), \(input.layout)",
      "  picture: \(input.width) × \(input.height), \(input.channels)", "  fit: \(input.fit)",
      "  resampling: \(input.resampling)", "  value of a pixel v: \(input.value)",
      "", "outputs:",
    ]
    for output in outputs {
      lines.append("  \(output.index): \(output.name), \(output.type) \(TensorShape(output.shape))")
      if let value = output.value { lines.append("     value: \(value)") }
      lines.append("     \(output.role)")
    }
    lines.append("")
    if let labels {
      lines.append("labels: \(labels.count) from \(labels.source), class 0 is row \(labels.offset)")
    } else {
      lines.append("labels: none")
    }
    if !steps.isEmpty {
      lines += ["", "then:"]
      lines += steps.enumerated().map { "  \($0 + 1). \($1)" }
    }
    lines += warnings.flatMap { ["", "warning: \($0)"] }
    // Names of tensors and files may have any character.
    return lines.map(oneLine).joined(separator: "\n")
  }
}
