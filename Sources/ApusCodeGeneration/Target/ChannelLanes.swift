// SPDX-License-Identifier: Apache-2.0

/// The output channel of each lane in a panel, or in a depthwise block of channels.
struct ChannelLanes {
  /// The column of each lane.
  let columns: LaneOrder
  /// The number of columns; lanes beyond it are padding.
  let columnCount: Int
  /// The channel of the first column.
  let firstChannel: Int
  /// The number of channels. Numbering wraps around: channel 0 follows the last one.
  let channelCount: Int

  /// The channel of a lane; nil for padding.
  @inline(__always)
  func channel(_ lane: Int) -> Int? {
    let column = columns[lane]
    guard column < columnCount else { return nil }
    let channel = firstChannel &+ column
    return channel < channelCount ? channel : channel % channelCount
  }
}
