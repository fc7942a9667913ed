/// How a tensor's integers stand for real numbers.
///
/// There are as many zero points as scales: none, one, or one per index of ``quantizedDimension``. The
/// numbers themselves are not checked: a scale may be zero, negative, infinite or NaN.
package struct QuantizationEntry: Hashable, Sendable {
  /// The scales.
  package let scales: [Float]
  /// The zero points.
  package let zeroPoints: [Int]
  /// The least real values seen when the model was made; only informative.
  package let minimums: [Float]
  /// The greatest real values seen when the model was made; only informative.
  package let maximums: [Float]
  /// The dimension that several scales belong to; a dimension of the shape wherever there are scales.
  package let quantizedDimension: Int
  /// The schema's kind of details: 0 none, 1 custom, 2 blockwise, 3 multi-axis.
  package let detailsType: Int
  /// The details of blockwise quantization, where the file has them.
  package let blockwise: BlockwiseQuantizationEntry?
}

/// Quantization in blocks, whose scales and zero points are other tensors of the subgraph.
package struct BlockwiseQuantizationEntry: Hashable, Sendable {
  /// The tensor of scales, in range.
  package let scales: Int
  /// The tensor of zero points, in range, or -1.
  package let zeroPoints: Int
  /// The elements per block.
  package let blockSize: Int
}
