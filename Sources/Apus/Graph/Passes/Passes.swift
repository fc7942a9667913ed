// SPDX-License-Identifier: Apache-2.0

/// Optional rewrites of a plan, in order. Each can be turned off without changing outputs.
///
/// The first two look at each operator as it is prepared, because later preparation needs constants. The others go over the
/// steps of a whole segment. Each is a function from plan to plan in a file of its own.
package struct Passes: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Operators on constants are computed at preparation: `FoldConstants.swift`.
  package static let folding = Passes(rawValue: 1 << 0)
  /// RESHAPE and similar operators share their input's bytes: `ShareViews.swift`.
  package static let views = Passes(rawValue: 1 << 1)
  /// A convolution does the PAD that only it reads: `AbsorbPadding.swift`.
  package static let padding = Passes(rawValue: 1 << 2)
  /// A tensor times a function of it becomes one function: `JoinGates.swift`.
  package static let gates = Passes(rawValue: 1 << 3)
  /// PRELU written as several operators is one: `JoinRectifiers.swift`.
  package static let rectifiers = Passes(rawValue: 1 << 9)
  /// A float sum joins the product that computes one of its terms: `AbsorbSums.swift`.
  package static let sums = Passes(rawValue: 1 << 4)
  /// A float function joins the step that computes its argument: `AbsorbFunctions.swift`.
  package static let functions = Passes(rawValue: 1 << 5)
  /// Elementwise operators and reductions of rows are one step: `JoinRows.swift`.
  package static let rows = Passes(rawValue: 1 << 10)
  /// Elementwise operators are one step: `JoinChains.swift`.
  package static let chains = Passes(rawValue: 1 << 8)
  /// Memory is reused once its tensor is dead: `PlaceTensors.swift`.
  package static let reuse = Passes(rawValue: 1 << 6)

  /// A result lies where an operand was: `OverwriteOperands.swift`.
  package static let overwriting = Passes(rawValue: 1 << 7)

  /// Every pass.
  package static let all = Passes(rawValue: (1 << 11) - 1)

  /// The passes that keep every tensor of the file readable after a run.
  package static let preserving: Passes = [.folding, .views]

  /// The names of all passes, in order.
  package static let named: [(name: String, pass: Passes)] = [
    ("folding", .folding), ("views", .views), ("padding", .padding), ("gates", .gates),
    ("rectifiers", .rectifiers), ("sums", .sums),
    ("functions", .functions), ("rows", .rows), ("chains", .chains), ("reuse", .reuse),
    ("overwriting", .overwriting),
  ]
}
