// SPDX-License-Identifier: Apache-2.0

/// Stages of a chain that one function in generated code does.
struct StageGroup {
  /// What they compute together; nil for a stage that is done by its kernel.
  var formula: FloatFormula?
  /// The last of them, whose result is the group's.
  let last: Int
  /// What it reads: tensors, and results of groups by the numbers of their last stages until ``StageGroups`` renumbers them.
  var sources: [ElementwiseChain.Source]
}

/// What grouping has to know about a stage.
struct GroupedStage {
  /// What it computes, as far as code may do it.
  let formula: FloatFormula?
  let sources: [ElementwiseChain.Source]
  /// Stages are done together only with those of the same level: of as many elements.
  let level: Int
}

/// Finds the stages whose results nothing reads but others of their group: such a group is one formula.
enum StageGroups {
  /// Groups in the order of their last stages, with sources that name groups.
  ///
  /// - Parameter accepts: whether a formula of more than one stage can be had. Where it cannot, each of its stages is a group.
  static func groups(
    of stages: [GroupedStage], accepts: (FloatFormula, _ last: Int, [ElementwiseChain.Source]) -> Bool
  ) -> [StageGroup] {
    var readers = Array(repeating: [Int](), count: stages.count)
    for (index, stage) in stages.enumerated() {
      for case .stage(let source) in stage.sources { readers[source].append(index) }
    }
    var isTaken = Array(repeating: false, count: stages.count)
    var groups: [StageGroup] = []
    for last in stages.indices.reversed() where !isTaken[last] {
      isTaken[last] = true
      var group = StageGroup(last: last, sources: stages[last].sources)
      if let own = stages[last].formula {
        var members = [last]
        for index in (0..<last).reversed() {
          guard !isTaken[index], stages[index].formula?.sums == false,
            stages[index].level == stages[last].level,
            !readers[index].isEmpty, readers[index].allSatisfy(members.contains),
            sources(of: members + [index], stages).count <= FloatFormula.mostInputs
          else { continue }
          members.append(index)
        }
        let sources = sources(of: members, stages)
        if let joined = formula(members.sorted(), own, sources, stages), accepts(joined, last, sources) {
          for member in members { isTaken[member] = true }
          group = StageGroup(formula: joined, last: last, sources: sources)
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

  /// What stages read that none of them computes.
  private static func sources(of members: [Int], _ stages: [GroupedStage]) -> [ElementwiseChain.Source] {
    var sources: [ElementwiseChain.Source] = []
    for member in members.sorted() {
      for source in stages[member].sources where !sources.contains(source) {
        if case .stage(let number) = source, members.contains(number) { continue }
        sources.append(source)
      }
    }
    return sources
  }

  /// The formula of stages in their order.
  private static func formula(
    _ members: [Int], _ last: FloatFormula, _ sources: [ElementwiseChain.Source], _ stages: [GroupedStage]
  ) -> FloatFormula? {
    var joined = FloatFormula(inputCount: sources.count)
    var results = [FloatFormula.Operand?](repeating: nil, count: stages.count)
    for member in members {
      guard let formula = stages[member].formula else { return nil }
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
}
