// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ReferenceKernels
import TestSupport
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

  // MARK: Generated code

  private static let sets = KernelSet.tested.filter { $0.generated != nil }

  private func code(_ set: KernelSet, wordCount: Int = .max) throws -> RecurrentCode {
    try #require(try set.generated?.recurrence(tangentBits: Array(0...6), wordCount: wordCount))
  }

  @Test("functions of every word by generated code are the reference's", arguments: sets)
  func generatedFunctions(set: KernelSet) throws {
    let code = try code(set)
    var values = Self.all
    var span = values.mutableSpan
    RecurrentWords.applyLogistic(&span, using: code)
    #expect(values == Self.all.map { ReferenceWordFunctions.logistic($0) })
    for bits in 0...6 {
      var values = [Int16](repeating: 0, count: Self.all.count)
      var span = values.mutableSpan
      RecurrentWords.tanh(Self.all.span, integerBits: bits, into: &span, using: code)
      #expect(values == Self.all.map { ReferenceWordFunctions.tanh($0, integerBits: bits) }, "\(bits) bits")
    }
    // Rows of each length, between guard pages, with code generated for no more values.
    for count in 1...140 {
      let code = try self.code(set, wordCount: count)
      let source = (0..<count).map { Int16(truncatingIfNeeded: $0 &* 7919 &- 12_345) }
      let memory = try #require(GuardedMemory(source.withUnsafeBytes { unsafe Array($0) }))
      var words = unsafe MutableSpan(_unsafeElements: memory.bytes.bindMemory(to: Int16.self))
      RecurrentWords.applyTanh(&words, integerBits: 3, using: code)
      #expect((0..<count).map { words[$0] } == source.map { ReferenceWordFunctions.tanh($0, integerBits: 3) })
      let gates = try #require(GuardedMemory(source.withUnsafeBytes { unsafe Array($0) }))
      var values = unsafe MutableSpan(_unsafeElements: gates.bytes.bindMemory(to: Int16.self))
      RecurrentWords.applyLogistic(&values, using: code)
      #expect((0..<count).map { values[$0] } == source.map { ReferenceWordFunctions.logistic($0) })
      _ = GuardedMemory(count: 1, repeating: 0)
    }
  }

  @Test(
    "products by generated code are those of the definition, between pages that nobody may touch",
    arguments: sets)
  func generatedProducts(set: KernelSet) throws {
    let code = try code(set)
    for seed in 0..<600 {
      var random = SeededGenerator(seed: UInt64(seed))
      let rows = Int.random(in: 1...150, using: &random)
      let depth = seed < 140 ? seed + 1 : Int.random(in: 1...300, using: &random)
      let multiplier = FixedPointMultiplier(
        Double(
          sign: Bool.random(using: &random) ? .plus : .minus, exponent: .random(in: -33...31, using: &random),
          significand: .random(in: 1..<2, using: &random)))
      let isExtreme = seed % 5 == 0
      let matrix = (0..<rows * depth).map { _ in
        isExtreme ? Int8.min : Int8.random(in: -128...127, using: &random)
      }
      let vector = (0..<depth).map { _ in isExtreme ? Int8.min : Int8.random(in: -128...127, using: &random) }
      let bias = (0..<rows).map { _ in
        isExtreme
          ? [Int32.min, .max, -1, 0, 1 << 30].pick(using: &random)
          : Int32.random(in: -1 << 20...1 << 20, using: &random)
      }
      let words = (0..<rows).map { _ in Int16.random(in: .min ... .max, using: &random) }
      let expected = (0..<rows).map { row -> Int16 in
        var sum = bias[row]
        for index in 0..<depth { sum &+= Int32(matrix[row * depth + index]) * Int32(vector[index]) }
        return Int16(clamping: multiplier.apply(sum) &+ Int32(words[row]))
      }
      let (left, right) = (
        try #require(GuardedMemory(matrix.map { UInt8(bitPattern: $0) })),
        try #require(GuardedMemory(vector.map { UInt8(bitPattern: $0) }))
      )
      let result = try #require(GuardedMemory(words.withUnsafeBytes { unsafe Array($0) }))
      let biases = try #require(GuardedMemory(bias.withUnsafeBytes { unsafe Array($0) }))
      // Memory begins behind a page and ends before one in turn: with one more, each kind changes from run to run.
      _ = GuardedMemory(count: 1, repeating: 0)
      var results = unsafe MutableSpan(_unsafeElements: result.bytes.bindMemory(to: Int16.self))
      RecurrentProducts.add(
        unsafe Span(_unsafeElements: left.bytes.bindMemory(to: Int8.self)),
        unsafe Span(_unsafeElements: right.bytes.bindMemory(to: Int8.self)),
        bias: unsafe Span(_unsafeElements: biases.bytes.bindMemory(to: Int32.self)), multiplier,
        to: &results, using: code)
      #expect((0..<rows).map { results[$0] } == expected, "seed \(seed), \(rows)×\(depth), \(multiplier)")
    }
  }
}
