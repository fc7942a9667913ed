// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates products of a few rows of floats with a K×N matrix that is not packed.
///
/// A block is a few rows of the matrix: each, times one value of a row of the left-hand side, is added to
/// that row's sums, which are in memory.
struct X86ThinProductGenerator: CodeGenerator, Hashable {
  struct Arguments: CodeArguments {
    var lhs: Int
    /// Bytes between consecutive rows of the left-hand side; likewise `rhsStride` and `outputStride`.
    var lhsStride: Int
    var rhs: Int
    var rhsStride: Int
    var output: Int
    var outputStride: Int
    /// Bytes of N columns, a whole number of vectors.
    var columnByteCount: Int
    /// The number of blocks of K.
    var blocks: Int
  }

  let target: X86Target
  /// Rows of the left-hand side.
  let rows: Int
  /// Values of K per block.
  let terms: Int

  private typealias Memory = X86Assembler.Memory
  private typealias A = Arguments
  private typealias General = X86Assembler.General

  /// The maximum number of rows that registers allow.
  static func maximumRows(_ target: X86Target) -> Int { target == .avx512 ? 4 : 3 }
  /// Values of K per block for a number of rows.
  static func maximumTerms(rows: Int) -> Int { rows == 1 ? 8 : 4 }

  /// Registers that point to rows of the matrix; below, to rows of the output, in registers that blocks of
  /// several rows leave free.
  private static let matrixRows: [General] = [.rdx, .rdi, .rbx, .rbp, .r12, .r13, .r14, .r15]
  private static let outputRows: [General] = [.rsi, .r12, .r13, .r14]
  private static let kept: [General] = [.rbx, .rbp, .r12, .r13, .r14, .r15]

  // Registers: broadcast values, then a sum for each row, then a vector of the matrix (or a single row's
  // second sum).
  private func term(_ row: Int, _ term: Int) -> Int { row * terms + term }
  private func sum(_ row: Int) -> Int { rows * terms + row }
  private var spare: Int { rows * terms + rows }

  func generate() -> [UInt8]? {
    guard (1...Self.maximumRows(target)).contains(rows), (1...Self.maximumTerms(rows: rows)).contains(terms)
    else {
      return nil
    }
    let width = target.width
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    for register in Self.kept { a.push(register) }
    a.load(.rax, .init(.rdi, A.offset(\.lhs)))
    a.load(.r11, .init(.rdi, A.offset(\.lhsStride)))
    a.load(.rdx, .init(.rdi, A.offset(\.rhs)))
    a.load(.r10, .init(.rdi, A.offset(\.rhsStride)))
    a.load(.rsi, .init(.rdi, A.offset(\.output)))
    a.load(.rcx, .init(.rdi, A.offset(\.outputStride)))
    a.load(.r9, .init(.rdi, A.offset(\.columnByteCount)))
    a.load(.r8, .init(.rdi, A.offset(\.blocks)))
    for row in 1..<max(rows, 1) {
      a.address(Self.outputRows[row], Memory(Self.outputRows[row - 1], index: .rcx))
    }
    let nextBlock = a.loopHead()
    for term in 1..<max(terms, 1) {
      a.address(Self.matrixRows[term], Memory(Self.matrixRows[term - 1], index: .r10))
    }
    a.move(.rcx, .rax)
    for row in 0..<rows {
      for index in 0..<terms {
        a.vector(.vbroadcastss, width, term(row, index), 0, Memory(.rcx, 4 * index))
      }
      if row + 1 < rows { a.add(.rcx, .r11) }
    }
    a.zero(.rcx)
    let next = a.loopHead()
    if rows == 1 { addRow(&a) } else { addRows(&a) }
    a.add(.rcx, width.byteCount)
    a.compare(.rcx, .r9)
    a.jump(.notEqual, next)
    a.add(.rax, 4 * terms)
    a.address(.rdx, Memory(Self.matrixRows[terms - 1], index: .r10))
    a.decrement(.r8)
    a.jump(.notEqual, nextBlock)
    a.zeroUpper()
    for register in Self.kept.reversed() { a.pop(register) }
    a.return()
    return a.finish()
  }

