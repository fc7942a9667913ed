// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// The variant of Winograd's method: F(4×4, 3×3) on `int16`, which is exact, or F(2×2, 3×3) on floats, which
/// loses the fewest digits.
enum WinogradVariant: Hashable {
  case words
  case floats

  /// The variant for operands and an epilogue; throws if there is none.
  init(_ operands: MatrixOperands, _ epilogue: Epilogue) throws(Decline) {
    switch (operands, epilogue) {
    case (.uint8, .fixedPoint), (.int8, .fixedPoint): self = .words
    case (.float32, .float32): self = .floats
    default: throw Decline("there is no code for \(epilogue.name) of \(operands.name)")
    }
  }

  /// Outputs per Winograd tile, in each direction.
  var side: Int { self == .words ? 4 : 2 }
  /// Pixels that a Winograd tile reads, in each direction.
  var reach: Int { side &+ 2 }
  /// Points per Winograd tile: the number of matrix products.
  var points: Int { reach &* reach }

  var product: ProductKind { self == .words ? .words : .floats }
  /// Input channels per K-step.
  var channelsPerStep: Int { product.depthPerStep }
  /// The size of an element of input, weights and output.
  var elementByteCount: Int { self == .words ? 1 : 4 }
}
