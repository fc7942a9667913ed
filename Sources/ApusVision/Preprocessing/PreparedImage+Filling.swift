import Apus

extension PreparedImage {
  /// How many values the image has: width × height × channels.
  public var count: Int { bytes.count }

  /// Writes the values of a float32 input; without a normalization, `(v − 127.5) / 127.5`.
  ///
  /// - Throws: `invalidArgument` when the destination has another number of values, or the normalization
  ///   does not fit the channels.
  public func fill(_ destination: inout MutableSpan<Float>, normalization: Normalization? = nil)
    throws(ApusError)
  {
    try checkCount(destination.count)
    let table = try (normalization ?? .signed).table(for: self)
    look(up: table, into: &destination)
  }

  /// Writes the values of a uint8 input: the pixels themselves, unless a normalization is given.
  ///
  /// - Parameters:
  ///   - destination: The input's elements.
  ///   - normalization: With one, the values are normalized and quantized: `round(x / scale) + zeroPoint`,
  ///     halves away from zero, limited to the type.
  ///   - scale: The input's quantization scale; used with a normalization alone.
  ///   - zeroPoint: The input's zero point; used with a normalization alone.
  /// - Throws: `invalidArgument` when the destination has another number of values, the normalization does
  ///   not fit the channels, or the scale is not a positive number.
  public func fill(
    _ destination: inout MutableSpan<UInt8>, normalization: Normalization? = nil, scale: Float = 1,
    zeroPoint: Int = 0
  ) throws(ApusError) {
    try checkCount(destination.count)
    guard let normalization else {
      let source = bytes.span
      for index in 0..<source.count { destination[index] = source[index] }
      return
    }
    let table: [UInt8] = try quantizedTable(normalization, scale, zeroPoint)
    look(up: table, into: &destination)
  }

  /// Writes the values of an int8 input: `v − 128`, unless a normalization is given.
  ///
  /// The default is right for every input whose quantization spans the range of the pixels, whatever the range
  /// is called. The parameters are those of the uint8 form.
  public func fill(
    _ destination: inout MutableSpan<Int8>, normalization: Normalization? = nil, scale: Float = 1,
    zeroPoint: Int = 0
  ) throws(ApusError) {
    try checkCount(destination.count)
    guard let normalization else {
      let source = bytes.span
      for index in 0..<source.count { destination[index] = Int8(bitPattern: source[index] ^ 0x80) }
      return
    }
    let table: [Int8] = try quantizedTable(normalization, scale, zeroPoint)
    look(up: table, into: &destination)
  }

  /// The values of a float32 input, as ``fill(_:normalization:)`` writes them.
  public func floats(normalization: Normalization? = nil) throws(ApusError) -> [Float] {
    var values = [Float](repeating: 0, count: count)
    var span = values.mutableSpan
    try fill(&span, normalization: normalization)
    return values
  }

  private func checkCount(_ found: Int) throws(ApusError) {
    guard found == count else {
      throw ApusError(
        .invalidArgument,
        "the input has \(found) values, but the prepared image \(width) × \(height) × \(channels.count)")
    }
  }

  private func quantizedTable<Value: FixedWidthInteger>(
    _ normalization: Normalization, _ scale: Float, _ zeroPoint: Int
  ) throws(ApusError) -> [Value] {
    guard scale > 0, scale.isFinite else {
      throw ApusError(.invalidArgument, "the input's quantization scale is \(scale)")
    }
    return try normalization.table(for: self).map { value in
      let quantized = (value / scale).rounded() + Float(zeroPoint)
      if quantized >= Float(Value.max) { return Value.max }
      return quantized > Float(Value.min) ? Value(quantized) : Value.min
    }
  }

  @inline(__always)
  private func look<Value>(up table: [Value], into destination: inout MutableSpan<Value>) {
    let source = bytes.span
    let table = table.span
    if channels == .gray {
      for index in 0..<source.count { destination[index] = table[Int(source[index])] }
    } else {
      for index in stride(from: 0, to: source.count, by: 3) {
        destination[index] = table[Int(source[index])]
        destination[index + 1] = table[256 + Int(source[index + 1])]
        destination[index + 2] = table[512 + Int(source[index + 2])]
      }
    }
  }
}
