// SPDX-License-Identifier: Apache-2.0
import ApusTracking
import Testing

@Suite struct AssignmentTests {
  @Test("the least sum is scipy's", arguments: TrackingGoldens.all.assignments)
  func agreesWithSciPy(golden: TrackingGoldens.Assignment) throws {
    var scene = Scene(seed: golden.seed)
    let costs = (0..<(golden.rows * golden.columns)).map { _ in
      Double(scene.below(2 * golden.levels + 1) - golden.levels) / 8
    }
    let solution = Assignment.minimum(costs, rows: golden.rows, columns: golden.columns)
    let columns = solution.compactMap { $0 }
    #expect(columns.count == min(golden.rows, golden.columns))
    #expect(Set(columns).count == columns.count)
    let total = solution.enumerated().reduce(0.0) { sum, pair in
      sum + (pair.element.map { costs[pair.offset * golden.columns + $0] } ?? 0)
    }
    // Sums of eighths are exact.
    #expect(total == golden.total)
  }

  @Test func solvesWhatHasNoRowsOrColumns() {
    #expect(Assignment.minimum([], rows: 0, columns: 3).isEmpty)
    #expect(Assignment.minimum([], rows: 2, columns: 0) == [nil, nil])
  }
}
