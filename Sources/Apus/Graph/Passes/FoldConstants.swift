// SPDX-License-Identifier: Apache-2.0
import ApusKernels

extension PlanDraft {
  /// Larger results, in bytes, are computed in each run instead of being kept.
  private static let foldLimit = 256 << 20
  /// Results that take more multiply-accumulates than this are computed in each run, which can be cancelled.
  private static let workLimit = 1 << 32
  /// Results up to this size, in bytes, are computed at once; larger ones on first use, see ``ComputedConstant``.
  private static let eagerLimit = 256

  /// **Rule:** the outputs of a pure operator that reads constants alone are constants.
  /// **Reason:** models compute shapes, axes and paddings this way, and float32 weights from float16 ones.
  ///
  /// - Returns: the size of the results in bytes, and how much of it is in memory now; nil if the rule does not apply.
  mutating func fold(
    _ step: StepDraft, threads: ThreadTeam, model: Model
  ) throws(ApusError) -> (byteCount: Int, keptByteCount: Int)? {
    let inputs = wiring.subgraph.operators[step.position].inputs.filter { $0 >= 0 }
    let outputs = wiring.subgraph.operators[step.position].outputs
    guard !inputs.isEmpty, inputs.allSatisfy({ facts[$0].constant != nil }),
      outputs.allSatisfy({ !wiring.isVariable($0) }), step.multiplyAccumulates <= Self.workLimit
    else { return nil }
    var total = 0
    for tensor in outputs + step.scratch { total += min(try byteCount(of: tensor), Self.foldLimit + 1) }
    guard total <= Self.foldLimit else { return nil }
    let isEager = total <= Self.eagerLimit
    var sources: [(tensor: Int, constant: Constant)] = []
    for tensor in (inputs + step.reads).sorted() where tensor != sources.last?.tensor {
      if let constant = facts[tensor].constant { sources.append((tensor, constant)) }
    }
    let isOfModel = sources.allSatisfy(\.constant.isOfModel)
    if isOfModel, let known = model.foldedConstants(subgraph: wiring.index, tensors: outputs) {
      for (output, constant) in zip(outputs, known) { facts[output].constant = constant }
      return (total, isEager ? total : 0)
    }
    func pieces(_ tensors: [Int]) throws(ApusError) -> [ComputedConstant.Piece] {
      var pieces: [ComputedConstant.Piece] = []
      for tensor in tensors { pieces.append(.init(slot: tensor, byteCount: try byteCount(of: tensor))) }
      return pieces
    }
    let computed = ComputedConstant(
      step.operation, inputs: sources, outputs: try pieces(outputs), scratch: try pieces(step.scratch),
      threads: threads, pool: model.packedMemory,
      isShared: isEager || outputs.contains { wiring.isOutput[$0] || wiring.readers(of: $0).count > 1 })
    var results: [Constant] = []
    for (position, output) in outputs.enumerated() {
      if isEager { _ = try computed.keep(position) }
      results.append(
        Constant(
          .computed(computed, output: position), byteCount: try byteCount(of: output), isOfModel: isOfModel))
      facts[output].constant = results[position]
    }
    if isOfModel { model.remember(results, subgraph: wiring.index, tensors: outputs) }
    return (total, isEager ? total : 0)
  }
}
