// SPDX-License-Identifier: Apache-2.0

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
