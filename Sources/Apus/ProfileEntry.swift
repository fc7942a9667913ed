// SPDX-License-Identifier: Apache-2.0

/// The cost of one step of a run.
public struct ProfileEntry: Hashable, Sendable {
  /// The operator's position in the subgraph.
  public let operatorIndex: Int
  /// The schema's name, or the custom operator's.
  public let name: String
  /// The operators that the step absorbs, in order.
  public let absorbed: [String]
  /// The code that runs it.
  public let implementation: ExecutionPlan.Implementation
  /// The shape of its first output.
  public let output: TensorShape
  /// The time that it took.
  public let duration: Duration
  /// The multiply-accumulates of one run; zero if that does not apply.
  public let multiplyAccumulates: Int
}
