// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

extension Pass {
  /// **Rule:** the outputs of a pure operator whose inputs are all constants are constants.
  ///
  /// **Reason:** models compute shapes, axes and paddings this way, and float32 weights from float16 ones.
  package static let folding = Pass(
    "folding", preservesTensors: true,
    .operators { (step, registration, preparation) throws(ApusError) in
      guard registration.isPure, preparation.plan.readsConstantsAlone(step) else { return false }
      step = try preparation.packed(preparation.chosen(step))
      guard let keptByteCount = try preparation.plan.fold(step, preparation) else { return false }
      try preparation.hold(keptByteCount)
      return true
    })
}

extension PlanDraft {
  /// The maximum size of folded results in bytes; larger ones are computed in each run. Results with
  /// everything that they are computed from may take twice as much.
  private static let foldLimit = 256 << 20
  /// The maximum multiply-accumulates of folding, and a sixteenth of the maximum of other work. Results that
  /// take more are computed in each run, which can be cancelled.
  private static let workLimit = 1 << 32
  /// The maximum length of a chain of folded operators.
  private static let maximumDepth = 64
  /// Results up to this size, in bytes, are computed at preparation; larger ones on first use, see
  /// ``ComputedConstant``.
  private static let eagerLimit = 256

  /// Whether an operator has inputs, and all of them are constants.
  fileprivate func readsConstantsAlone(_ step: Step) -> Bool {
    var hasInputs = false
    for input in wiring.subgraph.operators[step.position].inputs where input >= 0 {
      guard facts[input].constant != nil else { return false }
      hasInputs = true
    }
    return hasInputs
  }

  /// Makes the outputs of an operator on constants constants.
  ///
  /// - Returns: how many bytes of the results stay in memory; nil if the rule does not apply.
  fileprivate func fold(_ step: Step, _ preparation: Preparation) throws(ApusError) -> Int? {
    let model = preparation.model
    let operation = wiring.subgraph.operators[step.position]
    let outputs = operation.outputs
    guard let sources = sources(operation.inputs, step.reads),
      outputs.allSatisfy({ !wiring.isVariable($0) }), step.multiplyAccumulates <= Self.workLimit,
      step.work <= Self.workLimit << 4
    else { return nil }
    let (results, scratch) = (try pieces(outputs), try pieces(step.scratch))
    var total = 0
    for piece in results { total += min(piece.byteCount, Self.foldLimit + 1) }
    for piece in scratch { total += min(piece.byteCount, Self.foldLimit + 1) }
    guard total <= Self.foldLimit else { return nil }
    // Its sources may have to be computed with it.
    var (chain, work, depth) = (total, step.work, 1)
    for source in sources {
      guard let computation = source.constant.computation else { continue }
      chain = chain.addingClamped(source.constant.leasedByteCount)
      work = work.addingClamped(computation.work)
      depth = max(depth, computation.depth + 1)
    }
    guard chain <= 2 * Self.foldLimit, work <= Self.workLimit << 4, depth <= Self.maximumDepth else {
      return nil
    }
    let keptByteCount = results.reduce(0) { $0 + $1.byteCount }
    let isEager = total <= Self.eagerLimit
    let isOfModel = sources.allSatisfy { $0.constant.isOfModel }
    if isOfModel, let known = model.foldedConstants(wiring, tensors: outputs) {
      for (output, constant) in zip(outputs, known) { facts[output].constant = constant }
      return known.contains { $0.computation?.isShared ?? true } ? keptByteCount : 0
    }
    try preparation.reserve(isEager ? chain : total)
    let isShared = isEager || outputs.contains { wiring.isOutput[$0] || wiring.readers(of: $0).count > 1 }
    let computed = ComputedConstant(
      step.operation, inputs: sources, outputs: results, scratch: scratch,
      threads: preparation.context.threads,
      pool: model.packedMemory, tables: model.spareTables,
      isShared: isShared, depth: depth, work: work)
    var constants: [Constant] = []
    constants.reserveCapacity(outputs.count)
    for (position, output) in outputs.enumerated() {
      if isEager { _ = try computed.keep(position) }
      let byteCount = results[position].byteCount
      let constant =
        computed.keptMemory(position).map { Constant($0, byteCount: byteCount, isOfModel: isOfModel) }
        ?? Constant(.computed(computed, output: position), byteCount: byteCount, isOfModel: isOfModel)
      constants.append(constant)
      facts[output].constant = constant
    }
    if isOfModel { model.remember(constants, wiring, tensors: outputs) }
    return isShared ? keptByteCount : 0
  }

  /// The constants that an operator needs, without duplicates; nil if it has no inputs, or one that is not
  /// constant.
  private func sources(_ inputs: [Int], _ reads: [Int]) -> [NamedConstant]? {
    var tensors: [Int] = []
    tensors.reserveCapacity(inputs.count + reads.count)
    for input in inputs where input >= 0 {
      guard facts[input].constant != nil else { return nil }
      tensors.append(input)
    }
    guard !tensors.isEmpty else { return nil }
    tensors += reads
    tensors.sort()
    var sources: [NamedConstant] = []
    sources.reserveCapacity(inputs.count)
    for tensor in tensors where tensor != sources.last?.tensor {
      if let constant = facts[tensor].constant { sources.append(.init(tensor: tensor, constant: constant)) }
    }
    return sources
  }

  /// Memory for tensors.
  private func pieces(_ tensors: [Int]) throws(ApusError) -> [ComputedConstant.Piece] {
    var pieces: [ComputedConstant.Piece] = []
    pieces.reserveCapacity(tensors.count)
    for tensor in tensors { pieces.append(.init(slot: tensor, byteCount: try byteCount(of: tensor))) }
    return pieces
  }
}
