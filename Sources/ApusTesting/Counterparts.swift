// SPDX-License-Identifier: Apache-2.0

/// The tensors of a model by what another model's tensors may have in common with them.
struct Counterparts {
  /// By whole names, and by those that a converter joined; nil for a name that several tensors have.
  private var names: [String: RecordedTensor?] = [:]
  private var parts: [Substring: RecordedTensor?] = [:]
  private var outputs: [Int: RecordedTensor] = [:]
  /// The names that several tensors of the other model have: none of them is known by it.
  private var ambiguous: Set<String> = []

  /// Sorts the tensors of a model, in which those of another model are looked up.
  init(_ tensors: [RecordedTensor], for others: [RecordedTensor]) {
    var seen: Set<String> = []
    for other in others where other.producer != nil && !seen.insert(other.name).inserted {
      ambiguous.insert(other.name)
    }
    for tensor in tensors where tensor.producer != nil {
      names.updateValue(names.keys.contains(tensor.name) ? nil : tensor, forKey: tensor.name)
      if let output = tensor.output { outputs[output] = tensor }
      for part in Set(tensor.name.split(separator: ";")) {
        parts.updateValue(parts.keys.contains(part) ? nil : tensor, forKey: part)
      }
    }
  }

  /// The tensor that stands for the same value as one of another model; nil if there is none.
  func tensor(for other: RecordedTensor) -> RecordedTensor? {
    if let output = other.output, let tensor = outputs[output] { return tensor }
    if ambiguous.contains(other.name) { return nil }
    if !other.name.isEmpty, let tensor = names[other.name] ?? nil { return tensor }
    for part in other.name.split(separator: ";") {
      if let tensor = parts[part] ?? nil { return tensor }
    }
    return nil
  }
}
