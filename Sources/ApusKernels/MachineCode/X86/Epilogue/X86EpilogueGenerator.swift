// SPDX-License-Identifier: Apache-2.0

/// Writes the end of a generated product: from sums in registers to outputs in memory; and their beginning, as what is
/// added to sums of bytes is where they start from.
///
/// Sums of row `i` and vector `j` are in the register `i · vectorCount + j`; registers after them are free. At the end, `rdx`
/// points at the factors, `rsi` at the offsets, and a base and ``strides`` at the rows of the
/// output; the mask register `k1` has the even lanes and `k2` the columns of the last store.
struct X86EpilogueGenerator: Hashable {
  /// What becomes of the sums.
  enum Kind: Hashable {
    /// 32-bit sums, without bias.
    case sums
    /// Floats: bias, bounds.
    case floats
    /// Floats of integer sums: the scale of each row, or one for all rows, times that of the column, or that of the column
    /// before the other; bias, bounds.
    case scaledFloats(isPerRow: Bool, areColumnsFirst: Bool)
    /// Bytes: offset, one multiplication with double rounding, zero point, and bounds where they are not the type's own.
    case bytes(isSigned: Bool, Rescaling, isBounded: Bool)
  }

  /// Which fixed-point factors there are.
  enum Rescaling: Hashable {
    /// All shift right, by 1 to 21 bits, and none is negative.
    case right
    /// As before, and no output is below the zero point.
    case rightRectified
    /// Any, of any sums.
    case any
    /// None: factors in double precision, and one rounding.
    case once
    /// None: factors in single precision, as ``SinglePrecisionFactor`` has them.
    case single(isRectified: Bool, zeroPoint: ZeroPoint, hasRest: Bool)
  }

  /// The zero point of outputs in single precision.
  enum ZeroPoint: Hashable {
    case none
    /// −128, which signed bytes have where it is the least of them.
    case least
    case other
  }

  let target: X86Target
  let kind: Kind
  let rowCount: Int
  let vectorCount: Int
  /// The columns that are written: the first ones of the vectors' lanes.
  let columnCount: Int
  /// Where the sums begin, and the registers that hold none, if not right after them.
  var firstSum = 0
  var firstFree: Int?
  /// The register that keeps the order of bytes, if one does.
  var keptOrder: Int?
  var strides = X86Strides(one: .r9, three: .r10, five: .r11)
  /// The width of vectors, where those of the target are wider than the columns of floats.
  var narrowWidth: X86Assembler.Width?

  private typealias General = X86Assembler.General
  var width: X86Assembler.Width { narrowWidth ?? target.width }
  /// The width of a vector's sums: where AVX-512 puts bytes in order and half of the columns do not exist, the other half,
  /// which takes half the time; but what cuts off products has 512 bits.
  func width(_ vector: Int) -> X86Assembler.Width {
    guard target == .avx512, kind.shiftsRight || kind.isSingle && !kind.hasRest, vectorCount < 4 else {
      return width
    }
    return columnCount - vector * target.lanes <= target.lanes / 2 ? .ymm : .zmm
  }
  func sum(_ row: Int, _ vector: Int) -> Int { firstSum + row * vectorCount + vector }
  /// Registers that hold no sums.
  func free(_ index: Int) -> Int { (firstFree ?? rowCount * vectorCount) + index }

  /// The address of a row: bases lie six rows apart.
  func place(_ bases: [X86Assembler.General], _ row: Int, _ displacement: Int = 0) -> X86Assembler.Memory {
    place(bases[row / 6], row % 6, displacement)
  }

  /// The address of one of six rows from a base on.
  func place(_ base: X86Assembler.General, _ row: Int, _ displacement: Int = 0) -> X86Assembler.Memory {
    strides.place(base, row, displacement)
  }

  func loadStride(_ a: inout X86Assembler, _ offset: Int) { strides.load(&a, offset) }

