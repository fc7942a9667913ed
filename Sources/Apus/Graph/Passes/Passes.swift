// SPDX-License-Identifier: Apache-2.0

/// What planning does beyond one step for each operator, in this order. Each can be turned off; outputs stay the same.
///
/// The first two look at each operator as it is prepared, as later ones need to know constants. The others go over the
/// steps of a whole segment. Each is a function from plan to plan in a file of its own.
package struct Passes: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Operators on constants are done at preparation: `FoldConstants.swift`.
  package static let folding = Passes(rawValue: 1 << 0)
  /// RESHAPE and its like share their input's bytes: `ShareViews.swift`.
  package static let views = Passes(rawValue: 1 << 1)
  /// A PAD is done by the convolution that reads it: `AbsorbPadding.swift`.
  package static let padding = Passes(rawValue: 1 << 2)
  /// A tensor times a function of it is one function: `JoinGates.swift`.
  package static let gates = Passes(rawValue: 1 << 3)
  /// PRELU of several operators is one: `JoinRectifiers.swift`.
  package static let rectifiers = Passes(rawValue: 1 << 9)
  /// A sum of floats is done by the product that computes one of its terms: `AbsorbSums.swift`.
  package static let sums = Passes(rawValue: 1 << 4)
  /// A function of floats is done by the step that computes its argument: `AbsorbFunctions.swift`.
  package static let functions = Passes(rawValue: 1 << 5)
  /// Elementwise operators are one step: `JoinChains.swift`.
  package static let chains = Passes(rawValue: 1 << 8)
  /// Memory is used again when its tensor is dead: `PlaceTensors.swift`.
  package static let reuse = Passes(rawValue: 1 << 6)

  /// A result lies where an operand was: `OverwriteOperands.swift`.
  package static let overwriting = Passes(rawValue: 1 << 7)

  /// Every pass.
  package static let all = Passes(rawValue: (1 << 10) - 1)

  /// Those that leave each tensor of the file its bytes, for who wants to read all of them.
  package static let preserving: Passes = [.folding, .views]

  /// The names of all passes, in order.
  package static let named: [(name: String, pass: Passes)] = [
    ("folding", .folding), ("views", .views), ("padding", .padding), ("gates", .gates),
    ("rectifiers", .rectifiers), ("sums", .sums),
    ("functions", .functions), ("chains", .chains), ("reuse", .reuse), ("overwriting", .overwriting),
  ]
}
