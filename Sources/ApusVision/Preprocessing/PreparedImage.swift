// SPDX-License-Identifier: Apache-2.0

/// A picture at the size of a model's input, with the mapping back to the picture.
public struct PreparedImage: Hashable, Sendable {
  /// The pixels: rows, columns, channels.
  public let bytes: [UInt8]
  /// The width of the model's input.
  public let width: Int
  /// The height of the model's input.
  public let height: Int
  /// The channels, in the order of `bytes`.
  public let channels: ImageProcessor.Channels
  /// How positions in the input relate to positions in the picture.
  public let transform: ImageTransform
}
