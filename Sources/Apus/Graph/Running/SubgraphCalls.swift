// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The call graph of subgraphs.
enum SubgraphCalls {
  /// Throws if subgraphs call each other in a cycle, too deeply, or call ones that do not exist.
  static func check(_ file: ModelFile, depthLimit: Int) throws(ApusError) {
    var depths = Array(repeating: -1, count: file.subgraphs.count)
    let depthLimit = min(depthLimit, Model.Limits.deepestCalls)
    for index in file.subgraphs.indices {
      _ = try depth(of: index, in: file, level: 0, limit: depthLimit, depths: &depths)
    }
  }

  /// The depth of calls of a subgraph; `depths` has the known ones, −1 for others.
  private static func depth(
    of index: Int, in file: ModelFile, level: Int, limit depthLimit: Int, depths: inout [Int]
  ) throws(ApusError) -> Int {
    if depths[index] >= 0 { return depths[index] }
    guard depths[index] != beingVisited else {
      throw ApusError(.malformedModel, "subgraph \(index): subgraphs call each other in a circle")
    }
    guard level <= depthLimit else { throw tooDeep(index, depthLimit) }
    depths[index] = beingVisited
    var deepest = 0
    for (position, entry) in file.subgraphs[index].operators.enumerated() {
      let code = file.operatorCodes[entry.operatorCode]
      var place: String { "subgraph \(index), operator #\(position), \(code.name.brief)" }
      let called: [Int]
      do { called = try calls(of: entry, code.code) } catch {
        throw ApusError(.malformedModel, "\(place): options: \(error.message)")
      }
      for target in called {
        guard file.subgraphs.indices.contains(target) else {
          throw ApusError(
            .malformedModel, "\(place): calls subgraph \(target), and there are \(file.subgraphs.count)")
        }
        deepest = max(
          deepest, try depth(of: target, in: file, level: level + 1, limit: depthLimit, depths: &depths) + 1)
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

  /// The subgraphs that are only the body of a reduction or scatter, and never run.
  static func folds(in file: ModelFile) -> Set<Int> {
    // The first subgraph is never a body.
    guard file.subgraphs.count > 1 else { return [] }
    var folds: Set<Int> = []
    for subgraph in file.subgraphs {
      for entry in subgraph.operators {
        let field: Int
        switch file.operatorCodes[entry.operatorCode].code {
        case .stablehloReduceWindow: field = 5
        case .stablehloScatter: field = 6
        default: continue
        }
        // Malformed options are an error when the operator is prepared.
        if let index = try? entry.options2.int32(field, default: 0) { folds.insert(Int(index)) }
      }
    }
    for subgraph in file.subgraphs {
      for entry in subgraph.operators {
        let called = try? calls(of: entry, file.operatorCodes[entry.operatorCode].code)
        folds.subtract(called ?? [])
      }
    }
    return folds.subtracting([0]).subtracting(file.signatures.map(\.subgraph))
  }

  /// The subgraphs that an operator calls, according to its options.
  static func calls(of entry: OperatorEntry, _ code: OperatorCode) throws(FormatError) -> [Int] {
    switch code {
    case .if, .while:
      return [Int(try entry.options.int32(0, default: 0)), Int(try entry.options.int32(1, default: 0))]
    case .callOnce:
      return [Int(try entry.options.int32(0, default: 0))]
    case .stablehloComposite:
      return [Int(try entry.options2.int32(1, default: 0))]
    case .stablehloCase:
      return try entry.options2.int32Vector(0)?.map { Int($0) } ?? []
    default:
      return []
    }
  }
}
