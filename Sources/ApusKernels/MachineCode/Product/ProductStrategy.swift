// SPDX-License-Identifier: Apache-2.0

/// How a product's blocks multiply. A layer chooses it first; the layout of panels and then tiles follow from it.
///
/// Each case but the last has a file with its condition and the packing of its weights.
enum ProductStrategy {
  /// Each column apart, in vectors of terms: few columns of floats. A block has up to so many rows. ``InnerProduct``
  case inner(mostRows: Int)
  /// Two terms of floats a step, where that saves half a vector. ``TermPairs``
  case pairs
  /// Sums of one block while those of the block before become outputs: few steps. By the vectors of a panel less one, a
  /// block has up to so many rows. ``OverlappingBlocks``
  case overlapping(ProductSteps, mostRows: [Int])
  /// A block of rows with a panel of columns, one after the other: all others.
  case blocks

  /// The strategy for a convolution with such taps, of which a line has so many pixels.
  init(
    _ convolution: Convolution, _ epilogue: LoweredEpilogue, _ product: ProductKind, _ target: any CodeTarget,
    taps: TapLayout, lineLength: Int, pipes: VectorPipes, hasRowTerms: Bool
  ) {
    if let rows = InnerProduct.mostRows(convolution, product, target, taps) {
      self = .inner(mostRows: rows)
    } else if pipes.areFullWidth, TermPairs.serve(convolution, product, target, taps) {
      self = .pairs
    } else if !pipes.areShared, !hasRowTerms,
      let overlapping = OverlappingBlocks.strategy(
        convolution, epilogue, product, target, taps, lineLength: lineLength)
    {
      self = overlapping
    } else {
      self = .blocks
    }
  }

  /// Terms that one step multiplies.
  func lanesPerStep(_ product: ProductKind, _ target: any CodeTarget) -> Int {
    switch self {
    case .inner: target.lanes
    case .pairs: 2
    case .overlapping, .blocks: product.lanesPerStep
    }
  }

  /// Whether each column is multiplied apart.
  var isInner: Bool { if case .inner = self { true } else { false } }

  /// Whether a step multiplies two terms of floats.
  var isPaired: Bool { if case .pairs = self { true } else { false } }

  /// The steps of a product whose blocks overlap; nil for others.
  var overlappingSteps: ProductSteps? { if case .overlapping(let steps, _) = self { steps } else { nil } }

  /// What is special about it, for people to read; nil for the usual way.
  var text: String? {
    switch self {
    case .inner: "each column apart"
    case .pairs: "terms in pairs"
    case .overlapping: "blocks overlapping"
    case .blocks: nil
    }
  }
}
