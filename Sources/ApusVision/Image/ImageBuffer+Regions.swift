// SPDX-License-Identifier: Apache-2.0

import Apus

extension ImageBuffer {
  /// The pixels, as seen, that a region covers: its edges are rounded to the nearest pixel.
  ///
  /// - Parameter region: In pixels as seen of the picture in the file.
  /// - Throws: `invalidArgument` for a region that is not finite or has no pixels in the picture.
  package func wholePixels(of region: PixelRect) throws(ApusError) -> ImageTransform.Region {
    func pixels(_ begin: Float, _ end: Float, _ limit: Int) -> Range<Int>? {
      guard begin.isFinite, end.isFinite else { return nil }
      let first = Int(clamp((begin / Float(reduction)).rounded(), to: Float(limit)))
      let last = Int(clamp((end / Float(reduction)).rounded(), to: Float(limit)))
      return first < last ? first..<last : nil
    }
    guard let columns = pixels(region.x, region.maxX, uprightWidth),
      let rows = pixels(region.y, region.maxY, uprightHeight)
    else {
      throw ApusError(
        .invalidArgument,
        """
        the region \(region.x), \(region.y), \(region.width) × \(region.height) has no pixels in a picture of \
        \(originalWidth) × \(originalHeight)
        """)
    }
    return ImageTransform.Region(
      x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
  }
}
