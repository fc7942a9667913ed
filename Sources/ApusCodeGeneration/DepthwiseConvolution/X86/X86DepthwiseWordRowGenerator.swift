// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates depthwise convolutions of bytes with AVX2: a few columns of a line, one vector of channels after
/// the other, of an input that is read in place.
///
/// A group of taps is a column of two rows of the filter, or of the last row alone. The rows of a pixel are
/// widened to interleaved `int16` once for all sums that use it. Their zero point is not subtracted: offsets
/// correct for it, and the padding has the zero point's value.
struct X86DepthwiseWordRowGenerator: CodeGenerator, Hashable {
  let isSigned: Bool
  let epilogue: X86EpilogueGenerator.Outputs
  let shape: DepthwiseRowShape
  let inPlace: DepthwiseRowShape.InPlaceInput

  private typealias General = X86Assembler.General
  private typealias Memory = X86Assembler.Memory
  private typealias A = ConvolutionArguments
  private static let bases: [General] = [.rax, .rbx]

  /// The maximum number of columns in a block; 0 if there is no such code.
  static func maximumColumns(
    _ target: X86Target, columnStep: Int, tapStep: Int, tapRows: Int, tapColumns: Int
  )
    -> Int
  {
    guard target == .avx2, columnStep <= 8, tapStep <= 16, tapRows <= 8, tapColumns <= 7 else { return 0 }
    return min(8, 12 - tapColumns)
  }

  // MARK: Registers

  private var columnCount: Int { shape.columnCount }
  private var tapColumns: Int { shape.tapColumns }
  private var end: X86EpilogueGenerator {
    X86EpilogueGenerator(
      target: .avx2, outputs: epilogue, rowCount: columnCount, vectorCount: 1, columnCount: 8)
  }
  /// The accumulators come first.
  private func weight(_ tap: Int) -> Int { columnCount + tap }
  /// Registers of the pixel, then of two of its products.
  private func spare(_ index: Int) -> Int { columnCount + tapColumns + index }
  /// The shuffle that widens bytes to `int16`.
  private let order = 15

  // MARK: The function

