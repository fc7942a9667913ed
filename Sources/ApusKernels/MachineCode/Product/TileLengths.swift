// SPDX-License-Identifier: Apache-2.0

/// How many lines or pixels a tile of a product has, and what it gathers.
struct TileLengths {
  /// The most of a tile on one thread: as much as stays in the second-level cache while panels pass by.
  let most: Int
  /// The most where several threads share the work.
  let part: Int
  /// Tiles for several threads: an even count, each of as much work as pays.
  let wanted: Int
  /// The gathered part of the input: columns of a row, and rows for a tile.
  let planeWidth: Int
  let planeRows: Int
  /// The bytes that a tile gathers.
  let planeByteCount: Int

  /// Pixels of so many bytes may stay in the second-level cache while weights from beyond it pass by.
  private static let nearByteCount = 3 << 18
  /// The same where else most rows would be gathered again for each line: those of dilated filters.
  private static let dilatedByteCount = 1 << 20

  /// The lengths for a product whose lines reach `lineWidth` pixels of the input.
  init(
    _ convolution: Convolution, laneByteCount: Int, lineLength: Int, lineWidth: Int, isDense: Bool,
    isInPlace: Bool, takesPixels: Bool, leavesOutPadding: Bool, hasFarWeights: Bool, isSmall: Bool
  ) {
    let c = convolution
    let reachHeight = (c.filterHeight - 1) * c.dilationHeight + 1
    let reachWidth = (c.filterWidth - 1) * c.dilationWidth + 1
    // In place, strides may pass by pixels and rows.
    let columns = isInPlace ? min(lineWidth, c.outputWidth * c.filterWidth) : lineWidth
    let lanesPerRow =
      if isDense {
        min(c.depth, c.strideWidth * c.inputChannels)
      } else if takesPixels {
        reachHeight * c.strideWidth * c.channelsPerGroup
      } else {
        columns * c.channelsPerGroup
      }
    let bytesPerRow = max(1, lanesPerRow * laneByteCount)
    let rowsPerLine = isInPlace ? min(c.strideHeight, c.filterHeight) : c.strideHeight
    let products = Double(c.outputCount) * Double(c.depth)
    wanted = max(isSmall ? 1 : 2, min(8, Int(min(products, 0x1p30)) >> 18 * 2))
    if takesPixels {
      let fitting = min(max((96 << 10) / bytesPerRow, 12), 384) / 12 * 12
      // What lies far away is read once for each tile.
      let isWhole = hasFarWeights && lineLength * bytesPerRow <= Self.nearByteCount
      most = max(1, isWhole ? lineLength : min(fitting, lineLength))
      // At least 24 rows.
      let parts = min(wanted, max(1, lineLength / 48 * 2))
      part = max(24, ceilingQuotient(lineLength, parts))
      planeRows = isInPlace ? 0 : isDense ? most : reachHeight
    } else {
      let firstRows = isInPlace ? min(reachHeight, c.filterHeight) : reachHeight
      let fitting = ((160 << 10) / bytesPerRow - firstRows) / rowsPerLine + 1
      let isWhole = hasFarWeights && c.outputHeight * rowsPerLine * bytesPerRow <= Self.nearByteCount
      let isDilated = !isInPlace && c.dilationHeight > 1 && 2 * fitting < firstRows
      let length =
        isDilated
        ? Self.dilatedLength(
          c, bytesPerRow: bytesPerRow, reachHeight: reachHeight, leavesOutPadding: leavesOutPadding)
        : fitting
      most = max(1, isWhole ? c.outputHeight : min(length, c.outputHeight))
      // Each part of a dilated layer gathers most rows again.
      let parts = isDilated ? min(wanted, 4) : wanted
      part = max(1, ceilingQuotient(c.outputHeight, parts))
      planeRows = isInPlace ? 0 : (most - 1) * c.strideHeight + reachHeight
    }
    // No part is longer than `most`, but where it ends at a multiple of pixels.
    planeWidth =
      isDense || !takesPixels
      ? lineWidth : min(lineWidth, (roundedUp(most, to: 12) + 12) * c.strideWidth + reachWidth)
    planeByteCount =
      isDense ? most * bytesPerRow : planeRows * planeWidth * c.channelsPerGroup * laneByteCount
  }

  /// The lines of a tile whose filter reaches over many rows: as many as there is room for.
  private static func dilatedLength(
    _ c: Convolution, bytesPerRow: Int, reachHeight: Int, leavesOutPadding: Bool
  ) -> Int {
    var rows = Self.dilatedByteCount / bytesPerRow
    // Rows of padding take room, but as a rule nobody fills or reads them.
    if leavesOutPadding, c.inputHeight <= rows { rows = ProductPlan.planeLimit / bytesPerRow }
    return (rows - reachHeight) / c.strideHeight + 1
  }
}
