// SPDX-License-Identifier: Apache-2.0

/// The start of a plan: input shapes, variables and constants. Immutable.
final class PlannedInputs {
  /// The shapes of the inputs, by position.
  let shapes: [TensorShape]
  /// The facts about each tensor before the first operator.
  let facts: [TensorFacts]
  /// The layout of the inputs.
  let layout: Layout
  /// The size of each variable.
  let variables: [(tensor: Int, byteCount: Int)]
  /// The start of the first segment.
  let start: PlanStart

  var variableByteCount: Int { variables.reduce(0) { $0 + $1.byteCount } }
  /// The size of inputs and variables, in bytes.
  var heldByteCount: Int { layout.byteCount + variableByteCount }

  /// Assigns shapes and places to inputs.
  init(
    _ wiring: Wiring, _ model: Model, shapes: [TensorShape], memoryLimit: Int
  ) throws(ApusError) {
    self.shapes = shapes
    var facts: [TensorFacts] = []
    facts.reserveCapacity(wiring.tensorCount)
    var present = PresentTensors(count: wiring.tensorCount)
    var variables: [(tensor: Int, byteCount: Int)] = []
    for tensor in 0..<wiring.tensorCount {
      var fact = TensorFacts(root: tensor)
      let shape = TensorShape(wiring.subgraph.tensors[tensor].shape)
      switch wiring.sources[tensor] {
      case .constant:
        fact.shape = shape
        if let constant = model.constant(subgraph: wiring.index, tensor: tensor) {
          fact.constant = constant
        } else {
          fact.constant = Constant(try TensorMemory(byteCount: 0), byteCount: 0, isOfModel: true)
        }
      case .variable:
        fact.shape = shape
        variables.append((tensor, try wiring.byteCount(of: tensor, shape: shape)))
      case .input, .node, .nothing: break
      }
      facts.append(fact)
    }
    var requests: [OffsetAssignment.Request] = []
    var tensors: [Int] = []
    // A tensor may be several inputs; the last shape counts.
    for (position, tensor) in wiring.subgraph.inputs.enumerated().reversed()
    where wiring.sources[tensor] == .input && !present[tensor] {
      facts[tensor].shape = shapes[position]
      present[tensor] = true
      requests.append(
        .init(byteCount: try wiring.byteCount(of: tensor, shape: shapes[position]), lifetime: 0...0))
      tensors.append(tensor)
    }
    var layout = Layout()
    try layout.assign(requests, to: tensors, subgraph: wiring.index)
    self.facts = facts
    self.layout = layout
    self.variables = variables
    let (held, overflow) = variables.reduce((layout.byteCount, false)) { sum, variable in
      let (total, isTooMuch) = sum.0.addingReportingOverflow(variable.byteCount)
      return (total, sum.1 || isTooMuch)
    }
    guard !overflow, held <= memoryLimit else {
      throw ApusError(
        .resourceLimit,
        "subgraph \(wiring.index): inputs and variables need \(held) bytes, more than the limit of \(memoryLimit)"
      )
    }
    start = PlanStart(
      nextNode: 0, facts: facts, present: present, segmentCount: 0, heldByteCount: held, isRunning: false)
  }
}
