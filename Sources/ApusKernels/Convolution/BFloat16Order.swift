// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The order in which the products of a sum of bfloat16 are added; ``BFloat16Sum`` defines each.
@usableFromInline package enum BFloat16Order: Hashable, Sendable {
  /// One product after the other, in pairs of channels whose second comes first. All processors have code for it.
  case pairs
  /// In parts of `pairs` pairs, 1 to 16, as the tile registers of AMX add them.
  case parts(pairs: Int)

  /// The order's name, for plans. Weights are packed alike for all orders.
  package var name: String {
    switch self {
    case .pairs: "in pairs"
    case .parts(let pairs): "in parts of \(counted(pairs, "pair"))"
    }
  }
}

extension Convolution {
  /// The values of K that are contiguous in the input: a row of the filter, or one position of it if the filter is dilated
  /// or channels have groups.
  package var runDepth: Int {
    (dilationWidth == 1 && groups == 1 ? filterWidth : 1) * channelsPerGroup
  }

  /// The order of sums in parts: a run has a whole number of them, as large as 16 pairs allow.
  ///
  /// Throws if a part would be shorter than half of that, though the run is longer: tiles would be mostly empty.
  package func bfloat16Parts() throws(Decline) -> BFloat16Order {
    try requirePairs()
    let pairs = runDepth / 2
    let part = (1...16).last { pairs.isMultiple(of: $0) } ?? 1
    guard part == pairs || part >= 8 else {
      throw Decline("runs of \(pairs) pairs of channels have no equal parts of 8 to 16")
    }
    return .parts(pairs: part)
  }
}
