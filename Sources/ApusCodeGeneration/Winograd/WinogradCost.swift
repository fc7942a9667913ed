// SPDX-License-Identifier: Apache-2.0

/// The estimated cost of Winograd's method on a machine, in units of one multiply-accumulate of vectors.
struct WinogradCost {
  /// How many units' work one instruction of direct convolution does.
  var directSteps = 1.0
  /// Direct convolution: the epilogue of one vector of outputs.
  let finish: Double
  /// The transforms of one vector: of a Winograd tile's channels, of weights, and of a tile's outputs with
  /// their epilogue.
  let input: Double
  let weights: Double
  let output: Double
  /// The overhead of a call, per batch, point and vector of columns.
  var call = 30.0
  /// The speedup that the estimate must show before Winograd's method is used.
  let margin: Double

  /// The cost of computing `squares` Winograd tiles in `batches` batches.
  ///
  /// - Parameters:
  ///   - channelVectors: vectors of input channels.
  ///   - stepCount: K-steps of the input channels.
  ///   - columnVectors: vectors of output channels.
  func own(
    points: Int, squares: Int, batches: Int, channelVectors: Int, stepCount: Int, columnVectors: Int
  ) -> Double {
    let (squares, points, columns) = (Double(squares), Double(points), Double(columnVectors))
    let steps = Double(stepCount) * columns
    return squares * (points * steps + Double(channelVectors) * input + columns * output)
      + Double(batches) * (steps * weights + points * columns * call)
  }

  /// The cost of direct convolution for `rows` output pixels.
  func direct(rows: Int, stepCount: Int, columnVectors: Int) -> Double {
    Double(rows * columnVectors) * (9 * Double(stepCount) / directSteps + finish)
  }
}
