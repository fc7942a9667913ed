// SPDX-License-Identifier: Apache-2.0

/// Which of Winograd's ways: F(4×4, 3×3) of words, which is exact, or F(2×2, 3×3) of floats, which loses least of their digits.
enum WinogradForm: Hashable {
  case words
  case floats

  /// The form for operands and an epilogue; throws where there is none.
  init(_ operands: MatrixOperands, _ epilogue: Epilogue) throws(Decline) {
    switch (operands, epilogue) {
    case (.uint8, .fixedPoint), (.int8, .fixedPoint): self = .words
    case (.float32, .float32): self = .floats
    default: throw Decline("there is no code for \(epilogue.name) of \(operands.name)")
    }
  }

  /// Outputs of a square, in each direction.
  var side: Int { self == .words ? 4 : 2 }
  /// Pixels that a square reads, in each direction.
  var reach: Int { side &+ 2 }
  /// The points of a square: so many products.
  var points: Int { reach &* reach }

  var product: ProductKind { self == .words ? .words : .floats }
  /// Channels that one step multiplies.
  var channelsPerStep: Int { product.lanesPerStep }
  /// The size of an element of input, weights and output.
  var elementByteCount: Int { self == .words ? 1 : 4 }
}
