// SPDX-License-Identifier: Apache-2.0

/// Where the pixels of a resized picture go in a model's input, and which of their bytes.
///
/// A pixel at (column, row) of the stored raster has the number `origin + column · perColumn + row · perRow` in the
/// input; its channel `c` is the element `number · pixelStep + c · channelStep`.
package struct PicturePlacement: Sendable {
  /// What becomes of the bytes of a stored pixel.
  package enum Channels: Sendable {
    /// Three channels, each a byte of the stored pixel.
    case three(Int, Int, Int)
    /// One channel, the first byte.
    case one
    /// One channel: the luminance of the bytes for red, green and blue.
    case luminance(Int, Int, Int)
  }

  package let channels: Channels
  package let origin: Int
  package let perColumn: Int
  package let perRow: Int
  package let pixelStep: Int
  package let channelStep: Int

  package init(
    channels: Channels, origin: Int, perColumn: Int, perRow: Int, pixelStep: Int, channelStep: Int
  ) {
    self.channels = channels
    self.origin = origin
    self.perColumn = perColumn
    self.perRow = perRow
    self.pixelStep = pixelStep
    self.channelStep = channelStep
  }

  /// How many channels there are.
  package var channelCount: Int {
    if case .three = channels { 3 } else { 1 }
  }

  /// Whether all elements of so many columns and rows lie among `count` ones.
  func fits(columns: Int, rows: Int, count: Int) -> Bool {
    let corners = [0, (columns - 1) * perColumn].flatMap { column in
      [origin + column, origin + column + (rows - 1) * perRow]
    }
    guard let first = corners.min(), let last = corners.max(), first >= 0, pixelStep > 0, channelStep >= 0
    else { return false }
    return last * pixelStep + (channelCount - 1) * channelStep < count
  }
}
