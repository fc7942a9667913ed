// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels
import ApusRuntime

/// An operator of the file while it becomes an ``Operator``: its inputs, options and outputs, checked as
/// they are requested.
///
/// Each error names the operator, the tensor, what was found and what was expected.
class Node {
  /// The position in the subgraph.
  let index: Int
  /// The schema's name, or the custom operator's.
  var name: String { code.name }
  /// The version that the file states.
  var version: Int { code.version }
  /// Whether tensors that the operator sees as `float32` are `float16` in the file, see ``HalfPrecision``.
  var isHalfPrecision: Bool { false }
  /// The kernels to prefer.
  var kernels: KernelSet { context.kernels }
  /// Whether no run uses more than one thread.
  var isForOneThread: Bool { threadCount == 1 }
  /// How many threads a run may use; scratch memory is sized by it.
  var threadCount: Int { context.threads.count }

  /// The state that planning shares with the operator.
  let preparation: Preparation
  /// The operator as it is in the file; looked up, as nodes are made several times and read little.
  var entry: OperatorEntry { preparation.wiring.subgraph.operators[index] }
  private var code: OperatorCodeEntry { preparation.model.file.operatorCodes[entry.operatorCode] }
  /// How to run, the other subgraphs, and resource variables.
  var context: GraphContext { preparation.context }
  /// The model's file.
  var file: ModelFile { preparation.model.file }
  /// The subgraph as it is in the file.
  var subgraph: SubgraphEntry { preparation.wiring.subgraph }
  /// The subgraph's position in the model.
  var subgraphIndex: Int { preparation.wiring.index }

  init(index: Int, in preparation: Preparation) {
    self.index = index
    self.preparation = preparation
  }

  // MARK: Options

  /// The operator's options, by name.
  var options: OperatorOptions { OperatorOptions(entry) { self.malformed("options: \($0.message)") } }

  /// The bytes of a custom operator's options; empty where there are none.
  var customOptions: [UInt8] {
    guard let range = entry.customOptions else { return [] }
    return unsafe file.bytes.withUnsafeBytes { unsafe Array($0[range]) }
  }

  /// The fused activation that an option names, which must be one that clamps.
  func activation(_ value: Int) throws(ApusError) -> FusedActivation {
    guard let activation = FusedActivation(rawValue: value) else {
      throw malformed("fused activation \(value) is unknown")
    }
    guard activation.bounds != nil else {
      throw unsupported("fused activation \(activation) is not supported")
    }
    return activation
  }

  // MARK: Inputs

  /// How many inputs the file lists, absent ones included.
  var inputCount: Int { entry.inputs.count }
  /// How many outputs the file lists.
  var outputCount: Int { entry.outputs.count }

  /// Throws unless there are this many inputs and outputs.
  func expect(inputs: ClosedRange<Int>, outputs: ClosedRange<Int> = 1...1) throws(ApusError) {
    guard inputs.contains(inputCount) else {
      throw malformed("has \(inputCount) inputs, not \(Self.text(inputs))")
    }
    guard outputs.contains(outputCount) else {
      throw malformed("has \(outputCount) outputs, not \(Self.text(outputs))")
    }
  }

  private static func text(_ range: ClosedRange<Int>) -> String {
    range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
  }

  /// A required input, of one of `types` and with a rank in `ranks`, if given.
  func input(
    _ position: Int, types: [ElementType]? = nil, ranks: ClosedRange<Int>? = nil
  ) throws(ApusError) -> TensorSlot {
    guard let slot = try optionalInput(position, types: types, ranks: ranks) else {
      throw malformed("has no input \(position)")
    }
    return slot
  }

  /// An input of one rank.
  func input(_ position: Int, types: [ElementType]? = nil, rank: Int) throws(ApusError) -> TensorSlot {
    try input(position, types: types, ranks: rank...rank)
  }

