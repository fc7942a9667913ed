/// The machine's instructions.
enum X86Target: String, Hashable {
  case avx512
  case avx2

  var width: X86Assembler.Width { self == .avx512 ? .zmm : .ymm }
  /// 32-bit lanes of a vector.
  var lanes: Int { self == .avx512 ? 16 : 8 }
}

extension X86ProductGenerator.Product {
  /// The product for operands and an epilogue, where there is one; `bytes` says how bytes are multiplied.
  init?(_ operands: MatrixOperands, _ epilogue: Epilogue, bytes: X86ProductGenerator.Product) {
    switch (operands, epilogue) {
    case (.float32, .float32): self = .floats
    case (.hybrid, .hybrid): self = .words
    case (.uint8, .fixedPoint), (.uint8, .float64): self = bytes
    case (.int8, .fixedPoint), (.int8, .float64): self = bytes == .unsignedBytes ? .signedBytes : bytes
    default: return nil
    }
  }
}

extension MatrixOperands {
  /// The size of an element of input and output.
  var generatedByteCount: Int { self == .float32 || isHybrid ? 4 : 1 }

  /// Whether floats are quantized when they come.
  var isHybrid: Bool { if case .hybrid = self { true } else { false } }

  /// As ``bytes``; quantized floats have no zero point any more, and their weights are signed.
  var generatedBytes: ByteOperands? {
    isHybrid ? ByteOperands(signFlip: 0x80, lhsZeroPoint: 0, rhsZeroPoint: 128) : bytes
  }
}

extension X86EpilogueGenerator.Kind {
  /// What finishes outputs of these operands; `isPerRow` says whether each row is an image of its own.
  init(_ operands: MatrixOperands, _ epilogue: Epilogue, isPerRow: Bool) {
    let isSigned = if case .int8 = operands { true } else { false }
    switch epilogue {
    case .float32: self = .floats
    case .hybrid: self = .scaledFloats(isPerRow: isPerRow)
    case .float64: self = .bytes(isSigned: isSigned, .once, isBounded: false)
    case .fixedPoint(let multipliers, _, let minimum, let maximum):
      self = .bytes(
        isSigned: isSigned, multipliers.allSatisfy { (-21)...(-1) ~= $0.shift } ? .right : .any,
        isBounded: minimum > (isSigned ? -128 : 0) || maximum < (isSigned ? 127 : 255))
    default: self = .sums
    }
  }

  /// Whether outputs are bytes, whose columns are in the order that packing wants.
  var isBytes: Bool { if case .bytes = self { true } else { false } }

  /// Whether sums must keep to ``X86EpilogueGenerator/sumLimit``.
  var needsBoundedSums: Bool {
    switch self {
    case .bytes(_, .right, _), .bytes(_, .any, _): true
    default: false
    }
  }
}

extension Epilogue {
  /// Whether generated code can finish outputs: fixed-point factors must not be negative.
  var isPlain: Bool {
    switch self {
    case .float32, .float64, .hybrid: true
    case .fixedPoint(let multipliers, _, _, _):
      multipliers.allSatisfy { $0.value >= 0 && $0.shift > -30 }
    default: false
    }
  }
}
