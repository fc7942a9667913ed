// SPDX-License-Identifier: Apache-2.0

/// The output channels of a panel's, or a block's, lanes.
struct ChannelLanes {
  /// The column that each lane stands for.
  let columns: LaneOrder
  /// How many columns there are; the rest is padding.
  let columnCount: Int
  /// The channel of the first column.
  let firstChannel: Int
  /// The channel after which the first follows.
  let channelCount: Int

  /// A lane's channel, where it has one.
  @inline(__always)
  func channel(_ lane: Int) -> Int? {
    let column = columns[lane]
    guard column < columnCount else { return nil }
    let channel = firstChannel &+ column
    return channel < channelCount ? channel : channel % channelCount
  }
}
