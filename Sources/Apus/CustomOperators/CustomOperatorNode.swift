// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// One use of a ``CustomOperator`` in a model, as preparation sees it: inputs, outputs and options.
///
/// Valid only during preparation.
public struct CustomOperatorNode {
  private let node: Node

  init(_ node: Node) {
    self.node = node
  }

  /// The operator's name.
  public var name: String { node.name }

  /// The version that the model requests.
  public var version: Int { node.version }

  /// The subgraph that has the operator, and its position there.
  @_spi(TensorFlowLite) public var place: (subgraph: Int, index: Int) { (node.subgraphIndex, node.index) }

  /// How many threads a run may use.
  public var threadCount: Int { node.threadCount }

  /// The inputs, with their shapes as prepared; nil where the model leaves one out.
  public var inputs: [Tensor?] {
    node.entry.inputs.map { index in index < 0 ? nil : tensor(index) }
  }

  /// The outputs as the model declares them; preparation decides their shapes.
  public var outputs: [Tensor] { node.entry.outputs.map(tensor) }

  private func tensor(_ index: Int) -> Tensor {
    node.preparation.model.tensor(
      index, subgraph: node.subgraphIndex, shape: node.preparation.shape(of: index))
  }

  /// A required input, with its shape as prepared.
  ///
  /// - Throws: `malformedModel` if the model leaves it out.
  public func input(_ position: Int) throws(ApusError) -> Tensor {
    _ = try node.input(position)
    return tensor(node.entry.inputs[position])
  }

  /// Checks the numbers of inputs and outputs.
  ///
  /// - Throws: `malformedModel` if the model has others.
  public func expect(inputs: Int, outputs: Int) throws(ApusError) {
    try node.expect(inputs: inputs...inputs, outputs: outputs...outputs)
  }

  /// The values of an input, row by row.
  ///
  /// If the input is not constant, everything before this operator runs first, and the operator is prepared again whenever
  /// the values change. So call this before anything that must not happen twice, and let its error pass.
  ///
  /// - Throws: `malformedModel` if there is no such input, `unsupportedOperator` if it is not of `T`, `resourceLimit` if it
  ///   has more than 2²⁴ values. The model is at fault, or not supported: it is being prepared. While it runs, ``CustomOperatorTensors`` throws
  ///   `invalidArgument` for the same: an operator that was prepared asks for what it has not checked.
  public func values<T: TensorElement & Equatable>(
    ofInput position: Int, as type: T.Type = T.self
  ) throws(ApusError) -> [T] {
    try node.values(of: node.input(position), as: type)
  }

  /// The bytes of the operator's options; empty if there are none.
  public var optionBytes: [UInt8] { node.customOptions }

  /// The options as a FlexBuffer map, which is what most converters write.
  ///
  /// - Throws: `malformedModel` if ``optionBytes`` does not contain one. No bytes are an empty map.
  public var options: CustomOptions {
    get throws(ApusError) {
      do { return CustomOptions(try FlexBufferMap(bytes: node.customOptions)) } catch {
        throw node.malformed("options: \(error.message)")
      }
    }
  }

  /// Makes an error with the code `malformedModel` that names this operator.
  public func malformed(_ message: String) -> ApusError { node.malformed(message) }

  /// Makes an error with the code `unsupportedOperator` that names this operator.
  public func unsupported(_ message: String) -> ApusError { node.unsupported(message) }
}

/// The options of a custom operator: values by name.
public struct CustomOptions: Sendable {
  private let map: FlexBufferMap

  init(_ map: FlexBufferMap) {
    self.map = map
  }

  /// The names of all values.
  public var names: [String] { map.entries.map(\.key) }

  /// Whether there is a value with this name.
  public func contains(_ name: String) -> Bool { map.contains(name) }

  /// A whole number, or `value` if there is none. Fractions are truncated, numbers beyond `Int` clamped.
  public func integer(_ name: String, default value: Int = 0) -> Int {
    map[name].map { Int(clamping: $0.int64) } ?? value
  }

  /// A number, or `value` if there is none.
  public func number(_ name: String, default value: Double = 0) -> Double { map.double(name, default: value) }

  /// A Boolean, or `value` if there is none. Numbers other than zero count as true.
  public func flag(_ name: String, default value: Bool = false) -> Bool { map.bool(name, default: value) }

  /// A string; nil if there is none.
  public func text(_ name: String) -> String? { map[name]?.string }

  /// A list of numbers; nil if there is none.
  public func numbers(_ name: String) -> [Double]? { map[name]?.vector?.map(\.double) }
}
