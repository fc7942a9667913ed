// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

extension RowChain {
  /// Where a stage reads. A few numbers, so that no run counts references to them.
  struct Operand: BitwiseCopyable, Sendable {
    /// A tensor by its number; −1 for what lies in a worker's memory.
    let tensor: Int
    let place: Int
    /// After how many rows it begins anew.
    let rows: Int
    /// Bytes from a row to the next.
    let stride: Int
    /// One, or zero where a row has one element for all of the result's.
    let step: Int
    /// Whether one stretch of it serves all rows of a block.
    let isJoined: Bool

    /// The operand of a stage that takes all rows of a block at once.
    var joined: Self {
      Self(tensor: tensor, place: place, rows: rows, stride: stride, step: 1, isJoined: true)
    }
  }

  /// Where a stage reads and writes; numbers alone, as for operands.
  struct Step {
    let operands: UpToEight<Operand>
    /// Where results are kept, in bytes from a worker's memory on; −1 for those of the chain.
    let place: Int
    /// Elements of a row of the result, and its bytes.
    let length: Int
    let byteCount: Int
    let hasTail: Bool
    /// Whether rows of a block are one stretch.
    let isJoined: Bool
    /// What code divides sums by.
    let divisor: Float
  }

  /// A tensor that stages read.
  struct Tensor {
    let strip: Strip
    /// Where its row is repeated, in bytes from a worker's memory on; nil where it is read as it lies.
    var copy: Int?
    var byteCount: Int { strip.course.count * strip.stride }
  }

  /// Where what groups of stages read and compute lies in a worker's memory, for a block of rows.
  struct Layout {
    private let outline: Outline
    private let groups: [StageGroup]
    /// Rows of a block.
    let blockRows: Int
    private(set) var tensors: [Tensor] = []
    /// Of each group, see ``Step/place``.
    private let places: [Int]
    /// Bytes of a worker's memory.
    private(set) var byteCount: Int

    /// The elements of a block, unless a row has more.
    private static let blockLength = 2048
    /// The same where code does some of the stages.
    private static let codeBlockLength = 4096
    /// Rows up to this length that all others meet are copied side by side.
    private static let longestCopy = 256

    init(_ outline: Outline, _ groups: [StageGroup]) {
      self.outline = outline
      self.groups = groups
      let depth = outline.depth
      let hasCode = groups.contains { $0.code != nil }
      let blockRows = max(
        1, min((hasCode ? Self.codeBlockLength : Self.blockLength) / depth, outline.rows))
      self.blockRows = blockRows
      let results = groups.map { outline.results[$0.last] }
      let stride = results.map(\.stride).max() ?? 8
      // A line more, so that results do not follow each other by whole pages, which the processor takes for one place.
      (places, byteCount) = StageGroups.places(
        of: groups,
        byteCounts: results.map { roundedUp(blockRows * $0.course.elements * stride, to: 64) + 64 })
      // What code reads lies where it does.
      var isCopied = Array(repeating: false, count: outline.tensors.count)
      for group in groups where group.code == nil {
        for case .tensor(let number) in group.sources { isCopied[number] = true }
      }
      for group in groups where group.code != nil {
        for case .tensor(let number) in group.sources { isCopied[number] = false }
      }
      for (strip, isCopied) in zip(outline.tensors, isCopied) {
        var tensor = Tensor(strip: strip)
        if isCopied, strip.course == Course(rows: 1, elements: depth), depth > 1, blockRows > 1,
          depth <= Self.longestCopy
        {
          tensor.copy = byteCount
          byteCount += roundedUp(blockRows * depth * strip.stride, to: 64)
        }
        tensors.append(tensor)
      }
      byteCount = roundedUp(byteCount, to: 64)
    }

    /// Where a group reads and writes.
    func step(_ index: Int) -> Step {
      let group = groups[index]
      let isCode = group.code != nil
      let length = outline.results[group.last].course.elements
      let operandLength = outline.operandLength(group.last)
      let operands = group.sources.map { operand($0, length: operandLength) }
      switch outline.stages[group.last].stage {
      case .elements(let kernel):
        return Step(
          operands: UpToEight(operands), place: places[index], length: length,
          byteCount: length * kernel.stride, hasTail: !isCode && kernel.tail != nil,
          isJoined: isCode ? length < outline.depth : operands.allSatisfy(\.isJoined), divisor: 1)
      case .reduction(let reduction):
        // All rows of a block are folded at once.
        return Step(
          operands: UpToEight(isCode ? operands : operands.map(\.joined)), place: places[index], length: 1,
          byteCount: 4, hasTail: false, isJoined: !isCode, divisor: reduction.divisor ?? 1)
      }
    }

    /// Where a group reads what has `length` elements for each row, or one.
    private func operand(_ source: ElementwiseChain.Source, length: Int) -> Operand {
      let rows = outline.rows
      switch source {
      case .stage(let number):
        let strip = outline.results[groups[number].last]
        let isOwn = strip.course.elements == length
        return Operand(
          tensor: -1, place: places[number], rows: rows, stride: strip.course.elements * strip.stride,
          step: isOwn ? 1 : 0, isJoined: isOwn)
      case .tensor(let number):
        let tensor = tensors[number]
        let (course, stride) = (tensor.strip.course, tensor.strip.stride)
        if let copy = tensor.copy {
          return Operand(
            tensor: -1, place: copy, rows: rows, stride: outline.depth * stride, step: 1, isJoined: true)
        }
        let stays = course.count == 1
        return Operand(
          tensor: number, place: 0, rows: course.rows, stride: course.elements * stride,
          step: stays || course.elements != length ? 0 : 1,
          isJoined: stays || course == Course(rows: rows, elements: length))
      }
    }
  }
}
