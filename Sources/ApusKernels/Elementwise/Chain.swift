// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Kernels of several operators, applied one after the other to a block of rows at a time. A stage's results are still in the
/// first-level cache when the next stage reads them, and need no tensor.
///
/// If a stage reduces a matrix, the rows are those of the matrix: stages compute a value for each element or one for each row,
/// and the last may reduce columns. The normalization of rows by their means is an example. Otherwise each row is one element.
///
/// Stages of floats that a kernel set has code for become one generated function, sums of rows included. Each stage computes
/// what its kernel computes alone: results are bit-identical.
@safe package final class Chain: Sendable {
  /// An operand of a stage: a tensor or the result of an earlier stage.
  package enum Source: Hashable, Sendable {
    /// A tensor, by its index among those that the chain reads.
    case tensor(Int)
    /// The result of an earlier stage.
    case stage(Int)
  }

  /// Stages in their order, with the operands that each reads.
  package typealias Stages = [(stage: ChainStage, sources: [Source])]

  /// The maximum number of stages.
  package static let maximumStages = 16

  /// How each part of the chain is computed.
  package let parts: ChainParts
  let rows: Int
  let depth: Int
  let memory: ChainMemory
  /// The functions that compute the steps.
  let fills: [ChainStage.Fill]
  /// The operations applied to the float results of some steps.
  let tails: [PostOperation?]
  /// The code of steps that combine several stages, or sum rows.
  let codes: [FormulaCode?]
  /// The bytes of each tensor that stages read.
  let tensorByteCounts: [Int]
  let outputByteCount: Int
  /// The number of parts in which rows are summed for each column at the end; zero for any other last stage.
  let columnParts: Int
  /// The divisor of the sums of columns.
  let divisor: Float
  private let mayOverwrite: [Bool]

  /// Chains stages, each of which reads tensors and results of earlier stages. Only the last result is kept.
  ///
  /// - Parameter set: the kernel set that may have code for groups of float stages.
  /// - Throws: `Decline` if the stages do not fit each other, exceed the limits, or do not pay.
  package init(_ stages: Stages, tensorCount: Int, using set: KernelSet = .portable) throws(Decline) {
    let chained = try ChainStages(stages, tensorCount: tensorCount)
    let groups = chained.groups(using: set)
    let memory = ChainMemory(chained, groups)
    self.memory = memory
    (rows, depth) = (chained.rows, chained.depth)
    parts = chained.parts(groups, using: set)
    unsafe fills = groups.map { unsafe stages[$0.last].stage.fill }
    tails = groups.map { $0.code == nil ? stages[$0.last].stage.tail : nil }
    codes = groups.map(\.code)
    tensorByteCounts = chained.tensors.map(\.byteCount)
    let (last, sources) = stages[stages.count - 1]
    columnParts = last.matrix?.columnParts ?? 0
    divisor = last.divisor
    outputByteCount = last.elementCount * last.stride
    // The stages of the last group read a block before they write it.
    let lastSources = groups.last?.sources ?? sources
    mayOverwrite = chained.tensors.indices.map { number in
      last.matrix == nil && chained.tensors[number] == chained.results.last
        && (last.mayOverwrite || !lastSources.contains(.tensor(number)))
    }
  }

  /// The bytes of scratch memory that a run needs.
  package func scratchByteCount(threads: Int) -> Int { 64 + sumByteCount + threads * memory.byteCount }

  /// The bytes of the partial sums of columns, which come first in the scratch memory.
  var sumByteCount: Int { roundedUp(columnParts * depth * 4, to: 64) }

  /// Whether the result may overwrite a tensor in place.
  package func mayOverwrite(_ tensor: Int) -> Bool { mayOverwrite[tensor] }

  /// The code that runs, as `apus inspect --plan` reports it.
  package var implementation: String {
    if memory.isWhole { return parts.text }
    return depth == 1
      ? "in stretches of \(memory.blockRows) elements: \(parts.text)"
      : "in blocks of \(memory.blockRows) rows of \(depth): \(parts.text)"
  }
}

extension Decline {
  /// Stages of a chain whose sizes, sources or types are not those of one chain: a pass never asks for it.
  static let stagesDiffer = Decline("the operators do not fit each other")
}
