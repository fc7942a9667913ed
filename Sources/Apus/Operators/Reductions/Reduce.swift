// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `REDUCE_MAX`, `REDUCE_MIN`, `REDUCE_ANY`, `REDUCE_ALL`, and `SUM` and `REDUCE_PROD` of values that are not
/// quantized.
struct Reduce: Operator {
  private let kind: Reduction.Kind
  private let elements: ScalarType
  private let walk: Reduction
  private let startsWithFirst: Bool
  private let input: TensorSlot
  private let output: TensorSlot

  static func maximum(_ node: Node) throws(ApusError) -> any Operator { try Reduce(.maximum, node) }
  static func minimum(_ node: Node) throws(ApusError) -> any Operator { try Reduce(.minimum, node) }
  static func any(_ node: Node) throws(ApusError) -> any Operator { try Reduce(.maximum, node) }
  static func all(_ node: Node) throws(ApusError) -> any Operator { try Reduce(.minimum, node) }

  static func sum(_ node: Node) throws(ApusError) -> any Operator {
    let type = try node.input(0).type
    return type == .uint8 || type == .int8 || type == .int16
      ? try MeanOrSum(.sum, node) : try Reduce(.sum, node)
  }

  static func product(_ node: Node) throws(ApusError) -> any Operator {
    let isQuantized = try node.input(0).quantization?.scales.isEmpty == false
    return isQuantized ? try QuantizedReduceProd(node) : try Reduce(.product, node)
  }

  init(_ kind: Reduction.Kind, _ node: Node) throws(ApusError) {
    try node.expect(inputs: 2...2)
    input = try node.input(0)
    guard let elements = input.type.scalarType(in: .reducible) else {
      throw node.unsupported("\(input.name) is \(input.type), which is not supported")
    }
    let axes = try FoldedAxes(node, input: input)
    output = try node.output(0, shape: axes.shape, like: input)
    if [.uint8, .int8, .int16].contains(input.type) { try node.expectSameQuantization(input, output) }
    self.kind = kind
    self.elements = elements
    startsWithFirst = axes.isFolded.allSatisfy { $0 }
    walk = axes.reduction(of: input.shape.dimensions)
  }

  var facet: Facet {
    guard elements == .float32, let stage = walk.stage(kind, startsWithFirst: startsWithFirst),
      stage.matrix?.foldsRows == true
    else { return .plain }
    return .reduction(ChainStep(stage: stage, operands: [input], output: output))
  }

  func invoke(_ tensors: borrowing TensorTable) {
    var result = tensors.writeBytes(output)
    walk.run(
      kind, elements, tensors.readBytes(input), to: &result, startsWithFirst: startsWithFirst,
      threads: tensors.threads)
  }
}
