// SPDX-License-Identifier: Apache-2.0

import ApusFormat

extension Model {
  /// Operators of one kind.
  public struct OperatorCount: Hashable, Sendable {
    /// The schema's name, or the custom operator's.
    public let name: String
    /// Whether it is outside the schema's list.
    public let isCustom: Bool
    /// The version that the model requests.
    public let version: Int
    /// The types of their data, without repetition; see ``Runtime/OperatorDescription/types``.
    public let types: [ElementType]
    /// How many the model has, in all subgraphs.
    public let count: Int
  }

  /// A function of the model: the main one, a signature's, or a branch of another.
  public struct Subgraph: Hashable, Sendable {
    /// The name, often empty.
    public let name: String
    /// How many tensors it has, constants included.
    public let tensorCount: Int
    /// How many operators it has.
    public let operatorCount: Int
    /// The tensors that a caller fills.
    public let inputs: [Tensor]
    /// The tensors that a caller reads.
    public let outputs: [Tensor]
  }

  /// One operator of a subgraph, with the tensors that it reads and writes.
  public struct Operator: Hashable, Sendable {
    /// The schema's name, or the custom operator's.
    public let name: String
    /// Whether it is outside the schema's list.
    public let isCustom: Bool
    /// The version that the model requests.
    public let version: Int
    /// The indices of the tensors that it reads; nil where an optional one is left out.
    public let inputs: [Int?]
    /// The indices of the tensors that it writes.
    public let outputs: [Int]
  }

  /// The size of the file in bytes.
  public var byteCount: Int { file.bytes.count }

  /// The version of the format's schema.
  public var schemaVersion: Int { file.schemaVersion }

  /// The operators by kind and version, the most frequent first.
  public var operatorCounts: [OperatorCount] {
    // Several entries of a file may name the same operator.
    var counts: [OperatorCodeEntry: (count: Int, types: Set<ElementType>)] = [:]
    let places = file.operatorCodes.map { OperatorRegistry.registration(for: $0).data }
    // By entry first, as names may be long.
    var entries: [(count: Int, types: Set<ElementType>)] = places.map { _ in (0, []) }
    for subgraph in file.subgraphs {
      for node in subgraph.operators {
        entries[node.operatorCode].count += 1
        if let tensor = places[node.operatorCode].tensor(of: node) {
          entries[node.operatorCode].types.insert(ElementType(subgraph.tensors[tensor].type))
        }
      }
    }
    for (code, entry) in zip(file.operatorCodes, entries) where entry.count > 0 {
      counts[code, default: (0, [])].count += entry.count
      counts[code, default: (0, [])].types.formUnion(entry.types)
    }
    return counts.map { code, entry in
      OperatorCount(
        name: code.name, isCustom: code.code == .custom, version: code.version,
        types: entry.types.sorted { $0.rawValue < $1.rawValue }, count: entry.count)
    }.sorted { ($1.count, $0.name, $0.version) < ($0.count, $1.name, $1.version) }
  }

  /// The subgraphs; the first is the main one.
  public var subgraphs: [Subgraph] {
    file.subgraphs.enumerated().map { index, entry in
      Subgraph(
        name: entry.name, tensorCount: entry.tensors.count, operatorCount: entry.operators.count,
        inputs: entry.inputs.map { tensor($0, subgraph: index) },
        outputs: entry.outputs.map { tensor($0, subgraph: index) })
    }
  }

  /// Every tensor of a subgraph, in order, with the file's shapes.
  ///
  /// - Throws: `invalidArgument` if there is no such subgraph.
  public func tensors(ofSubgraph position: Int) throws(ApusError) -> [Tensor] {
    try subgraph(position).tensors.indices.map { tensor($0, subgraph: position) }
  }

  /// Every operator of a subgraph, in the order of the file, which is the order of a run.
  ///
  /// - Throws: `invalidArgument` if there is no such subgraph.
  public func operators(ofSubgraph position: Int) throws(ApusError) -> [Operator] {
    try subgraph(position).operators.map { entry in
      let code = file.operatorCodes[entry.operatorCode]
      return Operator(
        name: code.name, isCustom: code.code == .custom, version: code.version,
        inputs: entry.inputs.map { $0 < 0 ? nil : $0 }, outputs: entry.outputs)
    }
  }

  private func subgraph(_ position: Int) throws(ApusError) -> SubgraphEntry {
    guard file.subgraphs.indices.contains(position) else {
      throw ApusError(
        .invalidArgument, "there is no subgraph \(position), only \(file.subgraphs.count)")
    }
    return file.subgraphs[position]
  }
}
