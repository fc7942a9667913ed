// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates matrix products: a block of rows times one panel of columns, with accumulators in registers.
///
/// A K-step multiplies four bytes of each row (four `uint8` or `int8`, two `int16` or bfloat16, or one `float`)
/// with as many of each column. Rows are read in place, `rowStride` bytes apart. Their values are contiguous within
/// *taps*, whose offsets are in a list: the rows of a filter in a padded input, or the single run of a matrix
/// row.
struct X86ProductGenerator: CodeGenerator, Hashable {
  let target: X86Target
  let product: ProductKind
  let epilogue: X86EpilogueGenerator.Outputs
  /// The block's shape; its panel has 1 to 4 vectors, 1 or 2 with AVX2.
  let shape: BlockShape

  // MARK: Registers

  typealias General = X86Assembler.General
  typealias A = ConvolutionArguments
  var rowCount: Int { shape.rowCount }
  private var vectorCount: Int { shape.vectorCount }
  var width: X86Assembler.Width { target.width }
  /// A vector that is at most half full is multiplied as half a register, which takes half the time on
  /// processors that execute 512 bits as two halves.
  private func width(_ vector: Int) -> X86Assembler.Width {
    product == .floats && target == .avx512 && shape.pairs == nil
      && 2 * (shape.columnCount - vector * target.lanes) <= target.lanes
      ? .ymm : width
  }
  private func sum(_ row: Int, _ vector: Int) -> Int { end.sum(row, vector) }
  private func free(_ index: Int) -> Int { sumCount + index }
  /// The number of accumulators in one set, and in all.
  private var setCount: Int { rowCount * vectorCount }
  private var sumCount: Int {
    shape.inner == nil ? shape.sumSets * setCount : rowCount * shape.columnCount
  }
  /// Bytes per row and K-step.
  private var stepByteCount: Int {
    shape.inner != nil ? width.byteCount : shape.pairs != nil || multipliesWidened ? 8 : 4
  }
  /// Bytes of weights per K-step and vector of columns.
  private var weightByteCount: Int { shape.hasNarrowWeights ? width.byteCount / 2 : width.byteCount }

  /// The epilogue; its addressing serves the rows as well.
  var end: X86EpilogueGenerator {
    X86EpilogueGenerator(
      target: target, outputs: epilogue, rowCount: rowCount, vectorCount: vectorCount,
      columnCount: shape.columnCount)
  }

  // MARK: The function

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    let bases: [General] = [.rax, .rbx, .rbp]
    let used = Array(bases.prefix((rowCount + 5) / 6))
    a.enter()
    end.loadMasks(&a)
    if let inner = shape.inner { loadMask(&a, inner) }
    if multipliesWidened { saveModes(&a) }

