// SPDX-License-Identifier: Apache-2.0

/// Where a detector's output has its candidates.
public enum CandidateAxis: String, Codable, Hashable, Sendable, CaseIterable {
  /// Each row is a candidate, with its box and scores.
  case rows
  /// Each column is a candidate: rows are the edges of boxes and the scores of classes.
  case columns
}
