// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates matrix products of bfloat16 by tile registers: a block of rows times one panel, with sums in up to four tiles.
///
/// A part of K is up to 16 K-steps. A tile of rows holds a part of 16 rows, which are `rowStride` bytes apart; a tile of columns
/// holds a part of 16 columns, a K-step in each row, as panels are packed. After the last part, the tiles of sums are stored to
/// scratch memory, and the epilogue of floats reads them a few rows at a time. ``X86Tiles`` has the registers and their sizes, which
/// the caller sets.
struct X86TileProductGenerator: CodeGenerator, Hashable {
  let shape: BlockShape
  /// The K-steps of a part.
  let pairs: Int

  private typealias General = X86Assembler.General
  private typealias A = ConvolutionArguments
  private var vectorCount: Int { shape.vectorCount }
  private var hasTwoTiles: Bool { shape.rowCount > 16 }
  /// Bytes of a K-step of the panel, and of a row of sums.
  private var panelStride: Int { vectorCount * 64 }
  /// The first row of the second tile.
  private var secondRow: Int { shape.rowCount - X86Tiles.height(rowCount: shape.rowCount) }
  /// Rows whose sums fit into registers beside the bounds.
  private static let rowsTogether = 12

  private func epilogue(rowCount: Int) -> X86EpilogueGenerator {
    X86EpilogueGenerator(
      target: .avx512, outputs: .floats, rowCount: rowCount, vectorCount: vectorCount,
      columnCount: shape.columnCount)
  }

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: .evex)
    a.enter()
    epilogue(rowCount: 1).loadMasks(&a)

    let nextBlock = a.loopHead(alignment: 16)
    for row in 0..<(hasTwoTiles ? 2 : 1) {
      for column in 0..<vectorCount { a.zeroTile(X86Tiles.sums(row, column)) }
    }
    // `r9` and `r10` are the distances of rows in memory, `r11` that of the second tile of rows.
    a.load(.r9, .init(.rdi, A.offset(\.rowStride)))
    a.move(.r10, panelStride)
    if hasTwoTiles { a.multiply(.r11, .r9, secondRow) }
    a.load(.r12, .init(.rdi, A.offset(\.taps)))
    a.load(.r13, .init(.rdi, A.offset(\.tapCount)))
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))

    let nextTap = a.loopHead(alignment: 16)
    a.load(.rax, .init(.r12))
    a.load(.rcx, .init(.r12, 8))
    a.add(.r12, 16)
    a.add(.rax, .r8)
    if hasTwoTiles { a.address(.rbx, .init(.rax, index: .r11)) }
    let nextPart = a.loopHead(alignment: 16)
    part(&a)
    a.subtract(.rcx, pairs)
    a.jump(.notEqual, nextPart)
    a.decrement(.r13)
    a.jump(.notEqual, nextTap)

    storeSums(&a)
    storeOutputs(&a)

    // The next block of rows; `r14` already points at its outputs.
    a.load(.r9, .init(.rdi, A.offset(\.rowStride)))
    a.multiply(.r9, .r9, shape.rowCount)
    a.add(.r8, .r9)
    a.decrement(.r15)
    a.jump(.notEqual, nextBlock)
    a.leave()
    return a.finish()
  }

  /// Multiplies a part of K; `rax` and `rbx` advance through the rows, `rsi` through the columns.
  private func part(_ a: inout X86Assembler) {
    a.loadTile(X86Tiles.rows(0), .init(.rax, index: .r9))
    for column in 0..<vectorCount {
      a.loadTile(X86Tiles.columns(column), .init(.rsi, index: .r10, 64 * column))
    }
    if hasTwoTiles { a.loadTile(X86Tiles.rows(1), .init(.rbx, index: .r9)) }
    for row in 0..<(hasTwoTiles ? 2 : 1) {
      for column in 0..<vectorCount {
        a.multiplyTiles(X86Tiles.sums(row, column), X86Tiles.rows(row), X86Tiles.columns(column))
      }
    }
    a.add(.rax, 4 * pairs)
    if hasTwoTiles { a.add(.rbx, 4 * pairs) }
    a.add(.rsi, panelStride * pairs)
  }

  /// Stores all tiles of sums, row by row of the block.
  private func storeSums(_ a: inout X86Assembler) {
    a.load(.rcx, .init(.rdi, A.offset(\.spare)))
    for row in 0..<(hasTwoTiles ? 2 : 1) {
      for column in 0..<vectorCount {
        let offset = (row == 0 ? 0 : secondRow) * panelStride + 64 * column
        a.storeTile(.init(.rcx, index: .r10, offset), X86Tiles.sums(row, column))
      }
    }
  }

  /// Adds the bias, applies the bounds and stores the outputs; `r14` advances beyond the block.
  private func storeOutputs(_ a: inout X86Assembler) {
    a.load(.rdx, .init(.rdi, A.offset(\.factors)))
    a.load(.rsi, .init(.rdi, A.offset(\.offsets)))
    let bases: [General] = [.rax, .rbx]
    var first = 0
    while first < shape.rowCount {
      let count = min(Self.rowsTogether, shape.rowCount - first)
      let end = epilogue(rowCount: count)
      for row in 0..<count {
        for vector in 0..<vectorCount {
          let place = X86Assembler.Memory(.rcx, (first + row) * panelStride + 64 * vector)
          a.vector(.vmovups, .zmm, end.sum(row, vector), 0, place)
        }
      }
      let used = Array(bases.prefix((count + 5) / 6))
      end.loadStride(&a, A.offset(\.outputStride))
      a.move(.rax, .r14)
      end.advance(&a, used)
      end.store(&a, used)
      end.pointAfterLast(&a, used, .r14)
      first += count
    }
  }
}
