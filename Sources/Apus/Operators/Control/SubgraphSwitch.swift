// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Which of several subgraphs an operator calls.
enum SubgraphChoice {
  /// The only one.
  case only
  /// The first if a Boolean tensor is true, otherwise the second.
  case condition(TensorSlot)
  /// The one whose index a tensor holds; the last for indices out of range.
  case number(TensorSlot)

  /// The position of the subgraph among `count`.
  func position(among count: Int, _ tensors: borrowing TensorTable) -> Int {
    switch self {
    case .only: return 0
    case .condition(let slot): return tensors.read(slot, as: UInt8.self)[0] != 0 ? 0 : 1
    case .number(let slot):
      let number = Int(tensors.read(slot, as: Int32.self)[0])
      return (0..<count).contains(number) ? number : count - 1
    }
  }
}

/// Calls one of several subgraphs with the same inputs; all outputs have the same shapes.
struct SubgraphSwitch: Operator {
  private let choice: SubgraphChoice
  private let calls: [SubgraphCall]
  private let inputs: [TensorSlot]
  private let outputs: [TensorSlot]

  /// An operator that calls one of the subgraphs that its options name, whether or not their output shapes are
  /// known and equal.
  static func prepared(
    _ node: Node, _ choice: SubgraphChoice, _ inputs: [TensorSlot]
  ) throws(ApusError) -> any Operator {
    var calls: [SubgraphCall] = []
    var shapes: [[TensorShape]?] = []
    let (arguments, outputTypes) = (inputs.map { ($0.type, $0.shape) }, try node.outputTypes())
    let indices = try node.calledSubgraphs()
    for index in indices {
      let call = try SubgraphCall(
        index, inputs: arguments, outputTypes: outputTypes, of: node, mayBeSkipped: indices.count > 1)
      calls.append(call)
      // Now, because preparing another subgraph may prepare this one anew, if both call the same one.
      shapes.append(call.plannedShapes)
    }
    guard let last = shapes.last else { throw node.malformed("has no subgraphs to call") }
    if calls.allSatisfy({ $0.refusal != nil }), let refusal = calls.first?.refusal { throw refusal }
    guard let last, shapes.allSatisfy({ $0 == last }) else {
      return DeferredSubgraphSwitch(choice, calls, inputs)
    }
    return SubgraphSwitch(choice: choice, calls: calls, inputs: inputs, outputs: try node.outputs(last))
  }

  func invoke(_ tensors: borrowing TensorTable) throws(ApusError) {
    let call = calls[choice.position(among: calls.count, tensors)]
    try call.run(inputs, tensors)
    for (position, output) in outputs.enumerated() { try call.copyOutput(position, to: output, tensors) }
  }
}
