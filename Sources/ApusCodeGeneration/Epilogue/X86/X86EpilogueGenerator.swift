// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates the epilogue of a product, from accumulators to outputs in memory; and the initialization of
/// accumulators, since sums of bytes start from their offsets.
///
/// The accumulator of row `i` and vector `j` is register `i · vectorCount + j`; the registers after them are
/// free. When the epilogue begins, `rdx` points at the factors, `rsi` at the offsets, and a base with
/// ``strides`` at the rows of the output. Mask register `k1` has the even lanes, `k2` the columns of the last
/// store.
struct X86EpilogueGenerator: Hashable {
  /// The outputs that the epilogue computes.
  enum Outputs: Hashable {
    /// 32-bit sums, without bias.
    case sums
    /// Floats: adds the bias and clamps.
    case floats
    /// Floats from integer sums: multiplies by the scale of each row, or one for all rows, and by the
    /// column's scale, in either order; adds the bias and clamps.
    case scaledFloats(isPerRow: Bool, areColumnsFirst: Bool)
    /// Bytes: rescales, adds the zero point, and clamps if the bounds are narrower than the type.
    case bytes(isSigned: Bool, Rescaling, isBounded: Bool)
  }

  /// The rescaling of sums of bytes.
  enum Rescaling: Hashable {
    /// Fixed-point factors that all shift right, by 1 to 21 bits; none is negative.
    case right
    /// Fixed-point factors that all shift right, by 1 to 21 bits, with no output below the zero point.
    case rightRectified
    /// Any fixed-point factors, and any sums.
    case any
    /// Factors in double precision, with one rounding.
    case once
    /// Factors in single precision, see ``SinglePrecisionFactor``.
    case single(isRectified: Bool, zeroPoint: ZeroPoint, hasRest: Bool)
  }

  /// The zero point of outputs in single precision.
  enum ZeroPoint: Hashable {
    case none
    /// −128, the minimum of signed bytes.
    case least
    case other
  }

  let target: X86Target
  let outputs: Outputs
  let rowCount: Int
  let vectorCount: Int
  /// The number of columns that are stored: the first ones in lane order.
  let columnCount: Int
  /// The first accumulator, and the first free register if it does not follow the accumulators.
  var firstSum = 0
  var firstFree: Int?
  /// The register that keeps the permutation of bytes, if there is one.
  var keptOrder: Int?
  var strides = X86Strides(one: .r9, three: .r10, five: .r11)
  /// The width of vectors, if narrower ones than the target's suffice for the columns of floats.
  var narrowWidth: X86Assembler.Width?

  private typealias General = X86Assembler.General
  var width: X86Assembler.Width { narrowWidth ?? target.width }
  /// The width that a vector is rescaled in. With AVX-512, 256 bits take half the time if half of the columns
  /// do not exist. Truncating instructions always have 512 bits.
  func width(_ vector: Int) -> X86Assembler.Width {
    guard target == .avx512, outputs.shiftsRight || outputs.isSingle && !outputs.hasRest, vectorCount < 4
    else {
      return width
    }
    return columnCount - vector * target.lanes <= target.lanes / 2 ? .ymm : .zmm
  }
  func sum(_ row: Int, _ vector: Int) -> Int { firstSum + row * vectorCount + vector }
  /// A free register.
  func free(_ index: Int) -> Int { (firstFree ?? rowCount * vectorCount) + index }

  /// The address of a row; consecutive bases are six rows apart.
  func place(_ bases: [X86Assembler.General], _ row: Int, _ displacement: Int = 0) -> X86Assembler.Memory {
    place(bases[row / 6], row % 6, displacement)
  }

  /// The address of one of the six rows from a base on.
  func place(_ base: X86Assembler.General, _ row: Int, _ displacement: Int = 0) -> X86Assembler.Memory {
    strides.place(base, row, displacement)
  }

  func loadStride(_ a: inout X86Assembler, _ offset: Int) { strides.load(&a, offset) }

  /// Sets `next` to six strides after `base`.
  func nextBase(_ a: inout X86Assembler, _ next: X86Assembler.General, from base: X86Assembler.General) {
    a.address(next, strides.sixth(base))
  }

  /// Sets `register` to the row after a block's last.
  func pointAfterLast(
    _ a: inout X86Assembler, _ bases: [X86Assembler.General], _ register: X86Assembler.General
  ) {
    if rowCount % 6 == 0 {
      nextBase(&a, register, from: bases[bases.count - 1])
    } else {
      a.address(register, place(bases, rowCount))
    }
  }

  /// Sets `register` to the row after a block's last, for blocks of up to six rows.
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

  /// Loads the masks: the even lanes into `k1`, the columns of the last store into `k2`.
  func loadMasks(_ a: inout X86Assembler) {
    guard target == .avx512 else { return }
    a.move(.rax, 0x5555)
    a.moveMask(1, .rax)
    let unit = outputs.isBytes ? 64 : target.lanes
    a.moveWide(.rax, Int(truncatingIfNeeded: (1 as UInt64) << UInt64((columnCount - 1) % unit + 1) &- 1))
    a.moveMask(2, .rax)
  }

  /// Initializes the accumulators; clobbers `rdx` and `rsi`.
  func begin(_ a: inout X86Assembler) {
    guard outputs.isBytes else {
      for index in 0..<rowCount * vectorCount { a.zeroVector(index, width) }
      return
    }
    a.load(.rsi, .init(.rdi, ConvolutionArguments.offset(\.offsets)))
    a.load(.rdx, .init(.rdi, ConvolutionArguments.offset(\.factors)))
    begin(&a, offsets: .rsi)
  }

  /// Initializes the accumulators of bytes; `rdx` points at the factors.
  func begin(_ a: inout X86Assembler, offsets: X86Assembler.General) {
    for vector in 0..<vectorCount {
      a.vector(.vmovdqu, width, sum(0, vector), 0, .init(offsets, vector * width.byteCount))
      if outputs.shiftsRight {
        a.vector(
          .vpaddd, width, sum(0, vector), sum(0, vector),
          .init(.rdx, X86ShiftingFactors(X86FactorLayout(target)).bias))
      }
      for row in 1..<max(rowCount, 1) { a.vector(.vmovdqu, width, sum(row, vector), 0, sum(0, vector)) }
    }
  }

  // MARK: Stores

  func store(_ a: inout X86Assembler, _ bases: [X86Assembler.General]) {
    switch outputs {
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

  /// Loads a factor into a register with AVX-512, which has enough of them; with AVX2 instructions read it
  /// from memory.
  func factor(
    _ a: inout X86Assembler, _ width: X86Assembler.Width, _ index: Int, _ displacement: Int
  ) -> X86Assembler.Operand {
    let memory = X86Assembler.Memory(.rdx, displacement)
    guard target == .avx512 else { return .memory(memory) }
    a.vector(.vmovdqu, width, free(index), 0, memory)
    return .register(free(index))
  }
}
