// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

/// How large a picture may be before it is decoded: checked before memory is taken for its pixels.
public struct ImageLimits: Hashable, Sendable {
  /// The longest side in pixels.
  public var maximumSide: Int
  /// The most pixels in all.
  public var maximumPixelCount: Int
  /// The longest file in bytes.
  public var maximumFileSize: Int
  /// The most scans of a JPEG. Each goes over the whole picture, whatever few bytes it has.
  public var maximumScanCount: Int

  /// Makes limits; those of `ImageBuffer` hold beside them.
  public init(
    maximumSide: Int = ImageBuffer.maximumSide, maximumPixelCount: Int = ImageBuffer.maximumPixelCount,
    maximumFileSize: Int = 1 << 30, maximumScanCount: Int = 100
  ) {
    self.maximumSide = maximumSide
    self.maximumPixelCount = maximumPixelCount
    self.maximumFileSize = maximumFileSize
    self.maximumScanCount = maximumScanCount
  }

  func check(width: Int, height: Int) throws(ApusError) {
    try ImageBuffer.check(width: width, height: height)
    guard width <= maximumSide, height <= maximumSide, width * height <= maximumPixelCount else {
      throw ApusError(
        .resourceLimit,
        """
        a picture of \(width) × \(height) pixels is beyond the limit of \(maximumSide) per side \
        and \(maximumPixelCount) in all
        """)
    }
  }
}
