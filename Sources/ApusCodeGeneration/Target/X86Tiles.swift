// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// The tile registers of AMX, as products use them.
///
/// A block of up to 32 rows and 32 columns has four tiles of sums; two tiles hold its rows and two its columns, a part of K at a
/// time. If a block has more than 16 rows, each tile of rows has half of them: of an odd number, the second begins with the last row of the first.
struct X86Tiles {
  /// The maximum height of a block.
  static let maximumRows = 32
  /// The maximum width of a panel, in vectors.
  static let maximumVectors = 2
  /// The bytes of a block's sums in memory.
  static let sumByteCount = maximumRows * maximumVectors * 64

  /// The rows of a tile of a block: multiplying takes as many cycles.
  static func height(rowCount: Int) -> Int { rowCount <= 16 ? rowCount : (rowCount &+ 1) / 2 }

  /// The register of a tile of sums.
  static func sums(_ row: Int, _ column: Int) -> Int { 2 * row + column }
  /// The register of a tile of rows.
  static func rows(_ row: Int) -> Int { 4 + row }
  /// The register of a tile of columns.
  static func columns(_ column: Int) -> Int { 6 + column }

  // MARK: Sizes

  /// The sizes of all tiles, in the layout of `ldtilecfg`.
  struct Sizes: CodeArguments {
    private var bytes = SIMD64<UInt8>()

    /// The sizes for blocks of `rowCount` rows and parts of `pairs` pairs.
    init(rowCount: Int, pairs: Int) {
      bytes[0] = 1
      func set(_ tile: Int, rows: Int, byteCount: Int) {
        bytes[16 &+ 2 &* tile] = UInt8(truncatingIfNeeded: byteCount)
        bytes[48 &+ tile] = UInt8(truncatingIfNeeded: rows)
      }
      let height = max(1, min(X86Tiles.height(rowCount: rowCount), 16))
      for row in 0..<2 {
        for column in 0..<2 { set(sums(row, column), rows: height, byteCount: 64) }
        set(X86Tiles.rows(row), rows: height, byteCount: 4 &* pairs)
        set(columns(row), rows: pairs, byteCount: 64)
      }
    }
  }

  private struct Generator: CodeGenerator, Hashable {
    /// Whether the function sets sizes, or takes them away.
    let sets: Bool

    func generate() -> [UInt8]? {
      var a = X86Assembler(encoding: .vex)
      if sets { a.loadTileSizes(.init(.rdi)) } else { a.releaseTiles() }
      a.return()
      return a.finish()
    }
  }

  /// The pairs of a part.
  private let pairs: Int
  private let setting: CodeFunction<Sizes>
  private let releasing: CodeFunction<Sizes>

  /// The tiles for parts of `pairs` pairs.
  init(pairs: Int, placement: CodePlacement) throws(Decline) {
    self.pairs = pairs
    setting = try unsafe CodeFunction(Generator(sets: true), placement: placement)
    releasing = try unsafe CodeFunction(Generator(sets: false), placement: placement)
  }

  /// Sets the sizes of this thread's tiles for blocks of `rowCount` rows; ``release()`` must follow on the same thread.
  func prepare(rowCount: Int) { setting.call(Sizes(rowCount: rowCount, pairs: pairs)) }

  /// Takes this thread's tiles away, so that switches of threads need not save them.
  func release() { releasing.call(Sizes(rowCount: 0, pairs: 0)) }
}

// MARK: The processor's sums

extension X86Tiles {
  /// Throws unless the system allows tiles and the processor's sums are those that ``BFloat16Sum`` defines.
  static func requireDefinedSums() throws(Decline) {
    try TilePermission.require()
    try check.require("tdpbf16ps") { () throws(Decline) in try sumsAreDefined() }
  }

  private static let check = ProcessorCheck()

  /// One product of tiles: their sizes, and the addresses of sums, rows and columns.
  private struct Operands: CodeArguments {
    var sizes: Sizes
    var sums: UInt
    var rows: UInt
    var columns: UInt
  }

  private struct ProductGenerator: CodeGenerator, Hashable {
    func generate() -> [UInt8]? {
      var a = X86Assembler(encoding: .vex)
      a.loadTileSizes(.init(.rdi))
      for (register, offset) in [
        (X86Tiles.sums(0, 0), Operands.offset(\.sums)), (X86Tiles.rows(0), Operands.offset(\.rows)),
        (X86Tiles.columns(0), Operands.offset(\.columns)),
      ] {
        a.load(.rax, .init(.rdi, offset))
        a.move(.rcx, 64)
        a.loadTile(register, .init(.rax, index: .rcx))
      }
      a.multiplyTiles(X86Tiles.sums(0, 0), X86Tiles.rows(0), X86Tiles.columns(0))
      a.load(.rax, .init(.rdi, Operands.offset(\.sums)))
      a.storeTile(.init(.rax, index: .rcx), X86Tiles.sums(0, 0))
      a.releaseTiles()
      a.return()
      return a.finish()
    }
  }

  private static func sumsAreDefined() throws(Decline) -> Bool {
    let function = try unsafe CodeFunction<Operands>(ProductGenerator())
    ExecutableMemory.seal()
    func value(_ bits: UInt32, _ term: Int) -> SIMD4<Float> {
      SIMD4(repeating: CheckedOperands.value(bits, term))
    }
    for var operands in CheckedOperands.kinds {
      var sums = (0..<256).map { _ in operands.sum() }
      var rows = (0..<256).map { _ in operands.row() }
      var columns = (0..<256).map { _ in operands.column() }
      let expected = (0..<256).map { place -> UInt32 in
        var (even, odd) = (SIMD4<Float>(), SIMD4<Float>())
        for pair in 0..<16 {
          let (row, column) = (rows[place / 16 * 16 + pair], columns[pair * 16 + place % 16])
          even = BFloat16Sum.adding(value(row, 0), value(column, 0), to: even)
          odd = BFloat16Sum.adding(value(row, 1), value(column, 1), to: odd)
        }
        let sum = SIMD4(repeating: Float(bitPattern: sums[place]))
        return BFloat16Sum.adding(sum, BFloat16Sum.adding(even, odd))[0].bitPattern
      }
      unsafe sums.withUnsafeMutableBytes { sums in
        unsafe rows.withUnsafeMutableBytes { rows in
          unsafe columns.withUnsafeMutableBytes { columns in
            function.call(
              Operands(
                sizes: Sizes(rowCount: 16, pairs: 16), sums: UInt(bitPattern: sums.baseAddress),
                rows: UInt(bitPattern: rows.baseAddress), columns: UInt(bitPattern: columns.baseAddress)))
          }
        }
      }
      guard sums == expected else { return false }
    }
    return true
  }
}
