// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// How a convolution is cut into tiles: by its shape only, so that sums are equal for every thread count.
///
/// A tile is a range of rows (output pixels) and a range of columns (output channels) of one group. Within a
/// tile K is cut into blocks, which bounds the gathered rows.
struct ConvolutionTiling {
  let rowCount: Int
  let columnCount: Int
  let groups: Int
  let depth: Int
  /// Rows per tile: a multiple of four, unless one tile has them all.
  let rowsPerTile: Int
  /// Columns per tile: a multiple of `columnStep`, unless one tile has them all.
  let columnsPerTile: Int
  /// The length of a block of K, which is gathered at a time.
  let depthPerBlock: Int
  let rowTiles: Int
  let columnTiles: Int

  /// The maximum multiply-accumulates of a tile, unless its minimum of columns takes more.
  private static let maximumProducts = 1 << 30

  /// Plans tiles whose gathered block has about `gatheredCount` elements and at most `maximumRows` rows; few
  /// rows are shared in multiples of `minimumSharedRows`, and blocks of K are multiples of `depthStep`.
  init(
    _ convolution: Convolution, maximumDepth: Int, gatheredCount: Int, minimumSharedRows: Int,
    maximumRows: Int,
    columnStep: Int, depthStep: Int = 8
  ) {
    rowCount = convolution.rowCount
    columnCount = convolution.columnCount
    groups = convolution.groups
    depth = convolution.depth
    let blocks = max(1, ceilingQuotient(depth, maximumDepth))
    depthPerBlock = roundedUp(ceilingQuotient(max(depth, 1), blocks), to: depthStep)
    let rows = min(max(gatheredCount / depthPerBlock, 4), maximumRows) / 4 * 4
    // At least eight tiles if there are enough rows, so that threads share evenly.
    let shared = roundedUp(max(1, ceilingQuotient(rowCount, 8)), to: minimumSharedRows)
    rowsPerTile = max(1, min(rows, shared, rowCount))
    rowTiles = ceilingQuotient(rowCount, rowsPerTile)
    // With few rows, columns are cut instead, into ranges that are worth a thread.
    let wanted = ceilingQuotient(8, max(1, rowTiles * groups))
    let worthwhile = ceilingQuotient(32_768, max(1, rowsPerTile * depth))
    let step = columnStep
    // A run can be stopped between tiles.
    let most = max(1, Self.maximumProducts / max(1, rowsPerTile * depth))
    columnsPerTile = min(
      max(1, columnCount),
      roundedUp(min(max(ceilingQuotient(columnCount, wanted), worthwhile, 1), most), to: step))
    columnTiles = ceilingQuotient(columnCount, columnsPerTile)
  }

  /// The number of tiles; 0 if the output is empty.
  var count: Int { rowTiles * columnTiles * groups }

  /// The tiles and blocks in the output of `apus inspect --plan`.
  var text: String {
    let blocks = depthBlocks == 1 ? "" : " in \(depthBlocks) blocks of terms"
    return "tiles of \(counted(rowsPerTile, "row")) × \(counted(columnsPerTile, "column"))\(blocks)"
  }

  /// The number of blocks of K.
  var depthBlocks: Int { max(1, ceilingQuotient(depth, depthPerBlock)) }

  /// K with the padding of all blocks.
  var paddedDepth: Int { depthBlocks * depthPerBlock }

  /// The number of panels of eight columns per group in the portable layouts.
  var panels: Int { ceilingQuotient(columnCount, 8) }

  /// The range of K in a block.
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
  /// Packs weights as `[group][panel of eight columns][block of K]`, padded with zeros, each block in the
  /// order of `multiplyPanel`; `weight` returns the weight at an index into `[output channel][k]`.
  @inline(__always)
  func packPanels(
    to destination: UnsafeMutablePointer<Int16>, of packed: PackedWeights, weight: (Int) -> Int16
  ) {
    var sinceClock = 0
    for panel in 0..<groups * panels {
      for block in 0..<depthBlocks {
        sinceClock += depthPerBlock * 8
        if sinceClock > 1 << 20 {
          if packed.mustStop { return }
          sinceClock = 0
        }
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
