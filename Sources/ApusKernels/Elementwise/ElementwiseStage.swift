// SPDX-License-Identifier: Apache-2.0

/// An elementwise kernel as a part of an ``ElementwiseChain``: a function of one or two stretches of elements.
package struct ElementwiseStage: Sendable {
  /// Fills a stretch; steps are one, or zero for an operand that stays. A function of one operand gets it twice.
  typealias Fill =
    @Sendable (UnsafeMutableRawPointer, Int, UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> Void

  /// An operand beside the result.
  struct Operand: Sendable {
    /// Elements after which it begins anew: all for one as large as the result, one for a number.
    let period: Int
    /// Bytes of an element.
    let stride: Int
  }

  let fill: Fill
  /// What is done to the floats that it computes.
  let tail: PostOperation?
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
    return ElementwiseStage(
      fill: { [fill] output, count, input, _, _, _ in unsafe fill(output, count, input) }, tail: nil,
      operands: [.init(period: elementCount, stride: elementByteCounts.argument)], elementCount: elementCount,
      stride: elementByteCounts.result, mayOverwrite: false)
  }
}

extension BroadcastShapes {
  /// After how many elements of the result each operand begins anew; nil where one does not only repeat itself.
  var periods: (lhs: Int, rhs: Int)? {
    func period(_ shape: [Int]) -> Int? {
      let own = shape.drop { $0 == 1 }
      return own.count <= result.count && result.suffix(own.count).elementsEqual(own)
        ? own.reduce(1, &*) : nil
    }
    guard let lhs = period(lhs), let rhs = period(rhs) else { return nil }
    return (lhs, rhs)
  }
}
