// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Cuts a product into tiles: ranges of its lines or pixels, and of its panels.
struct TileCutter {
  /// The lines of an image, or its pixels if tiles are ranges of pixels.
  let length: Int
  let takesPixels: Bool
  /// Images × groups; each has its own tiles.
  let planes: Int
  let panelCount: Int
  let isEmpty: Bool

  /// Cuts into tiles of up to `tileLength` lines or pixels; at least `minimumCount` of them, if the work can be
  /// cut that finely.
  func cut(_ tileLength: Int, minimumCount: Int) -> ProductPlan.Tiling {
    let unit = takesPixels ? (tileLength < 96 ? 6 : 12) : 1
    var tilesPerImage = ceilingQuotient(length, tileLength)
    // For several threads, an even number of tiles, and a multiple of four from eight on.
    let step = minimumCount == 1 || tilesPerImage <= 1 ? 1 : tilesPerImage < 8 ? 2 : 4
    tilesPerImage = min(roundedUp(tilesPerImage, to: step), ceilingQuotient(length, unit))
    let rowTiles = max(1, planes * tilesPerImage)
    // With few rows, threads also share the panels.
    let panelTiles = max(1, min(panelCount, ceilingQuotient(minimumCount, rowTiles)))
    return ProductPlan.Tiling(
      length: length, unit: unit, tilesPerImage: tilesPerImage, panelCount: panelCount,
      panelTiles: panelTiles, count: isEmpty ? 0 : planes * tilesPerImage * panelTiles)
  }
}
