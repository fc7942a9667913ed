// SPDX-License-Identifier: Apache-2.0

/// Whether the rows of an interpreter's runs are independent of each other, and what their bytes depend on beside the inputs.
package struct RowIndependence: Sendable {
  /// The number of rows that the interpreter is prepared for.
  package let count: Int
  /// Why a row may depend on others; nil if it is proved that it does not.
  package let reason: String?
  private let facts: [RowProof.Fact]
  /// The operators' names, for messages.
  private let places: [Int: String]

  fileprivate init(of graph: Graph) {
    count = graph.inputShapes.first?.dimensions.first ?? 0
    do throws(RowProof.Objection) {
      let proof = try RowProof(of: graph)
      facts = proof.facts
      var places: [Int: String] = [:]
      for fact in facts where places[fact.node] == nil { places[fact.node] = proof.place(fact.node) }
      self.places = places
      reason = nil
    } catch {
      (facts, places, reason) = ([], [:], error.reason)
    }
  }

  /// Why a row of this run may have other bytes than in runs of another interpreter of the model; nil if it is proved that it has
  /// the same.
  package func reason(toDifferFrom other: RowIndependence) -> String? {
    if let reason = reason ?? other.reason { return reason }
    if facts == other.facts { return nil }
    let difference = zip(facts, other.facts).first { $0 != $1 }?.0 ?? facts.last ?? other.facts.last
    let place = difference.flatMap { places[$0.node] } ?? "the model"
    switch difference?.subject {
    case .order:
      return "\(place), adds the floats of \(count) rows in another order than those of \(other.count)"
    case .values: return "\(place), reads values that depend on the batch"
    default: return "\(place), makes rows of another shape where there are \(count) instead of \(other.count)"
    }
  }
}

extension Interpreter {
  /// Whether the rows of this interpreter's runs are independent, with the shapes that it is prepared for.
  package var rows: RowIndependence { RowIndependence(of: graph) }
}
