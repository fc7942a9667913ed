// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Where the stages of a chain read and write while they compute a block of rows, and a worker's memory for that: results of
/// groups of stages and copies of tensors. Steps and their parts hold numbers alone, so that a run does not count references.
struct ChainMemory: Sendable {
  /// Where a group of stages reads and writes.
  struct Step: BitwiseCopyable, Sendable {
    /// The index of the first operand in ``ChainMemory/operands``.
    let firstOperand: Int
    let operandCount: Int
    /// The offset of the results in a worker's memory, in bytes; −1 for the chain's result.
    let place: Int
    /// The number of elements of a row of the result.
    let length: Int
    /// The bytes from row to row of the result: none if all rows are added to one.
    let stride: Int
    /// Whether the rows of a block are computed as one.
    let isJoined: Bool
    /// The divisor of the sums of rows, for generated code.
    let divisor: Float
  }

  /// Where a group of stages reads an operand.
  struct Operand: BitwiseCopyable, Sendable {
    /// The index of a tensor; −1 for a worker's memory.
    let tensor: Int
    /// The offset in a worker's memory, in bytes.
    let place: Int
    /// The number of rows after which the operand starts over; one if the block's first row is at the place itself.
    let rows: Int
    /// The bytes from row to row: none if all rows are the same.
    let stride: Int
    /// One, or zero if one element is broadcast along a row.
    let step: Int

    /// Whether the rows of a block are one stretch, or one number.
    var isJoined: Bool { (step == 0) == (stride == 0) }
  }

  /// A tensor that a worker copies to its own memory, so that the rows of a block are one stretch.
  struct Copy: BitwiseCopyable, Sendable {
    let tensor: Int
    /// The offset of the copy in a worker's memory, in bytes.
    let place: Int
    let strip: ChainStages.Strip
    /// The bytes of the copy.
    let byteCount: Int
  }

  /// The bytes of a block in the tensor with the widest elements, unless a row has more: of single elements, of rows, and of
  /// rows if code computes some of the stages.
  private static let blockByteCounts = (elements: 4096, rows: 8192, codeRows: 16_384)
  /// The longest tensor, in elements, that is copied side by side if it is broadcast. One with more rows is read in place, and
  /// a block ends where it starts over.
  private static let longestCopy = 1024

  private(set) var steps: [Step] = []
  private(set) var operands: [Operand] = []
  private(set) var copies: [Copy] = []
  /// The numbers of rows after which tensors that are read in place start over.
  private(set) var restarts: [Int] = []
  /// The number of rows of a block.
  let blockRows: Int
  /// Whether one generated function computes everything from the tensors, so that a block may be as long as a tile.
  let isWhole: Bool
  /// The bytes of a worker's memory.
  private(set) var byteCount: Int

  init(_ chain: ChainStages, _ groups: [StageGroup]) {
    let (rows, depth) = (chain.rows, chain.depth)
    let isCopied = chain.tensors.indices.map { number in
      let tensor = chain.tensors[number]
      if tensor.repeats > 1 { return true }
      guard tensor.rows < rows, (2...Self.longestCopy).contains(tensor.count) else { return false }
      // Generated code reads a row that is broadcast to all rows where it is.
      return tensor.rows > 1
        || !groups.contains { $0.code != nil && $0.sources.contains(.tensor(number)) }
    }
    isWhole = groups.count == 1 && groups[0].code != nil && !isCopied.contains(true)
    let widest = (chain.tensors + chain.results).reduce(1) { max($0, $1.stride) }
    let (elements, wholeRows, codeRows) = Self.blockByteCounts
    let blockByteCount =
      depth == 1 ? elements : groups.contains { $0.code != nil } ? codeRows : wholeRows
    blockRows = isWhole ? rows : max(1, min(blockByteCount / widest / depth, rows))
    // One more cache line keeps results from being whole pages apart: the processor would mistake their addresses for one
    // another.
    let results = groups.map { chain.results[$0.last] }
    let places: [Int]
    (places, byteCount) = StageGroups.places(
      of: groups,
      byteCounts: results.map { [blockRows] in roundedUp(blockRows * $0.elements * widest, to: 64) + 64 })
    for (number, strip) in chain.tensors.enumerated() {
      if isCopied[number] {
        let copiedRows = strip.repeats > 1 ? blockRows : blockRows + strip.rows - 1
        let copy = Copy(
          tensor: number, place: byteCount, strip: strip, byteCount: copiedRows * strip.rowByteCount)
        copies.append(copy)
        byteCount += roundedUp(copy.byteCount, to: 64) + 64
      } else if (2..<max(rows, 2)).contains(strip.rows) {
        restarts.append(strip.rows)
      }
    }
    for (index, group) in groups.enumerated() {
      let length = chain.operandLength(group.last)
      let own = group.sources.map { operand($0, of: chain, groups, places, length: length) }
      let (stage, isCode) = (chain.stages[group.last].stage, group.code != nil)
      // A reduction takes all rows of a block in one call.
      let isJoined = isCode ? length == 1 : stage.matrix != nil || own.allSatisfy(\.isJoined)
      steps.append(
        Step(
          firstOperand: operands.count, operandCount: own.count, place: places[index],
          length: results[index].elements,
          stride: stage.matrix?.foldsRows == false ? 0 : results[index].rowByteCount, isJoined: isJoined,
          divisor: stage.divisor))
      operands += own
    }
  }

  /// Where a group reads an operand that has `length` elements in each row, or one.
  private func operand(
    _ source: Chain.Source, of chain: ChainStages, _ groups: [StageGroup], _ places: [Int], length: Int
  ) -> Operand {
    switch source {
    case .stage(let number):
      let strip = chain.results[groups[number].last]
      return Operand(
        tensor: -1, place: places[number], rows: 1, stride: strip.rowByteCount,
        step: strip.elements == length ? 1 : 0)
    case .tensor(let number):
      let strip = chain.tensors[number]
      let copy = copies.first { $0.tensor == number }
      let stays = copy == nil && strip.rows == 1
      return Operand(
        tensor: copy == nil ? number : -1, place: copy?.place ?? 0, rows: strip.repeats > 1 ? 1 : strip.rows,
        stride: stays ? 0 : strip.rowByteCount,
        step: strip.elements == length && !(stays && length == 1) ? 1 : 0)
    }
  }
}
