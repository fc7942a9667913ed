// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

extension ProductPlan {
  /// How the work is cut into tiles.
  struct Tiling: Equatable {
    /// All pixels if lines are dense, otherwise the lines of an image.
    let length: Int
    /// A tile's length is a multiple of this many pixels; 1 if tiles are lines.
    let unit: Int
    let tilesPerImage: Int
    let panelCount: Int
    let panelTiles: Int
    let count: Int

    /// The pixels or lines of a tile. Tiles have equal lengths, so that a thread computes the same rows in
    /// consecutive layers.
    func range(_ tile: Int) -> Range<Int> {
      if tilesPerImage == 1 { return 0..<length }
      let units = share(of: ceilingQuotient(length, unit), tile: tile, of: tilesPerImage)
      return units.lowerBound &* unit..<min(units.upperBound &* unit, length)
    }

    /// The pixels or lines of the longest tile.
    var longest: Int {
      tilesPerImage == 0 ? 0 : ceilingQuotient(ceilingQuotient(length, unit), tilesPerImage) * unit
    }

    /// The panels of a tile; tiles have equal numbers of them.
    func panels(_ panelTile: Int) -> Range<Int> { share(of: panelCount, tile: panelTile, of: panelTiles) }

    /// Calls `body` with each length that occurs.
    func forEachLength(_ body: (Int) -> Void) {
      guard tilesPerImage > 0 else { return }
      if tilesPerImage == 1 { return body(length) }
      let units = ceilingQuotient(length, unit)
      let (least, most) = (units / tilesPerImage * unit, ceilingQuotient(units, tilesPerImage) * unit)
      let last = range(tilesPerImage - 1).count
      body(least)
      if most != least { body(most) }
      if last != least, last != most { body(last) }
    }
  }
}
