// SPDX-License-Identifier: Apache-2.0

/// The elementwise functions of integer LSTMs on a row of 16-bit values.
package enum RecurrentWords {
  /// Sets all values to zero.
  package static func clear(_ values: inout MutableSpan<Int16>) {
    for index in 0..<values.count { values[index] = 0 }
  }

  /// Copies a row of bytes.
  package static func copy(_ source: Span<Int8>, to values: inout MutableSpan<Int8>) {
    precondition(source.count == values.count)
    for index in 0..<values.count { values[index] = source[index] }
  }

  /// Adds the rescaled products of weights and values, element by element, saturating.
  ///
  /// Only the first `limit` elements of the whole batch get products, and the weights repeat, as in the
  /// reference.
  package static func addDiagonal(
    _ weights: Span<Int16>, _ values: Span<Int16>, _ multiplier: FixedPointMultiplier, period: Int,
    first: Int,
    limit: Int, to sums: inout MutableSpan<Int16>
  ) {
    precondition(values.count == sums.count && (period <= weights.count))
    for index in 0..<sums.count where first + index < limit {
      let product = Int32(weights[(first + index) % period]) &* Int32(values[index])
      sums[index] = Int16(clamping: multiplier.apply(product) &+ Int32(sums[index]))
    }
  }

  /// The logistic function of Q3 numbers, in place.
  package static func applyLogistic(_ values: inout MutableSpan<Int16>, using code: RecurrentCode? = nil) {
    unsafe values.withUnsafeMutableBufferPointer { values in
      guard let place = values.baseAddress else { return }
      unsafe map(place, to: place, count: values.count, by: .logistic, using: code)
    }
  }

  /// The hyperbolic tangent of numbers with `integerBits` bits before the binary point, 0 to 6, in place.
  package static func applyTanh(
    _ values: inout MutableSpan<Int16>, integerBits: Int, using code: RecurrentCode? = nil
  ) {
    let bits = Int16(integerBits)
    unsafe values.withUnsafeMutableBufferPointer { values in
      guard let place = values.baseAddress else { return }
      unsafe map(place, to: place, count: values.count, by: .tanh(integerBits: bits), using: code)
    }
  }

  /// The hyperbolic tangent of a row, into another.
  package static func tanh(
    _ source: Span<Int16>, integerBits: Int, into values: inout MutableSpan<Int16>,
    using code: RecurrentCode? = nil
  ) {
    precondition(source.count == values.count)
    let bits = Int16(integerBits)
    unsafe source.withUnsafeBufferPointer { source in
      unsafe values.withUnsafeMutableBufferPointer { values in
        guard let from = source.baseAddress, let to = values.baseAddress else { return }
        unsafe map(from, to: to, count: values.count, by: .tanh(integerBits: bits), using: code)
      }
    }
  }

  /// A function of 16-bit values. Not a closure, because a captured value may cost an allocation.
  private enum Function {
    case logistic
    case tanh(integerBits: Int16)

    /// The bits before the binary point of a hyperbolic tangent's argument.
    var integerBits: Int? { if case .tanh(let bits) = self { Int(bits) } else { nil } }

    @inline(__always)
    func callAsFunction(_ words: SIMD8<Int16>) -> SIMD8<Int16> {
      switch self {
      case .logistic: WordFunctions.logistic(words)
      case .tanh(let bits): WordFunctions.tanh(words, integerBits: bits)
      }
    }
  }

  /// Applies a function to each value, eight at a time or by generated code.
  private static func map(
    _ source: UnsafePointer<Int16>, to target: UnsafeMutablePointer<Int16>, count: Int, by function: Function,
    using code: RecurrentCode?
  ) {
    var index = 0
    if let code, unsafe code.map(source, to: target, count: count, integerBits: function.integerBits) {
      index = count & ~1
    }
    while index < count {
      let rest = count &- index
      if rest >= 8 {
        let words = unsafe UnsafeRawPointer(source + index).loadUnaligned(as: SIMD8<Int16>.self)
        unsafe UnsafeMutableRawPointer(target + index).storeBytes(of: function(words), as: SIMD8<Int16>.self)
      } else {
        var words = SIMD8<Int16>()
        for lane in 0..<8 where lane < rest { words[lane] = unsafe source[index &+ lane] }
        let results = function(words)
        for lane in 0..<8 where lane < rest { unsafe target[index &+ lane] = results[lane] }
      }
      index &+= 8
    }
  }

  /// Updates the cell: forget gate × cell + (1 − forget gate) × values, clipped.
  ///
  /// - Parameter shift: the right shift of a product of gate and values, 0 to 31.
  package static func updateCell(
    _ cell: inout MutableSpan<Int16>, forget: Span<Int16>, values: Span<Int16>, shift: Int32, clip: Int16
  ) {
    for index in 0..<cell.count {
      let input = Int16.max &- forget[index]
      cell[index] = next(cell[index], forget[index], input, values[index], shift, clip)
    }
  }

  /// Updates the cell: forget gate × cell + input gate × values, clipped.
  package static func updateCell(
    _ cell: inout MutableSpan<Int16>, forget: Span<Int16>, input: Span<Int16>, values: Span<Int16>,
    shift: Int32,
    clip: Int16
  ) {
    for index in 0..<cell.count {
      cell[index] = next(cell[index], forget[index], input[index], values[index], shift, clip)
    }
  }

  @inline(__always)
  private static func next(
    _ cell: Int16, _ forget: Int16, _ input: Int16, _ value: Int16, _ shift: Int32, _ clip: Int16
  ) -> Int16 {
    let kept = Int16(truncatingIfNeeded: roundingDivideByPowerOfTwo(Int32(forget) &* Int32(cell), 15))
    let added = Int16(truncatingIfNeeded: roundingDivideByPowerOfTwo(Int32(input) &* Int32(value), shift))
    let sum = Int16(clamping: Int32(kept) &+ Int32(added))
    return clip > 0 ? min(max(sum, 0 &- clip), clip) : sum
  }

  /// Rescaled products of two rows plus a zero point, as bytes.
  package static func multiply(
    _ lhs: Span<Int16>, _ rhs: Span<Int16>, _ multiplier: FixedPointMultiplier, zeroPoint: Int32,
    into results: inout MutableSpan<Int8>
  ) {
    precondition(lhs.count == results.count && rhs.count == results.count)
    for index in 0..<results.count {
      let product = multiplier.apply(Int32(lhs[index]) &* Int32(rhs[index]))
      results[index] = Int8(clamping: product &+ zeroPoint)
    }
  }

  /// Clamps bytes to `-clip...clip`.
  package static func clip(_ values: inout MutableSpan<Int8>, to clip: Int8) {
    for index in 0..<values.count { values[index] = min(max(values[index], 0 &- clip), clip) }
  }

  /// Shifts and scales a row to mean 0 and variance 1, multiplies, adds and rescales, all in integers.
  package static func normalize(
    _ values: inout MutableSpan<Int16>, coefficients: Span<Int16>, bias: Span<Int32>,
    _ multiplier: FixedPointMultiplier, varianceGuard: Int32
  ) {
    let count = Int64(values.count)
    precondition(coefficients.count == values.count && bias.count == values.count)
    guard count > 0 else { return }
    var (sum, squares): (Int64, Int64) = (0, 0)
    for index in 0..<values.count {
      let value = Int32(values[index])
      sum &+= Int64(value)
      squares &+= Int64(value &* value)
    }
    let mean = Int32(truncatingIfNeeded: sum &* 1024 / count)
    let variance = squares &* ((1 << 20) / count) &- Int64(mean) &* Int64(mean)
    var scaled = Int32(truncatingIfNeeded: variance / (1 << 20))
    if scaled < 1 { scaled = varianceGuard }
    let inverse = FixedPointFunctions.inverseSquareRoot(scaled)
    // The result has twelve bits after its binary point.
    let shift = multiplier.shift &+ 12
    for index in 0..<values.count {
      let shifted = 1024 &* Int32(values[index]) &- mean
      let rescaled = FixedPointFunctions.multiply(shifted, inverse.value, shift: inverse.shift)
      let weighted = rescaled &* Int32(coefficients[index]) &+ bias[index]
      let rounded = (weighted > 0 ? Int64(weighted) &+ 512 : Int64(weighted) &- 512) / 1024
      let result = FixedPointFunctions.multiply(
        Int32(truncatingIfNeeded: rounded), multiplier.value, shift: shift)
      values[index] = Int16(clamping: result)
    }
  }
}
