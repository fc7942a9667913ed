/// Generates the transforms of exact integer Winograd, F(4×4, 3×3); Docs/Kernels.md has the matrices.
///
/// Inputs and weights are words, of which each lane is another channel, or pair of channel and column; sums are 32 bits
/// wide. All arithmetic wraps: what the results must fit in is what counts.
struct X86WinogradGenerator: CodeGenerator {
  private enum Step: Hashable {
    case inputs(isSigned: Bool)
    case weights(isSigned: Bool)
    case outputs(X86EpilogueGenerator)
  }

  private let target: X86Target
  private let step: Step

  init(_ target: X86Target, _ step: WinogradStep) {
    self.target = target
    switch step {
    case .inputs(let isSigned): self.step = .inputs(isSigned: isSigned)
    case .weights(let isSigned): self.step = .weights(isSigned: isSigned)
    case .outputs(let operands, let epilogue, let shape):
      self.step = .outputs(
        X86EpilogueGenerator(
          target: target, kind: .init(operands, epilogue, isPerRow: false), rowCount: shape.rowCount,
          vectorCount: shape.vectorCount, columnCount: shape.columnCount))
    }
  }

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.enter()
    switch step {
    case .inputs(let isSigned): inputs(&a, isSigned: isSigned)
    case .weights(let isSigned): weights(&a, isSigned: isSigned)
    case .outputs(let end): outputs(&a, end)
    }
    a.leave()
    return a.finish()
  }

  private typealias General = X86Assembler.General
  private typealias Memory = X86Assembler.Memory
  private typealias A = GeneratedArguments
  private var width: X86Assembler.Width { target.width }
  private var vectorByteCount: Int { width.byteCount }
  private let reach = GeneratedWinogradPlan.reach

  // MARK: Addresses

  /// One, three and five strides.
  private struct Strides {
    let one: General
    let three: General
    let five: General

    /// Makes three and five of one.
    func complete(_ a: inout X86Assembler) {
      a.address(three, Memory(one, index: one, scale: 2))
      a.address(five, Memory(one, index: one, scale: 4))
    }

    /// A place up to five strides on.
    func place(_ base: General, _ index: Int, _ displacement: Int = 0) -> Memory {
      switch index {
      case 0: Memory(base, displacement)
      case 1: Memory(base, index: one, displacement)
      case 2: Memory(base, index: one, scale: 2, displacement)
      case 3: Memory(base, index: three, displacement)
      case 4: Memory(base, index: one, scale: 4, displacement)
      default: Memory(base, index: five, displacement)
      }
    }

    /// Moves a base by six strides.
    func advance(_ a: inout X86Assembler, _ base: General) {
      a.address(base, Memory(base, index: three, scale: 2))
    }
  }

  private func load(_ a: inout X86Assembler, _ register: General, _ field: PartialKeyPath<A>) {
    a.load(register, Memory(.rdi, A.offset(field)))
  }

  private func add(_ a: inout X86Assembler, _ register: General, _ field: PartialKeyPath<A>) {
    a.add(register, Memory(.rdi, A.offset(field)))
  }

  /// Repeats code `count` times.
  private func loop(
    _ a: inout X86Assembler, _ counter: General, _ count: Int, _ body: (inout X86Assembler) -> Void
  ) {
    a.move(counter, count)
    let head = a.loopHead()
    body(&a)
    a.decrement(counter)
    a.jump(.notEqual, head)
  }

  // MARK: Instructions

  private func op(_ a: inout X86Assembler, _ name: X86Assembler.Instruction, _ to: Int, _ x: Int, _ y: Int) {
    a.vector(name, width, to, x, y)
  }

  /// `to = 4x`, of words.
  private func quadruple(_ a: inout X86Assembler, _ to: Int, _ x: Int) {
    a.shift(.shiftWords, digit: 6, width, to, x, by: 2)
  }

  private func widen(_ a: inout X86Assembler, _ to: Int, isSigned: Bool, _ memory: Memory) {
    a.vector(isSigned ? .vpmovsxbw : .vpmovzxbw, width, to, 0, memory)
  }

  // MARK: Inputs

  /// `r8` squares side by side, their channels vector by vector: columns of pixels to spare memory, then its rows to points.
  private func inputs(_ a: inout X86Assembler, isSigned: Bool) {
    let lines = Strides(one: .r9, three: .r10, five: .r11)
    let points = Strides(one: .r12, three: .r13, five: .rbp)
    load(&a, lines.one, \.lineStride)
    lines.complete(&a)
    load(&a, points.one, \.pointStride)
    points.complete(&a)
    load(&a, .rsi, \.spare)
    a.vector(.vpbroadcastw, width, 15, 0, Memory(.rdi, A.offset(\.constant)))
    let nextSquare = a.loopHead()
    load(&a, .rdx, \.vectors)
    let nextVector = a.loopHead()
    a.move(.rax, .r8)
    a.move(.rbx, .rsi)
    loop(&a, .rcx, reach) { a in
      for row in 0..<reach { widen(&a, row, isSigned: isSigned, lines.place(.rax, row)) }
      let results = transformInputs(&a)
      // Zero points cancel out but for the second row, which lacks six of them.
      op(&a, .vpaddw, results[1], results[1], 15)
      for (row, result) in results.enumerated() {
        a.vector(.vmovdquStore, width, result, 0, Memory(.rbx, row * reach * vectorByteCount))
      }
      add(&a, .rax, \.rowStride)
      a.add(.rbx, vectorByteCount)
    }
    a.move(.rax, .r14)
    a.move(.rbx, .rsi)
    loop(&a, .rcx, reach) { a in
      for column in 0..<reach {
        a.vector(.vmovdqu, width, column, 0, Memory(.rbx, column * vectorByteCount))
      }
      for (column, result) in transformInputs(&a).enumerated() {
        a.vector(.vmovdquStore, width, result, 0, points.place(.rax, column))
      }
      a.add(.rbx, reach * vectorByteCount)
      points.advance(&a, .rax)
    }
    a.add(.r8, vectorByteCount / 2)
    a.add(.r14, vectorByteCount)
    a.decrement(.rdx)
    a.jump(.notEqual, nextVector)
    add(&a, .r8, \.squareStride)
    a.decrement(.r15)
    a.jump(.notEqual, nextSquare)
  }

  /// Six words of each lane, in registers 0 to 5, to six others, whose registers are answered.
  private func transformInputs(_ a: inout X86Assembler) -> [Int] {
    // x₄ − 4x₂ and x₃ − 4x₁: their sum and difference.
    quadruple(&a, 6, 2)
    op(&a, .vpsubw, 6, 4, 6)
    quadruple(&a, 7, 1)
    op(&a, .vpsubw, 7, 3, 7)
    op(&a, .vpaddw, 8, 6, 7)
    op(&a, .vpsubw, 9, 6, 7)
    // x₄ − x₂ and x₃ − x₁.
    op(&a, .vpsubw, 6, 4, 2)
    op(&a, .vpsubw, 7, 3, 1)
    // 4(x₀ − x₂) + x₄ − x₂
    op(&a, .vpsubw, 0, 0, 2)
    quadruple(&a, 0, 0)
    op(&a, .vpaddw, 0, 0, 6)
    // x₅ − x₃ − 4(x₃ − x₁)
    op(&a, .vpsubw, 5, 5, 3)
    quadruple(&a, 10, 7)
    op(&a, .vpsubw, 5, 5, 10)
    // x₄ − x₂ ± 2(x₃ − x₁)
    op(&a, .vpaddw, 7, 7, 7)
    op(&a, .vpaddw, 10, 6, 7)
    op(&a, .vpsubw, 11, 6, 7)
    return [0, 8, 9, 10, 11, 5]
  }

  // MARK: Weights

  /// `r15` vectors of nine weights each, all in registers.
  private func weights(_ a: inout X86Assembler, isSigned: Bool) {
    let points = Strides(one: .r9, three: .r10, five: .r11)
    let (zeroPoint, six) = (14, 15)
    let rows = [9, 10, 11]
    load(&a, points.one, \.pointStride)
    points.complete(&a)
    a.vector(.vpbroadcastw, width, zeroPoint, 0, Memory(.rdi, A.offset(\.constant)))
    a.vector(.vpbroadcastw, width, six, 0, Memory(.rdi, A.offset(\.constant) + 2))
    let next = a.loopHead()
    for tap in 0..<9 {
      widen(&a, tap, isSigned: isSigned, Memory(.r8, tap * vectorByteCount / 2))
      op(&a, .vpsubw, tap, tap, zeroPoint)
    }
    // The first and the last row of points are six times those of weights.
    a.move(.rax, .r14)
    for column in 0..<3 { op(&a, .vpmullw, rows[column], column, six) }
    transformRow(&a, rows, points, six)
    a.address(.rax, Memory(.r14, index: .r11, scale: 4))
    a.address(.rax, Memory(.rax, index: .r11, scale: 2))
    for column in 0..<3 { op(&a, .vpmullw, rows[column], 6 + column, six) }
    transformRow(&a, rows, points, six)
    // The others are 2(w₀ + w₂) ± 2w₁ and w₀ + 4w₂ ± 2w₁.
    for column in 0..<3 {
      op(&a, .vpaddw, 12, column, 6 + column)
      quadruple(&a, 13, 6 + column)
      op(&a, .vpaddw, column, column, 13)
      op(&a, .vpaddw, 3 + column, 3 + column, 3 + column)
      op(&a, .vpaddw, 6 + column, 12, 12)
    }
    a.move(.rax, .r14)
    for (first, instruction) in [
      (6, X86Assembler.Instruction.vpaddw), (6, .vpsubw), (0, .vpaddw), (0, .vpsubw),
    ] {
      points.advance(&a, .rax)
      for column in 0..<3 { op(&a, instruction, rows[column], first + column, 3 + column) }
      transformRow(&a, rows, points, six)
    }
    a.add(.r8, 9 * vectorByteCount / 2)
    a.add(.r14, vectorByteCount)
    a.decrement(.r15)
    a.jump(.notEqual, next)
  }

  /// Three words of each lane to six, stored from `rax` on.
  private func transformRow(_ a: inout X86Assembler, _ row: [Int], _ points: Strides, _ six: Int) {
    func store(_ register: Int, _ point: Int) {
      a.vector(.vmovdquStore, width, register, 0, points.place(.rax, point))
    }
    op(&a, .vpmullw, 12, row[0], six)
    store(12, 0)
    op(&a, .vpmullw, 12, row[2], six)
    store(12, 5)
    op(&a, .vpaddw, row[1], row[1], row[1])
    op(&a, .vpaddw, 12, row[0], row[2])
    op(&a, .vpaddw, 12, 12, 12)
    op(&a, .vpaddw, 13, 12, row[1])
    store(13, 1)
    op(&a, .vpsubw, 12, 12, row[1])
    store(12, 2)
    quadruple(&a, row[2], row[2])
    op(&a, .vpaddw, row[0], row[0], row[2])
    op(&a, .vpaddw, 13, row[0], row[1])
    store(13, 3)
    op(&a, .vpsubw, row[0], row[0], row[1])
    store(row[0], 4)
  }

  // MARK: Outputs

  /// `r15` squares side by side: columns of points to spare memory, then its rows to pixels of outputs.
  private func outputs(_ a: inout X86Assembler, _ end: X86EpilogueGenerator) {
    let lines = Strides(one: .r12, three: .r13, five: .rbp)
    let (inverse, offset) = (14, 15)
    let rowByteCount = end.vectorCount * vectorByteCount
    end.loadMasks(&a)
    end.loadStride(&a, A.offset(\.outputStride))
    // Lines of points are six points apart.
    load(&a, .rax, \.pointStride)
    a.address(.r12, Memory(.rax, index: .rax, scale: 2))
    a.add(.r12, .r12)
    lines.complete(&a)
    load(&a, .rsi, \.offsets)
    load(&a, .rdx, \.factors)
    let nextSquare = a.loopHead()
    a.move(.rax, .r8)
    load(&a, .rbx, \.spare)
    loop(&a, .rcx, reach) { a in
      for vector in 0..<end.vectorCount {
        transformOutputs(&a, to: Array(0..<4)) { lines.place(.rax, $0, vector * vectorByteCount) }
        for line in 0..<4 {
          a.vector(
            .vmovdquStore, width, line, 0,
            Memory(.rbx, line * reach * rowByteCount + vector * vectorByteCount))
        }
      }
      add(&a, .rax, \.pointStride)
      a.add(.rbx, rowByteCount)
    }
    a.move(.rax, .r14)
    load(&a, .rbx, \.spare)
    load(&a, .rcx, \.lines)
    let nextLine = a.loopHead()
    a.vector(.vpbroadcastd, width, inverse, 0, Memory(.rdi, A.offset(\.constant)))
    for vector in 0..<end.vectorCount {
      let sums = (0..<end.rowCount).map { end.sum($0, vector) }
      transformOutputs(&a, to: sums) { Memory(.rbx, $0 * rowByteCount + vector * vectorByteCount) }
      a.vector(.vmovdqu, width, offset, 0, Memory(.rsi, vector * vectorByteCount))
      if end.kind.shiftsRight {
        a.vector(.vpaddd, width, offset, offset, Memory(.rdx, X86FactorLayout(target).bias))
      }
      // 576 = 64 · 9 times the sum, modulo 2³².
      for sum in sums {
        op(&a, .vpmulld, sum, sum, inverse)
        a.shift(.shiftDoubles, digit: 4, width, sum, sum, by: 6)
        op(&a, .vpaddd, sum, sum, offset)
      }
    }
    end.store(&a, [.rax])
    a.add(.rbx, reach * rowByteCount)
    add(&a, .rax, \.outputLineStride)
    a.decrement(.rcx)
    a.jump(.notEqual, nextLine)
    a.add(.r8, rowByteCount)
    a.address(.r14, Memory(.r14, index: .r9, scale: 4))
    a.decrement(.r15)
    a.jump(.notEqual, nextSquare)
  }

  /// Six sums of each lane to the first of four outputs, by way of registers 8 to 11.
  private func transformOutputs(
    _ a: inout X86Assembler, to results: [Int], _ place: (Int) -> X86Assembler.Memory
  ) {
    let (sum, difference, farSum, farDifference) = (9, 8, 11, 10)
    func pair(_ sum: Int, _ difference: Int, _ first: Int) {
      a.vector(.vmovdqu, width, difference, 0, place(first))
      a.vector(.vpaddd, width, sum, difference, place(first + 1))
      a.vector(.vpsubd, width, difference, difference, place(first + 1))
    }
    pair(sum, difference, 1)
    pair(farSum, farDifference, 3)
    op(&a, .vpaddd, sum, sum, sum)
    for (index, result) in results.enumerated() {
      switch index {
      case 0:
        op(&a, .vpsubd, result, farSum, sum)
        a.vector(.vpaddd, width, result, result, place(0))
      case 1:
        op(&a, .vpsubd, result, farDifference, difference)
        op(&a, .vpaddd, result, result, result)
      case 2:
        a.shift(.shiftDoubles, digit: 6, width, farSum, farSum, by: 2)
        op(&a, .vpsubd, result, farSum, sum)
      default:
        op(&a, .vpaddd, farDifference, farDifference, farDifference)
        a.vector(.vpaddd, width, farDifference, farDifference, place(5))
        op(&a, .vpaddd, farDifference, farDifference, farDifference)
        op(&a, .vpsubd, farDifference, farDifference, difference)
        op(&a, .vpaddd, result, farDifference, farDifference)
      }
    }
  }
}
