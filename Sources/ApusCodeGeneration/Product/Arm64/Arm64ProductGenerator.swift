// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates matrix products: a block of rows times one panel of columns, with accumulators in registers.
///
/// A K-step multiplies four bytes of each row, or one float, with as many of each column; one load of 16
/// bytes per row serves four K-steps. Rows are read in place, `rowStride` bytes apart. Their values are
/// contiguous within *taps*, whose offsets are in a list.
package struct Arm64ProductGenerator: CodeGenerator, Hashable {
  package let target: Arm64Target
  package let product: ProductKind
  /// The epilogue; it has the numbers of rows and columns.
  package let end: Arm64EpilogueGenerator

  private typealias General = Arm64Assembler.General
  private typealias A = ConvolutionArguments

  /// The maximum height of a block. Registers hold accumulators, 16 bytes of each row, a K-step of weights,
  /// and temporaries.
  static func maximumRows(_ target: Arm64Target, _ product: ProductKind, vectorCount: Int) -> Int {
    let others = product == .floats ? 0 : target == .dotProduct ? 1 : 7
    return min(Self.rowRegisters.count, (32 - vectorCount - others) / (vectorCount + 1))
  }

  /// Pointers to the rows, later to their outputs.
  private static let rowRegisters: [General] = [.x8, .x9, .x10, .x11, .x12, .x13, .x14, .x15]

  private var rowCount: Int { end.rowCount }
  private var vectorCount: Int { end.vectorCount }
  private var rows: [General] { Array(Self.rowRegisters.prefix(rowCount)) }
  private func activations(_ row: Int) -> Int { end.free(row) }
  private func weights(_ vector: Int) -> Int { end.free(rowCount + vector) }
  private func spare(_ index: Int) -> Int { end.free(rowCount + vectorCount + index) }
  private var signFlip: Int { 31 }

  package func generate() -> [UInt8]? {
    var a = Arm64Assembler()
    a.enter()
    a.load(.x7, .x0, A.offset(\.rows))
    a.load(.x6, .x0, A.offset(\.output))
    a.load(.x19, .x0, A.offset(\.blocks))
    a.load(.x1, .x0, A.offset(\.rowStride))

    let nextBlock = a.placeLabel()
    for sum in 0..<rowCount * vectorCount { a.fill(sum, 0) }
    a.load(.x2, .x0, A.offset(\.taps))
    a.load(.x3, .x0, A.offset(\.tapCount))
    a.load(.x4, .x0, A.offset(\.weights))
    if product == .unsignedBytes { a.fill(signFlip, 0x80) }

    let nextTap = a.placeLabel()
    a.loadPair(rows[0], .x5, .x2, step: 16)
    a.add(rows[0], rows[0], .x7)
    for row in 1..<max(rowCount, 1) { a.add(rows[row], rows[row - 1], .x1) }
    steps(&a)
    a.subtractSettingFlags(.x3, .x3, 1)
    a.branch(.notEqual, nextTap)

    end.finishBlock(&a, rows)
    a.subtractSettingFlags(.x19, .x19, 1)
    a.branch(.notEqual, nextBlock)
    a.leave()
    return a.finish()
  }

  /// The K loop: `x5` K-steps of a tap, four at a time; `x4` advances through the weights.
  private func steps(_ a: inout Arm64Assembler) {
    let single = a.makeLabel()
    let done = a.makeLabel()
    a.subtractSettingFlags(.x5, .x5, 4)
    a.branch(.less, single)
    let four = a.placeLabel()
    load(&a, .q)
    for lane in 0..<4 { step(&a, lane: lane) }
    a.subtractSettingFlags(.x5, .x5, 4)
    a.branch(.greaterOrEqual, four)
    a.place(single)
    a.addSettingFlags(.x5, .x5, 4)
    a.branch(.equal, done)
    let one = a.placeLabel()
    load(&a, .s)
    step(&a, lane: 0)
    a.subtractSettingFlags(.x5, .x5, 1)
    a.branch(.notEqual, one)
    a.place(done)
  }

  /// Loads the activations of one K-step, or of four.
  private func load(_ a: inout Arm64Assembler, _ part: Arm64Assembler.Part) {
    for row in 0..<rowCount { a.load(part, activations(row), rows[row], step: part.byteCount) }
    guard product == .unsignedBytes else { return }
    for row in 0..<rowCount { a.vector(.eor, activations(row), activations(row), signFlip) }
  }

  private func step(_ a: inout Arm64Assembler, lane: Int) {
    var vector = 0
    while vector + 1 < vectorCount {
      a.loadPair(weights(vector), weights(vector + 1), .x4, step: 32)
      vector += 2
    }
    if vector < vectorCount { a.load(.q, weights(vector), .x4, step: 16) }
    for row in 0..<rowCount {
      if product != .floats, target == .neon {
        multiplyWithoutDotProduct(&a, row, lane: lane)
        continue
      }
      for vector in 0..<vectorCount {
        a.vector(
          product == .floats ? .fmla : .sdot, end.sum(row, vector), weights(vector), activations(row),
          lane: lane)
      }
    }
  }

  /// Replaces `sdot` by four instructions: products of bytes are added in pairs of 16 bits, which cannot
  /// overflow because of ``Arm64Target/weightBounds``, and the pairs in 32 bits.
  private func multiplyWithoutDotProduct(_ a: inout Arm64Assembler, _ row: Int, lane: Int) {
    let repeated = spare(row % 2)
    a.repeatLane(repeated, activations(row), lane: lane)
    for vector in 0..<vectorCount {
      let (low, high) = (spare(2 + vector % 2 * 2), spare(3 + vector % 2 * 2))
      a.vector(.smull, low, weights(vector), repeated)
      a.vector(.smull2, high, weights(vector), repeated)
      a.vector(.addp, low, low, high)
      a.vector(.sadalp, end.sum(row, vector), low)
    }
  }
}

extension Arm64EpilogueGenerator {
  /// Runs the epilogue of a block with outputs at `x6`; advances `x6` and `x7` to the next block.
  func finishBlock(_ a: inout Arm64Assembler, _ rows: [Arm64Assembler.General]) {
    typealias A = ConvolutionArguments
    a.load(.x16, .x0, A.offset(\.factors))
    a.load(.x17, .x0, A.offset(\.offsets))
    a.load(.x5, .x0, A.offset(\.outputStride))
    a.move(rows[0], .x6)
    for row in 1..<max(rowCount, 1) { a.add(rows[row], rows[row - 1], .x5) }
    store(&a, rows)
    a.move(.x16, rowCount)
    a.multiplyAdd(.x6, .x5, .x16, .x6)
    a.multiplyAdd(.x7, .x1, .x16, .x7)
  }
}

extension Arm64Assembler {
  /// The prologue of a function that may use all vector registers and `x19`.
  mutating func enter() {
    pushPair(.x19, .x30, .sp, step: 80)
    for pair in 0..<4 { storeHalves(8 + 2 * pair, 9 + 2 * pair, .sp, 16 + 16 * pair) }
  }

  /// Restores the registers that ``enter()`` saved, and returns.
  mutating func leave() {
    for pair in 0..<4 { loadHalves(8 + 2 * pair, 9 + 2 * pair, .sp, 16 + 16 * pair) }
    loadPair(.x19, .x30, .sp, step: 80)
    self.return()
  }
}