  /// The code of `void f(Arguments *)`. `taps` lists the addresses of rows and then of a pixel of padding;
  /// `rows` is the offset of the first column from those addresses. nil only if the generator has a bug.
  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: .vex)
    a.enter()
    // Pixels of the output have the size of input pixels.
    end.loadStride(&a, A.offset(\.rowStride))
    a.load(.r12, .init(.rdi, A.offset(\.taps)))
    a.load(.rcx, .init(.r12, 8 * shape.tapRows))
    a.load(.rdx, .init(.rdi, A.offset(\.factors)))
    a.vector(.vmovdqu, .ymm, order, 0, .init(.rdx, X86FactorLayout(.avx2).wordOrder))
    let nextBlock = a.loopHead(alignment: 16)
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))
    a.load(.rbp, .init(.rdi, A.offset(\.offsets)))
    a.load(.rdx, .init(.rdi, A.offset(\.factors)))
    a.load(.rax, .init(.rdi, A.offset(\.vectors)))
    a.store(.init(.rdi, A.offset(\.left)), .rax)
    a.move(.r13, 32)
    let nextVector = a.loopHead(alignment: 16)
    vector(&a)
    advance(&a, nextVector)

    for (register, start, count) in [
      (General.r8, A.offset(\.rows), columnCount * shape.columnStep), (.r14, A.offset(\.output), columnCount),
    ] {
      a.load(register, .init(.rdi, start))
      for _ in 0..<count / 6 { end.nextBase(&a, register, from: register) }
      if count % 6 > 0 { a.address(register, end.place(register, count % 6)) }
      a.store(.init(.rdi, start), register)
    }
    a.decrement(.r15)
    a.jump(.notEqual, nextBlock)
    a.leave()
    return a.finish()
  }

  /// Computes all columns of a block for one vector of channels.
  private func vector(_ a: inout X86Assembler) {
    let end = end
    end.begin(&a, offsets: .rbp)
    for row in stride(from: 0, to: shape.tapRows, by: 2) {
      rows(&a, row..<min(row + 2, shape.tapRows), end)
    }
    let bases = Array(Self.bases.prefix((columnCount + 5) / 6))
    a.move(bases[0], .r14)
    end.advance(&a, bases)
    end.store(&a, bases)
  }

  /// Advances to the next vector of channels. Every second vector has new factors.
  private func advance(_ a: inout X86Assembler, _ nextVector: X86Assembler.Label) {
    a.add(.rsi, (shape.tapRows + 1) / 2 * tapColumns * 32)
    a.add(.rbp, 32)
    a.add(.rdx, .r13)
    a.move(.rax, X86FactorLayout(.avx2).byteCount)
    a.subtract(.rax, .r13)
    a.move(.r13, .rax)
    a.add(.r8, 8)
    a.add(.r14, 8)
    a.load(.rax, .init(.rdi, A.offset(\.left)))
    a.decrement(.rax)
    a.store(.init(.rdi, A.offset(\.left)), .rax)
    a.jump(.notEqual, nextVector)
  }

  /// Multiplies the groups of one or two rows of the filter.
  private func rows(_ a: inout X86Assembler, _ rows: Range<Int>, _ end: X86EpilogueGenerator) {
    for row in rows {
      let base = Self.bases[row % 2]
      a.load(base, .init(.r12, 8 * row))
      a.add(base, .r8)
    }
    for tap in 0..<tapColumns {
      a.vector(.vmovdqu, .ymm, weight(tap), 0, .init(.rsi, (rows.lowerBound / 2 * tapColumns + tap) * 32))
    }
    let pixelCount = (columnCount - 1) * shape.columnStep + (tapColumns - 1) * shape.tapStep + 1
    for pixel in 0..<pixelCount {
      if pixel > 0, pixel % 6 == 0 {
        for row in rows { end.nextBase(&a, Self.bases[row % 2], from: Self.bases[row % 2]) }
      }
      let useCount = (0..<columnCount).count { tap(pixel, $0) != nil }
      guard useCount > 0 else { continue }
      let isPadding = pixel < inPlace.missingFirst || pixel >= pixelCount - inPlace.missingLast
      func memory(_ base: General) -> Memory { isPadding ? Memory(.rcx) : end.place(base, pixel % 6) }
      load(&a, memory(Self.bases[0]), rows.count > 1 ? memory(Self.bases[1]) : nil)
      add(&a, pixel, useCount)
    }
  }

  /// The tap that multiplies a pixel in a column's sum; nil if there is none.
  private func tap(_ pixel: Int, _ column: Int) -> Int? {
    let distance = pixel - column * shape.columnStep
    let tap = distance / shape.tapStep
    return distance >= 0 && tap < tapColumns && tap * shape.tapStep == distance ? tap : nil
  }

  /// Widens a pixel's eight bytes in one row, or in two interleaved rows.
  private func load(_ a: inout X86Assembler, _ first: Memory, _ second: Memory?) {
    let pixel = spare(0)
    guard let second else {
      return a.vector(isSigned ? .vpmovsxbd : .vpmovzxbd, .ymm, pixel, 0, first)
    }
    // Each quarter holds the bytes of both rows and uses half of them. Other ways to widen cross quarters,
    // which takes longer.
    a.vector(.vpbroadcastq, .ymm, pixel, 0, first)
    a.vector(.vpbroadcastq, .ymm, spare(1), 0, second)
    a.vector(.vpblendd, .ymm, pixel, pixel, spare(1), immediate: 0xCC)
    a.vector(.vpshufb, .ymm, pixel, pixel, order)
    if isSigned { a.shift(.shiftWords, digit: 4, .ymm, pixel, pixel, by: 8) }
  }

  /// Adds a pixel's products, two or three at a time: see ``X86ProductGenerator``.
  private func add(_ a: inout X86Assembler, _ pixel: Int, _ useCount: Int) {
    var left = useCount
    var next = 0
    while left > 0 {
      let count = left > 3 ? 2 : left
      let first = next
      var index = 0
      while index < count {
        if let tap = tap(pixel, next) {
          a.vector(.vpmaddwd, .ymm, product(index, count, left), spare(0), weight(tap))
          index += 1
        }
        next += 1
      }
      index = 0
      for column in first..<next where tap(pixel, column) != nil {
        a.vector(.vpaddd, .ymm, column, column, product(index, count, left))
        index += 1
      }
      left -= count
    }
  }

  /// The register of a product; the very last one overwrites the pixel.
  private func product(_ index: Int, _ count: Int, _ left: Int) -> Int {
    count == left && index == count - 1 ? spare(0) : spare(1 + index)
  }
}
