// SPDX-License-Identifier: Apache-2.0

/// The tensors of a model by what another model's tensors may have in common with them.
struct Counterparts {
  private var names: [String: RecordedTensor] = [:]
  /// By the names that a converter joined; nil for a name that several tensors have.
  private var parts: [Substring: RecordedTensor?] = [:]
  private var outputs: [Int: RecordedTensor] = [:]

  init(_ tensors: [RecordedTensor]) {
    for tensor in tensors where tensor.producer != nil {
      if names[tensor.name] == nil { names[tensor.name] = tensor }
      if let output = tensor.output { outputs[output] = tensor }
      for part in Set(tensor.name.split(separator: ";")) {
        parts.updateValue(parts.keys.contains(part) ? nil : tensor, forKey: part)
      }
    }
  }

  /// The tensor that stands for the same value as one of another model; nil if there is none.
  func tensor(for other: RecordedTensor) -> RecordedTensor? {
    if let output = other.output, let tensor = outputs[output] { return tensor }
    if !other.name.isEmpty, let tensor = names[other.name] { return tensor }
    for part in other.name.split(separator: ";") {
      if let tensor = parts[part] ?? nil { return tensor }
    }
    return nil
  }
}
