// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// Generates products of bytes with a small K for AVX-512: the sums of one block are computed while the
/// epilogue of the previous block runs, since either alone would leave half of the processor idle.
///
/// All K-steps but extra ones are unrolled; two sets of accumulators take turns.
struct X86OverlappingProductGenerator: CodeGenerator, Hashable {
  let product: ProductKind
  let epilogue: X86EpilogueGenerator.Outputs
  let rowCount: Int
  /// The width of the panel in vectors: 1 or 2.
  let vectorCount: Int
  /// The number of columns that are stored.
  let columnCount: Int
  let steps: ProductSteps

  private typealias General = X86Assembler.General
  private typealias A = ConvolutionArguments

  /// The maximum heights of blocks with 1 and 2 vectors, limited by registers for two sets of accumulators.
  /// Throws for more than 32 K-steps, where the epilogue takes a small part of the time.
  static func maximumRows(_ steps: ProductSteps) throws(Decline) -> [Int] {
    try Decline.require(steps.taps * steps.perTap, below: 33, "the number of K-steps")
    return [6, 4]
  }

  // MARK: Registers

  private func width(_ vector: Int) -> X86Assembler.Width { end(0).width(vector) }
  /// The width of a broadcast row.
  private var laneWidth: X86Assembler.Width { width(0) }
  private let vectorByteCount = X86Assembler.Width.zmm.byteCount
  private var setCount: Int { rowCount * vectorCount }
  private var firstFree: Int { 2 * setCount }
  /// The epilogue uses seven registers.
  private func weights(_ vector: Int) -> Int { firstFree + 7 + vector }
  private func lane(_ row: Int) -> Int { firstFree + 9 + row % 2 }
  /// The initial value of the accumulators.
  private func beginning(_ vector: Int) -> Int { firstFree + 11 + vector }
  private let signFlip = 31

  /// The epilogue of a set of accumulators.
  private func end(_ set: Int) -> X86EpilogueGenerator {
    X86EpilogueGenerator(
      target: .avx512, outputs: epilogue, rowCount: rowCount, vectorCount: vectorCount,
      columnCount: columnCount,
      firstSum: set * setCount, firstFree: firstFree, keptOrder: 30,
      strides: X86Strides(one: .r12, three: .r13, five: .rbx))
  }
  /// Addressing of the rows.
  private var rows: X86EpilogueGenerator {
    X86EpilogueGenerator(
      target: .avx512, outputs: .sums, rowCount: rowCount, vectorCount: vectorCount, columnCount: columnCount)
  }

