// SPDX-License-Identifier: Apache-2.0

/// Cuts a product's lines, or the pixels of its only line, and its panels into tiles.
struct TileCutter {
  /// Lines of an image, or pixels.
  let length: Int
  let takesPixels: Bool
  /// Images and groups, each of which has tiles of its own.
  let planes: Int
  let panelCount: Int
  let isEmpty: Bool

  /// Tiles of up to `tileLength` lines or pixels, at least `leastCount` of them if there are as many parts.
  func cut(_ tileLength: Int, leastCount: Int) -> ProductPlan.Tiling {
    let unit = takesPixels ? (tileLength < 96 ? 6 : 12) : 1
    var tilesPerImage = ceilingQuotient(length, tileLength)
    // Several threads: an even count, and a multiple of four where there are many.
    let step = leastCount == 1 || tilesPerImage <= 1 ? 1 : tilesPerImage < 8 ? 2 : 4
    tilesPerImage = min(roundedUp(tilesPerImage, to: step), ceilingQuotient(length, unit))
    let rowTiles = max(1, planes * tilesPerImage)
    // Few rows: panels are shared out as well.
    let panelTiles = max(1, min(panelCount, ceilingQuotient(leastCount, rowTiles)))
    return ProductPlan.Tiling(
      length: length, unit: unit, tilesPerImage: tilesPerImage, panelCount: panelCount,
      panelTiles: panelTiles, count: isEmpty ? 0 : planes * tilesPerImage * panelTiles)
  }
}
