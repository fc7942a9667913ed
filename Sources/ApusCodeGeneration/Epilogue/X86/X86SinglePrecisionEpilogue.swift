// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// The layout of factors in single precision.
struct X86SinglePrecisionFactors {
  /// Arrays with one float per column: factors, the offsets added to products, and the remainders of factors
  /// in two parts.
  let multipliers: Int
  let offsets: Int
  let rests: Int
  /// The sign bit of floats, in all lanes.
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

/// The epilogue of bytes in single precision, up to 32-bit outputs, for factors with which it is exact: see
/// ``SinglePrecisionFactor``.
extension X86EpilogueGenerator {
  /// The largest magnitude of a sum for which these factors are exact; nil if there is no limit.
  static func singlePrecisionSumLimit(_ factors: [SinglePrecisionFactor]) -> Int? {
    // Unless a factor is ½ or more, products are below 2³¹ for all sums.
    let exponent = factors.reduce(-2) { max($0, Int($1.multiplier.exponent)) }
    return exponent < -1 ? nil : sumLimit >> (exponent + 1)
  }

  /// Rescales one vector of columns in single precision, without the zero point: see
  /// ``SinglePrecisionFactor``.
  func rescaleSingle(_ a: inout X86Assembler, vector: Int) {
    loadSingleFactors(&a, vector: vector)
    for row in 0..<rowCount { rescaleSingle(&a, row: row, vector: vector) }
  }

  /// The registers of a vector's factors and offsets, and the sign bits.
  private var singleFactor: Int { free(target == .avx512 ? 4 : 2) }
  private var singleOffset: Int { free(target == .avx512 ? 5 : 3) }
  private var sign: X86Assembler.Operand {
    target == .avx512
      ? .register(free(6)) : .memory(.init(.rdx, X86SinglePrecisionFactors(X86FactorLayout(target)).sign))
  }

  /// Loads the sign bits if the epilogue needs them and there is a register for them.
  func loadSign(_ a: inout X86Assembler) {
    guard case .bytes(_, .single(isRectified: false, _, _), _) = outputs, case .register(let sign) = sign
    else {
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

  /// Rescales one row of a vector of columns in single precision, after ``loadSingleFactors(_:vector:)``.
  func rescaleSingle(_ a: inout X86Assembler, row: Int, vector: Int) {
    guard case .bytes(_, .single(let isRectified, _, let hasRest), _) = outputs else { return }
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
