// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat

/// A tensor that a run computes or a caller fills.
package struct RecordedTensor: Sendable {
  /// Its index in the subgraph.
  package let index: Int
  /// Its name, not always unique.
  package let name: String
  /// The operator that computes it; nil for an input.
  package let producer: TensorDifference.Producer?
  /// Its position among the inputs.
  package let input: Int?
  /// Its position among the outputs.
  package let output: Int?
  /// The names of `.npy` files, without the suffix, that may have its values, in the order in which they are looked for.
  package fileprivate(set) var fileNames: [String]
  /// Its name as ``plain(_:)`` writes it; nil if several tensors have that, or it stands for a position.
  private(set) var plainName: String?

  /// The name under which it is written.
  package var fileName: String { fileNames[0] }

  /// The inputs of a model, then what its operators compute, in the order of the main subgraph.
  package static func all(of model: Model) -> [RecordedTensor] {
    let graph = model.file.subgraphs[0]
    var seen = Set<Int>()
    var tensors: [RecordedTensor] = []
    func add(_ index: Int, _ producer: TensorDifference.Producer?) {
      guard graph.tensors.indices.contains(index), seen.insert(index).inserted else { return }
      tensors.append(
        RecordedTensor(
          index: index, name: graph.tensors[index].name, producer: producer,
          input: graph.inputs.firstIndex(of: index), output: graph.outputs.firstIndex(of: index),
          fileNames: []))
    }
    for index in graph.inputs { add(index, nil) }
    for (position, node) in graph.operators.enumerated() {
      let name = model.file.operatorCodes[node.operatorCode].name
      for index in node.outputs { add(index, .init(index: position, name: name)) }
    }
    var counts: [String: Int] = [:]
    for tensor in tensors { counts[plain(tensor.name), default: 0] += 1 }
    for index in tensors.indices {
      let plain = plain(tensors[index].name)
      if counts[plain] == 1, !plain.isEmpty, !isPosition(plain) { tensors[index].plainName = plain }
      tensors[index].fileNames = names(of: tensors[index])
    }
    return tensors
  }

  private static func names(of tensor: RecordedTensor) -> [String] {
    var names: [String] = []
    if let input = tensor.input { names.append("input_\(input)") }
    if let plain = tensor.plainName, plain.utf8.count <= 200, !plain.hasPrefix(".") {
      names.append(plain)
      if tensor.name != plain, isPath(tensor.name) { names.append(tensor.name) }
    }
    names.append("tensor_\(tensor.index)")
    if let output = tensor.output { names.append("output_\(output)") }
    return names
  }

  /// A name with an underscore in place of every character that file systems might not take.
  static func plain(_ name: String) -> String {
    String(
      decoding: name.utf8.map { byte -> UInt8 in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: byte
        default: 0x5F
        }
      }, as: UTF8.self)
  }

  /// Whether a plain name stands for a position.
  private static func isPosition(_ name: String) -> Bool {
    ["input_", "output_", "tensor_"].contains { kind in
      name.hasPrefix(kind) && name.dropFirst(kind.count).allSatisfy(\.isNumber)
    }
  }

  /// Whether a name with slashes is a path inside a folder.
  private static func isPath(_ name: String) -> Bool {
    name.utf8.count <= 1000 && !name.utf8.contains(0)
      && name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
        !$0.isEmpty && $0 != "." && $0 != ".."
      }
  }
}