  // MARK: The function

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: .evex)
    a.enter()
    end(0).loadMasks(&a)
    rows.loadStride(&a, A.offset(\.rowStride))
    end(0).loadStride(&a, A.offset(\.outputStride))
    a.load(.rdx, .init(.rdi, A.offset(\.factors)))
    a.load(.rsi, .init(.rdi, A.offset(\.offsets)))
    for vector in 0..<vectorCount {
      a.vector(.vmovdqu, width(vector), beginning(vector), 0, .init(.rsi, vector * vectorByteCount))
      if epilogue.shiftsRight {
        a.vector(
          .vpaddd, width(vector), beginning(vector), beginning(vector),
          .init(.rdx, X86ShiftingFactors(X86FactorLayout(.avx512)).bias))
      }
    }
    if product == .signedBytes {
      a.vector(.vpbroadcastd, .zmm, signFlip, 0, .init(.rdx, X86FactorLayout(.avx512).signFlip))
    }
    end(0).loadOrder(&a)
    end(0).loadSign(&a)
    end(0).loadZeroPoint(&a, end(0).bytes)
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))

    for index in 0..<productCount { product(&a, set: 0, index) }
    finishProducts(&a, set: 0)
    let ends = [a.makeLabel(), a.makeLabel()]
    let next = a.loopHead()
    for set in 0..<2 {
      a.decrement(.r15)
      a.jump(.equal, ends[set])
      merge(&a, products: 1 - set, outputs: set)
      finishProducts(&a, set: 1 - set)
      moveOutput(&a)
    }
    a.jump(next)
    for set in 0..<2 {
      a.place(ends[set])
      for index in 0..<outputCount { output(&a, set: set, index) }
      a.leave()
    }
    return a.finish()
  }

  /// Interleaves the products of one set of accumulators with the epilogue of the other.
  private func merge(_ a: inout X86Assembler, products: Int, outputs: Int) {
    var written = 0
    for index in 0..<productCount {
      product(&a, set: products, index)
      while written * productCount < (index + 1) * outputCount {
        output(&a, set: outputs, written)
        written += 1
      }
    }
  }

  // MARK: Products

  /// The number of pieces of a block's product, without extra K-steps: the initialization; then for each tap
  /// its address, and each row of each K-step.
  private var productCount: Int { 1 + steps.taps * piecesPerTap }
  private var piecesPerTap: Int { 1 + steps.perTap * rowCount }

  /// Writes a piece of a block's product.
  private func product(_ a: inout X86Assembler, set: Int, _ index: Int) {
    guard index > 0 else {
      a.load(.rcx, .init(.rdi, A.offset(\.taps)))
      for vector in 0..<vectorCount {
        for row in 0..<rowCount {
          a.vector(.vmovdqu, width(vector), sum(set, row, vector), 0, beginning(vector))
        }
      }
      return
    }
    let (tap, piece) = (index - 1).quotientAndRemainder(dividingBy: piecesPerTap)
    guard piece > 0 else {
      a.load(.rax, .init(.rcx, 16 * tap))
      a.add(.rax, .r8)
      return
    }
    let (step, row) = (piece - 1).quotientAndRemainder(dividingBy: rowCount)
    multiply(&a, set, row, step, weightStep: tap * steps.perTap + step)
  }

  private func sum(_ set: Int, _ row: Int, _ vector: Int) -> Int {
    set * setCount + row * vectorCount + vector
  }

  /// One K-step of one row; row 0 also loads the weights.
  private func multiply(
    _ a: inout X86Assembler, _ set: Int, _ row: Int, _ step: Int, weightStep: Int
  ) {
    if row == 0 {
      for vector in 0..<vectorCount {
        let place = (weightStep * vectorCount + vector) * vectorByteCount
        a.vector(.vmovdqu, width(vector), weights(vector), 0, .init(.rsi, place))
      }
    }
    let memory = rows.place(.rax, row, 4 * step)
    if product == .signedBytes {
      a.vector(.vpxor, laneWidth, lane(row), signFlip, memory, broadcasts: true)
    } else {
      a.vector(.vpbroadcastd, laneWidth, lane(row), 0, memory)
    }
    for vector in 0..<vectorCount {
      a.vector(.vpdpbusd, width(vector), sum(set, row, vector), lane(row), weights(vector))
    }
  }

  /// The loop over extra K-steps, whose taps and weights follow the others; then moves to the next block's
  /// rows.
  private func finishProducts(_ a: inout X86Assembler, set: Int) {
    let done = a.makeLabel()
    a.load(.rbp, .init(.rdi, A.offset(\.tapCount)))
    a.subtract(.rbp, steps.taps)
    a.jump(.equal, done)
    let next = a.loopHead(alignment: 16)
    a.load(.rax, .init(.rcx, 16 * steps.taps))
    a.add(.rcx, 16)
    a.add(.rax, .r8)
    for row in 0..<rowCount { multiply(&a, set, row, 0, weightStep: steps.taps * steps.perTap) }
    a.add(.rsi, vectorCount * vectorByteCount)
    a.decrement(.rbp)
    a.jump(.notEqual, next)
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))
    a.place(done)
    rows.pointAfterLast(&a, .r8, .r8)
  }

  // MARK: Outputs

  /// The number of pieces of a block's epilogue: each row of each vector, then rows that are stored together.
  private var outputCount: Int {
    guard case .bytes = epilogue else { return 0 }
    return setCount + ceilingQuotient(rowCount, end(0).rowsTogether)
  }

  /// Writes a piece of a block's epilogue.
  private func output(_ a: inout X86Assembler, set: Int, _ index: Int) {
    guard case .bytes = epilogue else { return }
    let end = end(set)
    if index < setCount {
      let (vector, row) = index.quotientAndRemainder(dividingBy: rowCount)
      if epilogue.isSingle {
        if row == 0 { end.loadSingleFactors(&a, vector: vector) }
        end.rescaleSingle(&a, row: row, vector: vector)
      } else {
        if row == 0 { end.loadFactors(&a, vector: vector) }
        end.rescaleRight(&a, row: row, vector: vector)
      }
    } else {
      let row = (index - setCount) * end.rowsTogether
      let bytes = end.bytes
      if row == 0 { end.loadBytesOfFour(&a, bytes) }
      end.storeBytesOfFour(&a, [.r14], bytes, row: row)
    }
  }

  private func moveOutput(_ a: inout X86Assembler) { end(0).pointAfterLast(&a, .r14, .r14) }
}
