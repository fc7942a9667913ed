// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The types of all tensors of a model, where operators that call subgraphs change those of the file.
///
/// As in the reference, the arguments of a called subgraph have the types of the caller's tensors, whatever the file declares, and the
/// results of a call have the types of the subgraph's. `STABLEHLO_CASE` also gives its branches' arguments and results the quantization of
/// the caller's tensors. Of several callers that disagree, the first one decides; calls of others are then refused.
struct CallResolution {
  /// The file, with the quantization that calls give to tensors.
  private(set) var file: ModelFile
  /// For each subgraph: the types of its tensors; see ``ResultType`` for results of operators.
  private(set) var types: [[ElementType]]
  /// For each subgraph: whether it cannot have the quantizations and types that `STABLEHLO_CASE` gives it, as another caller needs others.
  private(set) var isContested: [Bool]

  private let registrations: [OperatorRegistration]
  /// For each subgraph: whether its types are known, or about to be.
  private var isResolved: [Bool]
  /// For each subgraph: whether the caller of the model runs it, so that its arguments are as the file says.
  private var isEntry: [Bool]
  /// For each subgraph: the digest of the first `STABLEHLO_CASE` that calls it.
  private var branchCallers: [Int?]

  /// The tensors of a caller that a branch's arguments and results are like.
  private struct BranchCaller {
    let arguments: [TensorEntry?]
    let results: [TensorEntry]
    /// Equal for callers whose branches get the same quantizations and types; one number, as they may have many branches.
    let digest: Int

    init(_ node: OperatorEntry, _ arguments: [Int], in subgraph: SubgraphEntry) {
      self.arguments = arguments.map { $0 >= 0 ? subgraph.tensors[$0] : nil }
      results = node.outputs.map { subgraph.tensors[$0] }
      var hasher = Hasher()
      for argument in self.arguments { Self.add(argument?.quantization, to: &hasher) }
      for result in results {
        Self.add(result.quantization, to: &hasher)
        hasher.combine(result.type)
      }
      digest = hasher.finalize()
    }

    /// Adds what is given of a quantization: scales of channels are not.
    private static func add(_ quantization: QuantizationEntry?, to hasher: inout Hasher) {
      let count = quantization?.scaleCount ?? 0
      hasher.combine(count)
      guard let quantization, count == 1 else { return }
      hasher.combine(quantization.scale(0).bitPattern)
      hasher.combine(quantization.zeroPoint(0))
    }
  }

  /// Resolves the types of a file's tensors.
  ///
  /// - Parameter registrations: the registration of each operator code of the file.
  init(_ file: ModelFile, _ registrations: [OperatorRegistration]) {
    self.file = file
    self.registrations = registrations
    types = file.subgraphs.map { $0.tensors.map { ElementType($0.type) } }
    let none = Array(repeating: false, count: types.count)
    (isContested, isResolved, isEntry) = (none, none, none)
    branchCallers = Array(repeating: nil, count: types.count)
    isEntry[0] = true
    for signature in file.signatures where isEntry.indices.contains(signature.subgraph) {
      isEntry[signature.subgraph] = true
    }
    for index in types.indices where isEntry[index] { resolve(index, depth: 0) }
    for index in types.indices { resolve(index, depth: 0) }
  }

  /// Follows the operators of a subgraph, whose inputs have their types.
  private mutating func resolve(_ index: Int, depth: Int) {
    // Calls in a circle, and those that are too deep, are an error when an interpreter is made.
    guard !isResolved[index], depth <= Model.Limits.deepestCalls else { return }
    isResolved[index] = true
    let subgraph = file.subgraphs[index]
    for node in subgraph.operators {
      let registration = registrations[node.operatorCode]
      guard case .called(let targets, let first) = registration.subgraphs else {
        registration.setResultTypes(of: node, in: subgraph, &types[index])
        continue
      }
      // Malformed options are an error when the operator is prepared.
      let options = OperatorOptions(node) { ApusError(.malformedModel, $0.message) }
      guard let called = try? targets(options) else { continue }
      let arguments = Array(node.inputs.dropFirst(first))
      let caller = registration.code == .stablehloCase ? BranchCaller(node, arguments, in: subgraph) : nil
      for target in called where types.indices.contains(target) {
        if let caller { adopt(caller, by: target) }
        call(target, arguments, from: index, depth: depth)
      }
      // The values of a loop have the types of its inputs.
      guard registration.code != .while, let target = called.first, types.indices.contains(target),
        file.subgraphs[target].outputs.count == node.outputs.count
      else { continue }
      for (result, source) in zip(node.outputs, file.subgraphs[target].outputs)
      where !subgraph.tensors[result].isVariable {
        types[index][result] = types[target][source]
      }
    }
  }

  /// Gives a called subgraph's arguments their types.
  private mutating func call(_ target: Int, _ arguments: [Int], from index: Int, depth: Int) {
    guard !isResolved[target] else { return }
    let callee = file.subgraphs[target]
    if !isEntry[target], callee.inputs.count == arguments.count {
      for (argument, input) in zip(arguments, callee.inputs)
      where argument >= 0 && !callee.tensors[input].isVariable {
        types[target][input] = types[index][argument]
      }
    }
    resolve(target, depth: depth + 1)
  }

  /// Gives a branch's arguments and results the quantization of the caller's tensors, and its results their types.
  private mutating func adopt(_ caller: BranchCaller, by target: Int) {
    let callee = file.subgraphs[target]
    guard callee.inputs.count == caller.arguments.count, callee.outputs.count == caller.results.count else {
      return
    }
    if let first = branchCallers[target] {
      if first != caller.digest { isContested[target] = true }
      return
    }
    branchCallers[target] = caller.digest
    var isInput = Array(repeating: false, count: callee.tensors.count)
    for (input, argument) in zip(callee.inputs, caller.arguments) {
      isInput[input] = true
      if let argument { requantize(input, of: target, as: argument.quantization) }
    }
    for (output, result) in zip(callee.outputs, caller.results) {
      requantize(output, of: target, as: result.quantization)
      let entry = callee.tensors[output]
      guard ElementType(result.type) != types[target][output] else { continue }
      // The reference would read the bytes of others as if they were of the type.
      guard !isResolved[target], !isEntry[target], entry.data == nil, !entry.isVariable,
        !isInput[output]
      else {
        isContested[target] = true
        continue
      }
      types[target][output] = ElementType(result.type)
    }
  }

  /// Gives a tensor of a branch another quantization, if it is one that can be given.
  private mutating func requantize(_ tensor: Int, of target: Int, as quantization: QuantizationEntry?) {
    let entry = file.subgraphs[target].tensors[tensor]
    let (scaleCount, own) = (quantization?.scaleCount ?? 0, entry.quantization?.scaleCount ?? 0)
    // Scales of channels are not given in the reference.
    if scaleCount > 1, own > 1 { return }
    if scaleCount == own, scaleCount == 0 || Self.areSame(entry.quantization, quantization) { return }
    guard scaleCount <= 1, own <= 1, quantization?.detailsType ?? 0 <= 1, !isEntry[target],
      quantization?.quantizedDimension ?? 0 < max(entry.shape.count, 1)
    else {
      isContested[target] = true
      return
    }
    file.requantize(tensor: tensor, ofSubgraph: target, as: quantization)
  }

  /// Whether two quantizations with one scale each are the same.
  private static func areSame(_ lhs: QuantizationEntry?, _ rhs: QuantizationEntry?) -> Bool {
    lhs?.scale(0) == rhs?.scale(0) && lhs?.zeroPoint(0) == rhs?.zeroPoint(0)
  }
}
