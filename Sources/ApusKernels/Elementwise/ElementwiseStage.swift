// SPDX-License-Identifier: Apache-2.0

/// An elementwise kernel as a part of a chain: a function of one or two stretches of elements.
@safe package struct ElementwiseStage: Sendable {
  /// Fills a stretch; steps are one, or zero for an operand that stays. A function of one operand gets it twice.
  typealias Fill =
    @Sendable (UnsafeMutableRawPointer, Int, UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> Void

  /// An operand beside the result.
  struct Operand: Sendable {
    /// Elements after which it begins anew: all for one as large as the result, one for a number.
    let period: Int
    /// Bytes of an element.
    let stride: Int
    /// How often each element follows itself.
    var repeats = 1
  }

  let fill: Fill
  /// What fills a stretch, for people to read.
  let way: String
  /// How that was chosen, if there was a choice.
  package var choice: KernelChoice?
  /// What is done to the floats that it computes.
  let tail: PostOperation?
  /// All of it, as code may compute it together with other stages.
  let formula: FloatFormula?
  let operands: [Operand]
  /// The elements of the result, and their bytes.
  package let elementCount: Int
  let stride: Int
  /// Whether the result may lie where an operand does that is as large.
  let mayOverwrite: Bool
}

extension UnaryMap {
  /// Itself, unless it takes whole rows.
  package var stage: ElementwiseStage? {
    guard takesStretches else { return nil }
    return unsafe ElementwiseStage(
      fill: { [fill = unsafe fill] output, count, input, _, _, _ in unsafe fill(output, count, input) },
      way: way, tail: nil, formula: formula,
      operands: [.init(period: elementCount, stride: elementByteCounts.argument)], elementCount: elementCount,
      stride: elementByteCounts.result, mayOverwrite: mayOverwrite)
  }
}

extension BroadcastShapes {
  /// How an operand runs along the result: each element follows itself so often, and all begin anew after a period.
  package typealias Course = (period: Int, repeats: Int)

  /// The courses of both operands; nil if one runs along the result in another way.
  package var courses: (lhs: Course, rhs: Course)? {
    guard let lhs = course(lhs), let rhs = course(rhs) else { return nil }
    return (lhs, rhs)
  }

  private func course(_ shape: [Int]) -> Course? {
    let own = shape.drop { $0 == 1 }
    guard own.count <= result.count else { return nil }
    // Trailing axes of one element are repeated; those before them must be the result's.
    let last = (own.lastIndex { $0 != 1 }).map { own.endIndex - 1 - $0 } ?? own.count
    let core = own.dropLast(last)
    guard result.dropLast(last).suffix(core.count).elementsEqual(core) else { return nil }
    return (core.reduce(1, &*), core.isEmpty ? 1 : result.suffix(last).reduce(1, &*))
  }
}
