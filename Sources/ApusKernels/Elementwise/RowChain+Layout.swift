// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

extension RowChain {
  /// Where a stage reads an operand. It holds numbers alone, so that a run does not count references.
  struct Operand: BitwiseCopyable, Sendable {
    /// The index of a tensor; −1 for a worker's memory.
    let tensor: Int
    /// The offset in a worker's memory, in bytes.
    let place: Int
    /// The number of rows after which the operand starts over.
    let rows: Int
    /// The stride from row to row, in bytes.
    let stride: Int
    /// One, or zero if one element is broadcast along a row of the result.
    let step: Int
    /// Whether one stretch of the operand covers all rows of a block.
    let isJoined: Bool

    /// The operand of a stage that computes all rows of a block in one call.
    var joined: Self {
      Self(tensor: tensor, place: place, rows: rows, stride: stride, step: 1, isJoined: true)
    }
  }

  /// Where a stage reads and writes. It holds numbers alone, so that a run does not count references.
  struct Step {
    let operands: UpToEight<Operand>
    /// The offset of the results in a worker's memory, in bytes; −1 for the chain's result.
    let place: Int
    /// The number of elements of a row of the result.
    let length: Int
    /// The bytes of a row of the result.
    let byteCount: Int
    let hasTail: Bool
    /// Whether the rows of a block are computed as one stretch.
    let isJoined: Bool
    /// The divisor of the sums of rows, for generated code.
    let divisor: Float
  }

  /// A tensor that stages read.
  struct Tensor {
    let strip: Strip
    /// The offset of the row's repeated copy in a worker's memory, in bytes; nil if the tensor is read in place.
    var copy: Int?
    var byteCount: Int { strip.extent.count * strip.stride }
  }

  /// The layout of a worker's memory for a block of rows: copies of tensors and results of groups of stages.
  struct Layout {
    private let stageLayout: StageLayout
    private let groups: [StageGroup]
    /// The number of rows of a block.
    let blockRows: Int
    private(set) var tensors: [Tensor] = []
    /// The offset of each group's results in a worker's memory, in bytes; −1 for the chain's result.
    private let places: [Int]
    /// The bytes of a worker's memory.
    private(set) var byteCount: Int

    /// The number of elements of a block, unless a row has more.
    private static let blockLength = 2048
    /// The number of elements of a block if code computes some of the stages, unless a row has more.
    private static let codeBlockLength = 4096
    /// The longest row, in elements, that is copied side by side if it is broadcast to all rows.
    private static let longestCopy = 256

    init(_ stageLayout: StageLayout, _ groups: [StageGroup]) {
      self.stageLayout = stageLayout
      self.groups = groups
      let depth = stageLayout.depth
      let hasCode = groups.contains { $0.code != nil }
      let blockRows = max(
        1, min((hasCode ? Self.codeBlockLength : Self.blockLength) / depth, stageLayout.rows))
      self.blockRows = blockRows
      let results = groups.map { stageLayout.results[$0.last] }
      let stride = results.map(\.stride).max() ?? 8
      // One more cache line keeps results from being whole pages apart: the processor would mistake their addresses for one
      // another.
      (places, byteCount) = StageGroups.places(
        of: groups,
        byteCounts: results.map { roundedUp(blockRows * $0.extent.elements * stride, to: 64) + 64 })
      // Generated code reads tensors in place.
      var isCopied = Array(repeating: false, count: stageLayout.tensors.count)
      for group in groups where group.code == nil {
        for case .tensor(let number) in group.sources { isCopied[number] = true }
      }
      for group in groups where group.code != nil {
        for case .tensor(let number) in group.sources { isCopied[number] = false }
      }
      for (strip, isCopied) in zip(stageLayout.tensors, isCopied) {
        var tensor = Tensor(strip: strip)
        if isCopied, strip.extent == Extent(rows: 1, elements: depth), depth > 1, blockRows > 1,
          depth <= Self.longestCopy
        {
          tensor.copy = byteCount
          byteCount += roundedUp(blockRows * depth * strip.stride, to: 64)
        }
        tensors.append(tensor)
      }
      byteCount = roundedUp(byteCount, to: 64)
    }

    /// Where a group of stages reads and writes.
    func step(_ index: Int) -> Step {
      let group = groups[index]
      let isCode = group.code != nil
      let length = stageLayout.results[group.last].extent.elements
      let operandLength = stageLayout.operandLength(group.last)
      let operands = group.sources.map { operand($0, length: operandLength) }
      switch stageLayout.stages[group.last].stage {
      case .elements(let kernel):
        return Step(
          operands: UpToEight(operands), place: places[index], length: length,
          byteCount: length * kernel.stride, hasTail: !isCode && kernel.tail != nil,
          isJoined: isCode ? length < stageLayout.depth : operands.allSatisfy(\.isJoined), divisor: 1)
      case .reduction(let reduction):
        // A reduction takes all rows of a block in one call.
        return Step(
          operands: UpToEight(isCode ? operands : operands.map(\.joined)), place: places[index], length: 1,
          byteCount: 4, hasTail: false, isJoined: !isCode, divisor: reduction.divisor ?? 1)
      }
    }

    /// Where a group reads an operand that has `length` elements in each row, or one.
    private func operand(_ source: ElementwiseChain.Source, length: Int) -> Operand {
      let rows = stageLayout.rows
      switch source {
      case .stage(let number):
        let strip = stageLayout.results[groups[number].last]
        let isOwn = strip.extent.elements == length
        return Operand(
          tensor: -1, place: places[number], rows: rows, stride: strip.extent.elements * strip.stride,
          step: isOwn ? 1 : 0, isJoined: isOwn)
      case .tensor(let number):
        let tensor = tensors[number]
        let (extent, stride) = (tensor.strip.extent, tensor.strip.stride)
        if let copy = tensor.copy {
          return Operand(
            tensor: -1, place: copy, rows: rows, stride: stageLayout.depth * stride, step: 1, isJoined: true)
        }
        let stays = extent.count == 1
        return Operand(
          tensor: number, place: 0, rows: extent.rows, stride: extent.elements * stride,
          step: stays || extent.elements != length ? 0 : 1,
          isJoined: stays || extent == Extent(rows: rows, elements: length))
      }
    }
  }
}
