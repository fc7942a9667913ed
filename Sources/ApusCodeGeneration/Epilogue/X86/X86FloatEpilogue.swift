// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The layout of the factors of float outputs.
struct X86FloatFactors {
  /// One scale per column, for activations quantized at run time.
  let scales: Int
  /// AVX2: eight lanes with all bits set, then eight of zeros; a mask of columns is a part of them.
  let columnMask: Int

  init(_ layout: X86FactorLayout) {
    scales = layout.array(0)
    columnMask = layout.pattern
  }

  /// Writes ``columnMask``.
  func fillColumnMask(_ block: X86FactorBlock) {
    for lane in 0..<8 { block.store(-1 as Int32, at: columnMask + 4 * lane) }
  }

  /// Writes the bounds, and the scales if there are any.
  func fill(_ block: X86FactorBlock, scales factors: [Float] = [], minimum: Float, maximum: Float) {
    block.store(minimum, at: block.layout.minimum)
    block.store(maximum, at: block.layout.maximum)
    guard !factors.isEmpty else { return }
    block.forEachLane(factors) { lane, factor in block.store(factor, at: scales + 4 * lane) }
  }
}

/// The epilogue of floats.
extension X86EpilogueGenerator {
  /// Converts sums to floats: `sum · (column's scale · row's scale)` or `sum · column's scale · row's scale`,
  /// in the portable kernels' order of operations.
  func scale(_ a: inout X86Assembler, isPerRow: Bool, areColumnsFirst: Bool) {
    let factor = free(0)
    a.load(.rcx, .init(.rdi, ConvolutionArguments.offset(\.scales)))
    for vector in 0..<(columnCount + target.lanes - 1) / target.lanes {
      let column = X86Assembler.Memory(
        .rdx, X86FloatFactors(X86FactorLayout(target)).scales + vector * width.byteCount)
      for row in 0..<rowCount {
        if row == 0 || isPerRow {
          a.vector(.vbroadcastss, width, factor, 0, .init(.rcx, 4 * row))
          if !areColumnsFirst { a.vector(.vmulps, width, factor, factor, column) }
        }
        a.vector(.vcvtdq2ps, width, sum(row, vector), 0, sum(row, vector))
        if areColumnsFirst { a.vector(.vmulps, width, sum(row, vector), sum(row, vector), column) }
        a.vector(.vmulps, width, sum(row, vector), sum(row, vector), factor)
      }
    }
  }

  func storeFloats(_ a: inout X86Assembler, _ bases: [X86Assembler.General]) {
    let layout = X86FactorLayout(target)
    let (minimum, maximum, mask) = (free(0), free(1), free(2))
    a.vector(.vbroadcastss, width, minimum, 0, .init(.rdx, layout.minimum))
    a.vector(.vbroadcastss, width, maximum, 0, .init(.rdx, layout.maximum))
    let used = (columnCount + target.lanes - 1) / target.lanes
    let isMasked = isMasked
    if isMasked, target == .avx2 {
      a.vector(
        .vmovdqu, width, mask, 0, .init(.rdx, X86FloatFactors(layout).columnMask + 4 * (8 - columnCount % 8)))
    }
    for vector in 0..<used {
      for row in 0..<rowCount {
        let value = sum(row, vector)
        a.vector(.vaddps, width, value, value, .init(.rsi, vector * width.byteCount))
        // The value is the second source, which the instructions return if it is NaN.
        a.vector(.vmaxps, width, value, minimum, value)
        a.vector(.vminps, width, value, maximum, value)
      }
    }
    for row in 0..<rowCount {
      for vector in 0..<used {
        let memory = place(bases, row, vector * width.byteCount)
        if !isMasked || vector < used - 1 {
          a.vector(.vmovupsStore, width, sum(row, vector), 0, memory)
        } else if target == .avx512 {
          a.vector(.vmovupsStore, width, sum(row, vector), 0, memory, mask: .init(2))
        } else {
          a.vector(.vmaskmovpsStore, width, sum(row, vector), mask, memory)
        }
      }
    }
  }
}
