// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

extension RowChain {
  /// The shape of an operand beside the chain's rows: its number of rows, after which it starts over, and its number of
  /// elements in each row.
  struct Extent: Equatable {
    let rows: Int
    let elements: Int
    var count: Int { rows * elements }
  }

  /// Data that runs along the rows: a tensor or the result of a stage.
  struct Strip: Equatable {
    let extent: Extent
    /// The bytes of an element.
    let stride: Int
  }

  /// Stages that fit each other, with the data that they read and compute.
  struct StageLayout {
    let stages: [(stage: Stage, sources: [ElementwiseChain.Source])]
    let rows: Int
    let depth: Int
    let tensors: [Strip]
    /// The result of each stage.
    let results: [Strip]
    /// The reduction of columns at the end, if there is one.
    let columns: ReductionStage?

    /// The longest row, in elements, for which the data of stages stay in the cache.
    private static let maximumDepth = 4096
    /// The shortest row, in elements, whose reduction is worth a chain.
    private static let minimumDepth = 4

    /// - Throws: `Decline` if the stages do not fit each other, exceed the limits, or include no reduction.
    init(
      _ stages: [(stage: Stage, sources: [ElementwiseChain.Source])], tensorCount: Int, rows: Int, depth: Int
    ) throws(Decline) {
      guard rows > 0, depth > 0 else { throw Decline("there are no rows") }
      try Decline.require(depth, atMost: Self.maximumDepth, "the length of a row")
      guard stages.count > 1 else { throw Decline("there is one operator") }
      try Decline.require(stages.count, atMost: RowChain.maximumStages, "the number of operators")
      try Decline.require(tensorCount, atMost: ChainInputs.maximumTensors, "the number of tensors")
      var tensors = [Strip?](repeating: nil, count: tensorCount)
      var results: [Strip] = []
      var isRead = Array(repeating: false, count: stages.count)
      var columns: ReductionStage?
      var folds = false
      for (index, (stage, sources)) in stages.enumerated() {
        if case .reduction(let reduction) = stage {
          folds = true
          if case .columns = reduction.direction {
            guard index == stages.count - 1 else {
              throw Decline("an operator follows the reduction of columns")
            }
            columns = reduction
          } else if depth < Self.minimumDepth {
            throw Decline("the length of a row, \(depth), is below \(Self.minimumDepth)")
          }
        }
        let (operands, result) = try Self.strips(of: stage, rows: rows, depth: depth)
        guard sources.count == operands.count else { throw Decline.stagesDiffer }
        guard (1...2).contains(sources.count) else {
          throw Decline("an operator has \(sources.count) operands, not 1 or 2")
        }
        results.append(result)
        for (source, operand) in zip(sources, operands) {
          switch source {
          case .tensor(let number):
            guard tensors.indices.contains(number) else { throw Decline.stagesDiffer }
            guard tensors[number] ?? operand == operand else {
              throw Decline("a tensor is broadcast in two ways")
            }
            tensors[number] = operand
          case .stage(let number):
            guard number < index, results[number] == operand else {
              throw Decline("a result is broadcast in a way that its rows do not have")
            }
            isRead[number] = true
          }
        }
      }
      self.tensors = tensors.compactMap { $0 }
      guard folds else { throw Decline("there is no reduction") }
      guard isRead.dropLast().allSatisfy({ $0 }), self.tensors.count == tensorCount else {
        throw Decline.stagesDiffer
      }
      self.stages = stages
      self.rows = rows
      self.depth = depth
      self.results = results
      self.columns = columns
    }

    /// The operands and the result of a stage; throws if it does not run along these rows.
    private static func strips(
      of stage: Stage, rows: Int, depth: Int
    ) throws(Decline) -> (operands: [Strip], result: Strip) {
      switch stage {
      case .reduction(let reduction):
        guard reduction.rows == rows, reduction.depth == depth else { throw Decline.stagesDiffer }
        return (
          [Strip(extent: Extent(rows: rows, elements: depth), stride: 4)],
          Strip(extent: Extent(rows: rows, elements: 1), stride: 4)
        )
      case .elements(let stage):
        let length = stage.elementCount == rows * depth ? depth : 1
        guard stage.elementCount == rows * length else { throw Decline.stagesDiffer }
        try Decline.require(stage.stride, atMost: 8, "the bytes of an element")
        var operands: [Strip] = []
        for operand in stage.operands {
          guard let extent = extent(operand, rows: rows, depth: depth, length: length) else {
            throw Decline("an operand is broadcast in a way that rows do not have")
          }
          operands.append(Strip(extent: extent, stride: operand.stride))
        }
        return (operands, Strip(extent: Extent(rows: rows, elements: length), stride: stage.stride))
      }
    }

