// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

extension TransformedPicture {
  /// The bytes of a PNG: a picture with 8 bits for each channel; one number for each pixel as gray of 16 bits, from 0 for the
  /// smallest to 65,535 for the largest.
  ///
  /// - Throws: `resourceLimit` if the system refuses memory.
  public func encodedPNG() throws(ApusError) -> [UInt8] {
    try requireMemory(9 * width * height, for: "the file of a picture of \(width) × \(height) pixels")
    guard let steps else { return try picture.encoded(as: .png) }
    return try encodeGray16PNG(steps, width: width, height: height)
  }
}
