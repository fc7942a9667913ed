// SPDX-License-Identifier: Apache-2.0

/// How operands become 16-bit lanes if operands or outputs are not all bytes.
struct WordOperands {
  /// The activations that lanes are computed from.
  enum Source {
    /// 16-bit activations, unchanged.
    case words
    /// Bytes, flipped to unsigned ones, minus a zero point.
    case bytes(signFlip: UInt8, zeroPoint: Int16)
    /// Floats, quantized at run time.
    case floats(isAsymmetric: Bool)
  }

  let source: Source
  /// The size of a weight in the model.
  let weightByteCount: Int
  /// The zero point of unsigned byte weights; nil for signed ones.
  let weightZeroPoint: Int32?
  /// The size of a bias.
  let biasByteCount: Int

  /// Whether the outputs are the sums.
  let isRaw: Bool

  init?(_ operands: MatrixOperands) {
    isRaw = operands == .int8Sums
    switch operands {
    case .float32, .bfloat16, .uint8, .int8:
      return nil
    case .uint8ToInt16(let lhs, let rhs):
      source = .bytes(signFlip: 0, zeroPoint: Int16(truncatingIfNeeded: lhs))
      (weightByteCount, weightZeroPoint, biasByteCount) = (1, rhs, 4)
    case .int8Sums:
      source = .bytes(signFlip: 0x80, zeroPoint: 128)
      (weightByteCount, weightZeroPoint, biasByteCount) = (1, nil, 4)
    case .int16(let weight, let bias):
      source = .words
      (weightByteCount, weightZeroPoint, biasByteCount) = (weight, nil, bias)
    case .hybrid(let isAsymmetric):
      source = .floats(isAsymmetric: isAsymmetric)
      (weightByteCount, weightZeroPoint, biasByteCount) = (1, nil, 4)
    }
  }

  /// Whether sums are 64 bits wide.
  var isWide: Bool { biasByteCount == 8 || weightByteCount == 2 }

  /// The size of a packed bias, which is that of a sum.
  var packedBiasByteCount: Int { isWide ? 8 : 4 }

  /// The number of products per weight: 16-bit ones are split into upper and lower byte.
  var planes: Int { weightByteCount }

  /// The maximum K of a 32-bit sum for any values; a multiple of eight.
  var maximumDepth: Int { !isWide ? 2_048 : (planes == 2 ? 248 : 504) }

  /// The size of an activation.
  var inputByteCount: Int {
    switch source {
    case .words: 2
    case .bytes: 1
    case .floats: 4
    }
  }

  /// The size of an output.
  var outputByteCount: Int {
    if case .floats = source { return 4 }
    return isRaw ? 4 : 2
  }

  /// The identity of the packed layout.
  var packing: WeightLayout {
    WeightLayout(
      "portable-words", weightZeroPoint == nil ? "" : "shifted",
      numbers: [planes, Int(weightZeroPoint ?? 0), biasByteCount])
  }

  /// The lane of one weight; for 16-bit weights, its upper byte (plane 0) or its lower byte.
  @inline(__always)
  func weight(_ weights: UnsafeRawBufferPointer, _ index: Int, plane: Int) -> Int16 {
    if weightByteCount == 2 {
      let value = unsafe weights.loadUnaligned(fromByteOffset: index &* 2, as: Int16.self)
      return plane == 0 ? value &>> 8 : value & 0xFF
    }
    let byte = unsafe weights[index]
    if let weightZeroPoint { return Int16(truncatingIfNeeded: Int32(byte) &- weightZeroPoint) }
    return Int16(Int8(bitPattern: byte))
  }
}
