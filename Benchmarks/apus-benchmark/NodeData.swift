// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The times of operators as node data of Model Explorer: by graph, then by node.
///
/// Model Explorer names a graph of a `.tflite` file as the subgraph, or `main` if that has no name, and its nodes by the
/// positions of operators. Operators that another step absorbs have no time of their own, and no entry.
struct NodeData {
  /// The times of a graph's nodes, and the colors for the shortest and the longest.
  struct Graph: Encodable {
    struct Result: Encodable {
      /// Milliseconds.
      let value: Double
    }
    struct Stop: Encodable {
      let stop: Double
      let bgColor: String
    }
    let results: [String: Result]
    let gradient: [Stop]
  }

  let graphs: [String: Graph]

  /// The medians of operators of a subgraph.
  init(_ operators: [ModelReport.Operator], graph: String) {
    var results: [String: Graph.Result] = [:]
    for entry in operators { results["\(entry.index)"] = .init(value: entry.medianMs) }
    let gradient = [Graph.Stop(stop: 0, bgColor: "#ffffff"), .init(stop: 1, bgColor: "#e6550d")]
    graphs = [graph.isEmpty ? "main" : graph: Graph(results: results, gradient: gradient)]
  }

  /// The JSON, with the names that Model Explorer expects.
  func file() throws(ApusError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    do { return Array(try encoder.encode(graphs)) } catch {
      throw ApusError(.internalError, "the node data cannot be encoded")
    }
  }
}
