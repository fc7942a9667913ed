// SPDX-License-Identifier: Apache-2.0

/// What one operator cost in a run.
public struct ProfileEntry: Sendable {
  /// The operator's position in the subgraph.
  public let operatorIndex: Int
  /// The schema's name, or the custom operator's.
  public let name: String
  /// The operators that it does besides its own, in the order in which it has absorbed them.
  public let absorbed: [String]
  /// What does the work.
  public let implementation: ExecutionPlan.Implementation
  /// The shape of its first output.
  public let output: TensorShape
  /// The time that it took.
  public let milliseconds: Double
  /// The multiplications, each with an addition, that it consists of; zero where that is no measure.
  public let multiplyAccumulates: Int
}