  /// Updates a vector of one row's sums, in two chains of additions to halve the latency.
  private func addRow(_ a: inout X86Assembler) {
    let width = target.width
    a.vector(.vmovups, width, sum(0), 0, Memory(.rsi, index: .rcx))
    for index in 0..<terms {
      let place = Memory(Self.matrixRows[index], index: .rcx)
      if terms == 1 || index < terms / 2 {
        a.vector(.vfmadd231ps, width, sum(0), term(0, index), place)
      } else if index == terms / 2 {
        a.vector(.vmulps, width, spare, term(0, index), place)
      } else {
        a.vector(.vfmadd231ps, width, spare, term(0, index), place)
      }
    }
    if terms > 1 { a.vector(.vaddps, width, sum(0), sum(0), spare) }
    a.vector(.vmovupsStore, width, sum(0), 0, Memory(.rsi, index: .rcx))
  }

  /// Updates a vector of the sums of several rows.
  private func addRows(_ a: inout X86Assembler) {
    let width = target.width
    for row in 0..<rows {
      a.vector(.vmovups, width, sum(row), 0, Memory(Self.outputRows[row], index: .rcx))
    }
    for index in 0..<terms {
      a.vector(.vmovups, width, spare, 0, Memory(Self.matrixRows[index], index: .rcx))
      for row in 0..<rows { a.vector(.vfmadd231ps, width, sum(row), term(row, index), spare) }
    }
    for row in 0..<rows {
      a.vector(.vmovupsStore, width, sum(row), 0, Memory(Self.outputRows[row], index: .rcx))
    }
  }
}

/// Products of few rows of floats by generated code.
private struct X86ThinProduct {
  /// For each number of rows, the function for whole blocks of K and the one for the rest; nil if nothing is
  /// left.
  let whole: [CodeFunction<X86ThinProductGenerator.Arguments>]
  let rest: [CodeFunction<X86ThinProductGenerator.Arguments>?]
  let depth: Int
  let maximumRows: Int

  init(target: X86Target, rows: Int, depth: Int) throws(Decline) {
    self.depth = depth
    maximumRows = min(rows, X86ThinProductGenerator.maximumRows(target))
    var whole: [CodeFunction<X86ThinProductGenerator.Arguments>] = []
    var rest: [CodeFunction<X86ThinProductGenerator.Arguments>?] = []
    for rows in 1...maximumRows {
      let terms = X86ThinProductGenerator.maximumTerms(rows: rows)
      unsafe whole.append(try CodeFunction(X86ThinProductGenerator(target: target, rows: rows, terms: terms)))
      let left = depth % terms
      unsafe rest.append(
        left == 0
          ? nil : try CodeFunction(X86ThinProductGenerator(target: target, rows: rows, terms: left)))
    }
    self.whole = whole
    self.rest = rest
  }

  /// Adds the products of some rows with some columns to the output.
  func add(_ block: ThinProductBlock) {
    ExecutableMemory.seal()
    var row = 0
    while row < block.rows {
      let rows = min(maximumRows, block.rows &- row)
      let terms = X86ThinProductGenerator.maximumTerms(rows: rows)
      var arguments = X86ThinProductGenerator.Arguments(
        lhs: block.lhs &+ row &* block.lhsStride, lhsStride: block.lhsStride, rhs: block.rhs,
        rhsStride: block.rhsStride, output: block.output &+ row &* block.outputStride,
        outputStride: block.outputStride, columnByteCount: block.columnByteCount, blocks: depth / terms)
      if arguments.blocks > 0 { whole[rows &- 1].call(arguments) }
      if let rest = rest[rows &- 1] {
        let done = depth / terms &* terms
        arguments.lhs &+= 4 &* done
        arguments.rhs &+= done &* block.rhsStride
        arguments.blocks = 1
        rest.call(arguments)
      }
      row &+= rows
    }
  }
}

extension X86Target {
  /// Code for products of a few rows of floats with an unpacked matrix; throws if columns do not fill
  /// vectors, or there is no memory for code.
  func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode {
    guard columns > 0, columns.isMultiple(of: lanes) else {
      throw Decline("\(columns) columns do not fill vectors of \(lanes) floats")
    }
    let product = try X86ThinProduct(target: self, rows: rows, depth: depth)
    return { block in product.add(block) }
  }
}
