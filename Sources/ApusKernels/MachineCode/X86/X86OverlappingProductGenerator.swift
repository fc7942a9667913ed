/// Generates products of bytes of few steps with AVX-512: while a block of rows is summed, the sums of the block before
/// become outputs, since either alone would leave half of the processor idle.
///
/// All steps but extra ones are written out; two sets of sums take turns.
struct X86OverlappingProductGenerator: CodeGenerator {
  let product: GeneratedProduct
  let epilogue: X86EpilogueGenerator.Kind
  let rowCount: Int
  /// Vectors of a panel, 1 or 2.
  let vectorCount: Int
  /// The columns that are written.
  let columnCount: Int
  let steps: GeneratedSteps

  private typealias General = X86Assembler.General
  private typealias A = GeneratedArguments
  private typealias Piece = (inout X86Assembler) -> Void

  /// The most rows, by vectors less one: what two sets of sums leave registers for. Beyond so many steps, finishing takes
  /// little of the time.
  static func mostRows(_ steps: GeneratedSteps) -> [Int] { steps.taps * steps.perTap <= 32 ? [6, 4] : [] }

  // MARK: Registers

  private func width(_ vector: Int) -> X86Assembler.Width { end(0).width(vector) }
  /// That of a step's bytes of a row.
  private var laneWidth: X86Assembler.Width { width(0) }
  private let vectorByteCount = X86Assembler.Width.zmm.byteCount
  private var setCount: Int { rowCount * vectorCount }
  private var firstFree: Int { 2 * setCount }
  /// Seven registers serve the epilogue.
  private func weights(_ vector: Int) -> Int { firstFree + 7 + vector }
  private func lane(_ row: Int) -> Int { firstFree + 9 + row % 2 }
  /// What sums begin with.
  private func beginning(_ vector: Int) -> Int { firstFree + 11 + vector }
  private let signFlip = 31

  /// What writes the outputs of a set of sums.
  private func end(_ set: Int) -> X86EpilogueGenerator {
    X86EpilogueGenerator(
      target: .avx512, kind: epilogue, rowCount: rowCount, vectorCount: vectorCount, columnCount: columnCount,
      firstSum: set * setCount, firstFree: firstFree, keptOrder: 30, strides: [.r12, .r13, .rbx])
  }
  /// What finds the rows.
  private var rows: X86EpilogueGenerator {
    X86EpilogueGenerator(
      target: .avx512, kind: .sums, rowCount: rowCount, vectorCount: vectorCount, columnCount: columnCount)
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
      a.vector(
        .vpaddd, width(vector), beginning(vector), beginning(vector),
        .init(.rdx, X86FactorLayout(.avx512).bias))
    }
    if product == .signedBytes {
      a.vector(.vpbroadcastd, .zmm, signFlip, 0, .init(.rdx, X86FactorLayout(.avx512).signFlip))
    }
    end(0).loadOrder(&a)
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))

    for piece in products(set: 0) { piece(&a) }
    finishProducts(&a, set: 0)
    let ends = [a.makeLabel(), a.makeLabel()]
    let next = a.loopHead()
    for set in 0..<2 {
      a.decrement(.r15)
      a.jump(.equal, ends[set])
      merge(&a, products(set: 1 - set), outputs(set: set))
      finishProducts(&a, set: 1 - set)
      moveOutput(&a)
    }
    a.jump(next)
    for set in 0..<2 {
      a.place(ends[set])
      for piece in outputs(set: set) { piece(&a) }
      a.leave()
    }
    return a.finish()
  }

  /// Writes two sequences side by side.
  private func merge(_ a: inout X86Assembler, _ first: [Piece], _ second: [Piece]) {
    var written = 0
    for (index, piece) in first.enumerated() {
      piece(&a)
      while written * first.count < (index + 1) * second.count {
        second[written](&a)
        written += 1
      }
    }
  }

  // MARK: Products

  /// The steps of a block but extra ones.
  private func products(set: Int) -> [Piece] {
    var pieces: [Piece] = [
      { a in
        a.load(.rcx, .init(.rdi, A.offset(\.taps)))
        for vector in 0..<vectorCount {
          for row in 0..<rowCount {
            a.vector(.vmovdqu, width(vector), sum(set, row, vector), 0, beginning(vector))
          }
        }
      }
    ]
    for tap in 0..<steps.taps {
      pieces.append { a in
        a.load(.rax, .init(.rcx, 16 * tap))
        a.add(.rax, .r8)
      }
      for step in 0..<steps.perTap {
        for row in 0..<rowCount {
          pieces.append { multiply(&$0, set, row, step, weightStep: tap * steps.perTap + step) }
        }
      }
    }
    return pieces
  }

  private func sum(_ set: Int, _ row: Int, _ vector: Int) -> Int {
    set * setCount + row * vectorCount + vector
  }

  /// One step of a row; the first row's loads the weights.
  private func multiply(
    _ a: inout X86Assembler, _ set: Int, _ row: Int, _ step: Int, weightStep: Int
  ) {
    if row == 0 {
      for vector in 0..<vectorCount {
        let place = (weightStep * vectorCount + vector) * vectorByteCount
        a.vector(.vmovdqu, width(vector), weights(vector), 0, .init(.rsi, place))
      }
    }
    let memory = rows.place([.rax], row, 4 * step)
    if product == .signedBytes {
      a.vector(.vpxor, laneWidth, lane(row), signFlip, memory, broadcasts: true)
    } else {
      a.vector(.vpbroadcastd, laneWidth, lane(row), 0, memory)
    }
    for vector in 0..<vectorCount {
      a.vector(.vpdpbusd, width(vector), sum(set, row, vector), lane(row), weights(vector))
    }
  }

  /// Extra steps, whose taps and weights follow the others, and the way to the next rows.
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
    rows.pointAfterLast(&a, [.r8], .r8)
  }

  // MARK: Outputs

  /// What makes outputs of a set of sums.
  private func outputs(set: Int) -> [Piece] {
    guard case .bytes(let isSigned, _, let isBounded) = epilogue else { return [] }
    let end = end(set)
    let bytes = X86EpilogueGenerator.Bytes(isSigned: isSigned, addsZeroPoint: false, isBounded: isBounded)
    var pieces: [Piece] = []
    for vector in 0..<vectorCount {
      for row in 0..<rowCount {
        pieces.append { a in
          if row == 0 { end.loadFactors(&a, vector: vector) }
          end.rescaleRight(&a, row: row, vector: vector)
        }
      }
    }
    for row in stride(from: 0, to: rowCount, by: end.rowsTogether) {
      pieces.append { a in
        if row == 0 { end.loadBytesOfFour(&a, bytes) }
        end.storeBytesOfFour(&a, [.r14], bytes, row: row)
      }
    }
    return pieces
  }

  private func moveOutput(_ a: inout X86Assembler) { end(0).pointAfterLast(&a, [.r14], .r14) }
}
