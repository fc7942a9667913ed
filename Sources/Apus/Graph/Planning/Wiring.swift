// SPDX-License-Identifier: Apache-2.0
import ApusFormat

/// How the file connects the operators of a subgraph: the producer and the consumers of each tensor.
/// Immutable.
///
/// It is a class, so that plans, drafts and checkers pass it on at little cost.
final class Wiring: Sendable {
  /// Where a tensor's values come from.
  enum Source: Equatable {
    /// The caller.
    case input
    /// The file.
    case constant
    /// The previous run, or an operator that changes it.
    case variable
    /// An operator, by its position.
    case node(Int)
    /// Nothing writes it.
    case nothing
  }

  /// The subgraph as it is in the file.
  let subgraph: SubgraphEntry
  /// The subgraph's position in the model.
  let index: Int
  /// For each tensor: where its values come from.
  let sources: [Source]
  /// The type of each tensor; see ``CallResolution`` for where it is not the file's.
  let types: [ElementType]
  /// For each tensor: whether the caller reads it after a run.
  let isOutput: [Bool]
  /// The index of each tensor's first reader in `allReaders`; the last entry is the end.
  private let firstReaders: [Int]
  private let allReaders: [Int]

  var tensorCount: Int { subgraph.tensors.count }
  var nodeCount: Int { subgraph.operators.count }

  /// Checks how operators and tensors are connected.
  ///
  /// - Throws: `malformedModel` if an operator writes a tensor that is not its own, or nothing writes an output.
  init(_ model: Model, subgraph index: Int) throws(ApusError) {
    let subgraph = model.file.subgraphs[index]
    self.subgraph = subgraph
    self.index = index
    var sources = Array(repeating: Source.nothing, count: subgraph.tensors.count)
    for (tensor, entry) in subgraph.tensors.enumerated() {
      if entry.isVariable {
        sources[tensor] = .variable
      } else if model.constant(subgraph: index, tensor: tensor) != nil {
        sources[tensor] = .constant
      }
    }
    // For each tensor: whether it is an input of the subgraph or has a writer already.
    var isTaken = Array(repeating: false, count: sources.count)
    for input in subgraph.inputs {
      isTaken[input] = true
      if sources[input] != .variable { sources[input] = .input }
    }
    var lastReaders = Array(repeating: -1, count: sources.count)
    for (position, node) in subgraph.operators.enumerated() {
      for input in node.inputs where input >= 0 { lastReaders[input] = position }
      for output in node.outputs {
        guard lastReaders[output] != position else {
          throw ApusError(
            .malformedModel, "operator #\(position): reads and writes \(subgraph.tensors[output].name)")
        }
        let isFree = sources[output] == .nothing || sources[output] == .variable
        guard isFree, !isTaken[output] else {
          throw ApusError(
            .malformedModel,
            "operator #\(position): writes \(subgraph.tensors[output].name), which is a constant, an input or "
              + "another's output")
        }
        isTaken[output] = true
        if sources[output] == .nothing { sources[output] = .node(position) }
      }
    }
    for (tensor, entry) in subgraph.tensors.enumerated() where sources[tensor] == .nothing {
      if Self.isEmptyConstant(entry) { sources[tensor] = .constant }
    }
    var isOutput = Array(repeating: false, count: sources.count)
    for output in subgraph.outputs {
      guard sources[output] != .nothing else {
        throw ApusError(
          .malformedModel, "subgraph \(index): nothing writes the output \(subgraph.tensors[output].name)")
      }
      isOutput[output] = true
    }
    self.sources = sources
    types = model.types[index]
    self.isOutput = isOutput
    (firstReaders, allReaders) = Self.readers(of: subgraph)
  }

  /// A constant without elements has no bytes in the file, so it looks like a tensor that an operator writes.
  static func isEmptyConstant(_ entry: TensorEntry) -> Bool {
    entry.shape.contains(0) && entry.shape.allSatisfy { $0 >= 0 } && ElementType(entry.type).byteCount != nil
  }

  private static func readers(of subgraph: SubgraphEntry) -> (first: [Int], all: [Int]) {
    var first = Array(repeating: 0, count: subgraph.tensors.count + 1)
    for node in subgraph.operators {
      for input in node.inputs where input >= 0 { first[input + 1] += 1 }
    }
    for tensor in subgraph.tensors.indices { first[tensor + 1] += first[tensor] }
    var (next, all) = (first, Array(repeating: 0, count: first[subgraph.tensors.count]))
    for (position, node) in subgraph.operators.enumerated() {
      for input in node.inputs where input >= 0 {
        all[next[input]] = position
        next[input] += 1
      }
    }
    return (first, all)
  }

  /// The operators that read a tensor, in order; one that reads it twice is listed twice.
  func readers(of tensor: Int) -> ArraySlice<Int> {
    allReaders[firstReaders[tensor]..<firstReaders[tensor + 1]]
  }

  /// Whether an operator reads a tensor.
  func isRead(_ tensor: Int, by node: Int) -> Bool {
    var (low, high) = (firstReaders[tensor], firstReaders[tensor + 1])
    while low < high {
      let middle = (low + high) / 2
      if allReaders[middle] < node { low = middle + 1 } else { high = middle }
    }
    return low < firstReaders[tensor + 1] && allReaders[low] == node
  }

  /// The inputs' shapes in the file; open sizes are 1.
  var declaredInputShapes: [TensorShape] {
    subgraph.inputs.map { tensor in TensorShape(subgraph.tensors[tensor].shape.map { $0 < 0 ? 1 : $0 }) }
  }

  /// Whether a tensor keeps its values between runs.
  func isVariable(_ tensor: Int) -> Bool { sources[tensor] == .variable }

  /// The operator that writes a tensor; nil for inputs, constants and variables.
  func producer(of tensor: Int) -> Int? {
    if case .node(let node) = sources[tensor] { return node }
    return nil
  }

  /// The operator that writes a tensor; −1 if none does.
  func producerOrNone(of tensor: Int) -> Int { producer(of: tensor) ?? -1 }

  /// A tensor's name in the file, for messages.
  func name(of tensor: Int) -> String {
    tensor < tensorCount ? subgraph.tensors[tensor].name.brief : "scratch memory"
  }
}
