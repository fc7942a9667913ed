// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The engine's description of a kind of operator. It is a class, so that models pass it on at little cost.
final class OperatorRegistration: Sendable {
  /// Stands for an operator that this build does not have.
  static let unknown = OperatorRegistration(custom: "", versions: 0...0, types: [], isPure: false) {
    (node) throws(ApusError) in throw node.unsupported("is not supported")
  }

  /// A function that makes a runnable operator from a node.
  typealias Preparation = @Sendable (Node) throws(ApusError) -> any Operator

  /// A tensor of an operator, by its position.
  enum Place: Hashable, Sendable, CustomStringConvertible {
    case input(Int)
    case output(Int)

    /// The tensor of an operator of a file; nil if it is left out.
    func tensor(of node: OperatorEntry) -> Int? {
      let (tensors, position) =
        switch self {
        case .input(let position): (node.inputs, position)
        case .output(let position): (node.outputs, position)
        }
      return tensors.indices.contains(position) && tensors[position] >= 0 ? tensors[position] : nil
    }

    var description: String {
      switch self {
      case .input(let position): "input \(position)"
      case .output(let position): "output \(position)"
      }
    }
  }

  /// The subgraphs that an operator's options name.
  enum Subgraphs: Sendable {
    case none
    /// The operator runs them on its inputs, from a position on.
    case called(@Sendable (OperatorOptions) throws(ApusError) -> [Int], argumentsFrom: Int = 0)
    /// The only operator of one of them names a function that folds elements; the subgraph does not run.
    case body(@Sendable (OperatorOptions) throws(ApusError) -> Int)
  }

  /// The schema's code, which all custom operators share.
  let code: OperatorCode
  /// The schema's name, or the custom operator's.
  let name: String
  /// Whether the operator is outside the schema's list.
  var isCustom: Bool { code == .custom }
  /// The versions whose features are implemented.
  let versions: ClosedRange<Int>
  /// The types that the data may have; none for an operator without data.
  let types: [ElementType]
  /// The tensor that the types are about.
  let data: Place
  /// The types of the first input if it is not the data: an index, a shape, a condition, a handle.
  let firstInputTypes: [ElementType]
  /// The rule for the type of its results.
  let result: ResultType
  /// How it treats the rows of a batch.
  let rows: RowRule
  /// The subgraphs that its options name.
  let subgraphs: Subgraphs
  /// Whether equal inputs give equal outputs, so that results on constants can be kept.
  let isPure: Bool
  /// Checks a node and makes a runnable operator from it.
  let prepare: Preparation

  /// Registers a builtin operator.
  ///
  /// - Parameters:
  ///   - types: the types of the data, which are the first input unless `data` says otherwise.
  ///   - floats: further types of the data: floats of 16 bits, for which the operator computes in `float32` and
  ///     rounds its results once.
  ///   - first: the types of the first input where it is not the data.
  ///   - result: what decides the type of its results.
  ///   - rows: how it treats the rows of a batch; ``RowRule/mixed`` is always right.
  ///   - subgraphs: the subgraphs that its options name.
  ///   - isPure: whether the results are a function of the inputs.
  @inline(never)  // Once for each operator of the registry, it would be most of its code.
  init(
    _ code: OperatorCode, versions: ClosedRange<Int>, types: [ElementType],
    asFloats floats: [ElementType] = [],
    at data: Place = .input(0), first: [ElementType] = [], result: ResultType = .declared, rows: RowRule,
    subgraphs: Subgraphs = .none, isPure: Bool = true,
    _ prepare: @escaping Preparation
  ) {
    self.code = code
    name = code.schemaName
    self.versions = versions
    self.types = types + floats
    self.data = data
    firstInputTypes = first
    self.result = result
    self.rows = rows
    self.subgraphs = subgraphs
    self.isPure = isPure
    self.prepare = floats.isEmpty ? prepare : HalfPrecision.preparation(of: floats, prepare)
  }

  /// Registers a custom operator.
  init(
    custom name: String, versions: ClosedRange<Int> = 1...1, types: [ElementType],
    result: ResultType = .declared, isPure: Bool = true,
    _ prepare: @escaping Preparation
  ) {
    code = .custom
    self.name = name
    self.versions = versions
    self.types = types
    data = .input(0)
    firstInputTypes = []
    self.result = result
    rows = .mixed
    subgraphs = .none
    self.isPure = isPure
    self.prepare = prepare
  }

  /// Why an operator with these tensors cannot run, judging by their types; nil if they allow it.
  func unsupportedReason(
    of node: OperatorEntry, in subgraph: SubgraphEntry, _ tensorTypes: [ElementType]
  ) -> String? {
    func mismatch(_ place: Place, _ types: [ElementType]) -> String? {
      guard !types.isEmpty, let index = place.tensor(of: node) else { return nil }
      let type = tensorTypes[index]
      guard !types.contains(type) else { return nil }
      let name = subgraph.tensors[index].name.brief
      return "\(place) (\(name)) is \(type), not \(types.map(\.rawValue).joined(separator: ", "))"
    }
    if !firstInputTypes.isEmpty, let reason = mismatch(.input(0), firstInputTypes) { return reason }
    return mismatch(data, types)
  }
}
