// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// How a product multiplies. A layer chooses its strategy first; panels and then tiles follow from it.
///
/// The type that each case links to has its condition and the packing of its weights.
enum ProductStrategy {
  /// Vectors run along K, for few columns of floats; a block has up to `maximumRows` rows. ``InnerProduct``
  case inner(maximumRows: Int)
  /// A K-step of two floats, if that saves half a vector. ``TermPairs``
  case pairs
  /// A block's sums overlap with the previous block's epilogue, for a small K. `maximumRows` has the maximum
  /// heights for panels of 1, 2, … vectors. ``OverlappingBlocks``
  case overlapping(ProductSteps, maximumRows: [Int])
  /// One block after the other: all other products.
  case blocks

  /// Chooses the strategy of a convolution, and says why each faster one for such operands declined.
  ///
  /// - Parameter lineLength: the pixels per line.
  static func choose(
    _ convolution: Convolution, _ epilogue: LoweredEpilogue, _ product: ProductKind, _ target: any CodeTarget,
    taps: TapLayout, lineLength: Int, pipes: VectorPipes, hasRowTerms: Bool
  ) -> (strategy: ProductStrategy, declined: [Decline]) {
    var declined: [Decline] = []
    func ask(
      _ name: StaticString, _ strategy: () throws(Decline) -> ProductStrategy
    ) -> ProductStrategy? {
      do throws(Decline) { return try strategy() } catch {
        declined.append(error.of(name))
        return nil
      }
    }
    let faster: ProductStrategy?
    switch product {
    case .floats:
      faster =
        ask(innerName) { () throws(Decline) in
          .inner(maximumRows: try InnerProduct.maximumRows(convolution, target, taps))
        }
        ?? ask(pairsName) { () throws(Decline) in
          guard pipes.areFullWidth else { throw Decline("half a vector takes half the time of a whole one") }
          try TermPairs.requireGain(convolution, target, taps)
          return .pairs
        }
    case .unsignedBytes, .signedBytes:
      faster = ask(overlappingName) { () throws(Decline) in
        guard !pipes.areShared else { throw Decline("products and epilogues share the vector units") }
        guard !hasRowTerms else { throw Decline("sums start from a value for each row") }
        return try OverlappingBlocks.strategy(
          convolution, epilogue, product, target, taps, lineLength: lineLength)
      }
    case .words, .bfloat16, .bfloat16AsFloats, .bfloat16Tiles: faster = nil
    }
    return (faster ?? .blocks, declined)
  }

  private static let innerName: StaticString = "vectorized along K"
  private static let pairsName: StaticString = "K in pairs"
  private static let overlappingName: StaticString = "overlapped epilogue"

  /// The values of K per K-step.
  func depthPerStep(_ product: ProductKind, _ target: any CodeTarget) -> Int {
    switch self {
    case .inner: target.lanes
    case .pairs: 2
    case .overlapping, .blocks: product.depthPerStep
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
    case .inner: "\(Self.innerName)"
    case .pairs: "\(Self.pairsName)"
    case .overlapping: "\(Self.overlappingName)"
    case .blocks: nil
    }
  }
}
