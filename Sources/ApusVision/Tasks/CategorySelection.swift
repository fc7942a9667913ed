// SPDX-License-Identifier: Apache-2.0
import Apus

/// The classes to report: those of a list, or all but those of a list.
struct CategorySelection: Sendable {
  private let indices: Set<Int>
  private let allows: Bool

  /// All classes.
  static let everything = CategorySelection(indices: [], allows: false)

  private init(indices: Set<Int>, allows: Bool) {
    self.indices = indices
    self.allows = allows
  }

  /// Finds the classes that the lists name.
  ///
  /// - Throws: `invalidArgument` if both lists are given, or a name is not among the labels.
  init(allowlist: [String], denylist: [String], labels: LabelMap?) throws(ApusError) {
    guard allowlist.isEmpty || denylist.isEmpty else {
      throw ApusError(
        .invalidArgument, "labels are both allowed and denied by lists; only one list can be used")
    }
    var indices: Set<Int> = []
    for name in allowlist + denylist {
      let found = labels?.indices(named: name) ?? []
      guard !found.isEmpty else {
        throw ApusError(
          .invalidArgument,
          labels == nil
            ? "a list names the label '\(name)', but the model has no labels"
            : "a list names the label '\(name)', which is not among the model's labels")
      }
      indices.formUnion(found)
    }
    self.indices = indices
    allows = !allowlist.isEmpty
  }

  /// Whether to report a class.
  func contains(_ index: Int) -> Bool { indices.contains(index) == allows }
}
