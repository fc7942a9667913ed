/// What Winograd's way takes on a machine, in the time of one product of vectors of words.
struct WinogradCost {
  /// Products of words that a direct product stands for.
  let directSteps: Double
  /// To finish a vector of outputs, the direct way.
  let finish: Double
  /// To transform a vector of channels of a square, of weights, and of a square's outputs, with what finishes them.
  let input: Double
  let weights: Double
  let output: Double
  /// To begin the products of a batch at one point, with a vector of columns.
  let call: Double
  /// How much faster it must be by this reckoning.
  let margin: Double

  /// What squares take, in so many batches: channels are so many vectors and steps, columns so many vectors.
  func own(squares: Int, batches: Int, channelVectors: Int, stepCount: Int, columnVectors: Int) -> Double {
    let (squares, steps) = (Double(squares), Double(stepCount * columnVectors))
    let products = squares * Double(GeneratedWinogradPlan.points) * steps
    return products + squares * (Double(channelVectors) * input + Double(columnVectors) * output)
      + Double(batches) * (steps * weights + Double(GeneratedWinogradPlan.points * columnVectors) * call)
  }

  /// What the direct way takes for so many outputs of each column.
  func direct(rows: Int, stepCount: Int, columnVectors: Int) -> Double {
    Double(rows * columnVectors) * (9 * Double(stepCount) / directSteps + finish)
  }
}
