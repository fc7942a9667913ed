// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision

extension SegmentationResult {
  /// The bytes of a PNG with the class of each pixel as gray of 8 bits; of 16 bits for models that may have more than 256 classes.
  ///
  /// - Throws: `resourceLimit` if the system refuses memory; `invalidArgument` without a category mask.
  public func encodedPNG() throws(ApusError) -> [UInt8] {
    guard categoryMask.count == imageWidth * imageHeight else {
      throw ApusError(.invalidArgument, "the result has no category mask, so there is nothing to write")
    }
    try requireMemory(
      5 * categoryMask.count, for: "the file of a mask of \(imageWidth) × \(imageHeight) pixels")
    guard isNarrow else {
      return try encodeGray16PNG(categoryMask, width: imageWidth, height: imageHeight)
    }
    return try ImageBuffer(
      bytes: categoryMask.map { UInt8(truncatingIfNeeded: $0) }, width: imageWidth, height: imageHeight,
      format: .gray
    ).encoded(as: .png)
  }
}
