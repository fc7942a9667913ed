// SPDX-License-Identifier: Apache-2.0
import ApusAssembly
import ApusKernels

/// A reduction of a float matrix, as a stage of a chain.
struct ReductionStep {
  let stage: ReductionStage
  let operand: TensorSlot
  let output: TensorSlot
}

extension Pass {
  /// **Rule:** connected elementwise operators and reductions over the rows of one matrix become one step, at
  /// the position of the last. Apart from the last one's, their results have consumers inside the chain only.
  /// Elementwise operators that feed a sum of columns become one step with it, too.
  ///
  /// **Reason:** normalizations read rows several times. A few rows stay in the cache; a whole tensor does
  /// not.
  package static let rows = Pass(
    "rows",
    .segment { (plan, preparation) throws(ApusError) in
      try plan.joinRows(threadCount: preparation.context.threads.count)
    })
}

extension PlanDraft {
  fileprivate func joinRows(threadCount: Int) throws(ApusError) {
    var matrices: [Matrix] = []
    for step in steps {
      guard let stage = step.facet.reduction?.stage else { continue }
      let matrix = Matrix(stage)
      if matrices.count < Self.maximumMatrices, !matrices.contains(matrix) { matrices.append(matrix) }
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
        guard members.count > 1, members.contains(where: { steps[$0].facet.reduction != nil }),
          let joined = joined(members, matrix, threadCount: threadCount)
        else { continue }
        for member in members.dropLast() { isAbsorbed[member] = true }
        steps[index] = joined
        break
      }
    }
    removeSteps { isAbsorbed[$0] }
  }

  /// The maximum number of extra attempts to end a chain at a step. If one tensor is reduced in many ways,
  /// all of them may fail.
  private static let moreTries = 4096

  /// The maximum number of matrices. Each is compared with each step, and hostile models may have many of
  /// both.
  private static let maximumMatrices = 64

  /// A matrix that is reduced, and in which direction.
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

  /// Whether a step can end a chain: it has one element per element of the matrix, or reduces the matrix.
  private func ends(_ step: Step, _ matrix: Matrix) -> Bool {
    if let reduction = step.facet.reduction { return Matrix(reduction.stage) == matrix }
    return matrix.foldsRows && step.facet.elementwise?.stage.elementCount == matrix.count
  }

  /// The steps of the chain that ends at `end`, in order.
  private func rowMembers(endingAt end: Int, of matrix: Matrix, writers: [Int]) -> [Int] {
    members(
      endingAt: end, atMost: RowChain.maximumStages, writers: writers, operands: rowOperands,
      accepts: { step, tensor in isMember(step, writing: tensor, of: matrix) })
  }

  private func rowOperands(of step: Step) -> [TensorSlot] {
    step.facet.reduction.map { [$0.operand] } ?? step.facet.elementwise?.operands ?? []
  }

  /// Whether a step has a result per element of a matrix, or per row.
  private func isMember(_ step: Step, writing tensor: Int, of matrix: Matrix) -> Bool {
    if let reduction = step.facet.reduction {
      return matrix.foldsRows && reduction.output.index == tensor && Matrix(reduction.stage) == matrix
    }
    guard let elementwise = step.facet.elementwise, elementwise.output.index == tensor else {
      return false
    }
    let count = elementwise.stage.elementCount
    return count == matrix.count || matrix.foldsRows && count == matrix.rows
  }

  /// One step that computes several operators.
  private func joined(_ members: [Int], _ matrix: Matrix, threadCount: Int) -> Step? {
    var stages: [(stage: RowChain.Stage, sources: [ElementwiseChain.Source])] = []
    var inputs: [TensorSlot] = []
    var results: [Int] = []
    for member in members {
      let facet = steps[member].facet
      let stage: RowChain.Stage
      if let reduction = facet.reduction {
        stage = .reduction(reduction.stage)
        results.append(reduction.output.index)
      } else if let elementwise = facet.elementwise {
        stage = .elements(elementwise.stage)
        results.append(elementwise.output.index)
      } else {
        return nil
      }
      stages.append(
        (stage, rowOperands(of: steps[member]).map { source(of: $0, results.dropLast(), &inputs) }))
    }
    guard let last = members.last, let output = output(of: steps[last]) else { return nil }
    let chain: RowChain
    do throws(Decline) {
      chain = try RowChain(
        stages, tensorCount: inputs.count, rows: matrix.rows, depth: matrix.depth, using: kernels)
    } catch {
      steps[last] = steps[last].declining(error)
      return nil
    }
    let scratch = scratch(for: chain, threadCount: threadCount)
    return steps[last].doing(
      ChainOperator(chain, inputs, output: output, scratch: scratch),
      absorbing: members.dropLast().map { steps[$0] }, reads: inputs.map(\.index), scratch: [scratch.index])
  }

  private func output(of step: Step) -> TensorSlot? {
    step.facet.reduction?.output ?? step.facet.elementwise?.output
  }
}
