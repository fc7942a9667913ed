// SPDX-License-Identifier: Apache-2.0

/// The layout of factors in single precision.
struct X86SinglePrecisionFactors {
  /// Arrays of one float for each column: factors, what is added to products, and what factors lack.
  let multipliers: Int
  let offsets: Int
  let rests: Int
  /// The sign of floats, in all lanes.
  let sign: Int

  init(_ layout: X86FactorLayout) {
    multipliers = layout.array(0)
    offsets = layout.array(1)
    rests = layout.array(2)
    sign = layout.constant
  }

  /// Writes the factors.
  func fill(_ block: X86FactorBlock, _ factors: [SinglePrecisionFactor]) {
    for lane in 0..<16 { block.store(1 << 31 as UInt32, at: sign + 4 * lane) }
    block.forEachLane(factors) { lane, factor in
      block.store(factor.multiplier, at: multipliers + 4 * lane)
      block.store(factor.offset, at: offsets + 4 * lane)
      block.store(factor.rest ?? 0, at: rests + 4 * lane)
    }
  }
}

/// From sums of bytes to outputs of 32 bits, in single precision where that makes no difference: see ``SinglePrecisionFactor``.
extension X86EpilogueGenerator {
  /// The greatest magnitude of sums that such factors take; nil where any will do.
  static func singlePrecisionSumLimit(_ factors: [SinglePrecisionFactor]) -> Int? {
    // Products are below 2³¹ whatever the sums are, unless a factor is a half or more.
    let exponent = factors.reduce(-2) { max($0, Int($1.multiplier.exponent)) }
    return exponent < -1 ? nil : sumLimit >> (exponent + 1)
  }

  /// Multiplies the sums of one vector of columns in single precision, without the zero point: see
  /// ``SinglePrecisionFactor``.
  func rescaleSingle(_ a: inout X86Assembler, vector: Int) {
    loadSingleFactors(&a, vector: vector)
    for row in 0..<rowCount { rescaleSingle(&a, row: row, vector: vector) }
  }

  /// The registers of a vector's factors and offsets, and of signs.
  private var singleFactor: Int { free(target == .avx512 ? 4 : 2) }
  private var singleOffset: Int { free(target == .avx512 ? 5 : 3) }
  private var sign: X86Assembler.Operand {
    target == .avx512
      ? .register(free(6)) : .memory(.init(.rdx, X86SinglePrecisionFactors(X86FactorLayout(target)).sign))
  }

  /// Loads signs, if there is a register for them, where sums in single precision need them.
  func loadSign(_ a: inout X86Assembler) {
    guard case .bytes(_, .single(isRectified: false, _, _), _) = kind, case .register(let sign) = sign else {
      return
    }
    a.vector(.vmovdqu, width, sign, 0, .init(.rdx, X86SinglePrecisionFactors(X86FactorLayout(target)).sign))
  }

  func loadSingleFactors(_ a: inout X86Assembler, vector: Int) {
    let layout = X86SinglePrecisionFactors(X86FactorLayout(target))
    let offset = vector * self.width.byteCount
    let width = width(vector)
    a.vector(.vmovdqu, width, singleFactor, 0, .init(.rdx, layout.multipliers + offset))
    a.vector(.vmovdqu, width, singleOffset, 0, .init(.rdx, layout.offsets + offset))
  }

  /// As above for one row, after the factors were loaded.
  func rescaleSingle(_ a: inout X86Assembler, row: Int, vector: Int) {
    guard case .bytes(_, .single(let isRectified, _, let hasRest), _) = kind else { return }
    let (width, value) = (width(vector), sum(row, vector))
    a.vector(.vcvtdq2ps, width, value, 0, value)
    var offset = singleOffset
    if !isRectified {
      // The offset with the sign of the sum.
      offset = free(1)
      if target == .avx512 {
        a.vector(.vmovdqu, width, offset, 0, value)
        a.vector(.vpternlogd, width, offset, singleOffset, sign, immediate: 0xEC)
      } else {
        a.vector(.vpand, width, offset, value, sign)
        a.vector(.vpor, width, offset, offset, singleOffset)
      }
    }
    if hasRest {
      if isRectified {
        offset = free(1)
        a.vector(.vmovdqu, width, offset, 0, singleOffset)
      }
      let place = X86SinglePrecisionFactors(X86FactorLayout(target)).rests + vector * self.width.byteCount
      a.vector(.vfmadd231ps, width, offset, value, .init(.rdx, place))
      a.cuttingOff(.vfmadd213ps, value, singleFactor, offset)
    } else {
      a.vector(.vfmadd213ps, width, value, singleFactor, offset)
    }
    a.vector(.vcvttps2dq, width, value, 0, value)
  }
}