  /// An input that the file may leave out.
  func optionalInput(
    _ position: Int, types: [ElementType]? = nil, ranks: ClosedRange<Int>? = nil
  ) throws(ApusError) -> TensorSlot? {
    guard entry.inputs.indices.contains(position), entry.inputs[position] >= 0 else { return nil }
    let slot = try preparation.inputSlot(entry.inputs[position], of: self)
    if let types, !types.contains(slot.type) {
      throw unsupported(
        "input \(position) (\(slot.name)) is \(slot.type), not \(types.map(\.rawValue).joined(separator: ", "))"
      )
    }
    if let ranks, !ranks.contains(slot.shape.rank) {
      throw malformed(
        "input \(position) (\(slot.name)) is \(slot.shape), of rank \(slot.shape.rank), not \(Self.text(ranks))"
      )
    }
    return slot
  }

  /// A tensor's values, known before this part of the graph runs.
  ///
  /// If the tensor is computed, the segment ends before this operator; what follows is prepared when the values
  /// are known, and again whenever they change. `T` must match the tensor's type.
  func values<T: TensorElement & Equatable>(of slot: TensorSlot, as type: T.Type = T.self) throws(ApusError)
    -> [T]
  {
    guard slot.type.isReadable(as: T.elementType) else {
      throw unsupported("\(slot.name) is \(slot.type), not \(T.elementType)")
    }
    guard slot.shape.elementCount <= Self.valueLimit else {
      throw ApusError(
        .resourceLimit,
        "\(place): needs the \(slot.shape.elementCount) values of \(slot.name) while it is prepared, more than the "
          + "limit of \(Self.valueLimit)")
    }
    try need(arraysOf: slot.shape.elementCount, entryByteCount: 2 * MemoryLayout<Int>.stride)
    // Some operators keep them.
    try keep(tablesOf: slot.shape.elementCount, entryByteCount: MemoryLayout<T>.stride)
    return try preparation.values(of: slot, as: T.self)
  }

  /// The maximum number of values that preparation reads from a tensor: they become arrays.
  private static let valueLimit = 1 << 24

  /// The values of an `int32` or `int64` tensor: a shape, axes, paddings.
  func integers(of slot: TensorSlot) throws(ApusError) -> [Int] {
    if slot.type == .int64 { return try values(of: slot, as: Int64.self).map(Int.init) }
    return try values(of: slot, as: Int32.self).map(Int.init)
  }

  /// Whether the file stores an input as a sparse constant; its values are dense here.
  func isSparse(_ position: Int) -> Bool {
    guard entry.inputs.indices.contains(position), entry.inputs[position] >= 0 else { return false }
    let tensor = subgraph.tensors[entry.inputs[position]]
    return tensor.sparsity != nil && tensor.data != nil
  }

  /// The type that the file declares for an input; nil if it is left out.
  final func inputType(_ position: Int) -> ElementType? {
    guard entry.inputs.indices.contains(position), entry.inputs[position] >= 0 else { return nil }
    return preparation.wiring.types[entry.inputs[position]]
  }

  // MARK: Outputs

  /// Gives an output its shape; the file must declare it with `type` (by default, any).
  func output(
    _ position: Int, shape: TensorShape, types: [ElementType]? = nil
  ) throws(ApusError) -> TensorSlot {
    guard entry.outputs.indices.contains(position) else { throw malformed("has no output \(position)") }
    let slot = try preparation.define(entry.outputs[position], shape: shape, by: self)
    if let types, !types.contains(slot.type) {
      throw unsupported(
        "output \(position) (\(slot.name)) is \(slot.type), not \(types.map(\.rawValue).joined(separator: ", "))"
      )
    }
    return slot
  }

  /// Gives an output its shape; the file must declare it with the type of `slot`.
  func output(_ position: Int, shape: TensorShape, like slot: TensorSlot) throws(ApusError) -> TensorSlot {
    try output(position, shape: shape, types: [slot.type])
  }

  /// The type that the file declares for an output.
  func outputType(_ position: Int) throws(ApusError) -> ElementType {
    guard entry.outputs.indices.contains(position) else { throw malformed("has no output \(position)") }
    return preparation.wiring.types[entry.outputs[position]]
  }

  /// The shape that the file declares for an output.
  func declaredOutputShape(_ position: Int) throws(ApusError) -> [Int] {
    guard entry.outputs.indices.contains(position) else { throw malformed("has no output \(position)") }
    return subgraph.tensors[entry.outputs[position]].shape
  }

