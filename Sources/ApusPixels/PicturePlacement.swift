// SPDX-License-Identifier: Apache-2.0

/// Where a resized picture's pixels go in a model's input, and which of their bytes.
///
/// A pixel at (column, row) of the stored raster has the index `origin + column · perColumn + row · perRow`
/// in the input; its channel `c` is element `index · pixelStep + c · channelStep`.
package struct PicturePlacement: Sendable {
  /// The channels that are computed from the bytes of a stored pixel.
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

  /// The number of channels.
  package var channelCount: Int {
    if case .three = channels { 3 } else { 1 }
  }

  /// Whether the pixels of a row follow each other with three channels each.
  var isTriples: Bool {
    if case .three = channels { perColumn == 1 && pixelStep == 3 && channelStep == 1 } else { false }
  }

  /// Whether all elements of `columns` × `rows` pixels are among `count` elements.
  func fits(columns: Int, rows: Int, count: Int) -> Bool {
    let (right, bottom) = ((columns - 1) * perColumn, (rows - 1) * perRow)
    let corners: [Int] = [origin, origin + right, origin + bottom, origin + right + bottom]
    guard let first = corners.min(), let last = corners.max(), first >= 0, pixelStep > 0, channelStep >= 0
    else { return false }
    return last * pixelStep + (channelCount - 1) * channelStep < count
  }
}
