// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The arguments of a generated product: addresses and counts, all of 64 bits.
package struct ConvolutionArguments: CodeArguments {
  /// The address of the first row.
  package var rows = 0
  /// Bytes between consecutive rows.
  package var rowStride = 0
  /// The tap list. Products: a byte offset and a number of K-steps for each tap. Depthwise convolutions: the
  /// byte offset of each tap, group by group.
  package var taps = 0
  /// The number of taps, or of groups of taps.
  package var tapCount = 0
  /// The address of the panel's weights.
  package var weights = 0
  /// The address of the next panel's weights, to prefetch.
  package var nextWeights = 0
  /// The address of the panel's offsets, which are added to its sums: biases and the zero points' share, in
  /// lane order.
  package var offsets = 0
  /// The address of the panel's factors, in the target's layout.
  package var factors = 0
  /// The address of the first output.
  package var output = 0
  /// Bytes between consecutive rows of the output.
  package var outputStride = 0
  /// The number of blocks to compute, one after the other.
  package var blocks = 0
  /// The address of the scales of quantized images: one per row, or one for all.
  package var scales = 0
  /// The address of the negated zero points of quantized images; or of the row terms, see ``RowTerms``.
  package var zeroPoints = 0
  /// Depthwise rows read in place: the number of vectors of channels, the addresses of the first one's
  /// weights and offsets, and room for a counter.
  package var vectors = 0
  package var firstWeights = 0
  package var firstOffsets = 0
  package var left = 0
  /// Depthwise rows of bytes: the number of lines, and bytes between lines of the input and of the output.
  package var lines = 0
  package var lineStride = 0
  package var outputLineStride = 0
  /// Winograd transforms: bytes between the matrices of consecutive points; bytes from the last channel of a
  /// tile to the first of the next; scratch memory for one tile; and a constant. Products by tile registers: scratch memory for
  /// a block's sums.
  package var pointStride = 0
  package var squareStride = 0
  package var spare = 0
  package var constant = 0
}
