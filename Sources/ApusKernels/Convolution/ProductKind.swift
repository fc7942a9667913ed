// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// What one K-step multiplies per lane: four bytes, two `int16` or one float of a row with as many of a
/// column.
@usableFromInline package enum ProductKind: Hashable, Sendable {
  /// Unsigned bytes of rows with signed bytes of columns.
  case unsignedBytes
  /// Signed bytes with signed bytes.
  case signedBytes
  /// Pairs of `int16`.
  case words
  /// Floats.
  case floats

  /// The product for operands and an epilogue; `bytes` says how bytes are multiplied.
  package init(_ operands: MatrixOperands, _ epilogue: Epilogue, bytes: ProductKind) throws(Decline) {
    switch (operands, epilogue) {
    case (.float32, .float32): self = .floats
    case (.hybrid, .hybrid): self = bytes == .unsignedBytes ? bytes : .words
    case (.uint8, .fixedPoint), (.uint8, .float64): self = bytes
    case (.int8, .fixedPoint), (.int8, .float64): self = bytes == .unsignedBytes ? .signedBytes : bytes
    case (.float32, _), (.uint8, _), (.int8, _), (.hybrid, _):
      throw Decline("there is no generated code for \(epilogue.name) of operands of \(operands.name)")
    default: throw Decline("there is no generated code for operands of \(operands.name)")
    }
  }

  /// The product's name; part of the key of packed weights.
  package var name: String {
    switch self {
    case .unsignedBytes: "unsigned bytes"
    case .signedBytes: "signed bytes"
    case .words: "words"
    case .floats: "floats"
    }
  }

  /// Bytes per value.
  @inlinable package var laneByteCount: Int {
    switch self {
    case .unsignedBytes, .signedBytes: 1
    case .words: 2
    case .floats: 4
    }
  }

  /// Values of K per K-step. They belong to one tap in products, and to different taps in depthwise
  /// convolutions.
  @inlinable package var lanesPerStep: Int { 4 / laneByteCount }
}

extension MatrixOperands {
  /// The size of an element of input and output.
  @inlinable package var generatedByteCount: Int { if case .float32 = self { 4 } else { isHybrid ? 4 : 1 } }

  /// Whether float activations are quantized at run time.
  @inlinable package var isHybrid: Bool { if case .hybrid = self { true } else { false } }

  /// The signs and zero points of bytes. For hybrid operands, weights are signed and the activations' zero
  /// point, known only at run time, counts as 0.
  @inlinable package var generatedBytes: ByteOperands? {
    isHybrid ? ByteOperands(signFlip: 0x80, lhsZeroPoint: 0, rhsZeroPoint: 128) : bytes
  }
}
