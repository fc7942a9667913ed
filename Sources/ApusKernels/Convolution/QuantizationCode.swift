/// Generated code that quantizes floats, for ``HybridQuantization``: whole steps of them.
struct QuantizationCode: @unchecked Sendable {
  // @unchecked: the addresses are of code that is never changed.

  /// Values of a step.
  static let step = 32

  /// What both functions are called with.
  struct Arguments: CodeArguments {
    var values: Int
    var steps: Int
    /// Two vectors of four floats, of which the first count, or words.
    var result: Int
    var inverse: Float = 0
    var least: Float = 0
    var most: Float = 0
    var sign: Float = -0.0
    /// What is added to magnitudes before their fraction is dropped: halves are rounded up, and nothing below them is.
    var belowHalf = (0.5 as Float).nextDown
    /// What is added to make bytes.
    var zeroPoint: Int32 = 0
    /// Which dwords of packed bytes follow each other.
    var order: UInt64 = 0x0703_0602_0501_0400
  }

  /// Finds the least and the greatest value.
  let extremes: UnsafeRawPointer
  /// Makes differences from the zero point.
  let words: UnsafeRawPointer
  /// Makes unsigned bytes: differences to which their zero point is added again.
  let bytes: UnsafeRawPointer

  /// The least and the greatest value of at least one step.
  func extremes(_ values: UnsafePointer<Float>, steps: Int) -> (least: Float, most: Float) {
    var result = (least: SIMD4<Float>(), most: SIMD4<Float>())
    unsafe withUnsafeMutablePointer(to: &result) { result in
      unsafe Arguments(values: Int(bitPattern: values), steps: steps, result: Int(bitPattern: result))
        .call(extremes)
    }
    return (result.least[0], result.most[0])
  }

  /// Writes `value · inverse`, rounded to nearest, halves away from zero, between two integers.
  func fill(
    _ words: UnsafeMutablePointer<Int16>, from values: UnsafePointer<Float>, steps: Int, inverse: Float,
    least: Float, most: Float
  ) {
    let arguments = Arguments(
      values: Int(bitPattern: values), steps: steps, result: Int(bitPattern: words), inverse: inverse,
      least: least, most: most)
    unsafe arguments.call(self.words)
  }

  /// As above, plus a zero point, as bytes.
  func fill(
    _ bytes: UnsafeMutablePointer<UInt8>, from values: UnsafePointer<Float>, steps: Int, inverse: Float,
    least: Float, most: Float, zeroPoint: Int32
  ) {
    let arguments = Arguments(
      values: Int(bitPattern: values), steps: steps, result: Int(bitPattern: bytes), inverse: inverse,
      least: least, most: most, zeroPoint: zeroPoint)
    unsafe arguments.call(self.bytes)
  }
}
