// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// Generates depthwise convolutions of bytes with AVX-512: lines, a few columns at a time, of 64 channels.
///
/// A group of taps is a column of up to four rows of the filter. The rows of an input pixel are interleaved
/// once for all sums that use it. Other groups follow: the taps of one or two remaining rows, and extra ones.
struct X86DepthwiseByteRowGenerator: CodeGenerator, Hashable {
  let product: ProductKind
  let epilogue: X86EpilogueGenerator.Outputs
  let shape: DepthwiseRowShape

  private typealias General = X86Assembler.General
  private typealias Memory = X86Assembler.Memory
  private typealias A = ConvolutionArguments
  /// The rows of a group.
  private static let bases: [General] = [.rax, .rbx, .rbp, .rcx]
  private static let vectorCount = 4

  /// The maximum number of columns in a block, limited by the pixels that can be addressed; 0 if there is no
  /// such code.
  static func maximumColumns(
    _ target: X86Target, columnStep: Int, tapStep: Int, tapRows: Int, tapColumns: Int
  ) -> Int {
    let room = 6 - (tapColumns - 1) * tapStep
    guard target == .avx512, tapRows >= 3, tapRows <= 8, tapColumns > 1, room >= columnStep else { return 0 }
    return min(4, room / columnStep + 1)
  }

  // MARK: Registers

  private var width: X86Assembler.Width { .zmm }
  private var tapColumns: Int { shape.tapColumns }
  /// Rows of the filter whose taps are grouped by columns.
  private var rowCount: Int { DepthwiseRowShape.rowsInColumns(shape.tapRows, perGroup: 4) }
  private var columnGroupCount: Int { ceilingQuotient(rowCount, 4) * tapColumns }
  /// The accumulators of a full block come first.
  private var firstFree: Int { shape.columnCount * Self.vectorCount }
  /// Initialization and epilogue of a block.
  private func end(_ columnCount: Int) -> X86EpilogueGenerator {
    X86EpilogueGenerator(
      target: .avx512, outputs: epilogue, rowCount: columnCount, vectorCount: Self.vectorCount,
      columnCount: shape.channelCount, firstFree: firstFree)
  }
  private func spare(_ index: Int) -> Int { firstFree + index }
  private let signFlip = 31
  /// Registers that keep weights for all pixels; the other weights are read from memory each time.
  private var firstWeight: Int { spare(7) }
  private var weightRegisterCount: Int {
    min(tapColumns * Self.vectorCount, (product == .signedBytes ? signFlip : 32) - firstWeight)
  }
  private func weight(_ tap: Int, _ vector: Int) -> X86Assembler.Operand {
    let index = tap * Self.vectorCount + vector
    return index < weightRegisterCount
      ? .register(firstWeight + index) : .memory(Memory(.rsi, index * width.byteCount))
  }

