/// Writes the end of a generated product: from sums in registers to outputs in memory.
///
/// Sums of row `i` and vector `j` are in the register `i · vectorCount + j`; registers after them are free. `rdx` points at
/// the factors, `rsi` at the offsets, and a base and `r9`, `r10`, `r11` (one, three and five strides) at the rows of the
/// output; the mask register `k1` has the odd lanes and `k2` the columns that exist.
struct X86EpilogueGenerator: Hashable, Sendable {
  /// What becomes of the sums.
  enum Kind: Hashable, Sendable {
    /// 32-bit sums, without bias.
    case sums
    /// Floats: bias, bounds.
    case floats
    /// Bytes: offset, one multiplication with double rounding, zero point, bounds. Shifts go right, by at least one bit
    /// unless `hasAnyShifts`.
    case bytes(isSigned: Bool, hasAnyShifts: Bool)
  }

  let target: X86Target
  let kind: Kind
  let rowCount: Int
  let vectorCount: Int
  /// Whether only the masked columns are written.
  let isPartial: Bool

  private typealias General = X86Assembler.General
  private var width: X86Assembler.Width { target.width }
  func sum(_ row: Int, _ vector: Int) -> Int { row * vectorCount + vector }
  /// Registers that hold no sums.
  func free(_ index: Int) -> Int { rowCount * vectorCount + index }

  /// The address of a row: bases lie six rows apart.
  func place(_ bases: [X86Assembler.General], _ row: Int, _ displacement: Int = 0) -> X86Assembler.Memory {
    let base = bases[row / 6]
    switch row % 6 {
    case 0: return .init(base, displacement)
    case 1: return .init(base, index: .r9, displacement)
    case 2: return .init(base, index: .r9, scale: 2, displacement)
    case 3: return .init(base, index: .r10, displacement)
    case 4: return .init(base, index: .r9, scale: 4, displacement)
    default: return .init(base, index: .r11, displacement)
    }
  }

  /// `r9`, `r10`, `r11`: one, three and five strides.
  func loadStride(_ a: inout X86Assembler, _ offset: Int) {
    a.load(.r9, .init(.rdi, offset))
    a.address(.r10, .init(.r9, index: .r9, scale: 2))
    a.address(.r11, .init(.r9, index: .r9, scale: 4))
  }

  /// Six strides on from a base.
  func nextBase(_ a: inout X86Assembler, _ next: X86Assembler.General, from base: X86Assembler.General) {
    a.address(next, .init(base, index: .r10, scale: 2))
  }

  /// The row after a block's last.
  func pointAfterLast(
    _ a: inout X86Assembler, _ bases: [X86Assembler.General], _ register: X86Assembler.General
  ) {
    if rowCount % 6 == 0 {
      nextBase(&a, register, from: bases[bases.count - 1])
    } else {
      a.address(register, place(bases, rowCount))
    }
  }

  func advance(_ a: inout X86Assembler, _ bases: [X86Assembler.General]) {
    for index in bases.indices.dropFirst() { nextBase(&a, bases[index], from: bases[index - 1]) }
  }

  // MARK: Stores

  func store(_ a: inout X86Assembler, _ bases: [X86Assembler.General]) {
    switch kind {
    case .sums:
      for row in 0..<rowCount {
        for vector in 0..<vectorCount {
          var memory = place(bases, row)
          memory.displacement = vector * width.byteCount
          a.vector(.vmovdquStore, width, sum(row, vector), 0, memory)
        }
      }
    case .floats: storeFloats(&a, bases)
    case .bytes(let isSigned, let hasAnyShifts):
      for vector in 0..<vectorCount { requantize(&a, vector: vector, hasAnyShifts: hasAnyShifts) }
      storeBytes(&a, bases, isSigned: isSigned)
    }
  }

  private func storeFloats(_ a: inout X86Assembler, _ bases: [X86Assembler.General]) {
    let layout = X86FactorLayout(target)
    let (minimum, maximum) = (free(0), free(1))
    a.vector(.vbroadcastss, width, minimum, 0, .init(.rdx, layout.minimum))
    a.vector(.vbroadcastss, width, maximum, 0, .init(.rdx, layout.maximum))
    for vector in 0..<vectorCount {
      for row in 0..<rowCount {
        let value = sum(row, vector)
        a.vector(.vaddps, width, value, value, .init(.rsi, vector * width.byteCount))
        // The value is the second source: what the instructions answer where it is NaN.
        a.vector(.vmaxps, width, value, minimum, value)
        a.vector(.vminps, width, value, maximum, value)
      }
    }
    for row in 0..<rowCount {
      for vector in 0..<vectorCount {
        var memory = place(bases, row)
        memory.displacement = vector * width.byteCount
        let isLast = isPartial && vector == vectorCount - 1
        a.vector(.vmovupsStore, width, sum(row, vector), 0, memory, mask: isLast ? .init(2) : nil)
      }
    }
  }