  /// Makes an output of an input's elements in the same order; `shape` must have as many.
  func view(_ position: Int, of input: TensorSlot, shape: TensorShape) throws(ApusError) -> ViewOperator {
    let slot = try output(position, shape: shape, like: input)
    guard shape.elementCount == input.shape.elementCount else {
      throw malformed("cannot make \(shape) of \(input.name), \(input.shape)")
    }
    return ViewOperator(input: input, output: slot)
  }

  /// Whether a tensor keeps its values between runs.
  func isVariable(_ slot: TensorSlot) -> Bool {
    slot.index < preparation.wiring.tensorCount && preparation.wiring.isVariable(slot.index)
  }

  /// Makes an output a constant of this plan, because its values are known before a run.
  func constantOutput<T: TensorElement>(
    _ position: Int, shape: TensorShape, values: [T]
  ) throws(ApusError) -> ConstantOutputs {
    let slot = try output(position, shape: shape, types: [T.elementType])
    guard values.count == shape.elementCount else {
      throw malformed("has \(values.count) values for an output of the shape \(shape)")
    }
    try preparation.setConstant(slot, values: values)
    return ConstantOutputs()
  }

  /// Scratch memory for this operator; its contents are undefined when a run begins.
  func scratch(byteCount: Int) throws(ApusError) -> TensorSlot {
    try preparation.scratch(byteCount: byteCount, of: self)
  }

  /// Counts tables of `count` entries, which an operator is about to create and keep, towards the memory
  /// limit.
  func keep(tablesOf count: Int, entryByteCount: Int) throws(ApusError) {
    let (byteCount, overflow) = count.multipliedReportingOverflow(by: entryByteCount)
    do throws(ApusError) { try preparation.hold(overflow ? .max : byteCount) } catch {
      throw ApusError(error.code, "\(place): tables: \(error.message)")
    }
  }

  /// Throws if what preparation needs for a while would exceed the limit on memory.
  func need(arraysOf count: Int, entryByteCount: Int) throws(ApusError) {
    let (byteCount, overflow) = count.multipliedReportingOverflow(by: entryByteCount)
    do throws(ApusError) { try preparation.reserve(overflow ? .max : byteCount) } catch {
      throw ApusError(error.code, "\(place): values: \(error.message)")
    }
  }

  /// Declares the multiply-accumulates of one run, for profiles; throws beyond the limit on work.
  func declare(multiplyAccumulates count: Double) throws(ApusError) {
    try check(work: count)
    preparation.record.multiplyAccumulates = Int(min(count, 1e18))
  }

  /// Throws if a run takes more steps than the limit on work; memory does not bound what grows with a product of sizes.
  func check(work count: Double) throws(ApusError) {
    let limit = context.workLimit
    guard count <= Double(limit) else {
      throw ApusError(.resourceLimit, "\(place): takes \(count) steps, more than the limit of \(limit)")
    }
    note(work: count)
  }

  /// As ``check(work:)`` for steps that a run takes one by one, of plain code: each counts for many.
  func check(plainWork count: Double) throws(ApusError) {
    let limit = context.workLimit / Self.plainWorkCost
    guard count <= Double(limit) else {
      throw ApusError(
        .resourceLimit, "\(place): takes \(count) steps, one by one, more than the limit of \(limit)")
    }
    note(work: count * Double(Self.plainWorkCost))
  }

  /// Keeps the greatest number that is declared, so that runs look at the clock where they are long.
  private func note(work count: Double) {
    preparation.record.work = max(preparation.record.work, Int(min(max(count, 0), 1e18)))
  }

  /// How many multiply-accumulates fast kernels do while plain code takes a step.
  private static let plainWorkCost = 1 << 9

  // MARK: Errors

  /// The node's name in messages: `operator #12, ADD`.
  var place: String {
    let place = "operator #\(index), \(name.brief)"
    return subgraphIndex == 0 ? place : "subgraph \(subgraphIndex), \(place)"
  }

  /// An error about a model that violates an operator's rules.
  func malformed(_ text: String) -> ApusError {
    ApusError(.malformedModel, "\(place): \(text)")
  }

  /// An error about a well-formed operator that this build cannot run.
  func unsupported(_ text: String) -> ApusError {
    ApusError(.unsupportedOperator, "\(place): \(text)")
  }
}
