// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// How a product multiplies. A layer chooses its strategy first; panels and then tiles follow from it.
///
/// The type that each case links to has its condition and the packing of its weights.
enum ProductStrategy {
  /// Vectors run along K, for few columns of floats; a block has up to `mostRows` rows. ``InnerProduct``
  case inner(mostRows: Int)
  /// A K-step of two floats, if that saves half a vector. ``TermPairs``
  case pairs
  /// A block's sums overlap with the previous block's epilogue, for a small K. `mostRows` has the maximum
  /// heights for panels of 1, 2, … vectors. ``OverlappingBlocks``
  case overlapping(ProductSteps, mostRows: [Int])
  /// One block after the other: all other products.
  case blocks

  /// Chooses the strategy of a convolution.
  ///
  /// - Parameter lineLength: the pixels per line.
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

  /// The values of K per K-step.
  func lanesPerStep(_ product: ProductKind, _ target: any CodeTarget) -> Int {
    switch self {
    case .inner: target.lanes
    case .pairs: 2
    case .overlapping, .blocks: product.lanesPerStep
    }
  }

  /// Whether vectors run along K.
  var isInner: Bool { if case .inner = self { true } else { false } }

  /// Whether a K-step is two floats.
  var isPaired: Bool { if case .pairs = self { true } else { false } }

  /// The K-steps of a product whose blocks overlap; nil for others.
  var overlappingSteps: ProductSteps? { if case .overlapping(let steps, _) = self { steps } else { nil } }

  /// The strategy in the output of `apus inspect --plan`; nil for plain blocks.
  var text: String? {
    switch self {
    case .inner: "each column apart"
    case .pairs: "terms in pairs"
    case .overlapping: "blocks overlapping"
    case .blocks: nil
    }
  }
}
