// SPDX-License-Identifier: Apache-2.0

/// The points that BlazeFace's predictions refer to: the centers of a grid's cells, several at each.
enum FaceAnchors {
  /// Strides of the grids, and how many anchors each cell has.
  private static let kinds: [(name: String, grids: [(stride: Int, perCell: Int)])] = [
    // Four layers; three of them share a grid. Each has a square of its own and one in between.
    ("short range", [(8, 2), (16, 6)]),
    ("full range", [(4, 1)]),
  ]

  /// The centers in fractions of the input, for the kind with this many; nil if there is none.
  static func centers(count: Int, width: Int, height: Int) -> (name: String, centers: [(x: Float, y: Float)])?
  {
    guard width > 0, height > 0, width <= 1 << 13, height <= 1 << 13 else { return nil }
    for kind in kinds {
      let grids = kind.grids.map { grid in
        (
          columns: (width + grid.stride - 1) / grid.stride, rows: (height + grid.stride - 1) / grid.stride,
          perCell: grid.perCell
        )
      }
      guard grids.reduce(0, { $0 + $1.columns * $1.rows * $1.perCell }) == count else { continue }
      var centers: [(x: Float, y: Float)] = []
      centers.reserveCapacity(count)
      for grid in grids {
        for row in 0..<grid.rows {
          for column in 0..<grid.columns {
            let center = (
              x: (Float(column) + 0.5) / Float(grid.columns), y: (Float(row) + 0.5) / Float(grid.rows)
            )
            for _ in 0..<grid.perCell { centers.append(center) }
          }
        }
      }
      return (kind.name, centers)
    }
    return nil
  }
}
