// SPDX-License-Identifier: Apache-2.0

/// How the columns of a product are cut into panels, and how many rows a block of each may have.
struct PanelLayout {
  /// A panel of output channels of one group.
  struct Panel {
    let vectorCount: Int
    /// The column that each lane stands for.
    let columns: LaneOrder
    let firstColumn: Int
    /// The columns that exist; the rest is padding.
    let columnCount: Int
    /// Columns with padding, of this panel and of all before it.
    let paddedCount: Int
    let paddedBefore: Int
  }

  /// The vectors of a full panel.
  let mostVectors: Int
  let panels: [Panel]
  /// The most rows of a block, by the vectors of a panel.
  let mostRows: [Int]
  /// Whether weights have to be read from beyond the second-level cache.
  let hasFarWeights: Bool

  /// Weights of so many bytes are not in the second-level cache when they are needed.
  private static let farByteCount = 1 << 19
  /// The bytes of a panel that stay there.
  private static let panelByteCount = 1 << 20

  /// The layout for a strategy; `stepCount` is that of a whole sum, and `isMatrix` says whether a line has all pixels.
  init(
    _ convolution: Convolution, _ strategy: ProductStrategy, _ product: ProductKind, _ target: any CodeTarget,
    stepCount: Int, lineLength: Int, isMatrix: Bool
  ) {
    let c = convolution
    let areInOrder = product == .floats || c.operands.isHybrid
    switch strategy {
    case .inner(let rows):
      hasFarWeights = false
      mostVectors = 1
      panels = [Panel(innerColumns: c.columnCount, lanes: target.lanes)]
      mostRows = [0, rows]
    case .overlapping(_, let rows):
      hasFarWeights = false
      mostVectors = rows.count
      panels = Self.panels(
        columns: c.columnCount, mostVectors: rows.count, target: target, areInOrder: areInOrder)
      mostRows = [0] + rows
    case .pairs, .blocks:
      hasFarWeights = c.weightCount * (product == .floats ? 4 : 1) >= Self.farByteCount
      let most =
        hasFarWeights
        ? Self.vectors(
          byteCount: stepCount * target.lanes * 4, lineLength: lineLength, isMatrix: isMatrix, product, target
        )
        : target.mostVectors
      mostVectors = most
      panels = Self.panels(
        columns: c.columnCount, mostVectors: most, target: target, areInOrder: areInOrder)
      mostRows = [0] + (1...most).map { target.mostRows(product, vectorCount: $0) }
    }
  }

  /// The vectors of panels, each of so many bytes: fewer where full panels would not stay in the second-level cache, and where
  /// fewer take all pixels of a line at once, but full ones would be read twice for each line.
  private static func vectors(
    byteCount: Int, lineLength: Int, isMatrix: Bool, _ product: ProductKind, _ target: any CodeTarget
  ) -> Int {
    var most = target.mostVectors
    guard lineLength > target.mostRows(product, vectorCount: most) else { return most }
    while most > 2, most * byteCount > Self.panelByteCount { most -= 1 }
    guard !isMatrix, lineLength > target.mostRows(product, vectorCount: most) else { return most }
    return (2..<most).last { lineLength <= target.mostRows(product, vectorCount: $0) } ?? most
  }

  /// Full panels, then one for the rest; the lanes of bytes may be out of order.
  static func panels(
    columns: Int, mostVectors: Int, target: any CodeTarget, areInOrder: Bool
  ) -> [Panel] {
    let lanes = target.lanes
    let most = mostVectors * lanes
    var panels: [Panel] = []
    panels.reserveCapacity(ceilingQuotient(columns, most))
    var first = 0
    var padded = 0
    while first < columns {
      let count = min(columns - first, most)
      let vectors = ceilingQuotient(count, lanes)
      panels.append(
        Panel(
          vectorCount: vectors,
          columns: areInOrder ? LaneOrder(count: vectors * lanes) : target.byteColumns(vectorCount: vectors),
          firstColumn: first, columnCount: count, paddedCount: vectors * lanes, paddedBefore: padded))
      first += count
      padded += vectors * lanes
    }
    return panels
  }
}
