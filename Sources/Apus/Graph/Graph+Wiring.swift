import ApusFormat

/// What the file says of tensors, and how operators join them.
extension Graph {
  /// What the file says of each tensor; the graph's wiring is checked here, once.
  func initialStates() throws(ApusError) -> [TensorState] {
    var states: [TensorState] = []
    // Most operators have one piece of scratch memory at most.
    states.reserveCapacity(subgraph.tensors.count + subgraph.operators.count)
    for (index, tensor) in subgraph.tensors.enumerated() {
      let constant = tensor.isVariable ? nil : model.constant(subgraph: subgraphIndex, tensor: index)
      states.append(
        TensorState(
          entry: tensor, type: ElementType(tensor.type),
          shape: constant == nil && !tensor.isVariable ? nil : TensorShape(tensor.shape), constant: constant,
          root: index, producer: -1, lastUse: -1, isVariable: tensor.isVariable))
    }
    var isInput = Array(repeating: false, count: states.count)
    for input in subgraph.inputs {
      isInput[input] = true
      states[input].lastUse = .max
      states[input].constant = nil
    }
    for (index, node) in subgraph.operators.enumerated() {
      for input in node.inputs where input >= 0 {
        states[input].lastUse = max(states[input].lastUse, index)
        states[input].readerCount += 1
      }
      for output in node.outputs {
        guard !node.inputs.contains(output) else {
          throw ApusError(.malformedModel, "operator #\(index): reads and writes \(states[output].name)")
        }
        guard states[output].producer < 0, states[output].constant == nil, !isInput[output] else {
          throw ApusError(
            .malformedModel,
            "operator #\(index): writes \(states[output].name), which is a constant, an input or another's output"
          )
        }
        states[output].producer = index
      }
    }
    // A constant without elements has no bytes in the file, and looks like a tensor that an operator writes.
    for index in states.indices
    where states[index].producer < 0 && states[index].shape == nil && !isInput[index] {
      let shape = TensorShape(subgraph.tensors[index].shape)
      guard shape.elementCount == 0, shape.dimensions.allSatisfy({ $0 >= 0 }),
        states[index].type.byteCount != nil
      else {
        continue
      }
      states[index].shape = shape
      states[index].constant = ConstantData(
        base: UnsafeRawPointer(nothing.base), byteCount: 0, owner: nothing, isOfModel: true)
    }
    for output in subgraph.outputs {
      let state = states[output]
      guard state.producer >= 0 || state.constant != nil || state.isVariable || isInput[output] else {
        throw ApusError(.malformedModel, "subgraph \(subgraphIndex): nothing writes the output \(state.name)")
      }
      states[output].lastUse = .max
    }
    if preservesAllTensors {
      for index in states.indices { states[index].lastUse = .max }
    }
    return states
  }
}
