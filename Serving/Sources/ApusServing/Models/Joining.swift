// SPDX-License-Identifier: Apache-2.0

/// How many items of different requests may share a run of a model.
public struct Joining: Sendable {
  /// The maximum number of items; 1 where requests run one by one.
  public let count: Int
  /// Why there are no more; nil where the limit is the configured one.
  public let reason: String?
}
