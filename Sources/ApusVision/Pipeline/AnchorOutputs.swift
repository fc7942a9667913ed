// SPDX-License-Identifier: Apache-2.0
import Apus

/// The outputs of a detector with anchors: predictions and scores in one output each, or in one output for each grid of cells, as Qualcomm AI
/// Hub has BlazeFace.
struct AnchorOutputs: Sendable {
  /// The outputs with boxes and points, in the order of the anchors.
  let predictions: [Int]
  /// The outputs with a score for each anchor, in the same order.
  let scores: [Int]

  /// Finds the outputs by their numbers of elements; nil if they are not those of these grids.
  ///
  /// - Parameters:
  ///   - shapes: The shapes of all outputs, in any order.
  ///   - grids: The number of anchors of each grid.
  ///   - columns: The numbers that an anchor's prediction has: more than one.
  init?(_ shapes: [TensorShape], grids: [Int], columns: Int) {
    let parts = [[grids.reduce(0, +)], grids].first { 2 * $0.count == shapes.count }
    guard let parts else { return nil }
    let counts = shapes.map(\.elementCount)
    predictions = parts.compactMap { counts.firstIndex(of: $0 * columns) }
    scores = parts.compactMap { counts.firstIndex(of: $0) }
    // An output has one place: a grid may have as many anchors as another one has predictions, or as it has.
    guard Set(predictions + scores).count == shapes.count else { return nil }
  }
}

extension ModelRun {
  /// The numbers of outputs, one after the other.
  func values(of outputs: [Int]) throws(ApusError) -> [Float] {
    // The numbers of a single output are not copied again.
    if outputs.count == 1 { return try values(of: outputs[0]) }
    return try Array(outputs.map { output throws(ApusError) in try values(of: output) }.joined())
  }

  /// Lends the numbers of outputs, one after the other, to `body`; floats of a single output are not copied.
  func withValues<R>(
    of outputs: [Int], _ body: (Span<Float>) throws(ApusError) -> R
  ) throws(ApusError) -> R {
    if outputs.count == 1 { return try withValues(of: outputs[0], body) }
    let joined = try values(of: outputs)
    return try body(joined.span)
  }
}
