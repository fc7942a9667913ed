// SPDX-License-Identifier: Apache-2.0
import Apus

extension TransformedPicture {
  /// The bytes of a `.npy` file: the model's numbers as float32, rows × columns × channels, or rows × columns of one channel.
  ///
  /// - Throws: `resourceLimit` if the system refuses memory.
  public func encodedNumPy() throws(ApusError) -> [UInt8] {
    try requireMemory(8 * values.count, for: "the file of a picture of \(width) × \(height) pixels")
    let shape = [height, width] + (channelCount > 1 ? [channelCount] : [])
    return NumPyArray(floats: values, shape: shape).file
  }
}

extension SegmentationResult {
  /// Whether a byte holds every class of the model.
  package var isNarrow: Bool { classCount <= 256 }

  /// The bytes of a `.npy` file: the class of each pixel, rows × columns, as uint8; as uint16 for models that may have more than 256
  /// classes.
  ///
  /// - Throws: `invalidArgument` without a mask of the picture's size; `resourceLimit` if the system refuses memory.
  public func encodedNumPy() throws(ApusError) -> [UInt8] {
    guard categoryMask.count == imageWidth * imageHeight else {
      throw ApusError(
        .invalidArgument,
        "the result has \(categoryMask.count) pixels of a mask for a picture of \(imageWidth) × \(imageHeight)"
      )
    }
    try requireMemory(
      4 * categoryMask.count, for: "the file of a mask of \(imageWidth) × \(imageHeight) pixels")
    let shape = [imageHeight, imageWidth]
    guard isNarrow else { return NumPyArray(uint16: categoryMask, shape: shape).file }
    return NumPyArray(
      type: "|u1", shape: shape, bytes: categoryMask.map { UInt8(truncatingIfNeeded: $0) }
    ).file
  }
}
