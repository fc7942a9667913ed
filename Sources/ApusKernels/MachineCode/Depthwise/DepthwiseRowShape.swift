// SPDX-License-Identifier: Apache-2.0

/// The shape of a generated function of depthwise rows: a few columns of a line and a block of channels.
struct DepthwiseRowShape: Hashable {
  /// Columns of output of a block.
  var columnCount: Int
  /// Columns of the last block of a line, if that has fewer: bytes are done by whole lines.
  var restCount = 0
  /// The channels of a block that are written.
  let channelCount: Int
  /// Pixels of the input between neighboring columns of the output, and between neighboring taps.
  let columnStep: Int
  let tapStep: Int
  let tapRows: Int
  let tapColumns: Int
  /// Whether bytes are read where they lie, of channels that exist alone.
  var readsInPlace = false
  /// Of bytes, the rows of the filter whose taps are groups by columns, of four rows or three. Taps of the rest follow each
  /// other in groups of four. Of words, all rows, in twos.
  static func rowsInColumns(_ tapRows: Int, perGroup: Int) -> Int {
    perGroup == 2 || tapRows % 4 == 3 ? tapRows : tapRows / 4 * 4
  }

  /// Where the input is read in place: all vectors of channels, of which each has weights of its own, for one block of
  /// columns after the other; perhaps, of floats, of fewer rows of taps.
  var place: Place?

  struct Place: Hashable {
    /// Pixels of a block that lie in the padding, before the first and after the last of the input.
    let missingFirst: Int
    let missingLast: Int
    /// Channels after all whole vectors, of floats.
    var tailCount = 0
    /// How many channels of a vector a channel of the input makes, one after the other, of floats.
    var repeats = 1
    /// Whether all vectors are made of one channel.
    var hasOneChannel = false
  }
}
