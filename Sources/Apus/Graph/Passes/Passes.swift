// SPDX-License-Identifier: Apache-2.0

/// Optional rewrites of a plan, in the order in which they run. Each can be turned off without changing
/// outputs.
///
/// The first two run for each operator as it is prepared, because later preparation needs constants. The
/// others run over the steps of a whole segment. Each has its own file, which states its rule and the reason
/// for it.
package struct Passes: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Operators on constants are computed at preparation: `FoldConstants.swift`.
  package static let folding = Passes(rawValue: 1 << 0)
  /// RESHAPE and similar operators share their input's bytes: `ShareViews.swift`.
  package static let views = Passes(rawValue: 1 << 1)
  /// A convolution absorbs a PAD without other consumers: `AbsorbPadding.swift`.
  package static let padding = Passes(rawValue: 1 << 2)
  /// `x · f(x)` becomes one function: `JoinGates.swift`.
  package static let gates = Passes(rawValue: 1 << 3)
  /// PRELU that is written as several operators becomes one: `JoinRectifiers.swift`.
  package static let rectifiers = Passes(rawValue: 1 << 9)
  /// A product absorbs a float sum of its output: `AbsorbSums.swift`.
  package static let sums = Passes(rawValue: 1 << 4)
  /// A step absorbs a float function of its output: `AbsorbFunctions.swift`.
  package static let functions = Passes(rawValue: 1 << 5)
  /// Elementwise operators and reductions of rows become one step: `JoinRows.swift`.
  package static let rows = Passes(rawValue: 1 << 10)
  /// Connected elementwise operators become one step: `JoinChains.swift`.
  package static let chains = Passes(rawValue: 1 << 8)
  /// Memory is reused after its tensor's last use: `PlaceTensors.swift`.
  package static let reuse = Passes(rawValue: 1 << 6)

  /// A result overwrites an operand: `OverwriteOperands.swift`.
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
