// SPDX-License-Identifier: Apache-2.0
import ApusKernels

/// What an operator folds of a matrix of floats.
struct ReductionStep {
  let stage: ReductionStage
  let operand: TensorSlot
  let output: TensorSlot
}

extension PlanDraft {
  /// **Rule:** elementwise operators and reductions of the rows of one matrix whose results nothing reads but others of them and
  /// the last one's readers are one step, in the last one's place; so are elementwise operators and the sum of columns that
  /// reads what they compute.
  /// **Reason:** what normalizes rows reads them several times. A few rows stay in the cache; a tensor does not.
  mutating func joinRows(threadCount: Int) throws(ApusError) {
    var matrices: [Matrix] = []
    for step in steps {
      guard let stage = step.operation.reduction?.stage else { continue }
      let matrix = Matrix(stage)
      if matrices.count < Self.mostMatrices, !matrices.contains(matrix) { matrices.append(matrix) }
    }
    guard !matrices.isEmpty else { return }
    var isAbsorbed = Array(repeating: false, count: steps.count)
    let writers = writers
    var triesLeft = steps.count + Self.moreTries
    for index in steps.indices.reversed() where !isAbsorbed[index] {
      try limits.checkTime(at: index)
      for matrix in matrices where triesLeft > 0 && ends(steps[index], matrix) {
        triesLeft -= 1
        let members = rowMembers(endingAt: index, of: matrix, writers: writers)
        guard members.count > 1, members.contains(where: { steps[$0].operation.reduction != nil }),
          let joined = joined(members, matrix, threadCount: threadCount)
        else { continue }
        for member in members.dropLast() { isAbsorbed[member] = true }
        steps[index] = joined
        break
      }
    }
    removeSteps { isAbsorbed[$0] }
  }

  /// How often more than once a step is looked at as the last of some matrix: where one tensor is folded in many ways, all could be
  /// in vain.
  private static let moreTries = 4096

  /// The most matrices that are looked for: each is compared with each step, and hostile models have any number of both.
  private static let mostMatrices = 64

  /// A matrix that is folded, and how.
  private struct Matrix: Equatable {
    let rows: Int
    let depth: Int
    let foldsRows: Bool

    init(_ stage: ReductionStage) {
      (rows, depth) = (stage.rows, stage.depth)
      if case .rows = stage.direction { foldsRows = true } else { foldsRows = false }
    }

    var count: Int { rows * depth }
  }

  /// Whether a step can be the last of those that are joined: one with an element for each of the matrix, or its reduction.
  private func ends(_ step: Step, _ matrix: Matrix) -> Bool {
    if let reduction = step.operation.reduction { return Matrix(reduction.stage) == matrix }
    return matrix.foldsRows && step.operation.elementwise?.stage.elementCount == matrix.count
  }

  /// The steps that can be done together with the one at `end`, in their order.
  private func rowMembers(endingAt end: Int, of matrix: Matrix, writers: [Int]) -> [Int] {
    members(
      endingAt: end, atMost: RowChain.mostStages, writers: writers, operands: rowOperands,
      accepts: { step, tensor in isMember(step, writing: tensor, of: matrix) })
  }

  private func rowOperands(of step: Step) -> [TensorSlot] {
    step.operation.reduction.map { [$0.operand] } ?? step.operation.elementwise?.operands ?? []
  }

  /// Whether a step computes something for each element of a matrix, or for each row.
  private func isMember(_ step: Step, writing tensor: Int, of matrix: Matrix) -> Bool {
    if let reduction = step.operation.reduction {
      return matrix.foldsRows && reduction.output.index == tensor && Matrix(reduction.stage) == matrix
    }
    guard let elementwise = step.operation.elementwise, elementwise.output.index == tensor else {
      return false
    }
    let count = elementwise.stage.elementCount
    return count == matrix.count || matrix.foldsRows && count == matrix.rows
  }

  /// One step for several.
  private mutating func joined(_ members: [Int], _ matrix: Matrix, threadCount: Int) -> Step? {
    var stages: [(stage: RowChain.Stage, sources: [ElementwiseChain.Source])] = []
    var inputs: [TensorSlot] = []
    var results: [Int] = []
    for member in members {
      let operation = steps[member].operation
      let stage: RowChain.Stage
      if let reduction = operation.reduction {
        stage = .reduction(reduction.stage)
        results.append(reduction.output.index)
      } else if let elementwise = operation.elementwise {
        stage = .elements(elementwise.stage)
        results.append(elementwise.output.index)
      } else {
        return nil
      }
      stages.append(
        (stage, rowOperands(of: steps[member]).map { source(of: $0, results.dropLast(), &inputs) }))
    }
    guard let last = members.last, let output = output(of: steps[last]),
      let chain = RowChain(
        stages, tensorCount: inputs.count, rows: matrix.rows, depth: matrix.depth, using: kernels)
    else { return nil }
    let scratch = scratch(for: chain, threadCount: threadCount)
    return steps[last].doing(
      ChainOperator(chain, inputs, output: output, scratch: scratch),
      absorbing: members.dropLast().map { steps[$0] }, reads: inputs.map(\.index), scratch: [scratch.index])
  }

  private func output(of step: Step) -> TensorSlot? {
    step.operation.reduction?.output ?? step.operation.elementwise?.output
  }
}
