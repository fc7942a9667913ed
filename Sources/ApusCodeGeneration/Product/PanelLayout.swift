// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// How N is cut into panels, and the maximum height of a block for each panel width.
struct PanelLayout {
  /// Neighboring columns of one group that are packed and multiplied together.
  struct Panel {
    let vectorCount: Int
    /// The column of each lane.
    let columns: LaneOrder
    let firstColumn: Int
    /// The number of columns; lanes beyond it are padding.
    let columnCount: Int
    /// The number of lanes of this panel, and of all panels before it.
    let paddedCount: Int
    let paddedBefore: Int
  }

  /// The width of a full panel, in vectors.
  let maximumVectors: Int
  let panels: [Panel]
  /// The maximum height of a block, indexed by the panel's width in vectors.
  let maximumRows: [Int]
  /// Whether weights come from beyond the second-level cache.
  let hasFarWeights: Bool

  /// Weights of this size or more are no longer in the second-level cache when they are needed again.
  private static let farByteCount = 1 << 19
  /// The maximum size of a panel that stays in the second-level cache.
  private static let panelByteCount = 1 << 20

  /// The layout for a strategy.
  ///
  /// - Parameters:
  ///   - stepCount: the K-steps of a whole sum.
  ///   - isMatrix: whether one line holds all pixels.
  init(
    _ convolution: Convolution, _ strategy: ProductStrategy, _ product: ProductKind, _ target: any CodeTarget,
    stepCount: Int, lineLength: Int, isMatrix: Bool
  ) {
    let c = convolution
    let areInOrder = product == .floats || product.isBFloat16 || c.operands.isHybrid
    switch strategy {
    case .inner(let rows):
      hasFarWeights = false
      maximumVectors = 1
      panels = [Panel(innerColumns: c.columnCount, lanes: target.lanes)]
      maximumRows = [0, rows]
    case .overlapping(_, let rows):
      hasFarWeights = false
      maximumVectors = rows.count
      panels = Self.panels(
        columns: c.columnCount, maximumVectors: rows.count, target: target, areInOrder: areInOrder)
      maximumRows = [0] + rows
    case .pairs, .blocks:
      hasFarWeights =
        c.weightCount * (product == .floats ? 4 : product.isBFloat16 ? 2 : 1) >= Self.farByteCount
      let most =
        hasFarWeights
        ? Self.vectors(
          byteCount: stepCount * target.lanes * 4, lineLength: lineLength, isMatrix: isMatrix, product, target
        )
        : target.maximumVectors(product)
      maximumVectors = most
      panels = Self.panels(
        columns: c.columnCount, maximumVectors: most, target: target, areInOrder: areInOrder)
      maximumRows = [0] + (1...most).map { target.maximumRows(product, vectorCount: $0) }
    }
  }

  /// The width of panels in vectors, if one vector's weights take `byteCount` bytes.
  ///
  /// Panels are narrower than the maximum if a full panel would not stay in the second-level cache, or if
  /// narrower ones fit a whole line of pixels into one block and so read their weights only once per line.
  private static func vectors(
    byteCount: Int, lineLength: Int, isMatrix: Bool, _ product: ProductKind, _ target: any CodeTarget
  ) -> Int {
    var most = target.maximumVectors(product)
    guard lineLength > target.maximumRows(product, vectorCount: most) else { return most }
    while most > 2, most * byteCount > Self.panelByteCount { most -= 1 }
    guard !isMatrix, lineLength > target.maximumRows(product, vectorCount: most) else { return most }
    return (2..<most).last { lineLength <= target.maximumRows(product, vectorCount: $0) } ?? most
  }

  /// Full panels, then one for the rest. Lanes are sorted by column if `areInOrder`, otherwise in the
  /// target's order for bytes.
  static func panels(
    columns: Int, maximumVectors: Int, target: any CodeTarget, areInOrder: Bool
  ) -> [Panel] {
    let lanes = target.lanes
    let most = maximumVectors * lanes
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
