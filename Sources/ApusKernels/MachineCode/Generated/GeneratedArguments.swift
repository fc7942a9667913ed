/// The arguments of a generated product: addresses and counts, all of 64 bits.
package struct GeneratedArguments: BitwiseCopyable {
  /// The first row's first byte.
  package var rows: Int
  /// Bytes between rows.
  package var rowStride: Int
  /// Pairs of a byte offset and a count of steps, one for each tap; for depthwise convolutions, the offset of each tap of
  /// each group.
  package var taps: Int
  /// Taps, or groups of them.
  package var tapCount: Int
  /// The panel's weights.
  package var weights: Int
  /// What is added to the panel's sums: biases with the zero points' share, in the panel's order.
  package var offsets: Int
  /// The panel's factors, as the target has laid them out.
  package var factors: Int
  /// The first output's first byte.
  package var output: Int
  /// Bytes between rows of the output.
  package var outputStride: Int
  /// How many blocks, one after the other.
  package var blocks: Int
  /// The scales of quantized images: of each row, or of all.
  package var scales: Int
  /// Of depthwise rows: the vectors of channels, where the first one's weights and offsets lie, and room for a count.
  package var vectors = 0
  package var firstWeights = 0
  package var firstOffsets = 0
  package var left = 0
  /// Of depthwise rows of bytes: lines, and bytes between them, of the input and of the output.
  package var lines = 0
  package var lineStride = 0
  package var outputLineStride = 0

  static func offset(_ field: PartialKeyPath<GeneratedArguments>) -> Int {
    MemoryLayout<GeneratedArguments>.offset(of: field) ?? 0
  }
}
