// SPDX-License-Identifier: Apache-2.0
import Apus

/// Which classes an answer has.
struct ClassificationCriteria: Sendable {
  let scoreThreshold: Float?
  let maxResults: Int?
  let allowlist: [String]
  let denylist: [String]
  let locale: String?
  let labelOffset: Int?

  /// Refuses numbers that cannot be.
  func check() throws(ApusError) {
    if let scoreThreshold, scoreThreshold.isNaN {
      throw ApusError(.invalidArgument, "the score threshold is not a number")
    }
    if let maxResults, maxResults < 1 {
      throw ApusError(.invalidArgument, "maxResults is \(maxResults), not 1 or more")
    }
  }

  /// What is done to scores, for people.
  var steps: [String] {
    var steps: [String] = []
    if let scoreThreshold { steps.append("score >= \(scoreThreshold)") }
    steps.append("best first, equal scores by their index" + (maxResults.map { ", at most \($0)" } ?? ""))
    return steps
  }
}
