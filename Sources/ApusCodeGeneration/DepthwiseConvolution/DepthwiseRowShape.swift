// SPDX-License-Identifier: Apache-2.0

/// The shape of a generated depthwise function: a few columns of a line and a block of channels.
struct DepthwiseRowShape: Hashable {
  /// Output columns per block.
  var columnCount: Int
  /// Columns of the last block of a line, if it has fewer: functions for bytes compute whole lines.
  var restCount = 0
  /// The number of channels that are stored.
  let channelCount: Int
  /// The distance, in input pixels, of consecutive output columns; and of consecutive taps.
  let columnStep: Int
  let tapStep: Int
  let tapRows: Int
  let tapColumns: Int
  /// Whether bytes are read in place, and only those of existing channels.
  var readsInPlace = false
  /// The number of filter rows whose taps are grouped by columns: for bytes in groups of four (or three)
  /// rows, for `int16` in groups of two. The taps of the remaining rows are grouped consecutively.
  static func rowsInColumns(_ tapRows: Int, perGroup: Int) -> Int {
    perGroup == 2 || tapRows % 4 == 3 ? tapRows : tapRows / 4 * 4
  }

  /// How the input is read in place; nil if it is gathered. The function then loops over all vectors of
  /// channels, with their own weights, and over blocks of columns.
  var inPlace: InPlaceInput?

  struct InPlaceInput: Hashable {
    /// Pixels of a block in the padding, left of the input and right of it.
    let missingFirst: Int
    let missingLast: Int
    /// Floats: channels after the last whole vector.
    var tailCount = 0
    /// Floats: the number of consecutive output channels per input channel.
    var repeats = 1
    /// Whether the input has a single channel.
    var hasOneChannel = false
  }
}
