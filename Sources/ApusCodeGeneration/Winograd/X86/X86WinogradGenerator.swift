// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates the transforms of Winograd's method; Docs/Kernels.md has the matrices.
///
/// Each lane of inputs and weights, `int16` or floats, is another channel, column or both. Sums have 32 bits.
/// Intermediate integers may wrap: modular arithmetic is exact if the final results fit.
struct X86WinogradGenerator: CodeGenerator, Hashable {
  private enum Transform: Hashable {
    case inputs
    case weights
    case outputs(X86EpilogueGenerator)
  }

  let target: X86Target
  let variant: WinogradVariant
  /// Whether bytes are signed.
  private let isSigned: Bool
  private let transform: Transform

  init(_ target: X86Target, _ transform: WinogradTransform) {
    self.target = target
    switch transform {
    case .inputs(let variant, let isSigned):
      (self.variant, self.isSigned, self.transform) = (variant, isSigned, .inputs)
    case .weights(let variant, let isSigned):
      (self.variant, self.isSigned, self.transform) = (variant, isSigned, .weights)
    case .outputs(let operands, let epilogue, let shape):
      let end = X86EpilogueGenerator(
        target: target, outputs: .init(operands, epilogue, isPerRow: false), rowCount: shape.rowCount,
        vectorCount: shape.vectorCount, columnCount: shape.columnCount)
      (variant, isSigned, self.transform) = (end.outputs.isBytes ? .words : .floats, false, .outputs(end))
    }
  }

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    a.enter()
    switch transform {
    case .inputs: inputs(&a)
    case .weights: weights(&a)
    case .outputs(let end): outputs(&a, end)
    }
    a.leave()
    return a.finish()
  }

  private typealias General = X86Assembler.General
  private typealias Memory = X86Assembler.Memory
  private typealias A = ConvolutionArguments
  private var vectorByteCount: Int { target.width.byteCount }
  /// The size of a vector before bytes are widened.
  private var sourceByteCount: Int {
    target.lanes * variant.channelsPerStep * variant.elementByteCount
  }
  private var reach: Int { variant.reach }

  // MARK: Addresses

  /// Advances a base by a row of points.
  private func advance(_ a: inout X86Assembler, _ base: General, _ points: X86Strides) {
    a.address(base, variant == .words ? points.sixth(base) : points.place(base, reach))
  }

  private func load(_ a: inout X86Assembler, _ register: General, _ field: PartialKeyPath<A>) {
    a.load(register, Memory(.rdi, A.offset(field)))
  }

  private func add(_ a: inout X86Assembler, _ register: General, _ field: PartialKeyPath<A>) {
    a.add(register, Memory(.rdi, A.offset(field)))
  }

  /// A loop with `count` iterations.
  private func loop(
    _ a: inout X86Assembler, _ counter: General, _ count: Int, _ body: (inout X86Assembler) -> Void
  ) {
    a.move(counter, count)
    let head = a.loopHead()
    body(&a)
    a.decrement(counter)
    a.jump(.notEqual, head)
  }

  private func loadVector(_ a: inout X86Assembler, _ register: Int, _ memory: Memory) {
    a.vector(.vmovdqu, target.width, register, 0, memory)
  }

  /// Loads a vector of inputs or weights.
  private func source(_ a: inout X86Assembler, _ register: Int, _ memory: Memory) {
    let instruction: X86Assembler.Instruction =
      variant == .floats ? .vmovdqu : isSigned ? .vpmovsxbw : .vpmovzxbw
    a.vector(instruction, target.width, register, 0, memory)
  }

  private func store(_ a: inout X86Assembler, _ register: Int, _ memory: Memory) {
    a.vector(.vmovdquStore, target.width, register, 0, memory)
  }

  // MARK: Steps

  /// Transforms the inputs of `r15` neighboring Winograd tiles, one vector of channels after the other:
  /// columns of pixels to scratch memory, then its rows to points.
  private func inputs(_ a: inout X86Assembler) {
    let lines = X86Strides(one: .r9, three: .r10, five: .r11)
    let points = X86Strides(one: .r12, three: .r13, five: .rbp)
    let zeroPoints = 15
    lines.load(&a, A.offset(\.lineStride))
    points.load(&a, A.offset(\.pointStride))
    load(&a, .rsi, \.spare)
    a.vector(.vpbroadcastw, target.width, zeroPoints, 0, Memory(.rdi, A.offset(\.constant)))
    let nextSquare = a.loopHead()
    load(&a, .rdx, \.vectors)
    let nextVector = a.loopHead()
    a.move(.rax, .r8)
    a.move(.rbx, .rsi)
    loop(&a, .rcx, reach) { a in
      for row in 0..<reach { source(&a, row, lines.place(.rax, row)) }
      let results = transformInputs(&a)
      // Zero points cancel out except in the second row of Bᵀ, which lacks six of them.
      if variant == .words { operate(&a, .vpaddw, results[1], results[1], zeroPoints) }
      for (row, result) in results.enumerated() {
        store(&a, result, Memory(.rbx, row * reach * vectorByteCount))
      }
      add(&a, .rax, \.rowStride)
      a.add(.rbx, vectorByteCount)
    }
    a.move(.rax, .r14)
    a.move(.rbx, .rsi)
    loop(&a, .rcx, reach) { a in
      for column in 0..<reach { loadVector(&a, column, Memory(.rbx, column * vectorByteCount)) }
      for (column, result) in transformInputs(&a).enumerated() {
        store(&a, result, points.place(.rax, column))
      }
      a.add(.rbx, reach * vectorByteCount)
      advance(&a, .rax, points)
    }
    a.add(.r8, sourceByteCount)
    a.add(.r14, vectorByteCount)
    a.decrement(.rdx)
    a.jump(.notEqual, nextVector)
    add(&a, .r8, \.squareStride)
    a.decrement(.r15)
    a.jump(.notEqual, nextSquare)
  }

  /// Transforms `r15` vectors of nine weights each, in registers.
  private func weights(_ a: inout X86Assembler) {
    let points = X86Strides(one: .r9, three: .r10, five: .r11)
    let zeroPoints = 14
    let row = [9, 10, 11]
    points.load(&a, A.offset(\.pointStride))
    let constant = A.offset(\.constant)
    if variant == .words {
      a.vector(.vpbroadcastw, target.width, zeroPoints, 0, Memory(.rdi, constant))
      a.vector(.vpbroadcastw, target.width, weightFactor, 0, Memory(.rdi, constant + 2))
    } else {
      a.vector(.vpbroadcastd, target.width, weightFactor, 0, Memory(.rdi, constant))
    }
    let next = a.loopHead()
    for tap in 0..<9 {
      source(&a, tap, Memory(.r8, tap * sourceByteCount))
      if variant == .words { operate(&a, .vpsubw, tap, tap, zeroPoints) }
    }
    // The first and the last row of points are rows of weights times a factor.
    a.move(.rax, .r14)
    for column in 0..<3 { transformOuterWeights(&a, row[column], column) }
    transformWeights(&a, row) { points.place(.rax, $0) }
    for _ in 0..<reach - 1 { advance(&a, .rax, points) }
    for column in 0..<3 { transformOuterWeights(&a, row[column], 6 + column) }
    transformWeights(&a, row) { points.place(.rax, $0) }
    // The rows between are sums and differences of the registers' new values.
    for column in 0..<3 { transformInnerWeights(&a, column, 3 + column, 6 + column) }
    a.move(.rax, .r14)
    for (instruction, first, second) in innerWeights {
      advance(&a, .rax, points)
      for column in 0..<3 { operate(&a, instruction, row[column], first + column, second + column) }
      transformWeights(&a, row) { points.place(.rax, $0) }
    }
    a.add(.r8, 9 * sourceByteCount)
    a.add(.r14, vectorByteCount)
    a.decrement(.r15)
    a.jump(.notEqual, next)
  }

  /// Transforms the sums of `r15` neighboring Winograd tiles: columns of points to scratch memory, then its
  /// rows to output pixels.
  private func outputs(_ a: inout X86Assembler, _ end: X86EpilogueGenerator) {
    let lines = X86Strides(one: .r12, three: .r13, five: .rbp)
    let rowByteCount = end.vectorCount * vectorByteCount
    end.loadMasks(&a)
    end.loadStride(&a, A.offset(\.outputStride))
    // Lines of points are a row of points apart.
    load(&a, .rax, \.pointStride)
    a.address(.r12, Memory(.rax, index: .rax, scale: reach / 2 - 1))
    a.add(.r12, .r12)
    lines.complete(&a)
    load(&a, .rsi, \.offsets)
    load(&a, .rdx, \.factors)
    let nextSquare = a.loopHead()
    a.move(.rax, .r8)
    load(&a, .rbx, \.spare)
    loop(&a, .rcx, reach) { a in
      for vector in 0..<end.vectorCount {
        let results = Array(0..<variant.side)
        transformOutputs(&a, to: results) { lines.place(.rax, $0, vector * vectorByteCount) }
        for line in results {
          store(&a, line, Memory(.rbx, line * reach * rowByteCount + vector * vectorByteCount))
        }
      }
      add(&a, .rax, \.pointStride)
      a.add(.rbx, rowByteCount)
    }
    a.move(.rax, .r14)
    load(&a, .rbx, \.spare)
    load(&a, .rcx, \.lines)
    let nextLine = a.loopHead()
    for vector in 0..<end.vectorCount {
      let sums = (0..<end.rowCount).map { end.sum($0, vector) }
      transformOutputs(&a, to: sums) { Memory(.rbx, $0 * rowByteCount + vector * vectorByteCount) }
      if variant == .words { recoverSums(&a, sums, end, vector: vector) }
    }
    end.store(&a, [.rax])
    a.add(.rbx, reach * rowByteCount)
    add(&a, .rax, \.outputLineStride)
    a.decrement(.rcx)
    a.jump(.notEqual, nextLine)
    a.add(.r8, rowByteCount)
    a.address(.r14, Memory(.r14, index: .r9, scale: variant.side))
    a.decrement(.r15)
    a.jump(.notEqual, nextSquare)
  }

  /// From 576 = 64 · 9 times the sums, modulo 2³², to the epilogue's input.
  private func recoverSums(
    _ a: inout X86Assembler, _ sums: [Int], _ end: X86EpilogueGenerator, vector: Int
  ) {
    let (inverse, offset) = (14, 15)
    a.vector(.vpbroadcastd, target.width, inverse, 0, Memory(.rdi, A.offset(\.constant)))
    loadVector(&a, offset, Memory(.rsi, vector * vectorByteCount))
    if end.outputs.shiftsRight {
      a.vector(
        .vpaddd, target.width, offset, offset, Memory(.rdx, X86ShiftingFactors(X86FactorLayout(target)).bias))
    }
    for sum in sums {
      operate(&a, .vpmulld, sum, sum, inverse)
      a.shift(.shiftDoubles, digit: 4, target.width, sum, sum, by: 6)
      operate(&a, .vpaddd, sum, sum, offset)
    }
  }
}
