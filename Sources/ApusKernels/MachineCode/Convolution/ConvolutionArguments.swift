// SPDX-License-Identifier: Apache-2.0

/// The arguments of a generated product: addresses and counts, all of 64 bits.
package struct ConvolutionArguments: CodeArguments {
  /// The first row's first byte.
  package var rows = 0
  /// Bytes between rows.
  package var rowStride = 0
  /// Pairs of a byte offset and a count of steps, one for each tap; for depthwise convolutions, the offset of each tap of
  /// each group.
  package var taps = 0
  /// Taps, or groups of them.
  package var tapCount = 0
  /// The panel's weights.
  package var weights = 0
  /// Weights that will be needed next, to be fetched ahead.
  package var nextWeights = 0
  /// What is added to the panel's sums: biases with the zero points' share, in the panel's order.
  package var offsets = 0
  /// The panel's factors, as the target has laid them out.
  package var factors = 0
  /// The first output's first byte.
  package var output = 0
  /// Bytes between rows of the output.
  package var outputStride = 0
  /// How many blocks, one after the other.
  package var blocks = 0
  /// The scales of quantized images: of each row, or of all.
  package var scales = 0
  /// The zero points of their bytes, negated; or what the sums of each row begin with, see ``RowTerms``.
  package var zeroPoints = 0
  /// Of depthwise rows: the vectors of channels, where the first one's weights and offsets lie, and room for a count.
  package var vectors = 0
  package var firstWeights = 0
  package var firstOffsets = 0
  package var left = 0
  /// Of depthwise rows of bytes: lines, and bytes between them, of the input and of the output.
  package var lines = 0
  package var lineStride = 0
  package var outputLineStride = 0
  /// Of Winograd's transforms: bytes between the matrices of neighboring points, and from the last channel of a square to the
  /// first of the next; room for one square; and a constant.
  package var pointStride = 0
  package var squareStride = 0
  package var spare = 0
  package var constant = 0
}