  /// Multiplies the sums of one vector of columns by their factors, with the reference's two roundings.
  ///
  /// `(x·m + 2³⁰) >> 31` for even and odd lanes apart, then `(y + 2ᵉ⁻¹ − (y < 0)) >> e`. The caller has made sure that
  /// `|x| < 2³⁰`, so that no addition overflows. Where `e` is zero, `x` may first be shifted left, and nothing but the
  /// product is rounded: then `2ᵉ⁻¹` stands as zero, and the lesser of it and of `y < 0` is subtracted.
  private func requantize(_ a: inout X86Assembler, vector: Int, hasAnyShifts: Bool) {
    let layout = X86FactorLayout(target)
    let offset = vector * width.byteCount
    let (first, second) = (free(0), free(1))
    // AVX-512 has registers for the factors; AVX2 reads them from the cache each time.
    func operand(_ register: Int, _ displacement: Int) -> X86Assembler.Operand {
      let memory = X86Assembler.Memory(.rdx, displacement)
      guard target == .avx512 else { return .memory(memory) }
      a.vector(.vmovdqu, width, free(register), 0, memory)
      return .register(free(register))
    }
    let even = operand(2, layout.multipliers + offset)
    let odd = operand(3, layout.oddMultipliers + offset)
    let rounding = operand(4, layout.roundings + offset)
    let shifts = operand(5, layout.shifts + offset)
    let half = operand(6, layout.half)
    for row in 0..<rowCount {
      let value = sum(row, vector)
      a.vector(.vpaddd, width, value, value, .init(.rsi, offset))
      if hasAnyShifts { a.vector(.vpsllvd, width, value, value, .init(.rdx, layout.leftShifts + offset)) }
      a.shift(.shiftQuads, digit: 2, width, second, value, by: 32)
      a.vector(.vpmuldq, width, first, value, even)
      a.vector(.vpmuldq, width, second, second, odd)
      a.vector(.vpaddq, width, first, first, half)
      a.vector(.vpaddq, width, second, second, half)
      a.shift(.shiftQuads, digit: 2, width, first, first, by: 31)
      a.vector(.vpaddq, width, second, second, second)
      if target == .avx512 {
        a.vector(.vpblendmd, width, value, first, second, mask: .init(1))
      } else {
        a.vector(.vpblendd, width, value, first, second, immediate: 0xAA)
      }
      a.shift(.shiftDoubles, digit: 2, width, first, value, by: 31)
      if hasAnyShifts { a.vector(.vpminsd, width, first, first, rounding) }
      a.vector(.vpaddd, width, value, value, rounding)
      a.vector(.vpsubd, width, value, value, first)
      a.vector(.vpsravd, width, value, value, shifts)
    }
  }

