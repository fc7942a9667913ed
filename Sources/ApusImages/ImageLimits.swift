// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

/// The maximum size of a picture, checked before memory is allocated for its pixels.
public struct ImageLimits: Hashable, Sendable {
  /// The maximum side in pixels.
  public var maximumSide: Int
  /// The maximum number of pixels.
  public var maximumPixelCount: Int
  /// The maximum size of a file in bytes.
  public var maximumFileSize: Int
  /// The maximum number of scans in a JPEG. Each scan walks the whole picture, however few bytes it has.
  public var maximumScanCount: Int
  /// The maximum number of pixels of all scans of a JPEG together, if it has several.
  public var maximumScannedPixelCount: Int

  /// Makes limits. Those of `ImageBuffer` hold too.
  public init(
    maximumSide: Int = ImageBuffer.maximumSide, maximumPixelCount: Int = 1 << 27,
    maximumFileSize: Int = 1 << 29, maximumScanCount: Int = 100,
    maximumScannedPixelCount: Int = 1 << 30
  ) {
    self.maximumSide = maximumSide
    self.maximumPixelCount = maximumPixelCount
    self.maximumFileSize = maximumFileSize
    self.maximumScanCount = maximumScanCount
    self.maximumScannedPixelCount = maximumScannedPixelCount
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
    // Its bytes, and what decoders work in.
    try requireMemory(width * height * 6, for: "a picture of \(width) × \(height) pixels")
  }
}
