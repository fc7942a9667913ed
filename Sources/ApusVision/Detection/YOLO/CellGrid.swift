// SPDX-License-Identifier: Apache-2.0

/// The cells of a head's grids: the finest grid first, each row by row.
struct CellGrid: Hashable, Sendable {
  /// A cell, in cells of its grid.
  struct Cell {
    var x: Float
    var y: Float
    var stride: Float
  }

  private struct Level: Hashable {
    let stride: Int
    let columns: Int
    let count: Int
  }

  /// The strides in pixels of the input.
  let strides: [Int]
  /// The number of cells.
  let count: Int
  private let levels: [Level]

  /// The grids of an input.
  init(width: Int, height: Int, strides: [Int]) {
    self.strides = strides
    levels = strides.map {
      let columns = (width + $0 - 1) / $0
      return Level(stride: $0, columns: columns, count: columns * ((height + $0 - 1) / $0))
    }
    count = levels.reduce(0) { $0 + $1.count }
  }

  /// The grids that have that many cells, of the strides that YOLO's heads have; nil if none has.
  init?(count: Int, width: Int, height: Int) {
    let fitting = YOLOShape.strides.lazy.map { CellGrid(width: width, height: height, strides: $0) }
    guard let found = fitting.first(where: { $0.count == count }) else { return nil }
    self = found
  }

  /// The cell of a row; `row` is below `count`.
  func cell(_ row: Int) -> Cell {
    var row = row
    for level in levels {
      if row < level.count {
        return Cell(
          x: Float(row % level.columns), y: Float(row / level.columns), stride: Float(level.stride))
      }
      row -= level.count
    }
    return Cell(x: 0, y: 0, stride: 0)
  }
}
