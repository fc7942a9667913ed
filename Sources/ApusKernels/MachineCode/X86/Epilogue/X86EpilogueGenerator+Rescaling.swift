// SPDX-License-Identifier: Apache-2.0

/// From sums of bytes to outputs of 32 bits.
extension X86EpilogueGenerator {
  /// Multiplies the sums of one vector of columns by factors that shift right, with the reference's two roundings, and adds
  /// the zero point.
  ///
  /// The reference rounds `x·m / 2³¹` to the nearest integer `y`, halves upwards, then `y / 2ᵉ`, halves away from zero:
  /// `(y + 2ᵉ⁻¹ − (y < 0)) >> e`. The caller has made sure that `|x|` is at most ``sumLimit``, so that nothing here
  /// overflows. Sums began 2³¹ too high, so that they are not negative as unsigned numbers and `2m`, too, may take 32 bits:
  /// the upper half of `(x + 2³¹)·2m + c` is then `y` plus whatever multiple of 2³² is part of `c`, in which the 2³¹ are
  /// taken off again: the rounding, minus one, and the zero point, `z·2ᵉ`. What is left is to add one where `y` is not
  /// negative: where `x` is not, which its highest bit tells; `x` is negative and `y` zero only where the one makes no
  /// difference. Where no output is below the zero point, that one may be part of the constant: it could only raise
  /// results of negative `y`, none of which it raises above the zero point.
  func rescaleRight(_ a: inout X86Assembler, vector: Int) {
    loadFactors(&a, vector: vector)
    for row in 0..<rowCount { rescaleRight(&a, row: row, vector: vector) }
  }

  /// Where the factors of a vector that shift right lie: for even and odd columns, the constants added to both, and shifts.
  private func rightFactor(_ index: Int, _ vector: Int) -> Int {
    let layout = X86FactorLayout(target)
    let start =
      switch index {
      case 0: layout.multipliers
      case 1: layout.oddMultipliers
      case 2: layout.evenOffsets
      case 3: layout.oddOffsets
      default: layout.shifts
      }
    return start + vector * width.byteCount
  }

  /// Loads the factors of a vector that shift right, where there are registers for them.
  func loadFactors(_ a: inout X86Assembler, vector: Int) {
    for index in 0..<5 { _ = factor(&a, width(vector), 2 + index, rightFactor(index, vector)) }
  }

  /// As above for one row, after the factors were loaded.
  func rescaleRight(_ a: inout X86Assembler, row: Int, vector: Int) {
    func factor(_ index: Int) -> X86Assembler.Operand {
      target == .avx512 ? .register(free(2 + index)) : .memory(.init(.rdx, rightFactor(index, vector)))
    }
    let width = width(vector)
    let (value, first, second) = (sum(row, vector), free(0), free(1))
    a.shift(.shiftQuads, digit: 2, width, second, value, by: 32)
    a.vector(.vpmuludq, width, first, value, factor(0))
    a.vector(.vpmuludq, width, second, second, factor(1))
    a.vector(.vpaddq, width, first, first, factor(2))
    a.vector(.vpaddq, width, second, second, factor(3))
    if target == .avx512 {
      a.vector(.vmovshdup, width, second, 0, first, mask: .init(1))
    } else {
      a.shift(.shiftQuads, digit: 2, width, first, first, by: 32)
      a.vector(.vpblendd, width, second, first, second, immediate: 0xAA)
    }
    if !kind.isRectified {
      a.shift(.shiftDoubles, digit: 2, width, value, value, by: 31)
      a.vector(.vpaddd, width, second, second, value)
    }
    a.vector(.vpsravd, width, value, second, factor(4))
  }

  /// A factor in a register: AVX-512 has enough of them; AVX2 reads it from the cache each time.
  private func factor(
    _ a: inout X86Assembler, _ width: X86Assembler.Width, _ index: Int, _ displacement: Int
  ) -> X86Assembler.Operand {
    let memory = X86Assembler.Memory(.rdx, displacement)
    guard target == .avx512 else { return .memory(memory) }
    a.vector(.vmovdqu, width, free(index), 0, memory)
    return .register(free(index))
  }

