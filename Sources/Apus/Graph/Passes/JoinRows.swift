// SPDX-License-Identifier: Apache-2.0
import ApusAssembly
import ApusKernels

extension Pass {
  /// **Rule:** connected elementwise operators and reductions over the rows of one matrix become one step, at
  /// the position of the last. Apart from the last one's, their results have consumers inside the chain only.
  /// Elementwise operators that feed a sum of columns become one step with it, too.
  ///
  /// **Reason:** normalizations read rows several times. A few rows stay in the cache; a whole tensor does
  /// not.
  package static let rows = Pass(
    "rows",
    .segment { (plan, preparation) throws(ApusError) in try plan.joinRows(preparation) })
}

extension PlanDraft {
  fileprivate func joinRows(_ preparation: Preparation) throws(ApusError) {
    var matrices: [ReducedMatrix] = []
    for step in steps {
      guard let matrix = step.facet.reduction?.stage.matrix else { continue }
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
          let joined = try joined(members, preparation)
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

  /// Whether a step can end a chain: it has one element per element of the matrix, or reduces the matrix.
  private func ends(_ step: Step, _ matrix: ReducedMatrix) -> Bool {
    if let reduction = step.facet.reduction { return reduction.stage.matrix == matrix }
    return matrix.foldsRows && step.facet.elementwise?.stage.elementCount == matrix.count
  }

  /// The steps of the chain that ends at `end`, in order.
  private func rowMembers(endingAt end: Int, of matrix: ReducedMatrix, writers: [Int]) -> [Int] {
    members(
      endingAt: end, writers: writers,
      accepts: { step, tensor in isMember(step, writing: tensor, of: matrix) })
  }

  /// Whether a step has a result per element of a matrix, or per row.
  private func isMember(_ step: Step, writing tensor: Int, of matrix: ReducedMatrix) -> Bool {
    if let reduction = step.facet.reduction {
      return matrix.foldsRows && reduction.output.index == tensor && reduction.stage.matrix == matrix
    }
    guard let elementwise = step.facet.elementwise, elementwise.output.index == tensor else {
      return false
    }
    let count = elementwise.stage.elementCount
    return count == matrix.count || matrix.foldsRows && count == matrix.rows
  }
}