    // MARK: Groups

    /// The number of elements in a row of a stage's operands: `depth` for a reduction, otherwise that of its result.
    func operandLength(_ stage: Int) -> Int {
      if case .reduction = stages[stage].stage { depth } else { results[stage].extent.elements }
    }

    /// The groups of stages that generated code computes together; each other stage is a group of its own.
    func groups(using set: KernelSet) -> [StageGroup] {
      let grouped = stages.indices.map { index in
        let formula: FloatFormula? =
          switch stages[index].stage {
          case .elements(let own): own.formula
          case .reduction(let own):
            own.isSum && columns == nil ? FloatFormula(inputCount: 1).summed() : nil
          }
        return GroupedStage(
          formula: formula, sources: stages[index].sources, level: operandLength(index))
      }
      return StageGroups.groups(of: grouped) { formula, last, sources in
        let extents = sources.map { source in
          switch source {
          case .tensor(let number): tensors[number].extent
          case .stage(let number): results[number].extent
          }
        }
        let length = operandLength(last)
        guard formula.steps.count > 1 || length == depth else { return nil }
        return set.choose(otherwise: nil) { set throws(Decline) in
          guard length < depth || depth.isMultiple(of: FormulaCode.unit) else {
            throw Decline("rows of \(depth) are no multiple of \(FormulaCode.unit)")
          }
          guard
            let repeats = Self.repeats(of: extents, rows: rows, length: length, isJoined: length < depth)
          else { throw Decline("an operand is broadcast in a way that code does not read") }
          return try set.code(of: formula, repeats)
        }
      }
    }

    /// How each group is computed, as `apus inspect --plan` reports it.
    func parts(_ groups: [StageGroup], using set: KernelSet) -> ChainParts {
      ChainParts(
        groups.map { group in
          let isCode = group.code != nil
          switch stages[group.last].stage {
          case .elements(let stage):
            return ChainParts.Part(
              loopDescription: stage.loopDescription, stageCount: group.stageCount, isCode: isCode,
              choice: stage.choice,
              joining: group.choice)
          case .reduction(let stage):
            return ChainParts.Part(
              loopDescription: isCode ? "generated sums of rows" : stage.loopDescription,
              stageCount: group.stageCount,
              isCode: isCode, choice: nil, joining: group.choice)
          }
        }, using: set)
    }

    /// Which operands have one float for each row; nil if code cannot read one of them. Code reads an element or a row for each
    /// row of the result, or one for all rows.
    private static func repeats(of extents: [Extent], rows: Int, length: Int, isJoined: Bool) -> [Bool]? {
      var repeats: [Bool] = []
      for extent in extents {
        guard extent.rows == rows || extent.rows == 1, extent.elements == length || extent.elements == 1
        else {
          return nil
        }
        if isJoined {
          guard extent.count == 1 || extent.rows == rows else { return nil }
          repeats.append(extent.count == 1)
        } else {
          repeats.append(extent.elements == 1)
        }
      }
      return repeats
    }

    /// How an operand runs along the rows of a stage whose result has `length` elements in each; nil for any other broadcast.
    private static func extent(_ operand: ElementwiseStage.Operand, rows: Int, depth: Int, length: Int)
      -> Extent?
    {
      let (period, repeats) = (operand.period, operand.repeats)
      if period == 1, repeats == 1 { return Extent(rows: 1, elements: 1) }
      if length == 1 { return period == rows && repeats == 1 ? Extent(rows: rows, elements: 1) : nil }
      if repeats == 1 {
        return period.isMultiple(of: depth) ? Extent(rows: period / depth, elements: depth) : nil
      }
      return repeats == depth && period == rows ? Extent(rows: rows, elements: 1) : nil
    }
  }
}

extension RowChain.Stage {
  /// The function that computes a stretch of the stage.
  var fill: ElementwiseStage.Fill {
    switch self {
    case .elements(let stage): unsafe stage.fill
    case .reduction(let stage): unsafe stage.fill
    }
  }

  var tail: PostOperation? { if case .elements(let stage) = self { stage.tail } else { nil } }
  var mayOverwrite: Bool { if case .elements(let stage) = self { stage.mayOverwrite } else { false } }
}
