// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusPixels
import ApusSystem

/// How an answer becomes the fourth channel of the next picture's input: how likely each pixel is to be anything but background.
struct MaskFeedback: Sendable {
  private let grid: ImageSegmenter.Grid
  /// Whether the numbers are logits.
  private let areLogits: Bool
  /// The number that stands for certainty.
  private let one: Float
  private let enlargement: BilinearGrid
  /// The number of pixels.
  let count: Int

  /// Prepares masks of the size of a model's input.
  ///
  /// - Parameter mask: How the numbers of one channel are read.
  init(
    _ grid: ImageSegmenter.Grid, _ mask: MaskReading?, of model: Model, width: Int, height: Int
  ) throws(ApusError) {
    self.grid = grid
    one = mask?.one ?? 1
    if let mask {
      areLogits = mask.form == .logit
    } else {
      areLogits = try !ValueBounds(ofOutput: grid.output, of: model).isProbability
    }
    enlargement = MaskEnlargement(
      width: width, height: height, gridWidth: grid.width, gridHeight: grid.height
    ).bilinear(.init(count: 1, perCell: 1, perChannel: 1))
    count = width * height
  }

  /// The mask that the numbers of an answer make, from 0 to 255.
  func mask(_ values: Span<Float>) -> [UInt8] {
    let (cells, channels) = (grid.width * grid.height, grid.channels)
    var chances = [Float](repeating: 0, count: cells)
    for cell in 0..<cells {
      func value(_ channel: Int) -> Float { values[cell * channels.perCell + channel * channels.perChannel] }
      chances[cell] =
        switch grid.form {
        case .classes: value(0) > 0 ? 1 : 0
        case .probability: areLogits ? 1 / (1 + exp(-value(0))) : value(0) / one
        case .scores:
          areLogits
            ? 1 - 1 / (0..<channels.count).reduce(Float(0)) { $0 + exp(value($1) - value(0)) } : 1 - value(0)
        }
    }
    return enlargement.enlarged(chances.span, channel: 0).map { chance in
      // NaN counts as background.
      chance > 0 ? UInt8((min(chance, 1) * 255).rounded()) : 0
    }
  }
}
