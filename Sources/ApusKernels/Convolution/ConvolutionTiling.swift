// SPDX-License-Identifier: Apache-2.0

/// How a convolution is cut into tiles: by its shape alone, so that every thread count does the same sums.
///
/// A tile is a block of rows (output pixels) and a block of columns (output channels) of one group. Inside a
/// tile the terms are cut into blocks as well, which bounds the gathered rows.
struct ConvolutionTiling {
  let rowCount: Int
  let columnCount: Int
  let groups: Int
  let depth: Int
  /// Rows of a tile: a multiple of four, unless one tile has them all.
  let rowsPerTile: Int
  /// Columns of a tile: a multiple of `columnStep`, unless one tile has them all.
  let columnsPerTile: Int
  /// Terms gathered at a time.
  let depthPerBlock: Int
  let rowTiles: Int
  let columnTiles: Int

  /// Multiply-accumulates of a tile, unless its fewest columns take more.
  private static let mostProducts = 1 << 30

  /// Plans tiles whose gathered block has about `gatheredCount` elements and at most `maximumRows` rows; few
  /// rows are shared out in multiples of `leastSharedRows`.
  init(
    _ convolution: Convolution, maximumDepth: Int, gatheredCount: Int, leastSharedRows: Int, maximumRows: Int,
    columnStep: Int
  ) {
    rowCount = convolution.rowCount
    columnCount = convolution.columnCount
    groups = convolution.groups
    depth = convolution.depth
    let blocks = max(1, ceilingQuotient(depth, maximumDepth))
    depthPerBlock = max(8, roundedUp(ceilingQuotient(max(depth, 1), blocks), to: 8))
    let rows = min(max(gatheredCount / depthPerBlock, 4), maximumRows) / 4 * 4
    // At least eight tiles where there are rows for them, so that threads share evenly.
    let shared = roundedUp(max(1, ceilingQuotient(rowCount, 8)), to: leastSharedRows)
    rowsPerTile = max(1, min(rows, shared, rowCount))
    rowTiles = ceilingQuotient(rowCount, rowsPerTile)
    // Few rows: columns are cut instead, into pieces that are worth a thread's while.
    let wanted = ceilingQuotient(8, max(1, rowTiles * groups))
    let worthwhile = ceilingQuotient(32_768, max(1, rowsPerTile * depth))
    let step = columnStep
    // A run can be stopped between tiles.
    let most = max(1, Self.mostProducts / max(1, rowsPerTile * depth))
    columnsPerTile = min(
      max(1, columnCount),
      roundedUp(min(max(ceilingQuotient(columnCount, wanted), worthwhile, 1), most), to: step))
    columnTiles = ceilingQuotient(columnCount, columnsPerTile)
  }

  /// The number of tiles; none where the output is empty.
  var count: Int { rowTiles * columnTiles * groups }

  /// Tiles and blocks, for people to read.
  var text: String {
    let blocks = depthBlocks == 1 ? "" : " in \(depthBlocks) blocks of terms"
    return "tiles of \(counted(rowsPerTile, "row")) × \(counted(columnsPerTile, "column"))\(blocks)"
  }

  /// The number of blocks into which the terms are cut.
  var depthBlocks: Int { max(1, ceilingQuotient(depth, depthPerBlock)) }

  /// The terms of all blocks with their padding.
  var paddedDepth: Int { depthBlocks * depthPerBlock }

  /// The panels of eight columns that a group has in the portable layouts.
  var panels: Int { ceilingQuotient(columnCount, 8) }

  /// The terms of a block.
  func depthRange(_ block: Int) -> Range<Int> {
    block * depthPerBlock..<min(depth, (block + 1) * depthPerBlock)
  }

  /// The rows, columns and group of a tile.
  func tile(_ index: Int) -> (rows: Range<Int>, columns: Range<Int>, group: Int) {
    let column = index % columnTiles
    let row = index / columnTiles % rowTiles
    return (
      row * rowsPerTile..<min(rowCount, (row + 1) * rowsPerTile),
      column * columnsPerTile..<min(columnCount, (column + 1) * columnsPerTile),
      index / columnTiles / rowTiles
    )
  }
}

extension ConvolutionTiling {
  /// Packs weights as `[group][panel of eight columns][block of terms]`, padded with zeros, each block as `multiplyPanel`
  /// reads it; `weight` has that of a place in `[output channel][term]`.
  @inline(__always)
  func packPanels(to destination: UnsafeMutablePointer<Int16>, weight: (Int) -> Int16) {
    for panel in 0..<groups * panels {
      for block in 0..<depthBlocks {
        let lanes = unsafe destination + (panel * paddedDepth + block * depthPerBlock) * 8
        unsafe lanes.update(repeating: 0, count: depthPerBlock * 8)
        let known = depthRange(block)
        for lane in 0..<min(8, columnCount - panel % panels * 8) {
          let source = (panel / panels * columnCount + panel % panels * 8 + lane) * depth
          for term in known {
            let place = placeInPanel(column: lane, term: term - known.lowerBound, terms: depthPerBlock)
            unsafe lanes[place] = weight(source + term)
          }
        }
      }
    }
  }
}

/// `a / b` rounded up, for `a ≥ 0` and `b > 0`.
@inline(__always)
func ceilingQuotient(_ a: Int, _ b: Int) -> Int {
  a / b + (a % b == 0 ? 0 : 1)
}

/// The least multiple of `step` that is not below `a ≥ 0`.
@inline(__always)
package func roundedUp(_ a: Int, to step: Int) -> Int {
  ceilingQuotient(a, step) * step
}
