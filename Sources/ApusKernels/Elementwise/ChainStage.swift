// SPDX-License-Identifier: Apache-2.0

/// A kernel as a stage of a chain: an elementwise function of stretches of one or two operands, or a reduction of a matrix.
@safe package struct ChainStage: Sendable {
  /// Fills a stretch. Steps are one, or zero for a scalar that is broadcast. A function of one operand receives it twice. A
  /// reduction reduces as many rows to a float each, or adds as many rows to the sums of columns.
  typealias Fill =
    @Sendable (UnsafeMutableRawPointer, Int, UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> Void

  /// An operand, and how it runs along the result.
  struct Operand: Sendable {
    /// The number of distinct elements, after which the operand starts over: one for a scalar.
    let period: Int
    /// The bytes of an element.
    let stride: Int
    /// The number of consecutive elements of the result that read each element.
    var repeats = 1
  }

  let fill: Fill
  /// The loop that computes a stretch, as `apus inspect --plan` reports it.
  let loopDescription: String
  /// How that loop was chosen, if there was a choice.
  package var choice: KernelChoice?
  /// The operation applied to the results, which are floats then.
  let tail: PostOperation?
  /// The stage as a float formula, tail included, that generated code may compute together with other stages.
  let formula: FloatFormula?
  let operands: [Operand]
  /// The number of elements of the result.
  package let elementCount: Int
  /// The bytes of an element of the result.
  let stride: Int
  /// Whether the result may overwrite an operand that is as large.
  let mayOverwrite: Bool
  /// The matrix whose rows or columns the stage reduces; nil if it is elementwise.
  package var matrix: ReducedMatrix?
  /// The divisor of sums, for means.
  var divisor: Float = 1
}

extension UnaryMap {
  /// The function as a stage of a chain; nil if it takes whole rows.
  package var stage: ChainStage? {
    guard takesStretches else { return nil }
    return unsafe ChainStage(
      fill: { [fill = unsafe fill] output, count, input, _, _, _ in unsafe fill(output, count, input) },
      loopDescription: loopDescription, tail: nil, formula: formula,
      operands: [.init(period: elementCount, stride: elementByteCounts.argument)], elementCount: elementCount,
      stride: elementByteCounts.result, mayOverwrite: mayOverwrite)
  }
}

extension BroadcastShapes {
  /// How an operand runs along the result: each element is repeated `repeats` times, and after `period` elements it starts
  /// over.
  package typealias BroadcastPattern = (period: Int, repeats: Int)

  /// The patterns of both operands; nil if one is broadcast in another way.
  package var patterns: (lhs: BroadcastPattern, rhs: BroadcastPattern)? {
    guard let lhs = pattern(lhs), let rhs = pattern(rhs) else { return nil }
    return (lhs, rhs)
  }

  private func pattern(_ shape: [Int]) -> BroadcastPattern? {
    let own = shape.drop { $0 == 1 }
    guard own.count <= result.count else { return nil }
    // Trailing axes of one element are repeated; the axes before them must equal the result's.
    let last = (own.lastIndex { $0 != 1 }).map { own.endIndex - 1 - $0 } ?? own.count
    let core = own.dropLast(last)
    guard result.dropLast(last).suffix(core.count).elementsEqual(core) else { return nil }
    return (core.reduce(1, &*), core.isEmpty ? 1 : result.suffix(last).reduce(1, &*))
  }
}
