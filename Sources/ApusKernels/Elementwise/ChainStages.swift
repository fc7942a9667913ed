// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Stages of a chain that fit each other, with the data that they read and compute.
struct ChainStages {
  /// Data that runs along the rows of a chain: a tensor or the result of a stage. Each of its rows is read by `repeats`
  /// consecutive rows of the chain; after the last one it starts over.
  struct Strip: Equatable {
    let rows: Int
    /// The number of elements of a row.
    let elements: Int
    var repeats = 1
    /// The bytes of an element.
    let stride: Int

    var count: Int { rows * elements }
    var byteCount: Int { count * stride }
    var rowByteCount: Int { elements * stride }
  }

  let stages: Chain.Stages
  /// The rows of the matrix that some stages reduce, otherwise the elements of the result.
  let rows: Int
  /// The elements of a row of the matrix that some stages reduce, otherwise one.
  let depth: Int
  let tensors: [Strip]
  /// The result of each stage.
  let results: [Strip]

  /// The longest row, in elements, for which the data of stages stay in the cache.
  private static let maximumDepth = 4096
  /// The shortest row, in elements, whose reduction is worth a chain.
  private static let minimumDepth = 4
  /// The fewest repetitions of each element for which spreading an operand out is worth its time.
  private static let minimumRepeats = 64
  /// The widest element that a stage may compute, in bytes.
  private static let maximumByteCount = 8

  /// - Throws: `Decline` if the stages do not fit each other or exceed the limits.
  init(_ stages: Chain.Stages, tensorCount: Int) throws(Decline) {
    guard let last = stages.last?.stage else { throw Decline("there are no operators") }
    let matrix = stages.lazy.compactMap(\.stage.matrix).first
    let (rows, depth) = matrix.map { ($0.rows, $0.depth) } ?? (last.elementCount, 1)
    try Decline.require(depth, atMost: Self.maximumDepth, "the length of a row")
    try Decline.require(stages.count, atMost: Chain.maximumStages, "the number of operators")
    try Decline.require(tensorCount, atMost: ChainInputs.maximumTensors, "the number of tensors")
    var tensors = [Strip?](repeating: nil, count: tensorCount)
    var results: [Strip] = []
    var isRead = Array(repeating: false, count: stages.count)
    for (index, (stage, sources)) in stages.enumerated() {
      if let own = stage.matrix {
        guard own.rows == rows, own.depth == depth else { throw Decline.stagesDiffer }
        guard own.foldsRows || index == stages.count - 1 else {
          throw Decline("an operator follows the reduction of columns")
        }
        guard !own.foldsRows || depth >= Self.minimumDepth else {
          throw Decline("the length of a row, \(depth), is below \(Self.minimumDepth)")
        }
      }
      try Decline.require(stage.stride, atMost: Self.maximumByteCount, "the bytes of an element")
      let length = stage.matrix == nil && stage.elementCount == rows * depth ? depth : 1
      guard stage.matrix != nil || stage.elementCount == rows * length,
        stage.operands.count == sources.count
      else { throw Decline.stagesDiffer }
      results.append(Strip(rows: rows, elements: length, stride: stage.stride))
      for (operand, source) in zip(stage.operands, sources) {
        let strip = try Self.strip(operand, length: stage.matrix == nil ? length : depth)
        switch source {
        case .tensor(let number):
          guard tensors.indices.contains(number) else { throw Decline.stagesDiffer }
          guard tensors[number] ?? strip == strip else { throw Decline("a tensor is broadcast in two ways") }
          tensors[number] = strip
        case .stage(let number):
          guard number < index, results[number] == strip else {
            throw Decline("a result is broadcast in a way that its rows do not have")
          }
          isRead[number] = true
        }
      }
    }
    self.stages = stages
    (self.rows, self.depth) = (rows, depth)
    self.tensors = tensors.compactMap { $0 }
    self.results = results
    guard isRead.dropLast().allSatisfy({ $0 }), self.tensors.count == tensorCount else {
      throw Decline.stagesDiffer
    }
  }

  /// How an operand runs along the rows of a stage that reads `length` elements in each.
  private static func strip(_ operand: ChainStage.Operand, length: Int) throws(Decline) -> Strip {
    let (period, repeats, stride) = (operand.period, operand.repeats, operand.stride)
    if period == 1 { return Strip(rows: 1, elements: 1, stride: stride) }
    if repeats == 1, period.isMultiple(of: length) {
      return Strip(rows: period / length, elements: length, stride: stride)
    }
    guard repeats > 1, repeats.isMultiple(of: length) else {
      throw Decline("an operand is broadcast in a way that rows do not have")
    }
    guard length > 1 || repeats >= minimumRepeats else {
      throw Decline("each element of an operand is repeated \(repeats) times, fewer than \(minimumRepeats)")
    }
    return Strip(rows: period, elements: 1, repeats: repeats / length, stride: stride)
  }

  /// The number of elements that a stage reads of each row of its operands, unless they have one: `depth` for a reduction,
  /// otherwise that of its result.
  func operandLength(_ stage: Int) -> Int {
    stages[stage].stage.matrix == nil ? results[stage].elements : depth
  }

  // MARK: Groups

  /// The groups of stages that generated code computes together; each other stage is a group of its own.
  func groups(using set: KernelSet) -> [StageGroup] {
    let lengths = stages.indices.map(operandLength)
    return StageGroups.groups(of: stages, lengths: lengths) { formula, last, sources in
      let length = lengths[last]
      guard formula.steps.count > 1 || length > 1 else { return nil }
      return set.choose(otherwise: nil) { set throws(Decline) in
        guard length == 1 || depth.isMultiple(of: FormulaCode.unit) else {
          throw Decline("rows of \(depth) are no multiple of \(FormulaCode.unit)")
        }
        // One float for each row; of rows of one element, which are one row for the code, a float for all of them.
        let isRepeated = sources.map { source in
          let strip =
            switch source {
            case .tensor(let number): tensors[number]
            case .stage(let number): results[number]
            }
          return strip.elements == 1 && (length > 1 || strip.rows == 1)
        }
        return try set.code(of: formula, isRepeated)
      }
    }
  }

  /// How each group is computed, as `apus inspect --plan` reports it.
  func parts(_ groups: [StageGroup], using set: KernelSet) -> ChainParts {
    ChainParts(
      groups.map { group in
        let (stage, isCode) = (stages[group.last].stage, group.code != nil)
        return ChainParts.Part(
          loopDescription: isCode && stage.matrix != nil ? "generated sums of rows" : stage.loopDescription,
          stageCount: group.stageCount, isCode: isCode, choice: stage.choice, joining: group.choice)
      }, using: set)
  }
}
