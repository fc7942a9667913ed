// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Operators on 16-bit floats that compute in `float32`: inputs are widened before, outputs rounded after.
///
/// Source: the reference's half types, which compute in `float32` and round to nearest, ties to even.
enum HalfPrecision {
  /// Extends `prepare` to tensors of `types`.
  static func preparation(
    of types: [ElementType], _ prepare: @escaping @Sendable (Node) throws(ApusError) -> any Operator
  ) -> @Sendable (Node) throws(ApusError) -> any Operator {
    { (node: Node) throws(ApusError) -> any Operator in
      guard let type = node.inputType(0), types.contains(type) else { return try prepare(node) }
      let widening = WideningNode(node, type: type)
      let operation = try prepare(widening)
      return WidenedOperator(before: widening.before, operation: operation, after: widening.after)
    }
  }
}

/// A node that presents its tensors of one 16-bit type as `float32`.
private final class WideningNode: Node {
  private let type: ElementType
  private(set) var before: [UnaryOperator] = []
  private(set) var after: [UnaryOperator] = []

  init(_ node: Node, type: ElementType) {
    self.type = type
    super.init(index: node.index, in: node.preparation)
  }

  override var isHalfPrecision: Bool { type == .float16 }

  override func optionalInput(
    _ position: Int, types: [ElementType]? = nil, ranks: ClosedRange<Int>? = nil
  ) throws(ApusError) -> TensorSlot? {
    guard let input = try super.optionalInput(position, types: declared(types), ranks: ranks) else {
      return nil
    }
    guard input.type == type else { return input }
    let wide = try widened(input)
    before.append(conversion(of: input, to: wide))
    return wide
  }

  override func output(
    _ position: Int, shape: TensorShape, types: [ElementType]? = nil
  ) throws(ApusError) -> TensorSlot {
    let output = try super.output(position, shape: shape, types: declared(types))
    guard output.type == type else { return output }
    let wide = try widened(output)
    after.append(conversion(of: wide, to: output))
    return wide
  }

  override func outputType(_ position: Int) throws(ApusError) -> ElementType {
    let declared = try super.outputType(position)
    return declared == type ? .float32 : declared
  }

  /// The types that the file may declare if the operator requests `types`.
  private func declared(_ types: [ElementType]?) -> [ElementType]? {
    types?.map { $0 == .float32 ? type : $0 }
  }

  /// Memory for a tensor's elements as `float32`.
  private func widened(_ slot: TensorSlot) throws(ApusError) -> TensorSlot {
    let memory = try scratch(count: slot.shape.elementCount, width: 4)
    return TensorSlot(
      index: memory.index, entry: slot.entry, type: .float32, shape: slot.shape, isAsStored: false,
      isConstant: false)
  }

  private func conversion(of source: TensorSlot, to target: TensorSlot) -> UnaryOperator {
    let kernel = CastKernel.kernel(
      from: source.type.castType ?? .float32, to: target.type.castType ?? .float32,
      count: source.shape.elementCount)
    return UnaryOperator(kernel, choice: .plain, input: source, output: target)
  }
}

/// An operator between the conversions of its inputs and outputs.
private struct WidenedOperator: Operator {
  let before: [UnaryOperator]
  let operation: any Operator
  let after: [UnaryOperator]

  var implementation: Implementation {
    var implementation = operation.implementation
    implementation.text += ", between conversions from 16-bit floats and to them"
    return implementation
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    for conversion in before { conversion.invoke(tensors) }
    try operation.invoke(tensors)
    for conversion in after { conversion.invoke(tensors) }
  }
}
