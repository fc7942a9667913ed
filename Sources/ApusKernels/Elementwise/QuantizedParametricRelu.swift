// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// PRELU of quantized values: values below zero are multiplied by factors from a tensor.
package struct QuantizedParametricRelu: Hashable, Sendable {
  /// The rescaling of values that are not below zero.
  let positive: Rescaling
  let alphaZeroPoint: Int32
  /// The multiplier of products of values below zero with their factors.
  let negative: FixedPointMultiplier

  /// Describes the function by the rescaling of values from zero up and the multiplier of products below zero.
  package init(positive: Rescaling, alphaZeroPoint: Int32, negative: FixedPointMultiplier) {
    self.positive = positive
    self.alphaZeroPoint = alphaZeroPoint
    self.negative = negative
  }

  /// The kernel for `uint8`, for `int8`, or for `int16` with factors of `int8`; nil for other types.
  package func kernel(_ type: ScalarType, _ shapes: BroadcastShapes) -> (any BinaryKernel)? {
    switch type {
    case .uint8: BroadcastBinary(closure(UInt8.self, UInt8.self), shapes)
    case .int8: BroadcastBinary(closure(Int8.self, Int8.self), shapes)
    case .int16: BroadcastBinary(closure(Int16.self, Int8.self), shapes)
    default: nil
    }
  }

  /// The function of bytes tabulated for one factor.
  package func table(isSigned: Bool, factor: Int32) -> ByteTable {
    ByteTable(isSigned: isSigned) { self($0, factor) }
  }

  /// The maximum number of channels for generated code, which repeats the factors until they fill whole vectors.
  private static let maximumChannels = 4096
  /// The fewest rows for which tabulating each channel pays: the tables cost as much as 256 rows.
  package static let minimumRows = 128

  /// The kernel for rows of bytes with a factor for each channel: code of a kernel set, otherwise tables of each channel.
  package func choose(
    isSigned: Bool, rows: Int, factors: [Int32], using set: KernelSet
  ) -> KernelSet.Chosen<any UnaryKernel> {
    func tables() -> any UnaryKernel {
      let tables = ChannelTables(channels: factors.count, isSigned: isSigned) { value, channel in
        UInt8(truncatingIfNeeded: self(value, factors[channel]))
      }
      return UnaryMap(tables, rows: rows, depth: factors.count)
    }
    return set.choose(otherwise: tables()) { set throws(Decline) in
      let kernels = try set.generatedKernels()
      guard factors.count <= Self.maximumChannels else {
        throw Decline("rows of \(factors.count) bytes are longer than \(Self.maximumChannels)")
      }
      let floats = try SinglePrecisionRelu(self, isSigned: isSigned, factors: factors)
      let code = try kernels.parametricRelu(floats)
      return UnaryMap(RectifiedRows(code: code, factors: floats.factors), rows: rows, depth: factors.count)
    }
  }

  /// The result for one value and its factor.
  @inline(__always)
  private func callAsFunction(_ value: Int32, _ alpha: Int32) -> Int32 {
    let difference = value &- positive.zeroPoint
    if difference >= 0 { return positive(value) }
    let result = negative.apply(difference &* (alpha &- alphaZeroPoint)) &+ positive.output.zeroPoint
    return min(max(result, positive.output.minimum), positive.output.maximum)
  }

  private func closure<
    T: FixedWidthInteger & BitwiseCopyable & Sendable, A: FixedWidthInteger & BitwiseCopyable & Sendable
  >(
    _ type: T.Type, _ alphaType: A.Type
  ) -> ClosureBinary<T, A, T> {
    ClosureBinary { value, alpha in T(truncatingIfNeeded: self(Int32(value), Int32(alpha))) }
  }
}

/// PRELU of rows of bytes by generated code.
private struct RectifiedRows: RowFunction {
  private let code: FormulaCode
  /// The factors of a row, repeated `rowsAtOnce` times: a call computes that many rows as one, whose length is a multiple of
  /// the elements that the code computes at a time.
  private let factors: Table<Float>
  private let rowsAtOnce: Int

  init(code: FormulaCode, factors: [Float]) {
    self.code = code
    let unit = code.lanes * code.vectorsAtOnce
    let rows = (1...unit).first { (factors.count * $0).isMultiple(of: unit) } ?? unit
    rowsAtOnce = rows
    self.factors = Table(count: rows * factors.count) { factors[$0 % factors.count] }
  }

  var loopDescription: String { "generated loop of some vectors at a time" }

  func fill(_ output: UnsafeMutablePointer<UInt8>, count: Int, input: UnsafePointer<UInt8>) {
    unsafe fill(output, rows: 1, depth: count, input: input)
  }

  func fill(_ output: UnsafeMutablePointer<UInt8>, rows: Int, depth: Int, input: UnsafePointer<UInt8>) {
    let (target, source) = (Int(bitPattern: output), Int(bitPattern: input))
    let factors = Int(bitPattern: unsafe factors.values)
    let stride = rowsAtOnce &* depth
    let done = rows / rowsAtOnce
    code.run(
      .init(
        count: done, output: target, outputStride: stride, inputs: SIMD8(source, factors, 0, 0, 0, 0, 0, 0),
        strides: SIMD8(stride, 0, 0, 0, 0, 0, 0, 0)), depth: stride)
    let (place, rest) = (done &* stride, (rows &- done &* rowsAtOnce) &* depth)
    code.run(
      .init(output: target &+ place, inputs: SIMD8(source &+ place, factors, 0, 0, 0, 0, 0, 0)), depth: rest)
  }
}
