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

  var product: GeneratedProduct { self == .words ? .words : .floats }
  /// Channels that one step multiplies.
  var channelsPerStep: Int { product.lanesPerStep }
  /// The size of an element of input, weights and output.
  var elementByteCount: Int { self == .words ? 1 : 4 }
}

/// What a Winograd convolution does beside its products.
enum WinogradStep {
  /// From pixels to points; whether they are signed bytes.
  case inputs(WinogradForm, isSigned: Bool)
  /// From 3×3 weights to points.
  case weights(WinogradForm, isSigned: Bool)
  /// From points of sums to outputs, as many side by side as the shape has rows.
  case outputs(MatrixOperands, Epilogue, GeneratedShape)
}

/// What Winograd's way takes on a machine, in the time of one product of vectors.
struct WinogradCost {
  /// Products that one of the direct way stands for.
  var directSteps = 1.0
  /// To finish a vector of outputs, the direct way.
  let finish: Double
  /// To transform a vector of channels of a square, of weights, and of a square's outputs, with what finishes them.
  let input: Double
  let weights: Double
  let output: Double
  /// To begin the products of a batch at one point, with a vector of columns.
  var call = 30.0
  /// How much faster it must be by this reckoning.
  let margin: Double

  /// What squares take, in so many batches: channels are so many vectors and steps, columns so many vectors.
  func own(
    points: Int, squares: Int, batches: Int, channelVectors: Int, stepCount: Int, columnVectors: Int
  ) -> Double {
    let (squares, points, columns) = (Double(squares), Double(points), Double(columnVectors))
    let steps = Double(stepCount) * columns
    return squares * (points * steps + Double(channelVectors) * input + columns * output)
      + Double(batches) * (steps * weights + points * columns * call)
  }

  /// What the direct way takes for so many outputs of each column.
  func direct(rows: Int, stepCount: Int, columnVectors: Int) -> Double {
    Double(rows * columnVectors) * (9 * Double(stepCount) / directSteps + finish)
  }
}
