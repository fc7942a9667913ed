// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Products of floats with few columns, vectorized along K: see ``InnerProduct``.
///
/// The accumulator of row `i` and column `j` is register `i · columnCount + j`; its lanes are partial sums.
/// The weights of a K-step are in the registers after them.
extension X86ProductGenerator {
  private var columnCount: Int { shape.columnCount }
  private func innerSum(_ row: Int, _ column: Int) -> Int { row * columnCount + column }
  private func spare(_ index: Int) -> Int { innerSum(rowCount, 0) + index }
  private var lane: Int { spare(columnCount) }
  /// AVX2: the mask of the lanes in a tap's last K-step.
  private var mask: Int { 15 }

  /// Loads the mask of the lanes in a tap's last K-step: `k3`, or a vector with AVX2.
  func loadMask(_ a: inout X86Assembler, _ inner: InnerProduct) {
    guard inner.rest > 0 else { return }
    switch target {
    case .avx512:
      a.move(.rax, 1 << inner.rest - 1)
      a.moveMask(3, .rax)
    case .avx2:
      a.load(.rax, .init(.rdi, A.offset(\.factors)))
      a.vector(
        .vmovdqu, width, mask, 0,
        .init(.rax, X86FloatFactors(X86FactorLayout(target)).columnMask + 4 * (8 - inner.rest)))
    }
  }

  /// One K-step; the last one of a tap neither reads nor multiplies what is beyond the tap.
  func innerStep(_ a: inout X86Assembler, _ bases: [General], _ index: Int, isRest: Bool) {
    for column in 0..<columnCount {
      a.vector(
        .vmovups, width, spare(column), 0,
        .init(.rsi, (index * columnCount + column) * width.byteCount))
    }
    for row in 0..<rowCount {
      let memory = end.place(bases, row, index * width.byteCount)
      if columnCount == 1, !isRest {
        a.vector(.vfmadd231ps, width, innerSum(row, 0), spare(0), memory)
        continue
      }
      switch target {
      case _ where !isRest: a.vector(.vmovups, width, lane, 0, memory)
      case .avx512: a.vector(.vmovups, width, lane, 0, memory, mask: .init(3, zeroes: true))
      case .avx2: a.vector(.vmaskmovps, width, lane, mask, memory)
      }
      for column in 0..<columnCount {
        a.vector(.vfmadd231ps, width, innerSum(row, column), lane, spare(column))
      }
    }
  }

  /// The horizontal add of all accumulators; the sums of a row become neighboring lanes of register `row`.
  func addLanes(_ a: inout X86Assembler) {
    for row in 0..<rowCount {
      for column in 0..<columnCount { a.foldParts(innerSum(row, column), width, .vaddps, spare: spare(0)) }
      let (first, second) = (spare(0), spare(1))
      if columnCount == 1 {
        let sum = innerSum(row, 0)
        a.vector(.vpunpckhqdq, .xmm, first, sum, sum)
        a.vector(.vaddps, .xmm, sum, sum, first)
        a.vector(.vmovshdup, .xmm, first, 0, sum)
        a.vector(.vaddps, .xmm, row, sum, first)
        continue
      }
      addPair(&a, innerSum(row, 0), innerSum(row, 1), to: first)
      if columnCount == 2 {
        a.vector(.vpunpckhqdq, .xmm, second, first, first)
        a.vector(.vaddps, .xmm, row, first, second)
      } else {
        addPair(&a, innerSum(row, 2), innerSum(row, columnCount - 1), to: second)
        a.vector(.vpunpcklqdq, .xmm, spare(2), first, second)
        a.vector(.vpunpckhqdq, .xmm, first, first, second)
        a.vector(.vaddps, .xmm, row, first, spare(2))
      }
    }
  }

  /// For two accumulators of four lanes: each one's lanes 0 + 2, then each one's lanes 1 + 3.
  private func addPair(_ a: inout X86Assembler, _ first: Int, _ second: Int, to target: Int) {
    a.vector(.vpunpckldq, .xmm, target, first, second)
    a.vector(.vpunpckhdq, .xmm, spare(2), first, second)
    a.vector(.vaddps, .xmm, target, target, spare(2))
  }
}
