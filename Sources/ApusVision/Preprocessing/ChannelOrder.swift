// SPDX-License-Identifier: Apache-2.0

/// The order of a picture's values in a model's input.
public enum ChannelOrder: Hashable, Sendable {
  /// The channels of a pixel follow each other: rows, columns, channels (NHWC).
  case interleaved
  /// Each channel is a picture by itself: channels, rows, columns (NCHW).
  case planar
}