  /// As ``rescaleRight(_:vector:)`` for any sum and any factor, zero point included.
  ///
  /// `x` may first be shifted left, and wraps as the reference's does. `|x·m|` is at most 2³¹·(2³¹ − 1), so that the product
  /// with its rounding takes 63 bits, and `y`, less one if it is negative, 32. The second rounding is done in two shifts,
  /// `(((y − (y < 0)) >> (e − 1)) + 1) >> 1`, as `y + 2ᵉ⁻¹` might not take 32 bits. Where `e` is zero, each of its ones is a zero
  /// and `e − 1` another: then nothing but the product is rounded.
  func rescale(_ a: inout X86Assembler, vector: Int) {
    let layout = X86FactorLayout(target)
    let offset = vector * width.byteCount
    let (first, second) = (free(0), free(1))
    let even = factor(&a, width, 2, layout.multipliers + offset)
    let odd = factor(&a, width, 3, layout.oddMultipliers + offset)
    let one = factor(&a, width, 4, layout.roundings + offset)
    let shifts = factor(&a, width, 5, layout.shifts + offset)
    let half = factor(&a, width, 6, layout.half)
    for row in 0..<rowCount {
      let value = sum(row, vector)
      a.vector(.vpsllvd, width, value, value, .init(.rdx, layout.leftShifts + offset))
      a.shift(.shiftQuads, digit: 2, width, second, value, by: 32)
      a.vector(.vpmuldq, width, first, value, even)
      a.vector(.vpmuldq, width, second, second, odd)
      a.vector(.vpaddq, width, first, first, half)
      a.vector(.vpaddq, width, second, second, half)
      a.shift(.shiftQuads, digit: 2, width, first, first, by: 31)
      a.vector(.vpaddq, width, second, second, second)
      if target == .avx512 {
        a.vector(.vpblendmd, width, value, second, first, mask: .init(1))
      } else {
        a.vector(.vpblendd, width, value, first, second, immediate: 0xAA)
      }
      a.shift(.shiftDoubles, digit: 2, width, first, value, by: 31)
      a.vector(.vpminsd, width, first, first, one)
      a.vector(.vpsubd, width, value, value, first)
      a.vector(.vpsravd, width, value, value, shifts)
      a.vector(.vpaddd, width, value, value, one)
      a.vector(.vpsravd, width, value, value, one)
      a.vector(.vpaddd, width, value, value, .init(.rdx, layout.wideZeroPoint))
    }
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
    target == .avx512 ? .register(free(6)) : .memory(.init(.rdx, X86FactorLayout(target).half))
  }

  /// Loads signs, if there is a register for them, where sums in single precision need them.
  func loadSign(_ a: inout X86Assembler) {
    guard case .bytes(_, .single(isRectified: false, _, _), _) = kind, case .register(let sign) = sign else {
      return
    }
    a.vector(.vmovdqu, width, sign, 0, .init(.rdx, X86FactorLayout(target).half))
  }

  func loadSingleFactors(_ a: inout X86Assembler, vector: Int) {
    let (layout, offset) = (X86FactorLayout(target), vector * self.width.byteCount)
    let width = width(vector)
    a.vector(.vmovdqu, width, singleFactor, 0, .init(.rdx, layout.multipliers + offset))
    a.vector(.vmovdqu, width, singleOffset, 0, .init(.rdx, layout.oddMultipliers + offset))
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
      let place = X86FactorLayout(target).rests + vector * self.width.byteCount
      a.vector(.vfmadd231ps, width, offset, value, .init(.rdx, place))
      a.cuttingOff(.vfmadd213ps, value, singleFactor, offset)
    } else {
      a.vector(.vfmadd213ps, width, value, singleFactor, offset)
    }
    a.vector(.vcvttps2dq, width, value, 0, value)
  }

  /// Multiplies the sums of one vector of columns in double precision and rounds them to the nearest integer, halves away
  /// from zero, without the zero point.
  ///
  /// Adding the double below one half, with the sign of the product, and dropping the fraction rounds so for any double
  /// of such a size. The bounds are integers: it makes no difference that they come first.
  func rescaleOnce(_ a: inout X86Assembler, vector: Int) {
    let layout = X86FactorLayout(target)
    let (low, half) = (free(0), free(1))
    let (extract, insert): (X86Assembler.Instruction, X86Assembler.Instruction) =
      target == .avx512 ? (.vextracti64x4, .vinserti64x4) : (.vextracti128, .vinserti128)
    for row in 0..<rowCount {
      let value = sum(row, vector)
      a.vector(.vcvtdq2pd, width, low, 0, value)
      a.vector(extract, width, value, 0, half, immediate: 1)
      a.vector(.vcvtdq2pd, width, value, 0, half)
      for (index, part) in [low, value].enumerated() {
        a.vector(
          .vmulpd, width, part, part, .init(.rdx, layout.scales + (2 * vector + index) * width.byteCount))
        // The bound is the second source: what the instruction answers where the product is NaN.
        a.vector(.vmaxpd, width, part, part, .init(.rdx, layout.least))
        a.vector(.vminpd, width, part, part, .init(.rdx, layout.most))
        a.vector(.vpand, width, half, part, .init(.rdx, layout.signs))
        a.vector(.vpor, width, half, half, .init(.rdx, layout.belowHalf))
        a.vector(.vaddpd, width, part, part, half)
        a.vector(.vcvttpd2dq, width, part, 0, part)
      }
      a.vector(insert, width, value, low, value, immediate: 1)
    }
  }
}