  private func storeBytes(_ a: inout X86Assembler, _ bases: [X86Assembler.General], isSigned: Bool) {
    let layout = X86FactorLayout(target)
    let (zeroPoint, minimum, maximum) = (free(0), free(1), free(2))
    a.vector(.vpbroadcastw, width, zeroPoint, 0, .init(.rdx, layout.zeroPoint))
    if target == .avx2 {
      storePackedBytes(&a, bases, isSigned: isSigned, layout: layout, zeroPoint: zeroPoint)
      return
    }
    if vectorCount == 4 {
      a.vector(.vpbroadcastb, width, minimum, 0, .init(.rdx, layout.minimum))
      a.vector(.vpbroadcastb, width, maximum, 0, .init(.rdx, layout.maximum))
      for row in 0..<rowCount {
        let (first, second) = (sum(row, 0), sum(row, 2))
        a.vector(.vpackssdw, width, first, first, sum(row, 1))
        a.vector(.vpackssdw, width, second, second, sum(row, 3))
        a.vector(.vpaddsw, width, first, first, zeroPoint)
        a.vector(.vpaddsw, width, second, second, zeroPoint)
        a.vector(isSigned ? .vpacksswb : .vpackuswb, width, first, first, second)
        a.vector(isSigned ? .vpmaxsb : .vpmaxub, width, first, first, minimum)
        a.vector(isSigned ? .vpminsb : .vpminub, width, first, first, maximum)
        a.vector(.vmovdqu8Store, width, first, 0, place(bases, row), mask: isPartial ? .init(2) : nil)
      }
      return
    }
    a.vector(.vpbroadcastw, width, minimum, 0, .init(.rdx, layout.minimumWord))
    a.vector(.vpbroadcastw, width, maximum, 0, .init(.rdx, layout.maximumWord))
    for row in 0..<rowCount {
      var vector = 0
      while vector < vectorCount {
        // Two vectors make words in order; a single one is packed with itself and unpacked by the narrowing move.
        let isPair = vector + 1 < vectorCount
        let isLast = vector + (isPair ? 2 : 1) == vectorCount
        let value = sum(row, vector)
        var memory = place(bases, row)
        memory.displacement = vector * 16
        let mask: X86Assembler.Mask? = isPartial && isLast ? .init(2) : nil
        if isPair {
          a.vector(.vpackssdw, width, value, value, sum(row, vector + 1))
        } else {
          a.vector(.vpmovsdw, width, value, 0, value)
        }
        let words: X86Assembler.Width = isPair ? .zmm : .ymm
        a.vector(.vpaddsw, words, value, value, zeroPoint)
        a.vector(.vpmaxsw, words, value, value, minimum)
        a.vector(.vpminsw, words, value, value, maximum)
        if let mask {
          a.vector(.vpmovwb, words, value, 0, memory, mask: mask)
        } else {
          a.vector(.vpmovwb, words, value, 0, value)
          a.vector(.vmovdquStore, isPair ? .ymm : .xmm, value, 0, memory)
        }
        vector += isPair ? 2 : 1
      }
    }
  }

  /// AVX2: sixteen columns of two vectors, which lie so that packing leaves them in order.
  private func storePackedBytes(
    _ a: inout X86Assembler, _ bases: [X86Assembler.General], isSigned: Bool, layout: X86FactorLayout,
    zeroPoint: Int
  ) {
    let (minimum, maximum) = (free(1), free(2))
    a.vector(.vpbroadcastb, width, minimum, 0, .init(.rdx, layout.minimum))
    a.vector(.vpbroadcastb, width, maximum, 0, .init(.rdx, layout.maximum))
    for row in 0..<rowCount {
      let value = sum(row, 0)
      a.vector(.vpackssdw, width, value, value, sum(row, 1))
      a.vector(.vpaddsw, width, value, value, zeroPoint)
      a.vector(isSigned ? .vpacksswb : .vpackuswb, width, value, value, value)
      a.vector(.vpermq, width, value, 0, value, immediate: 0x08)
      a.vector(isSigned ? .vpmaxsb : .vpmaxub, width, value, value, minimum)
      a.vector(isSigned ? .vpminsb : .vpminub, width, value, value, maximum)
      a.vector(.vmovdquStore, .xmm, value, 0, place(bases, row))
    }
  }
}

/// The machine's instructions.
package enum X86Target: Hashable, Sendable {
  case avx512
  case avx2

  var width: X86Assembler.Width { self == .avx512 ? .zmm : .ymm }
  /// 32-bit lanes of a vector.
  package var lanes: Int { self == .avx512 ? 16 : 8 }
}

extension X86EpilogueGenerator.Kind {
  /// What finishes outputs of these operands.
  init(_ operands: MatrixOperands, _ epilogue: Epilogue) {
    switch operands {
    case .float32: self = .floats
    case .int8: self = .bytes(isSigned: true, hasAnyShifts: !epilogue.shiftsRight)
    default: self = .bytes(isSigned: false, hasAnyShifts: !epilogue.shiftsRight)
    }
  }
}

extension Epilogue {
  /// Whether all fixed-point factors shift right, by at least one bit.
  var shiftsRight: Bool {
    guard case .fixedPoint(let multipliers, _, _, _) = self else { return true }
    return multipliers.allSatisfy { $0.shift < 0 }
  }

  /// Whether generated code can finish outputs: floats, or fixed-point factors that are not negative.
  var isPlain: Bool {
    switch self {
    case .float32: true
    case .fixedPoint(let multipliers, _, _, _):
      multipliers.allSatisfy { $0.value >= 0 && $0.shift > -31 }
    default: false
    }
  }
}
