// SPDX-License-Identifier: Apache-2.0

/// The tensors of a custom operator while it runs.
///
/// Spans are valid as long as this value, which exists for one run.
public struct CustomOperatorTensors: ~Copyable {
  private let table: TensorTable
  private let inputs: [TensorSlot?]
  private let outputs: [TensorSlot]
  private let scratchSlot: TensorSlot?
  private let place: String

  init(
    _ table: borrowing TensorTable, inputs: [TensorSlot?], outputs: [TensorSlot], scratch: TensorSlot?,
    place: String
  ) {
    self.table = TensorTable(sharing: table)
    self.inputs = inputs
    self.outputs = outputs
    scratchSlot = scratch
    self.place = place
  }

  /// The elements of an input, row by row.
  ///
  /// - Throws: `invalidArgument` if there is no such input or it is not of `T`.
  @_lifetime(borrow self)
  public func input<T: TensorElement>(_ position: Int, as type: T.Type = T.self) throws(ApusError) -> Span<T>
  {
    guard inputs.indices.contains(position), let slot = inputs[position] else {
      throw missing("input", position)
    }
    try check(slot, T.elementType)
    return table.read(slot, as: type)
  }

  /// The bytes of an input, whatever its type.
  ///
  /// - Throws: `invalidArgument` if there is no such input.
  @_lifetime(borrow self)
  public func inputBytes(_ position: Int) throws(ApusError) -> RawSpan {
    guard inputs.indices.contains(position), let slot = inputs[position] else {
      throw missing("input", position)
    }
    return table.readBytes(slot)
  }

  /// The elements of an output, row by row, for writing. Their values are undefined until they are written.
  ///
  /// - Throws: `invalidArgument` if there is no such output or it is not of `T`.
  @_lifetime(borrow self)
  public func output<T: TensorElement>(
    _ position: Int, as type: T.Type = T.self
  ) throws(ApusError) -> MutableSpan<T> {
    guard outputs.indices.contains(position) else { throw missing("output", position) }
    try check(outputs[position], T.elementType)
    return table.write(outputs[position], as: type)
  }

  /// The bytes of an output, for writing, whatever its type.
  ///
  /// - Throws: `invalidArgument` if there is no such output.
  @_lifetime(borrow self)
  public func outputBytes(_ position: Int) throws(ApusError) -> MutableRawSpan {
    guard outputs.indices.contains(position) else { throw missing("output", position) }
    return table.writeBytes(outputs[position])
  }

  /// The memory that ``CustomOperator/Plan/scratchByteCount`` requested. Its contents are undefined when a run begins.
  ///
  /// - Throws: `invalidArgument` if none was requested.
  @_lifetime(borrow self)
  public func scratch() throws(ApusError) -> MutableRawSpan {
    guard let scratchSlot else { throw ApusError(.invalidArgument, "\(place): has no scratch memory") }
    return table.writeBytes(scratchSlot)
  }

  /// The shape of an input; nil where the model leaves it out.
  public func inputShape(_ position: Int) -> TensorShape? {
    inputs.indices.contains(position) ? inputs[position]?.shape : nil
  }

  private func missing(_ what: String, _ position: Int) -> ApusError {
    ApusError(.invalidArgument, "\(place): has no \(what) \(position)")
  }

  private func check(_ slot: TensorSlot, _ type: ElementType) throws(ApusError) {
    guard slot.type.isReadable(as: type) else {
      throw ApusError(.invalidArgument, "\(place): \(slot.name) is \(slot.type), not \(type)")
    }
  }
}

/// A prepared custom operator with its tensors.
struct PreparedCustomOperator: Operator {
  private let invokePlan: @Sendable (borrowing CustomOperatorTensors) throws(ApusError) -> Void
  private let inputs: [TensorSlot?]
  private let outputs: [TensorSlot]
  private let scratch: TensorSlot?
  private let place: String

  init(_ node: Node, plan: CustomOperator.Plan) throws(ApusError) {
    guard plan.outputShapes.count == node.outputCount else {
      throw node.malformed("has \(node.outputCount) outputs, not \(plan.outputShapes.count)")
    }
    var inputs: [TensorSlot?] = []
    for position in 0..<node.inputCount { inputs.append(try node.optionalInput(position)) }
    self.inputs = inputs
    outputs = try node.outputs(plan.outputShapes)
    scratch = plan.scratchByteCount > 0 ? try node.scratch(byteCount: plan.scratchByteCount) : nil
    place = node.place
    invokePlan = plan.invoke
  }

  var facet: Facet { .foreign }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    try invokePlan(
      CustomOperatorTensors(tensors, inputs: inputs, outputs: outputs, scratch: scratch, place: place))
  }
}
