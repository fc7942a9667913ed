// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// How a depthwise convolution is cut into tiles, by its shape only, and the layout of a tile's input.
///
/// A tile is a range of output rows, of output columns and of groups of eight output channels. Its input is
/// gathered into one plane per group: rows of columns of eight lanes, borders included. A tile of one row
/// gathers only the rows under the filter, one of one column only the columns, so that dilation costs
/// nothing.
struct DepthwiseTiling {
  let rowsPerTile: Int
  let columnsPerTile: Int
  let groupsPerTile: Int
  /// Groups of eight output channels.
  let groupCount: Int
  let rowTiles: Int
  let columnTiles: Int
  let groupTiles: Int
  /// The number of tiles; 0 if the output is empty.
  let count: Int
  /// Gathered rows and columns of a full tile.
  let planeRows: Int
  let planeColumns: Int
  /// Gathered columns between two outputs, and rows and columns between two taps.
  let tapRowStep: Int
  let tapColumnStep: Int

  /// The tiles in the output of `apus inspect --plan`.
  var text: String { "tiles of \(rowsPerTile)×\(columnsPerTile) pixels × \(8 * groupsPerTile) channels" }

  /// Plans tiles that gather at most about `gatheredCount` lanes.
  init(_ convolution: Convolution, gatheredCount: Int) {
    let height = max(1, convolution.outputHeight)
    let width = max(1, convolution.outputWidth)
    // In floating point: a model's strides and dilations may be so large that integers would overflow.
    func rows(_ count: Int) -> Double {
      count == 1
        ? Double(convolution.filterHeight)
        : Double(count - 1) * Double(convolution.strideHeight)
          + Double(convolution.filterHeight - 1) * Double(convolution.dilationHeight) + 1
    }
    func columns(_ count: Int) -> Double {
      count == 1
        ? Double(convolution.filterWidth)
        : Double(count - 1) * Double(convolution.strideWidth)
          + Double(convolution.filterWidth - 1) * Double(convolution.dilationWidth) + 1
    }
    func isTooLarge(rows rowCount: Int, columns columnCount: Int, groups: Int) -> Bool {
      rows(rowCount) * columns(columnCount) * Double(groups * 8) > Double(gatheredCount)
    }
    let allGroups = ceilingQuotient(convolution.outputChannels, 8)
    var groupsPerTile = allGroups
    let preferredRows = min(height, 8)
    while groupsPerTile > 4, isTooLarge(rows: preferredRows, columns: width, groups: groupsPerTile) {
      groupsPerTile = max(4, ceilingQuotient(groupsPerTile, 2))
    }
    while groupsPerTile > 1, isTooLarge(rows: 1, columns: width, groups: groupsPerTile) {
      groupsPerTile = ceilingQuotient(groupsPerTile, 2)
    }
    var columnsPerTile = width
    while columnsPerTile > 1, isTooLarge(rows: 1, columns: columnsPerTile, groups: groupsPerTile) {
      columnsPerTile = ceilingQuotient(columnsPerTile, 2)
    }
    groupTiles = ceilingQuotient(allGroups, groupsPerTile)
    columnTiles = ceilingQuotient(width, columnsPerTile)
    // At least eight tiles if there are enough rows, so that threads share evenly.
    let others = max(1, convolution.batches * groupTiles * columnTiles)
    let maximumRows = max(1, min(height, ceilingQuotient(height * others, 8)))
    var rowsPerTile = 1
    while rowsPerTile < maximumRows,
      !isTooLarge(rows: rowsPerTile + 1, columns: columnsPerTile, groups: groupsPerTile)
    {
      rowsPerTile += 1
    }
    rowTiles = ceilingQuotient(height, rowsPerTile)
    self.rowsPerTile = rowsPerTile
    self.columnsPerTile = columnsPerTile
    self.groupsPerTile = groupsPerTile
    groupCount = allGroups
    count = convolution.outputCount == 0 ? 0 : convolution.batches * rowTiles * columnTiles * groupTiles
    // The chosen sizes fit in `Int`; the smallest are those of the filter.
    planeRows = Int(rows(rowsPerTile))
    planeColumns = Int(columns(columnsPerTile))
    tapRowStep = rowsPerTile == 1 ? 1 : convolution.dilationHeight
    tapColumnStep = columnsPerTile == 1 ? 1 : convolution.dilationWidth
  }

  /// Lanes of one group's plane.
  var planeCount: Int { planeRows * planeColumns * 8 }

  /// Lanes of a tile's planes.
  var gatheredCount: Int { groupsPerTile * planeCount }

  /// The outputs of one tile.
  struct Tile {
    let batch: Int
    let rows: Range<Int>
    let columns: Range<Int>
    let groups: Range<Int>
  }

  /// The tile with an index.
  func tile(_ index: Int, of convolution: Convolution) -> Tile {
    let group = index % groupTiles
    let column = index / groupTiles % columnTiles
    let row = index / groupTiles / columnTiles % rowTiles
    return Tile(
      batch: index / groupTiles / columnTiles / rowTiles,
      rows: row * rowsPerTile..<min(convolution.outputHeight, (row + 1) * rowsPerTile),
      columns: column * columnsPerTile..<min(convolution.outputWidth, (column + 1) * columnsPerTile),
      groups: group * groupsPerTile..<min(groupCount, (group + 1) * groupsPerTile))
  }

  /// The offsets of `rows × columns` taps in a plane, relative to the first. The caller frees them.
  func tapOffsets(rows: Int, columns: Int, columnStep: Int) -> UnsafeMutablePointer<Int> {
    let offsets = UnsafeMutablePointer<Int>.allocate(capacity: rows * columns)
    for row in 0..<rows {
      for column in 0..<columns {
        let position = row * tapRowStep * planeColumns + column * columnStep
        unsafe (offsets + row * columns + column).initialize(to: position * 8)
      }
    }
    return unsafe offsets
  }
}
