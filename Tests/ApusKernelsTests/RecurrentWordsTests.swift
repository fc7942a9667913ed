// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ReferenceKernels
import Testing

/// The functions of 16-bit gates.
@Suite struct RecurrentWordsTests {
  private static let all = (Int(Int16.min)...Int(Int16.max)).map { Int16($0) }

  @Test("the logistic function of every word is the reference's")
  func logistic() {
    var values = Self.all
    var span = values.mutableSpan
    RecurrentWords.applyLogistic(&span)
    #expect(values == Self.all.map { ReferenceWordFunctions.logistic($0) })
  }

  @Test("the hyperbolic tangent of every word is the reference's", arguments: 0...6)
  func tanh(integerBits: Int) {
    var values = Self.all
    var span = values.mutableSpan
    RecurrentWords.applyTanh(&span, integerBits: integerBits)
    #expect(values == Self.all.map { ReferenceWordFunctions.tanh($0, integerBits: integerBits) })
  }

  @Test("rows of any length are like single words", arguments: [1, 7, 8, 9, 23])
  func lengths(count: Int) {
    let source = (0..<count).map { Int16(truncatingIfNeeded: $0 &* 7919 &- 12_345) }
    var values = [Int16](repeating: 0, count: count)
    var span = values.mutableSpan
    RecurrentWords.tanh(source.span, integerBits: 3, into: &span)
    #expect(values == source.map { ReferenceWordFunctions.tanh($0, integerBits: 3) })
  }
}