    let nextBlock = a.loopHead(alignment: 16)
    if hasColumnSums { beginWithZeroPoints(&a) } else { end.begin(&a) }
    if shape.hasRowTerms { addRowTerms(&a) }
    for index in setCount..<sumCount { a.zeroVector(index, width) }
    end.loadStride(&a, A.offset(\.rowStride))
    a.load(.r12, .init(.rdi, A.offset(\.taps)))
    a.load(.r13, .init(.rdi, A.offset(\.tapCount)))
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))
    if product == .signedBytes { loadSignFlip(&a) }
    if shape.fetches > 0 { a.load(.rdx, .init(.rdi, A.offset(\.nextWeights))) }

    if multipliesWidened { flushSmallNumbers(&a) }
    let nextTap = a.loopHead(alignment: 16)
    a.load(.rax, .init(.r12))
    a.load(.rcx, .init(.r12, 8))
    a.add(.r12, 16)
    a.add(.rax, .r8)
    end.advance(&a, used)
    steps(&a, used)
    if let inner = shape.inner, inner.rest > 0 {
      innerStep(&a, used, 0, isRest: true)
      a.add(.rsi, weightByteCountOfStep)
    }
    a.decrement(.r13)
    a.jump(.notEqual, nextTap)

    if multipliesWidened { restoreModes(&a) }
    if shape.inner == nil { addSets(&a) } else { addLanes(&a) }
    if let pairs = shape.pairs { addPairs(&a, pairs) }
    if shape.movesAlongPanels { a.store(.init(.rdi, A.offset(\.weights)), .rsi) }
    if shape.fetches > 0 { a.store(.init(.rdi, A.offset(\.nextWeights)), .rdx) }
    a.load(.rdx, .init(.rdi, A.offset(\.factors)))
    a.load(.rsi, .init(.rdi, A.offset(\.offsets)))
    a.move(.rax, .r14)
    end.loadStride(&a, A.offset(\.outputStride))
    end.advance(&a, used)
    end.store(&a, used)

    if shape.movesAlongPanels {
      nextPanel(&a)
    } else {
      // The next block of rows: `rax`, `rbx` and `rbp` still point at the output.
      end.pointAfterLast(&a, used, .r14)
      end.loadStride(&a, A.offset(\.rowStride))
      a.move(.rax, .r8)
      end.advance(&a, used)
      end.pointAfterLast(&a, used, .r8)
      if case .scaledFloats(isPerRow: true, _) = epilogue {
        a.load(.rcx, .init(.rdi, A.offset(\.scales)))
        a.add(.rcx, 4 * rowCount)
        a.store(.init(.rdi, A.offset(\.scales)), .rcx)
        if hasColumnSums { nextZeroPoints(&a) }
      }
      if shape.hasRowTerms { nextZeroPoints(&a) }
    }
    a.decrement(.r15)
    a.jump(.notEqual, nextBlock)

    a.leave()
    return a.finish()
  }

  /// Advances to the next panel's weights, offsets, factors and outputs, which are consecutive.
  private func nextPanel(_ a: inout X86Assembler) {
    let columns = vectorCount * target.lanes
    a.add(.r14, columns * (epilogue.isBytes ? 1 : 4))
    a.add(.rsi, columns * (hasColumnSums ? 8 : 4))
    a.store(.init(.rdi, A.offset(\.offsets)), .rsi)
    a.add(.rdx, X86FactorLayout(target).byteCount)
    a.store(.init(.rdi, A.offset(\.factors)), .rdx)
  }

  /// Adds all sets of accumulators to the first.
  private func addSets(_ a: inout X86Assembler) {
    var count = shape.sumSets * setCount
    while count > setCount {
      count /= 2
      for index in 0..<count {
        a.vector(product == .floats ? .vaddps : .vpaddd, width, index, index, index + count)
      }
    }
  }

  // MARK: Steps

  /// The K loop: `rcx` K-steps of a tap, four at a time; `rsi` advances through the weights.
  private func steps(_ a: inout X86Assembler, _ bases: [General]) {
    let single = a.makeLabel()
    let done = a.makeLabel()
    a.subtract(.rcx, 4)
    a.jump(.less, single)
    let four = a.loopHead()
    for index in 0..<4 {
      step(&a, bases, index)
      for line in shape.fetches * index / 4..<shape.fetches * (index + 1) / 4 {
        a.prefetch(.init(.rdx, 64 * line))
      }
    }
    if shape.fetches > 0 { a.add(.rdx, 64 * shape.fetches) }
    move(&a, bases, steps: 4)
    a.subtract(.rcx, 4)
    a.jump(.greaterOrEqual, four)
    a.place(single)
    a.add(.rcx, 4)
    a.jump(.equal, done)
    let one = a.loopHead(alignment: 16)
    step(&a, bases, 0)
    move(&a, bases, steps: 1)
    a.decrement(.rcx)
    a.jump(.notEqual, one)
    a.place(done)
  }

  private func move(_ a: inout X86Assembler, _ bases: [General], steps: Int) {
    for base in bases { a.add(base, stepByteCount * steps) }
    a.add(.rsi, steps * weightByteCountOfStep)
  }

  private var weightByteCountOfStep: Int {
    shape.pairs?.stepByteCount
      ?? (shape.inner == nil ? vectorCount : shape.columnCount) * weightByteCount
  }

  private func step(_ a: inout X86Assembler, _ bases: [General], _ index: Int) {
    if shape.inner != nil { return innerStep(&a, bases, index, isRest: false) }
    if let pairs = shape.pairs { return pairedStep(&a, bases, index, pairs) }
    if multipliesWidened { return widenedStep(&a, bases, index) }
    for vector in 0..<vectorCount {
      a.vector(
        shape.hasNarrowWeights ? .vpmovsxbw : .vmovdqu, width(vector), free(vector), 0,
        .init(.rsi, (index * vectorCount + vector) * weightByteCount))
    }
    if product == .words, target == .avx2 { return pairs(&a, bases, index) }
    func sum(_ row: Int, _ vector: Int) -> Int { self.sum(row, vector) + index % shape.sumSets * setCount }
    // Several registers in turn, so that a broadcast need not wait for earlier products.
    let spare = vectorRegisterCount - free(vectorCount) - (product == .signedBytes ? 1 : 0)
    let turns = max(1, min(product == .floats ? 4 : 2, spare))
    for row in 0..<rowCount {
      let lane = free(vectorCount + row % turns)
      let memory = end.place(bases, row, 4 * index)
      switch product {
      case .unsignedBytes, .words, .bfloat16, .bfloat16AsFloats, .bfloat16Tiles:
        a.vector(.vpbroadcastd, width, lane, 0, memory)
      case .signedBytes:
        if target == .avx512 {
          a.vector(.vpxor, width, lane, signFlip, memory, broadcasts: true)
        } else {
          a.vector(.vpbroadcastd, width, lane, 0, memory)
          a.vector(.vpxor, width, lane, lane, signFlip)
        }
      case .floats:
        if target == .avx512, vectorCount == 1 {
          a.vector(.vfmadd231ps, width(0), sum(row, 0), free(0), memory, broadcasts: true)
          continue
        }
        a.vector(.vbroadcastss, width, lane, 0, memory)
      }
      for vector in 0..<vectorCount {
        switch product {
        case .unsignedBytes, .signedBytes:
          a.vector(.vpdpbusd, width, sum(row, vector), lane, free(vector))
        case .floats:
          a.vector(.vfmadd231ps, width(vector), sum(row, vector), lane, free(vector))
        case .words: a.vector(.vpdpwssd, width, sum(row, vector), lane, free(vector))
        case .bfloat16, .bfloat16AsFloats, .bfloat16Tiles:
          a.vector(.vdpbf16ps, width, sum(row, vector), lane, free(vector))
        }
      }
    }
  }

  /// A K-step of `int16` with AVX2, after loading its weights.
  ///
  /// At least two multiplications come before their additions: processors fill their schedulers in turn, and
  /// each scheduler has one port that multiplies.
  private func pairs(_ a: inout X86Assembler, _ bases: [General], _ index: Int) {
    let end = end
    let firstFree = end.free(vectorCount)
    let rowsTogether = vectorCount == 1 ? 2 : 1
    func product(_ row: Int, _ vector: Int) -> Int {
      firstFree + (vector == vectorCount - 1 ? row % rowsTogether : 1 + vector)
    }
    for first in stride(from: 0, to: rowCount, by: rowsTogether) {
      let rows = first..<min(first + rowsTogether, rowCount)
      for row in rows {
        let lane = firstFree + row - first
        a.vector(.vpbroadcastd, width, lane, 0, end.place(bases, row, 4 * index))
        for vector in 0..<vectorCount {
          a.vector(.vpmaddwd, width, product(row, vector), lane, end.free(vector))
        }
      }
      for row in rows {
        for vector in 0..<vectorCount {
          let sum = end.sum(row, vector)
          a.vector(.vpaddd, width, sum, sum, product(row, vector))
        }
      }
    }
  }

  private var vectorRegisterCount: Int { target == .avx512 ? 32 : 16 }
  private var signFlip: Int { vectorRegisterCount - 1 }

  private func loadSignFlip(_ a: inout X86Assembler) {
    a.load(.rdx, .init(.rdi, A.offset(\.factors)))
    a.vector(
      .vpbroadcastd, width, signFlip, 0, .init(.rdx, X86FactorLayout(target).signFlip))
  }
}
