// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Stages of a chain that one generated function computes, or one stage that its kernel computes.
struct StageGroup {
  /// The code of the group; nil for a stage that its kernel computes.
  var code: FormulaCode?
  /// How the code was chosen; nil for a stage without a formula.
  var choice: KernelChoice?
  /// The index of the last stage, whose result is the group's.
  let last: Int
  /// The number of stages.
  let stageCount: Int
  /// The group's operands: tensors and results of groups. Until ``StageGroups`` renumbers them, a group has
  /// the number of its last stage.
  var sources: [Chain.Source]
}

/// Groups stages if only others of the group read their results, so that the group is one formula.
enum StageGroups {
  /// The groups in the order of their last stages, with sources that name groups.
  ///
  /// - Parameters:
  ///   - lengths: the number of elements that each stage reads of a row; only stages with the same number are grouped.
  ///   - code: returns the code of a formula with these sources, with the reason if there is none; nil if the kernel of the last
  ///     stage does as well.
  static func groups(
    of stages: Chain.Stages, lengths: [Int],
    code: (FloatFormula, _ last: Int, [Chain.Source]) -> KernelSet.Chosen<FormulaCode?>?
  ) -> [StageGroup] {
    var readers = Array(repeating: [Int](), count: stages.count)
    for (index, stage) in stages.enumerated() {
      for case .stage(let source) in stage.sources { readers[source].append(index) }
    }
    var isTaken = Array(repeating: false, count: stages.count)
    var groups: [StageGroup] = []
    for last in stages.indices.reversed() where !isTaken[last] {
      isTaken[last] = true
      var group = StageGroup(last: last, stageCount: 1, sources: stages[last].sources)
      if let own = stages[last].stage.formula {
        var members = [last]
        for index in (0..<last).reversed() {
          guard !isTaken[index], stages[index].stage.formula?.sums == false,
            lengths[index] == lengths[last],
            !readers[index].isEmpty, readers[index].allSatisfy(members.contains),
            sources(of: members + [index], stages).count <= FloatFormula.maximumInputs
          else { continue }
          members.append(index)
        }
        let sources = sources(of: members, stages)
        if let joined = formula(members.sorted(), own, sources, stages),
          let chosen = code(joined, last, sources)
        {
          group.choice = chosen.choice
          if let code = chosen.kernel {
            for member in members { isTaken[member] = true }
            group = StageGroup(
              code: code, choice: chosen.choice, last: last, stageCount: members.count, sources: sources)
          }
        }
      }
      groups.append(group)
    }
    groups.reverse()
    var numbers = Array(repeating: 0, count: stages.count)
    for (number, group) in groups.enumerated() { numbers[group.last] = number }
    for index in groups.indices {
      groups[index].sources = groups[index].sources.map { source in
        if case .stage(let stage) = source { .stage(numbers[stage]) } else { source }
      }
    }
    return groups
  }

  /// The operands of stages that are not results of one of them.
  private static func sources(of members: [Int], _ stages: Chain.Stages) -> [Chain.Source] {
    var sources: [Chain.Source] = []
    for member in members.sorted() {
      for source in stages[member].sources where !sources.contains(source) {
        if case .stage(let number) = source, members.contains(number) { continue }
        sources.append(source)
      }
    }
    return sources
  }

  /// The formula of stages in their order; nil if one of them has none.
  private static func formula(
    _ members: [Int], _ last: FloatFormula, _ sources: [Chain.Source], _ stages: Chain.Stages
  ) -> FloatFormula? {
    var joined = FloatFormula(inputCount: sources.count)
    var results = [FloatFormula.Operand?](repeating: nil, count: stages.count)
    for member in members {
      guard let formula = stages[member].stage.formula else { return nil }
      var operands: [FloatFormula.Operand] = []
      for source in stages[member].sources {
        if case .stage(let number) = source, let result = results[number] {
          operands.append(result)
        } else if let input = sources.firstIndex(of: source) {
          operands.append(.input(input))
        } else {
          return nil
        }
      }
      results[member] = joined.append(formula, of: operands)
    }
    return last.sums ? joined.summed() : joined
  }

  /// The offsets of the results of groups, which take `byteCounts` bytes each, and the end of their memory. A result takes the
  /// place of one with the same size that is read no more. The last group's offset is −1.
  static func places(of groups: [StageGroup], byteCounts: [Int]) -> (places: [Int], end: Int) {
    var lastReaders = Array(repeating: -1, count: groups.count)
    for (index, group) in groups.enumerated() {
      for case .stage(let number) in group.sources { lastReaders[number] = index }
    }
    var places = Array(repeating: -1, count: groups.count)
    var slots: [(until: Int, byteCount: Int, place: Int)] = []
    var end = 0
    for index in groups.indices.dropLast() {
      let slot = slots.firstIndex { $0.until < index && $0.byteCount == byteCounts[index] } ?? slots.count
      if slot == slots.count {
        slots.append((0, byteCounts[index], end))
        end += byteCounts[index]
      }
      slots[slot].until = lastReaders[index]
      places[index] = slots[slot].place
    }
    return (places, end)
  }
}

extension KernelSet {
  /// The set's code for a formula; the marked inputs have one float for each row. Throws if there is none.
  func code(of formula: FloatFormula, _ isRepeated: [Bool]) throws(Decline) -> FormulaCode {
    guard let formula = formula.repeating(isRepeated) else { throw Decline("bytes are repeated along rows") }
    return try generatedKernels().formula(formula)
  }
}
