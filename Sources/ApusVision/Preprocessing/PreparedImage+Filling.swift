// SPDX-License-Identifier: Apache-2.0

import Apus

extension PreparedImage {
  /// How many values the image has: width × height × channels.
  public var count: Int { bytes.count }

  /// Writes the values of a float32 input; without a normalization, `(v − 127.5) / 127.5`.
  ///
  /// - Throws: `invalidArgument` if the destination has another number of values, or the normalization
  ///   does not fit the channels.
  public func fill(
    _ destination: inout MutableSpan<Float>, order: ChannelOrder = .interleaved,
    normalization: Normalization? = nil
  ) throws(ApusError) {
    try checkCount(destination.count)
    let table = try (normalization ?? .signed).table(channels: channels.count, of: bytes)
    look(up: table, into: &destination, order)
  }

  /// Writes the values of a uint8 input: the pixels themselves, unless a normalization is given.
  ///
  /// - Parameters:
  ///   - destination: The input's elements.
  ///   - order: Whether the channels of a pixel follow each other or lie apart.
  ///   - normalization: With one, the values are normalized and quantized: `round(x / scale) + zeroPoint`,
  ///     halves away from zero, limited to the type.
  ///   - scale: The input's quantization scale; used with a normalization alone.
  ///   - zeroPoint: The input's zero point; used with a normalization alone.
  /// - Throws: `invalidArgument` if the destination has another number of values, the normalization does
  ///   not fit the channels, or the scale is not a positive number.
  public func fill(
    _ destination: inout MutableSpan<UInt8>, order: ChannelOrder = .interleaved,
    normalization: Normalization? = nil, scale: Float = 1, zeroPoint: Int = 0
  ) throws(ApusError) {
    try Normalization.check(normalization, scale: scale, zeroPoint: zeroPoint)
    try checkCount(destination.count)
    guard let normalization else { return copy(into: &destination, order) { $0 } }
    let table: [UInt8] = try normalization.table(
      channels: channels.count, of: bytes, scale: scale, zeroPoint: zeroPoint)
    look(up: table, into: &destination, order)
  }

  /// Writes the values of an int8 input: `v − 128`, unless a normalization is given.
  ///
  /// The default is right for every input whose quantization spans the range of the pixels, whatever the range
  /// is called. The parameters are those of the uint8 form.
  public func fill(
    _ destination: inout MutableSpan<Int8>, order: ChannelOrder = .interleaved,
    normalization: Normalization? = nil, scale: Float = 1, zeroPoint: Int = 0
  ) throws(ApusError) {
    try Normalization.check(normalization, scale: scale, zeroPoint: zeroPoint)
    try checkCount(destination.count)
    guard let normalization else {
      return copy(into: &destination, order) { Int8(bitPattern: $0 ^ 0x80) }
    }
    let table: [Int8] = try normalization.table(
      channels: channels.count, of: bytes, scale: scale, zeroPoint: zeroPoint)
    look(up: table, into: &destination, order)
  }

  /// The values of a float32 input, as ``fill(_:order:normalization:)`` writes them.
  public func floats(order: ChannelOrder = .interleaved, normalization: Normalization? = nil)
    throws(ApusError) -> [Float]
  {
    var values = [Float](repeating: 0, count: count)
    var span = values.mutableSpan
    try fill(&span, order: order, normalization: normalization)
    return values
  }

  private func checkCount(_ found: Int) throws(ApusError) {
    guard found == count else {
      throw ApusError(
        .invalidArgument,
        "the input has \(found) values, but the prepared image \(width) × \(height) × \(channels.count)")
    }
  }

  @inline(__always)
  private func copy<Value>(
    into destination: inout MutableSpan<Value>, _ order: ChannelOrder, _ value: (UInt8) -> Value
  ) {
    let source = bytes.span
    guard order == .planar, channels != .gray else {
      for index in 0..<source.count { destination[index] = value(source[index]) }
      return
    }
    place(into: &destination, order) { byte, _ in value(byte) }
  }

  @inline(__always)
  private func look<Value>(
    up table: [Value], into destination: inout MutableSpan<Value>, _ order: ChannelOrder
  ) {
    let source = bytes.span
    let table = table.span
    if channels == .gray {
      for index in 0..<source.count { destination[index] = table[Int(source[index])] }
    } else {
      place(into: &destination, order) { byte, offset in table[offset + Int(byte)] }
    }
  }

  /// Writes three channels; `value` gets each byte and 256 times its channel.
  @inline(__always)
  private func place<Value>(
    into destination: inout MutableSpan<Value>, _ order: ChannelOrder, _ value: (UInt8, Int) -> Value
  ) {
    let source = bytes.span
    let pixels = source.count / 3
    let (step, channelStep) = order == .interleaved ? (3, 1) : (1, pixels)
    for pixel in 0..<pixels {
      let base = pixel * step
      destination[base] = value(source[pixel * 3], 0)
      destination[base + channelStep] = value(source[pixel * 3 + 1], 256)
      destination[base + 2 * channelStep] = value(source[pixel * 3 + 2], 512)
    }
  }
}
