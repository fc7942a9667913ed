import ApusKernels

/// An operator of floats that can do what follows it to each part of its output, while that is still in the cache.
protocol FusibleOperator: Operator {
  /// The operator with a function of each value after it; nil where it cannot do that.
  func followed(by tail: FloatTail) -> (any Operator)?

  /// The operator with another tensor of its output's shape added, the sums brought between two bounds; nil where it cannot
  /// do that.
  func adding(_ other: TensorSlot, within minimum: Float, _ maximum: Float) -> (any Operator)?
}

/// Operators that the one before them does, where nothing else reads what that computes: their outputs lie in its memory.
extension Graph {
  /// Lets the operator that computes `input` apply a function to it.
  func fuse(_ tail: FloatTail, after input: TensorSlot, to output: TensorSlot, by node: Int) -> Bool {
    guard let step = fusibleStep(computing: input, readBy: node),
      let fused = (steps[step].operation as? any FusibleOperator)?.followed(by: tail)
    else { return false }
    replace(step, with: fused, output: output, input: input)
    return true
  }

  /// Lets the operator that computes `input` add `other`, if that is there before it runs.
  func fuseSum(
    of input: TensorSlot, _ other: TensorSlot, within minimum: Float, _ maximum: Float, to output: TensorSlot,
    by node: Int
  ) -> Bool {
    guard input.shape == other.shape, input.shape == output.shape, !states[other.index].isVariable,
      let step = fusibleStep(computing: input, readBy: node), states[other.index].producer < steps[step].node,
      let fused = (steps[step].operation as? any FusibleOperator)?.adding(other, within: minimum, maximum)
    else { return false }
    replace(step, with: fused, output: output, input: input)
    return true
  }

  /// The step that computes a tensor of floats, if it is of the segment in preparation and `node` alone reads that.
  private func fusibleStep(computing input: TensorSlot, readBy node: Int) -> Int? {
    let state = states[input.index]
    guard input.type == .float32, !input.isConstant, !state.isVariable, state.readerCount == 1,
      state.lastUse == node, state.root == input.index || state.fusedInto != nil
    else { return nil }
    let producer = state.fusedInto ?? state.producer
    guard let step = steps.lastIndex(where: { $0.node == producer }),
      let segment = segments.last, step >= segment.steps.lowerBound
    else { return nil }
    return step
  }

  private func replace(_ step: Int, with fused: any Operator, output: TensorSlot, input: TensorSlot) {
    share(output, with: input)
    states[output.index].fusedInto = steps[step].node
    steps[step] = Step(node: steps[step].node, operation: fused)
  }
}

extension Node {
  /// Lets the operator before apply a function of floats; nil where it cannot.
  func fused(_ tail: FloatTail?, after input: TensorSlot, to output: TensorSlot) -> ViewOperator? {
    guard let tail, graph.fuse(tail, after: input, to: output, by: index) else { return nil }
    return ViewOperator()
  }

  /// Lets the operator that computes one of two addends of floats add the other; nil where neither can.
  func fusedSum(
    _ lhs: TensorSlot, _ rhs: TensorSlot, within minimum: Float, _ maximum: Float, to output: TensorSlot
  ) -> ViewOperator? {
    for (input, other) in [(lhs, rhs), (rhs, lhs)]
    where graph.fuseSum(of: input, other, within: minimum, maximum, to: output, by: index) {
      return ViewOperator()
    }
    return nil
  }
}
