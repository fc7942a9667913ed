// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// The requests of a ``Node`` while its operator prepares.
extension Preparation {
  /// A tensor's values, if they are known before any run.
  func constant(_ tensor: Int) -> Constant? {
    tensor < wiring.tensorCount ? plan.facts[tensor].constant : nil
  }

  /// A tensor's shape, once it is known.
  func shape(of tensor: Int) -> TensorShape? { plan.facts[tensor].shape }

  /// A tensor that an operator reads.
  func inputSlot(_ index: Int, of node: Node) throws(ApusError) -> TensorSlot {
    guard let shape = plan.facts[index].shape, wiring.producerOrNone(of: index) < node.index else {
      throw node.malformed("reads \(wiring.name(of: index)), which nothing before it writes")
    }
    record.reads.append(index)
    return slot(index, shape: shape)
  }

  private func slot(_ index: Int, shape: TensorShape) -> TensorSlot {
    TensorSlot(
      index: index, entry: wiring.subgraph.tensors[index], type: wiring.types[index], shape: shape,
      isConstant: plan.facts[index].constant != nil)
  }

  /// The maximum rank of computed tensors; data may ask for any.
  private static let rankLimit = 32

  /// Gives a tensor its shape.
  func define(_ index: Int, shape: TensorShape, by node: Node) throws(ApusError) -> TensorSlot {
    guard shape.dimensions.allSatisfy({ $0 >= 0 }) else {
      throw node.malformed("output \(wiring.name(of: index)) would have the shape \(shape)")
    }
    noteWrite(index, by: node.index)
    if wiring.isVariable(index) {
      guard shape == plan.facts[index].shape else {
        throw node.malformed(
          "variable \(wiring.name(of: index)), \(plan.facts[index].shape ?? []), would have the shape \(shape)"
        )
      }
      return slot(index, shape: shape)
    }
    guard shape.rank <= Self.rankLimit else {
      throw ApusError(
        .resourceLimit,
        "\(node.place): output \(wiring.name(of: index)) has \(shape.rank) dimensions, more than the limit of "
          + "\(Self.rankLimit)")
    }
    let byteCount = try wiring.byteCount(of: index, shape: shape)
    guard shape.elementCount <= context.elementLimit else {
      throw ApusError(
        .resourceLimit,
        "\(node.place): output \(wiring.name(of: index)), \(shape), has \(shape.elementCount) elements, more than the "
          + "limit of \(context.elementLimit)")
    }
    // The memory limit does not bound the dimensions of tensors without elements.
    guard shape.elementCount > 0 || shape.extent <= context.elementLimit else {
      throw ApusError(
        .resourceLimit,
        "\(node.place): output \(wiring.name(of: index)), \(shape), has sizes whose product is more than the limit of "
          + "\(context.elementLimit)")
    }
    guard byteCount <= context.memoryLimit else {
      throw ApusError(
        .resourceLimit,
        "\(node.place): output \(wiring.name(of: index)), \(shape), takes \(byteCount) bytes, more than the limit "
          + "of \(context.memoryLimit)")
    }
    plan.facts[index].shape = shape
    return slot(index, shape: shape)
  }

  /// Scratch memory for one step.
  func scratch(byteCount: Int, of node: Node) throws(ApusError) -> TensorSlot {
    guard byteCount >= 0, byteCount <= context.memoryLimit else {
      throw ApusError(
        .resourceLimit,
        "\(node.place): needs \(byteCount) bytes to work in, more than the limit of \(context.memoryLimit)")
    }
    plan.scratchByteCounts.append(byteCount)
    let index = wiring.tensorCount + plan.scratchByteCounts.count - 1
    record.scratch.append(index)
    return TensorSlot(index: index, entry: nil, type: .uint8, shape: [byteCount], isConstant: false)
  }

  /// A tensor's values at preparation.
  func values<T: TensorElement>(of slot: TensorSlot, as type: T.Type) throws(ApusError) -> [T] {
    if let constant = constant(slot.index) { return try constant.values() }
    // A view planned in this segment has no memory yet, but its root may have.
    let root = slot.index < wiring.tensorCount ? plan.facts[slot.index].root : slot.index
    guard let raw = unsafe try present(root) else {
      throw ApusError(.valueNotKnown, "\(wiring.name(of: slot.index)) is known only when the model runs")
    }
    return (0..<raw.count / MemoryLayout<T>.stride).map {
      unsafe raw.loadUnaligned(fromByteOffset: $0 * MemoryLayout<T>.stride, as: T.self)
    }
  }

  /// Makes an output a constant of this plan.
  func setConstant<T: BitwiseCopyable>(_ slot: TensorSlot, values: [T]) throws(ApusError) {
    let byteCount = values.count * MemoryLayout<T>.stride
    try hold(byteCount)
    let memory = try TensorMemory(byteCount: byteCount)
    unsafe values.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      unsafe memory.base.copyMemory(from: base, byteCount: byteCount)
    }
    plan.facts[slot.index].constant = Constant(memory, byteCount: byteCount, isOfModel: false)
  }

  /// Whether all operators before `node` have run, and none after them.
  func isNextInRun(_ node: Int) -> Bool { start.isRunning && start.nextNode == node }
}
