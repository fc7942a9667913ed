import ApusKernels

/// Operators that the one before them does, where nothing else reads what that computes: their outputs lie in its memory.
extension Graph {
  /// Lets the operator that computes `input` apply a function to it.
  func fuse(
    _ tail: FloatTail, after input: TensorSlot, readers: Int, to output: TensorSlot, by node: Int
  ) -> Bool {
    guard let step = fusibleStep(computing: input, readers: readers, readBy: node),
      let fused = steps[step].operation.followed(by: tail)
    else { return false }
    replace(step, with: fused, output: output, input: input)
    return true
  }

  /// Lets the operator that computes `input` add `other`: where it is, or, if `other` is computed later, in the place of
  /// operator `node`, which adds both.
  func fuseSum(
    of input: TensorSlot, _ other: TensorSlot, within minimum: Float, _ maximum: Float, to output: TensorSlot,
    by node: Int
  ) -> (any Operator)? {
    guard input.shape == other.shape, input.shape == output.shape, !states[other.index].isVariable,
      let step = fusibleStep(computing: input, readers: 1, readBy: node),
      let fused = steps[step].operation.adding(other, within: minimum, maximum, using: kernels)
    else { return nil }
    if states[other.index].producer < steps[step].node {
      replace(step, with: fused, output: output, input: input)
      return ViewOperator()
    }
    guard postpone(step, to: node) else { return nil }
    share(output, with: input)
    states[output.index].fusedInto = node
    return fused
  }

  /// The function that makes `result` of `input`, if `node` alone reads the result and takes the function; the operator
  /// that computes it is left out then.
  func absorbFunction(
    making result: TensorSlot, of input: TensorSlot, readBy node: Int,
    where takes: (UnaryOperator.Function) -> Bool
  ) -> UnaryOperator.Function? {
    let state = states[result.index]
    guard state.root == result.index, !states[input.index].isVariable,
      let step = step(computing: result, readers: 1, readBy: node),
      let operation = steps[step].operation as? UnaryOperator, operation.input.index == input.index,
      let function = operation.function, takes(function)
    else { return nil }
    steps.remove(at: step)
    share(result, with: input)
    return function
  }

  /// Takes a step out, to be done in the place of a later operator, if nothing that it reads changes until then.
  private func postpone(_ step: Int, to node: Int) -> Bool {
    let first = steps[step].node
    let inputs = subgraph.operators[first].inputs.filter { $0 >= 0 }
    let arePure = (first..<node).allSatisfy { index in
      (try? context.registration(of: subgraph.operators[index], at: index).isPure) ?? false
    }
    guard arePure, inputs.allSatisfy({ !states[$0].isVariable }) else { return false }
    for index in inputs { states[index].lastUse = max(states[index].lastUse, node) }
    for scratch in subgraph.tensors.count..<states.count where states[scratch].producer == first {
      states[scratch].producer = node
      states[scratch].lastUse = node
    }
    multiplyAccumulates[node] = multiplyAccumulates[first]
    multiplyAccumulates[first] = 0
    steps.remove(at: step)
    return true
  }

  /// The step that computes a tensor of floats, which lie in memory of their own.
  private func fusibleStep(computing input: TensorSlot, readers: Int, readBy node: Int) -> Int? {
    let state = states[input.index]
    guard input.type == .float32, state.root == input.index || state.fusedInto != nil else { return nil }
    return step(computing: input, readers: readers, readBy: node)
  }

  /// The step that computes a tensor, if it is of the segment in preparation and `node` is the last of so many readers.
  private func step(computing input: TensorSlot, readers: Int, readBy node: Int) -> Int? {
    let state = states[input.index]
    guard !input.isConstant, !state.isVariable, state.readerCount == readers, state.lastUse == node
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
  /// Lets the operator before apply a function of floats, if this operator does all of the reading; nil where it cannot.
  func fused(
    _ tail: FloatTail?, after input: TensorSlot, readers: Int = 1, to output: TensorSlot
  ) -> ViewOperator? {
    guard let tail, graph.fuse(tail, after: input, readers: readers, to: output, by: index) else {
      return nil
    }
    return ViewOperator()
  }

  /// Lets the operator that computes one of two addends of floats add the other; nil where neither can.
  func fusedSum(
    _ lhs: TensorSlot, _ rhs: TensorSlot, within minimum: Float, _ maximum: Float, to output: TensorSlot
  ) -> (any Operator)? {
    for (input, other) in [(lhs, rhs), (rhs, lhs)] {
      if let fused = graph.fuseSum(of: input, other, within: minimum, maximum, to: output, by: index) {
        return fused
      }
    }
    return nil
  }
}