  /// Six strides on from a base.
  func nextBase(_ a: inout X86Assembler, _ next: X86Assembler.General, from base: X86Assembler.General) {
    a.address(next, strides.sixth(base))
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

  /// The row after a block's last, of six at most.
  func pointAfterLast(
    _ a: inout X86Assembler, _ base: X86Assembler.General, _ register: X86Assembler.General
  ) {
    if rowCount % 6 == 0 {
      nextBase(&a, register, from: base)
    } else {
      a.address(register, place(base, rowCount))
    }
  }

  func advance(_ a: inout X86Assembler, _ bases: [X86Assembler.General]) {
    for index in bases.indices.dropFirst() { nextBase(&a, bases[index], from: bases[index - 1]) }
  }

  /// Whether the last vector of floats has more lanes than columns.
  var isMasked: Bool { 4 * columnCount % width.byteCount != 0 }

  /// The columns of the last store, in `k2`, and the even lanes, in `k1`.
  func loadMasks(_ a: inout X86Assembler) {
    guard target == .avx512 else { return }
    a.move(.rax, 0x5555)
    a.moveMask(1, .rax)
    let unit = kind.isBytes ? 64 : target.lanes
    a.moveWide(.rax, Int(truncatingIfNeeded: (1 as UInt64) << UInt64((columnCount - 1) % unit + 1) &- 1))
    a.moveMask(2, .rax)
  }

  /// Sets the sums to what they begin with, by way of `rdx` and `rsi`.
  func begin(_ a: inout X86Assembler) {
    guard kind.isBytes else {
      for index in 0..<rowCount * vectorCount { a.zeroVector(index, width) }
      return
    }
    a.load(.rsi, .init(.rdi, ConvolutionArguments.offset(\.offsets)))
    a.load(.rdx, .init(.rdi, ConvolutionArguments.offset(\.factors)))
    begin(&a, offsets: .rsi)
  }

  /// Sets the sums of bytes to what they begin with; `rdx` points at the factors.
  func begin(_ a: inout X86Assembler, offsets: X86Assembler.General) {
    for vector in 0..<vectorCount {
      a.vector(.vmovdqu, width, sum(0, vector), 0, .init(offsets, vector * width.byteCount))
      if kind.shiftsRight {
        a.vector(
          .vpaddd, width, sum(0, vector), sum(0, vector),
          .init(.rdx, X86ShiftingFactors(X86FactorLayout(target)).bias))
      }
      for row in 1..<max(rowCount, 1) { a.vector(.vmovdqu, width, sum(row, vector), 0, sum(0, vector)) }
    }
  }

  // MARK: Stores

  func store(_ a: inout X86Assembler, _ bases: [X86Assembler.General]) {
    switch kind {
    case .sums:
      for row in 0..<rowCount {
        for vector in 0..<vectorCount {
          a.vector(.vmovdquStore, width, sum(row, vector), 0, place(bases, row, vector * width.byteCount))
        }
      }
    case .floats: storeFloats(&a, bases)
    case .scaledFloats(let isPerRow, let areColumnsFirst):
      scale(&a, isPerRow: isPerRow, areColumnsFirst: areColumnsFirst)
      storeFloats(&a, bases)
    case .bytes(_, let rescaling, _):
      loadSign(&a)
      for vector in 0..<vectorCount {
        switch rescaling {
        case .single: rescaleSingle(&a, vector: vector)
        case .right, .rightRectified: rescaleRight(&a, vector: vector)
        case .any: rescale(&a, vector: vector)
        case .once: rescaleOnce(&a, vector: vector)
        }
      }
      let bytes = bytes
      loadZeroPoint(&a, bytes)
      switch target {
      case .avx2: storeBytesOfTwo(&a, bases, bytes)
      case .avx512: storeBytesOfFour(&a, bases, bytes)
      }
    }
  }

  /// A factor in a register: AVX-512 has enough of them; AVX2 reads it from the cache each time.
  func factor(
    _ a: inout X86Assembler, _ width: X86Assembler.Width, _ index: Int, _ displacement: Int
  ) -> X86Assembler.Operand {
    let memory = X86Assembler.Memory(.rdx, displacement)
    guard target == .avx512 else { return .memory(memory) }
    a.vector(.vmovdqu, width, free(index), 0, memory)
    return .register(free(index))
  }
}
