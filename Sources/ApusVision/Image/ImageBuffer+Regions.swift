// SPDX-License-Identifier: Apache-2.0

import Apus

extension ImageBuffer {
  /// The pixels, as seen, that a region touches.
  ///
  /// - Parameter region: In pixels as seen of the picture in the file.
  /// - Throws: `invalidArgument` for a region without pixels in the picture.
  package func wholePixels(of region: PixelRect) throws(ApusError) -> ImageTransform.Region {
    func pixels(_ begin: Float, _ length: Float, _ limit: Int) -> Range<Int>? {
      let (begin, end) = (Double(begin) / Double(reduction), Double(begin + length) / Double(reduction))
      // A comparison with NaN is false.
      guard length > 0, begin < Double(limit), end > 0 else { return nil }
      let first = Int(max(begin, 0).rounded(.down))
      return first..<max(first + 1, Int(min(end, Double(limit)).rounded(.up)))
    }
    guard let columns = pixels(region.x, region.width, uprightWidth),
      let rows = pixels(region.y, region.height, uprightHeight)
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
