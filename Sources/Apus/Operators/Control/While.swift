// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// `WHILE`: calls a body on its own outputs while a condition holds.
///
/// ``Interpreter/Options/loopLimit`` bounds the iterations of a run; a cancelled or late run ends before the next one.
struct While: Operator {
  private let condition: SubgraphCall
  private let body: SubgraphCall
  private let inputs: [TensorSlot]
  private let outputs: [TensorSlot]
  /// Whether the body returns an input unchanged.
  private let isInvariant: [Bool]
  private let place: String

  /// The subgraphs that the options name: the condition and the body.
  static func subgraphs(_ options: OperatorOptions) throws(ApusError) -> [Int] {
    [try options.while.conditionSubgraph, try options.while.bodySubgraph]
  }

  static func prepare(_ node: Node) throws(ApusError) -> any Operator {
    let inputs = try node.inputs(from: 0)
    let types = inputs.map(\.type)
    guard try node.outputTypes() == types else {
      throw node.malformed("has outputs whose types differ from its inputs'")
    }
    let called = try node.calledSubgraphs()
    guard called[0] != called[1] else {
      throw node.malformed("has subgraph \(called[0]) for condition and body")
    }
    let arguments = inputs.map { ($0.type, $0.shape) }
    let condition = try SubgraphCall(called[0], inputs: arguments, outputTypes: [.bool], of: node)
    if let shape = condition.plannedShapes?[0] { try check(condition: shape, node.place) }
    let body = try SubgraphCall(
      called[1], inputs: arguments, outputTypes: types, of: node, mayBeSkipped: true)
    // A scalar is not a vector of one: which of them a result is depends on whether the body runs.
    guard let shapes = body.plannedShapes, shapes == inputs.map(\.shape) else {
      return try DeferredWhile(condition: condition, body: body, inputs: inputs, place: node.place)
    }
    return While(
      condition: condition, body: body, inputs: inputs, outputs: try node.outputs(shapes),
      isInvariant: zip(body.graph.subgraph.inputs, body.graph.subgraph.outputs).map { $0 == $1 },
      place: node.place)
  }

  static func check(condition shape: TensorShape, _ place: String) throws(ApusError) {
    guard shape.rank <= 1, shape.elementCount == 1 else {
      throw ApusError(.malformedModel, "\(place): the condition is \(shape), not one element")
    }
  }

  /// Runs the condition on what was passed to it.
  static func holds(_ condition: SubgraphCall, _ place: String) throws(ApusError) -> Bool {
    try condition.run()
    let graph = condition.graph
    try check(condition: graph.outputShape(0) ?? [0], place)
    let output = graph.subgraph.outputs[0]
    return graph.withTable { table in
      unsafe table.readBytes(at: output).withUnsafeBytes { unsafe $0.first != 0 }
    }
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    for (position, input) in inputs.enumerated() {
      var result = tensors.writeBytes(outputs[position])
      copyBytes(tensors.readBytes(input), to: &result, threads: tensors.threads)
    }
    var isFirst = true
    repeat {
      try pass(tensors, to: condition, isFirst: isFirst)
      guard try Self.holds(condition, place) else { return }
      try pass(tensors, to: body, isFirst: isFirst)
      try body.countIteration()
      try body.run()
      for (position, output) in outputs.enumerated() where !isInvariant[position] {
        try body.copyOutput(position, to: output, tensors)
      }
      isFirst = false
    } while true
  }

  /// Passes the values; after the first time, only those that the body changes, unless another operator calls
  /// the subgraph in between.
  private func pass(
    _ tensors: borrowing TensorTable, to call: SubgraphCall, isFirst: Bool
  ) throws(ApusError) {
    let passesAll = isFirst || !call.isOnlyCall
    if passesAll {
      for (position, input) in inputs.enumerated() { call.setShape(input.shape, at: position) }
      try call.prepare()
    }
    for (position, output) in outputs.enumerated() where passesAll || !isInvariant[position] {
      try call.pass(tensors.readBytes(output), to: position)
    }
  }
}
