/// Generates the inner loops of depthwise convolutions of bytes with AVX-512: a few columns of a line times 64 channels.
///
/// A group of taps is a column of up to four rows of the filter. The same rows of a pixel of the input are interleaved once
/// for all sums that they are part of. Other groups come after these: taps of one or two rows that are left, and extra ones.
struct X86DepthwiseByteRowGenerator: CodeGenerator {
  let product: GeneratedProduct
  let epilogue: X86EpilogueGenerator.Kind
  let shape: GeneratedRowShape

  private typealias General = X86Assembler.General
  private typealias Memory = X86Assembler.Memory
  private typealias A = GeneratedArguments
  /// The rows of a group.
  private static let bases: [General] = [.rax, .rbx, .rbp, .rcx]
  private static let vectorCount = 4

  /// The most columns that a block may have: three, whose pixels can be addressed.
  static func mostColumns(
    _ target: X86Target, columnStep: Int, tapStep: Int, tapRows: Int, tapColumns: Int
  ) -> Int {
    let room = 6 - (tapColumns - 1) * tapStep
    guard target == .avx512, tapRows >= 3, tapRows <= 8, tapColumns > 1, room >= columnStep else { return 0 }
    return min(4, room / columnStep + 1)
  }

  // MARK: Registers

  private var width: X86Assembler.Width { .zmm }
  private var columnCount: Int { shape.columnCount }
  private var tapColumns: Int { shape.tapColumns }
  /// Rows of the filter whose groups are columns.
  private var rowCount: Int { GeneratedRowShape.rowsInColumns(shape.tapRows) }
  private var end: X86EpilogueGenerator {
    X86EpilogueGenerator(
      target: .avx512, kind: epilogue, rowCount: columnCount, vectorCount: Self.vectorCount,
      columnCount: shape.channelCount)
  }
  private func spare(_ index: Int) -> Int { end.free(index) }
  private let signFlip = 31
  /// Registers that weights stay in while pixels pass by; others are read each time.
  private var firstWeight: Int { end.free(7) }
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
    end.loadMasks(&a)
    a.load(.r12, .init(.rdi, A.offset(\.taps)))
    if product == .signedBytes {
      a.load(.rdx, .init(.rdi, A.offset(\.factors)))
      a.vector(.vpbroadcastd, width, signFlip, 0, .init(.rdx, X86FactorLayout(.avx512).signFlip))
    }
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))
    if rowCount <= 4 { loadWeights(&a) }

    let nextBlock = a.loopHead()
    end.begin(&a)
    end.loadStride(&a, A.offset(\.rowStride))
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))
    for firstRow in stride(from: 0, to: rowCount, by: 4) {
      rows(&a, firstRow..<min(firstRow + 4, rowCount))
      a.add(.rsi, tapColumns * Self.vectorCount * width.byteCount)
    }

    let done = a.makeLabel()
    a.load(.r13, .init(.rdi, A.offset(\.tapCount)))
    a.subtract(.r13, shape.columnGroupCount)
    a.jump(.equal, done)
    a.address(.rdx, .init(.r12, shape.columnGroupCount * 32))
    let nextGroup = a.loopHead(alignment: 16)
    extraGroup(&a)
    a.decrement(.r13)
    a.jump(.notEqual, nextGroup)
    a.place(done)
    for _ in 0..<columnCount * shape.columnStep / 6 { end.nextBase(&a, .r8, from: .r8) }
    a.address(.r8, end.place([.r8], columnCount * shape.columnStep % 6))

    a.load(.rdx, .init(.rdi, A.offset(\.factors)))
    end.loadStride(&a, A.offset(\.outputStride))
    end.store(&a, [.r14])
    end.pointAfterLast(&a, [.r14], .r14)
    a.decrement(.r15)
    a.jump(.notEqual, nextBlock)

    a.leave()
    return a.finish()
  }

  /// The groups of some rows of the filter.
  private func rows(_ a: inout X86Assembler, _ rows: Range<Int>) {
    let bases = Array(Self.bases.prefix(rows.count))
    for (index, base) in bases.enumerated() {
      a.load(base, .init(.r12, (rows.lowerBound / 4 * tapColumns * 4 + index) * 8))
      a.add(base, .r8)
    }
    if rowCount > 4 { loadWeights(&a) }
    let pixelCount = (columnCount - 1) * shape.columnStep + (tapColumns - 1) * shape.tapStep + 1
    for pixel in 0..<pixelCount {
      // The sums that the pixel is part of, each with its tap.
      let uses = (0..<columnCount).compactMap { column -> (column: Int, tap: Int)? in
        let distance = pixel - column * shape.columnStep
        guard distance >= 0, distance % shape.tapStep == 0, distance / shape.tapStep < tapColumns else {
          return nil
        }
        return (column, distance / shape.tapStep)
      }
      guard !uses.isEmpty else { continue }
      interleave(&a, bases.map { pixel < 6 ? end.place([$0], pixel) : Memory($0, index: .r10, scale: 2) })
      for vector in 0..<Self.vectorCount {
        for use in uses {
          a.vector(.vpdpbusd, width, end.sum(use.column, vector), spare(vector), weight(use.tap, vector))
        }
      }
    }
  }

  private func loadWeights(_ a: inout X86Assembler) {
    for index in 0..<weightRegisterCount {
      a.vector(.vmovdqu, width, firstWeight + index, 0, .init(.rsi, index * width.byteCount))
    }
  }

  /// Brings the bytes of up to four rows side by side, in the first four spare registers.
  private func interleave(_ a: inout X86Assembler, _ rows: [Memory]) {
    func load(_ register: Int, _ memory: Memory) {
      if product == .signedBytes {
        a.vector(.vpxor, width, register, signFlip, memory)
      } else {
        a.vector(.vmovdqu, width, register, 0, memory)
      }
    }
    // Rows that there are not repeat others: they have no weights.
    let hasPairs = rows.count > 2
    load(spare(4), rows[0])
    if rows.count > 1 { load(spare(5), rows[1]) }
    let second = rows.count > 1 ? spare(5) : spare(4)
    a.vector(.vpunpcklbw, width, spare(0), spare(4), second)
    a.vector(.vpunpckhbw, width, spare(2), spare(4), second)
    if hasPairs {
      load(spare(4), rows[2])
      if rows.count > 3 { load(spare(5), rows[3]) }
      let fourth = rows.count > 3 ? spare(5) : spare(4)
      a.vector(.vpunpcklbw, width, spare(6), spare(4), fourth)
      a.vector(.vpunpckhbw, width, spare(5), spare(4), fourth)
    }
    let (low, high) = hasPairs ? (spare(6), spare(5)) : (spare(0), spare(2))
    a.vector(.vpunpckhwd, width, spare(1), spare(0), low)
    a.vector(.vpunpcklwd, width, spare(0), spare(0), low)
    a.vector(.vpunpckhwd, width, spare(3), spare(2), high)
    a.vector(.vpunpcklwd, width, spare(2), spare(2), high)
  }

  /// A group whose taps lie anywhere: `rdx` points at their offsets.
  private func extraGroup(_ a: inout X86Assembler) {
    for column in 0..<columnCount {
      for (index, base) in Self.bases.enumerated() {
        a.load(base, .init(.rdx, 8 * index))
        a.add(base, .r8)
      }
      let pixel = column * shape.columnStep
      interleave(
        &a, Self.bases.map { pixel < 6 ? end.place([$0], pixel) : Memory($0, index: .r10, scale: 2) })
      for vector in 0..<Self.vectorCount {
        a.vector(
          .vpdpbusd, width, end.sum(column, vector), spare(vector), .init(.rsi, vector * width.byteCount))
      }
    }
    a.add(.rdx, 32)
    a.add(.rsi, Self.vectorCount * width.byteCount)
  }
}
