// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The operands of one K-step per lane: four bytes, two `int16`, two bfloat16 or one float of a row with as
/// many of a column.
@usableFromInline package enum ProductKind: Hashable, Sendable {
  /// Unsigned bytes of rows with signed bytes of columns.
  case unsignedBytes
  /// Signed bytes with signed bytes.
  case signedBytes
  /// Pairs of `int16`.
  case words
  /// Floats.
  case floats
  /// Pairs of bfloat16, by one instruction; sums as in ``BFloat16Sum``.
  case bfloat16
  /// Pairs of bfloat16, widened to floats and multiplied one after the other, with the sums of ``bfloat16``. Rows
  /// have floats that are already rounded.
  case bfloat16AsFloats
  /// Pairs of bfloat16, by the instruction of AMX that multiplies tiles: 16 rows with 16 columns, up to 16 pairs at a time.
  /// Sums are added in parts.
  case bfloat16Tiles

  /// The product for operands and an epilogue.
  ///
  /// - Parameters:
  ///   - bytes: how bytes are multiplied.
  ///   - bfloat16: how bfloat16 is multiplied; nil where there is no code for it.
  package init(
    _ operands: MatrixOperands, _ epilogue: Epilogue, bytes: ProductKind, bfloat16: ProductKind? = nil
  ) throws(Decline) {
    switch (operands, epilogue) {
    case (.float32, .float32): self = .floats
    case (.bfloat16, .float32):
      guard let bfloat16 else { throw Decline("there is no code for operands of \(operands.name) yet") }
      self = bfloat16
    case (.hybrid, .hybrid): self = bytes == .unsignedBytes ? bytes : .words
    case (.uint8, .fixedPoint), (.uint8, .float64): self = bytes
    case (.int8, .fixedPoint), (.int8, .float64): self = bytes == .unsignedBytes ? .signedBytes : bytes
    case (.float32, _), (.uint8, _), (.int8, _), (.hybrid, _):
      throw Decline("there is no generated code for \(epilogue.name) of operands of \(operands.name)")
    case (.bfloat16, _), (.uint8ToInt16, _), (.int8Sums, _), (.int16, _):
      throw Decline("there is no generated code for operands of \(operands.name)")
    }
  }

  /// The product's name; part of the key of packed weights.
  package var name: String {
    switch self {
    case .unsignedBytes: "unsigned bytes"
    case .signedBytes: "signed bytes"
    case .words: "words"
    case .floats: "floats"
    case .bfloat16: "bfloat16"
    case .bfloat16AsFloats: "bfloat16 as floats"
    case .bfloat16Tiles: "bfloat16 in tiles"
    }
  }

  /// Bytes per value of K in the rows that are multiplied.
  @inlinable package var operandByteCount: Int {
    switch self {
    case .unsignedBytes, .signedBytes: 1
    case .words, .bfloat16, .bfloat16Tiles: 2
    case .floats, .bfloat16AsFloats: 4
    }
  }

  /// Bytes per weight when packed.
  @inlinable package var weightByteCount: Int { self == .bfloat16AsFloats ? 2 : operandByteCount }

  /// Values of K per K-step. They belong to one tap in products, and to different taps in depthwise
  /// convolutions.
  @inlinable package var depthPerStep: Int { isBFloat16 ? 2 : 4 / operandByteCount }

  /// Whether operands are rounded to bfloat16.
  @inlinable package var isBFloat16: Bool {
    switch self {
    case .bfloat16, .bfloat16AsFloats, .bfloat16Tiles: true
    case .unsignedBytes, .signedBytes, .words, .floats: false
    }
  }
}

extension MatrixOperands {
  /// The size of an element of the input, and for operands with generated code also of the output.
  @inlinable package var generatedByteCount: Int {
    switch self {
    case .float32, .bfloat16, .hybrid: 4
    case .uint8, .int8, .uint8ToInt16, .int8Sums: 1
    case .int16: 2
    }
  }

  /// Whether float activations are quantized at run time.
  @inlinable package var isHybrid: Bool { if case .hybrid = self { true } else { false } }

  /// The signs and zero points of bytes. For hybrid operands, weights are signed and the activations' zero
  /// point, known only at run time, counts as 0.
  @inlinable package var generatedBytes: ByteOperands? {
    isHybrid ? ByteOperands(signFlip: 0x80, lhsZeroPoint: 0, rhsZeroPoint: 128) : bytes
  }
}
