// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The call graph of subgraphs.
enum SubgraphCalls {
  /// Throws if subgraphs call each other in a cycle, too deeply, or call ones that do not exist.
  static func check(_ model: Model, depthLimit: Int) throws(ApusError) {
    let subgraphs = model.file.subgraphs
    var depths = Array(repeating: -1, count: subgraphs.count)
    let depthLimit = min(depthLimit, Model.Limits.deepestCalls)
    for index in subgraphs.indices {
      _ = try depth(of: index, in: model, level: 0, limit: depthLimit, depths: &depths)
    }
  }

  /// The depth of calls of a subgraph; `depths` has the known ones, −1 for others.
  private static func depth(
    of index: Int, in model: Model, level: Int, limit depthLimit: Int, depths: inout [Int]
  ) throws(ApusError) -> Int {
    if depths[index] >= 0 { return depths[index] }
    guard depths[index] != beingVisited else {
      throw ApusError(.malformedModel, "subgraph \(index): subgraphs call each other in a circle")
    }
    guard level <= depthLimit else { throw tooDeep(index, depthLimit) }
    depths[index] = beingVisited
    let file = model.file
    var deepest = 0
    for (position, entry) in file.subgraphs[index].operators.enumerated() {
      var place: String {
        "subgraph \(index), operator #\(position), \(file.operatorCodes[entry.operatorCode].name.brief)"
      }
      let options = OperatorOptions(entry) {
        ApusError(.malformedModel, "\(place): options: \($0.message)")
      }
      for target in try calls(of: entry, options, in: model) {
        guard file.subgraphs.indices.contains(target) else {
          throw ApusError(
            .malformedModel, "\(place): calls subgraph \(target), and there are \(file.subgraphs.count)")
        }
        deepest = max(
          deepest, try depth(of: target, in: model, level: level + 1, limit: depthLimit, depths: &depths) + 1)
      }
    }
    guard deepest <= depthLimit else {
      throw tooDeep(index, depthLimit)
    }
    depths[index] = deepest
    return deepest
  }

  /// Marks a subgraph whose calls are being followed.
  private static let beingVisited = -2

  private static func tooDeep(_ index: Int, _ limit: Int) -> ApusError {
    ApusError(.resourceLimit, "subgraph \(index): subgraphs call each other more than \(limit) deep")
  }

  /// For each subgraph, whether a run of one may run it, that one included.
  static func reached(from start: Int, in model: Model) -> [Bool] {
    let file = model.file
    var isReached = Array(repeating: false, count: file.subgraphs.count)
    isReached[start] = true
    // Most models have one subgraph.
    guard isReached.count > 1 else { return isReached }
    var next = [start]
    while let index = next.popLast() {
      for entry in file.subgraphs[index].operators {
        for target in knownCalls(of: entry, options(of: entry), in: model)
        where isReached.indices.contains(target) && !isReached[target] {
          isReached[target] = true
          next.append(target)
        }
      }
    }
    return isReached
  }

  /// For each subgraph, whether it may run: all but those that are only the body of a reduction or scatter.
  ///
  /// An array of flags, since the first set of a program costs some 0.3 million instructions.
  static func runnable(in model: Model) -> [Bool] {
    let file = model.file
    var runs = Array(repeating: true, count: file.subgraphs.count)
    // The first subgraph is never a body.
    guard runs.count > 1 else { return runs }
    var called = Array(repeating: false, count: runs.count)
    for subgraph in file.subgraphs {
      for entry in subgraph.operators {
        let options = options(of: entry)
        if case .body(let body) = model.registrations[entry.operatorCode].subgraphs,
          let index = try? body(options), runs.indices.contains(index)
        {
          runs[index] = false
        }
        for target in knownCalls(of: entry, options, in: model) where called.indices.contains(target) {
          called[target] = true
        }
      }
    }
    for signature in file.signatures where called.indices.contains(signature.subgraph) {
      called[signature.subgraph] = true
    }
    called[0] = true
    for index in runs.indices where called[index] { runs[index] = true }
    return runs
  }

  /// An operator's options, with errors that name no place.
  private static func options(of entry: OperatorEntry) -> OperatorOptions {
    OperatorOptions(entry) { ApusError(.malformedModel, $0.message) }
  }

  /// The subgraphs that an operator calls; none if its options are malformed, which is an error when it is prepared.
  private static func knownCalls(
    of entry: OperatorEntry, _ options: OperatorOptions, in model: Model
  ) -> [Int] {
    (try? calls(of: entry, options, in: model)) ?? []
  }

  /// The subgraphs that an operator calls, according to its options.
  static func calls(
    of entry: OperatorEntry, _ options: OperatorOptions, in model: Model
  ) throws(ApusError) -> [Int] {
    guard case .called(let targets, _) = model.registrations[entry.operatorCode].subgraphs else {
      return []
    }
    return try targets(options)
  }
}