  // MARK: The function

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: .evex)
    a.enter()
    end(shape.columnCount).loadMasks(&a)
    a.load(.r12, .init(.rdi, A.offset(\.taps)))
    if product == .signedBytes {
      a.load(.rdx, .init(.rdi, A.offset(\.factors)))
      a.vector(.vpbroadcastd, width, signFlip, 0, .init(.rdx, X86FactorLayout(.avx512).signFlip))
    }
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))
    if rowCount <= 4 { loadWeights(&a) }

    let line = a.loopHead(alignment: 16)
    a.load(.r15, .init(.rdi, A.offset(\.blocks)))
    let nextBlock = a.loopHead()
    block(&a, shape.columnCount)
    a.decrement(.r15)
    a.jump(.notEqual, nextBlock)
    if shape.restCount > 0 { block(&a, shape.restCount) }
    nextLine(&a, .r8, A.offset(\.rows), A.offset(\.lineStride))
    nextLine(&a, .r14, A.offset(\.output), A.offset(\.outputLineStride))
    a.load(.rax, .init(.rdi, A.offset(\.lines)))
    a.decrement(.rax)
    a.store(.init(.rdi, A.offset(\.lines)), .rax)
    a.jump(.notEqual, line)

    a.leave()
    return a.finish()
  }

  /// Advances a register, and the argument that it was loaded from, by a stride.
  private func nextLine(_ a: inout X86Assembler, _ register: General, _ start: Int, _ stride: Int) {
    a.load(register, .init(.rdi, start))
    a.add(register, .init(.rdi, stride))
    a.store(.init(.rdi, start), register)
  }

  /// Computes some columns of a line.
  private func block(_ a: inout X86Assembler, _ columnCount: Int) {
    let end = end(columnCount)
    end.begin(&a)
    end.loadStride(&a, A.offset(\.rowStride))
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))
    for firstRow in stride(from: 0, to: rowCount, by: 4) {
      rows(&a, firstRow..<min(firstRow + 4, rowCount), end)
      a.add(.rsi, tapColumns * Self.vectorCount * width.byteCount)
    }

    let done = a.makeLabel()
    a.load(.r13, .init(.rdi, A.offset(\.tapCount)))
    a.subtract(.r13, columnGroupCount)
    a.jump(.equal, done)
    a.address(.rdx, .init(.r12, columnGroupCount * 32))
    let nextGroup = a.loopHead(alignment: 16)
    looseGroup(&a, end)
    a.decrement(.r13)
    a.jump(.notEqual, nextGroup)
    a.place(done)
    for _ in 0..<columnCount * shape.columnStep / 6 { end.nextBase(&a, .r8, from: .r8) }
    a.address(.r8, end.place(.r8, columnCount * shape.columnStep % 6))

    a.load(.rdx, .init(.rdi, A.offset(\.factors)))
    end.loadStride(&a, A.offset(\.outputStride))
    end.store(&a, [.r14])
    end.pointAfterLast(&a, .r14, .r14)
  }

  /// Multiplies the groups of up to four rows of the filter.
  private func rows(_ a: inout X86Assembler, _ rows: Range<Int>, _ end: X86EpilogueGenerator) {
    for index in 0..<rows.count {
      a.load(Self.bases[index], .init(.r12, (rows.lowerBound / 4 * tapColumns * 4 + index) * 8))
      a.add(Self.bases[index], .r8)
    }
    if rowCount > 4 { loadWeights(&a) }
    let columnCount = end.rowCount
    let pixelCount = (columnCount - 1) * shape.columnStep + (tapColumns - 1) * shape.tapStep + 1
    // The tap that multiplies a pixel in a column's sum.
    func tap(_ pixel: Int, _ column: Int) -> Int? {
      let distance = pixel - column * shape.columnStep
      let isTap = distance >= 0 && distance % shape.tapStep == 0 && distance / shape.tapStep < tapColumns
      return isTap ? distance / shape.tapStep : nil
    }
    for pixel in 0..<pixelCount where (0..<columnCount).contains(where: { tap(pixel, $0) != nil }) {
      interleave(&a, rows.count) { place(Self.bases[$0], pixel, end) }
      for vector in 0..<Self.vectorCount {
        for column in 0..<columnCount {
          guard let tap = tap(pixel, column) else { continue }
          a.vector(.vpdpbusd, width, end.sum(column, vector), spare(vector), weight(tap, vector))
        }
      }
    }
  }

  /// The address of one of the first seven pixels from a base on.
  private func place(_ base: General, _ pixel: Int, _ end: X86EpilogueGenerator) -> Memory {
    pixel < 6 ? end.place(base, pixel) : Memory(base, index: .r10, scale: 2)
  }

  private func loadWeights(_ a: inout X86Assembler) {
    for index in 0..<weightRegisterCount {
      a.vector(.vmovdqu, width, firstWeight + index, 0, .init(.rsi, index * width.byteCount))
    }
  }

  /// Interleaves the bytes of up to four rows into the first four spare registers.
  private func interleave(_ a: inout X86Assembler, _ rowCount: Int, _ row: (Int) -> Memory) {
    func load(_ register: Int, _ memory: Memory) {
      let isSigned = product == .signedBytes
      if shape.readsInPlace, shape.channelCount < width.byteCount {
        // The last pixel may end the buffer.
        a.vector(.vmovdqu8, width, register, 0, memory, mask: .init(2, zeroes: true))
        if isSigned { a.vector(.vpxor, width, register, signFlip, register) }
      } else if isSigned {
        a.vector(.vpxor, width, register, signFlip, memory)
      } else {
        a.vector(.vmovdqu, width, register, 0, memory)
      }
    }
    // Missing rows repeat others; their weights are 0.
    let hasPairs = rowCount > 2
    load(spare(4), row(0))
    if rowCount > 1 { load(spare(5), row(1)) }
    let second = rowCount > 1 ? spare(5) : spare(4)
    a.vector(.vpunpcklbw, width, spare(0), spare(4), second)
    a.vector(.vpunpckhbw, width, spare(2), spare(4), second)
    if hasPairs {
      load(spare(4), row(2))
      if rowCount > 3 { load(spare(5), row(3)) }
      let fourth = rowCount > 3 ? spare(5) : spare(4)
      a.vector(.vpunpcklbw, width, spare(6), spare(4), fourth)
      a.vector(.vpunpckhbw, width, spare(5), spare(4), fourth)
    }
    let (low, high) = hasPairs ? (spare(6), spare(5)) : (spare(0), spare(2))
    a.vector(.vpunpckhwd, width, spare(1), spare(0), low)
    a.vector(.vpunpcklwd, width, spare(0), spare(0), low)
    a.vector(.vpunpckhwd, width, spare(3), spare(2), high)
    a.vector(.vpunpcklwd, width, spare(2), spare(2), high)
  }

  /// Multiplies a group with taps at arbitrary offsets, which `rdx` points at.
  private func looseGroup(_ a: inout X86Assembler, _ end: X86EpilogueGenerator) {
    for (index, base) in Self.bases.enumerated() {
      a.load(base, .init(.rdx, 8 * index))
      a.add(base, .r8)
    }
    for column in 0..<end.rowCount {
      interleave(&a, Self.bases.count) { place(Self.bases[$0], column * shape.columnStep, end) }
      for vector in 0..<Self.vectorCount {
        a.vector(
          .vpdpbusd, width, end.sum(column, vector), spare(vector), .init(.rsi, vector * width.byteCount))
      }
    }
    a.add(.rdx, 32)
    a.add(.rsi, Self.vectorCount * width.byteCount)
  }
}
