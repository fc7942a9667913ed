// SPDX-License-Identifier: Apache-2.0

/// A rewrite of a plan: a function of the plan and of what planning shares.
///
/// Each pass has its own file, which states its rule and the reason for it. ``Pass/all`` lists them in order.
package final class Pass: Sendable {
  /// Changes the plan of a segment whose operators are all prepared.
  typealias OfSegment = @Sendable (PlanDraft, Preparation) throws(ApusError) -> Void
  /// Changes the plan with an operator that was just prepared; returns whether its step has become needless.
  typealias OfOperator =
    @Sendable (inout Step, OperatorRegistration, Preparation) throws(ApusError) -> Bool

  /// When a pass runs.
  enum Action: Sendable {
    /// For each operator as soon as it is prepared, because later preparation needs constants.
    case operators(OfOperator)
    /// Once, over the steps of a segment.
    case segment(OfSegment)
  }

  /// The name for tests and reports.
  package let name: String
  /// Whether a plan may do without it, with the same results.
  let isOptional: Bool
  /// Whether every tensor of the file stays readable after a run.
  let preservesTensors: Bool
  let action: Action

  /// Describes a pass.
  init(_ name: String, isOptional: Bool = true, preservesTensors: Bool = false, _ action: Action) {
    self.name = name
    self.isOptional = isOptional
    self.preservesTensors = preservesTensors
    self.action = action
  }

  /// Every pass, in the order in which they run.
  static let all: [Pass] = [
    .views, .folding,  // of operators
    .padding,  // of descriptions of products
    .kernels, .gates, .rectifiers, .sums, .functions, .rows, .chains,  // of steps with kernels
    .weights, .reuse, .overwriting, .places,  // of memory
  ]
}
