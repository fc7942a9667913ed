// SPDX-License-Identifier: Apache-2.0

/// Generated code for a recurrent layer on bytes with 16-bit gates: ``RecurrentProducts`` and ``RecurrentWords`` use it.
package final class RecurrentCode: Sendable {
  /// Rows of a matrix times a vector.
  struct Products: CodeArguments {
    var matrix: Int
    /// Bytes of a row, which rows are apart.
    var depth: Int
    /// At least one.
    var rows: Int
    var vector: Int
    /// Whole steps of a row.
    var steps: Int
    /// AVX-512: the bytes of the last step, as a mask; AVX2: whether there are eight more. Zero for none.
    var rest: Int
    var sums: Int
    /// The highest bit of four bytes.
    var flips: UInt32 = 0x8080_8080
  }

  /// Sums times a factor, added to words.
  struct Rescaling: CodeArguments {
    var sums: Int
    var bias: Int
    var words: Int
    /// Vectors, at least one.
    var steps: Int
    var factor: Int32
    /// By how much sums are shifted left before they are multiplied, and right afterwards.
    var left: Int32
    var right: Int32
    /// One bit less, at which the bit that rounds comes last; that bit, and all bits: zero where nothing is shifted right.
    var beforeLast: Int32
    var one: Int32
    var all: Int32
    /// Half of what is left out of a product.
    var half: Int64 = 1 << 30

    init(sums: Int, bias: Int, words: Int, steps: Int, _ multiplier: FixedPointMultiplier) {
      (self.sums, self.bias, self.words, self.steps) = (sums, bias, words, steps)
      factor = multiplier.value
      left = max(multiplier.shift, 0)
      right = max(0 &- multiplier.shift, 0)
      beforeLast = max(right &- 1, 0)
      one = right > 0 ? 1 : 0
      all = 0 &- one
    }
  }

  /// Rows whose sums are kept at a time, on the stack, with room for a store beyond them.
  private static let rowsAtOnce = 64
  private static let room = rowsAtOnce + 4

  private let products: CodeFunction<Products>
  private let rescaling: CodeFunction<Rescaling>
  /// 32-bit lanes of a vector.
  private let lanes: Int
  /// Bytes of a step, and whether a mask takes the rest.
  private let stepByteCount: Int
  private let hasMasks: Bool
  private let logistic: FormulaCode
  private let tangents: [Tangent]

  /// The hyperbolic tangent of words.
  struct Tangent {
    /// How many bits are before the binary point.
    let integerBits: Int
    let code: FormulaCode
  }

  /// The functions that generators write.
  init(
    lanes: Int, hasMasks: Bool, products: any CodeGenerator, rescaling: any CodeGenerator,
    logistic: FormulaCode, tangents: [Tangent]
  ) throws(Decline) {
    self.lanes = lanes
    self.hasMasks = hasMasks
    stepByteCount = hasMasks ? 64 : 16
    self.products = try unsafe CodeFunction(products)
    self.rescaling = try unsafe CodeFunction(rescaling)
    self.logistic = logistic
    self.tangents = tangents
  }

  /// Adds the rescaled `matrix · vector + bias` to words, saturating.
  func add(
    _ matrix: UnsafePointer<Int8>, _ vector: UnsafePointer<Int8>, depth: Int, bias: UnsafePointer<Int32>,
    _ multiplier: FixedPointMultiplier, to words: UnsafeMutablePointer<Int16>, rows: Int
  ) {
    ExecutableMemory.seal()
    unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: Self.room) { memory in
      guard let sums = memory.baseAddress else { return }
      var first = 0
      while first < rows {
        let count = min(Self.rowsAtOnce, rows &- first)
        unsafe multiply(matrix + first &* depth, vector, depth: depth, rows: count, to: sums)
        unsafe rescale(sums, bias + first, multiplier, to: words + first, count: count)
        first &+= count
      }
    }
  }

  private func multiply(
    _ matrix: UnsafePointer<Int8>, _ vector: UnsafePointer<Int8>, depth: Int, rows: Int,
    to sums: UnsafeMutablePointer<Int32>
  ) {
    let (steps, rest) = depth.quotientAndRemainder(dividingBy: stepByteCount)
    products.call(
      Products(
        matrix: Int(bitPattern: matrix), depth: depth, rows: rows, vector: Int(bitPattern: vector),
        steps: steps,
        rest: hasMasks ? (1 &<< rest) &- 1 : rest & 8, sums: Int(bitPattern: sums)))
    guard !hasMasks, rest & 7 != 0 else { return }
    for row in 0..<rows {
      let line = unsafe matrix + row &* depth
      for index in depth &- (rest & 7)..<depth {
        unsafe sums[row] &+= Int32(line[index]) &* Int32(vector[index])
      }
    }
  }

  private func rescale(
    _ sums: UnsafePointer<Int32>, _ bias: UnsafePointer<Int32>, _ multiplier: FixedPointMultiplier,
    to words: UnsafeMutablePointer<Int16>, count: Int
  ) {
    let steps = count / lanes
    if steps > 0 {
      rescaling.call(
        Rescaling(
          sums: Int(bitPattern: sums), bias: Int(bitPattern: bias), words: Int(bitPattern: words),
          steps: steps,
          multiplier))
    }
    for index in steps &* lanes..<count {
      let sum = unsafe bias[index] &+ sums[index]
      unsafe words[index] = Int16(clamping: multiplier.apply(sum) &+ Int32(words[index]))
    }
  }

  /// The logistic function of an even number of words, or their hyperbolic tangent; false, with nothing done, where there is no code
  /// for as many bits before the binary point.
  func map(
    _ source: UnsafePointer<Int16>, to target: UnsafeMutablePointer<Int16>, count: Int, integerBits: Int?
  ) -> Bool {
    var code = logistic
    if let integerBits {
      guard let tangent = tangents.first(where: { $0.integerBits == integerBits }) else { return false }
      code = tangent.code
    }
    code.map(Int(bitPattern: source), to: Int(bitPattern: target), count: count / 2)
    return true
  }
}
