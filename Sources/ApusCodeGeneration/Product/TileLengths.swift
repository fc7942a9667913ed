// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// The length of a product's tiles, in lines or pixels, and the size of what they gather.
struct TileLengths {
  /// The maximum length on one thread: as much as stays in the second-level cache while all panels are read.
  let most: Int
  /// The maximum length if several threads share the work.
  let part: Int
  /// The number of tiles for several threads: even, and each large enough to be worth a thread.
  let wanted: Int
  /// The size of the gathered plane: columns per row, and rows per tile.
  let planeWidth: Int
  let planeRows: Int
  /// The bytes that a tile gathers.
  let planeByteCount: Int

  /// The lengths for a product whose lines cover `lineWidth` pixels of the input.
  init(
    _ convolution: Convolution, _ machine: MachineModel, operandByteCount: Int, lineLength: Int,
    lineWidth: Int,
    isDense: Bool, isInPlace: Bool, takesPixels: Bool, leavesOutPadding: Bool, hasFarWeights: Bool,
    isSmall: Bool
  ) {
    let c = convolution
    let reachHeight = c.reachHeight
    // In place, strides may skip pixels and rows.
    let columns = isInPlace ? min(lineWidth, c.outputWidth * c.filterWidth) : lineWidth
    let depthPerRow =
      if isDense {
        min(c.depth, c.strideWidth * c.inputChannels)
      } else if takesPixels {
        reachHeight * c.strideWidth * c.channelsPerGroup
      } else {
        columns * c.channelsPerGroup
      }
    let bytesPerRow = max(1, depthPerRow * operandByteCount)
    let rowsPerLine = isInPlace ? min(c.strideHeight, c.filterHeight) : c.strideHeight
    let products = Double(c.outputCount) * Double(c.depth)
    wanted = max(isSmall ? 1 : 2, min(8, Int(min(products, 0x1p30)) >> 18 * 2))
    if takesPixels {
      let fitting = min(max(machine.pixelPlane / bytesPerRow, 12), 384) / 12 * 12
      // Weights from beyond the second-level cache are read once per tile.
      let isWhole = hasFarWeights && lineLength * bytesPerRow <= machine.nearPlane
      most = max(1, isWhole ? lineLength : min(fitting, lineLength))
      // At least 24 rows.
      let parts = min(wanted, max(1, lineLength / 48 * 2))
      part = max(24, ceilingQuotient(lineLength, parts))
      planeRows = isInPlace ? 0 : isDense ? most : reachHeight
    } else {
      let firstRows = isInPlace ? min(reachHeight, c.filterHeight) : reachHeight
      let fitting = (machine.linePlane / bytesPerRow - firstRows) / rowsPerLine + 1
      let isWhole = hasFarWeights && c.outputHeight * rowsPerLine * bytesPerRow <= machine.nearPlane
      let isDilated = !isInPlace && c.dilationHeight > 1 && 2 * fitting < firstRows
      let length =
        isDilated
        ? Self.dilatedLength(c, machine, bytesPerRow: bytesPerRow, leavesOutPadding: leavesOutPadding)
        : fitting
      most = max(1, isWhole ? c.outputHeight : min(length, c.outputHeight))
      // Each tile of a dilated layer gathers most rows again.
      let parts = isDilated ? min(wanted, 4) : wanted
      part = max(1, ceilingQuotient(c.outputHeight, parts))
      planeRows = isInPlace ? 0 : (most - 1) * c.strideHeight + reachHeight
    }
    // No tile is longer than `most`, except for rounding up to a multiple of pixels.
    planeWidth =
      isDense || !takesPixels
      ? lineWidth : min(lineWidth, (roundedUp(most, to: 12) + 12) * c.strideWidth + c.reachWidth)
    planeByteCount =
      isDense ? most * bytesPerRow : planeRows * planeWidth * c.channelsPerGroup * operandByteCount
  }

  /// The lines of a tile for a dilated filter: as many as the memory limit allows.
  private static func dilatedLength(
    _ c: Convolution, _ machine: MachineModel, bytesPerRow: Int, leavesOutPadding: Bool
  ) -> Int {
    var rows = machine.dilatedPlane / bytesPerRow
    // Rows of padding take room in the plane but are neither written nor read.
    if leavesOutPadding, c.inputHeight <= rows { rows = ProductPlan.planeLimit / bytesPerRow }
    return (rows - c.reachHeight) / c.strideHeight + 1
  }
}
