// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generated code for a recurrent layer with byte weights and 16-bit gates; ``RecurrentProducts`` and
/// ``RecurrentWords`` use it.
package final class RecurrentCode: Sendable {
  /// Arguments of the product of some rows of a matrix with a vector.
  package struct Products: CodeArguments {
    /// The address of the first row.
    package var matrix: Int
    /// K, which is also the distance of rows in bytes.
    package var depth: Int
    /// At least one.
    package var rows: Int
    /// The address of the vector.
    package var vector: Int
    /// Whole K-steps per row.
    package var steps: Int
    /// The rest of K. AVX-512: a mask of the last K-step's bytes. AVX2: 8 if there are eight more bytes,
    /// otherwise 0.
    package var rest: Int
    package var sums: Int
    /// The highest bit of four bytes.
    package var flips: UInt32 = 0x8080_8080
  }

  /// Arguments of the rescaling of sums, whose results are added to `int16` values.
  package struct Rescaling: CodeArguments {
    package var sums: Int
    package var bias: Int
    package var words: Int
    /// The number of vectors, at least one.
    package var steps: Int
    /// The multiplier in fixed point.
    package var factor: Int32
    /// The left shift before the multiplication, and the right shift after it.
    package var left: Int32
    package var right: Int32
    /// The right shift minus one, after which the lowest bit is the rounding bit; then 1 and −1, or zeros
    /// without a right shift.
    package var beforeLast: Int32
    package var one: Int32
    package var all: Int32
    /// Half of the lowest bit that a product keeps.
    package var half: Int64 = 1 << 30

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

  /// Rows that are multiplied at a time; their sums are on the stack, with room for a store beyond them.
  private static let rowsAtOnce = 64
  private static let room = rowsAtOnce + 4

  private let products: CodeFunction<Products>
  private let rescaling: CodeFunction<Rescaling>
  /// The number of 32-bit lanes in a vector.
  private let lanes: Int
  /// Bytes per K-step, and whether a mask handles the rest of K.
  private let stepByteCount: Int
  private let hasMasks: Bool
  private let logistic: FormulaCode
  private let tangents: [Tangent]

  /// The hyperbolic tangent of `int16` fixed-point values.
  package struct Tangent: Sendable {
    /// The number of bits before the binary point.
    package let integerBits: Int
    /// The function.
    package let code: FormulaCode

    /// Code for arguments with `integerBits` bits before the binary point.
    package init(integerBits: Int, code: FormulaCode) {
      self.integerBits = integerBits
      self.code = code
    }
  }

  /// Generates the functions; throws if there is no memory for one.
  package init(
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

  /// Adds the rescaled `matrix · vector + bias` to `words`, saturating.
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

  /// The logistic function of an even number of `int16` values, or with `integerBits` their hyperbolic
  /// tangent. Returns false and does nothing if there is no code for that many bits before the binary point.
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
