// SPDX-License-Identifier: Apache-2.0

/// How a tensor's integers stand for real numbers.
///
/// There are as many zero points as scales: none, one, or one per index of ``quantizedDimension``. The
/// numbers themselves are not checked: a scale may be zero, negative, infinite or NaN. They stay where they are in the file
/// until they are asked for, as most never are.
package struct QuantizationEntry: Sendable {
  /// The dimension that several scales belong to; a dimension of the shape wherever there are scales.
  package let quantizedDimension: Int
  /// The schema's kind of details: 0 none, 1 custom, 2 blockwise, 3 multi-axis.
  package let detailsType: Int
  /// The details of blockwise quantization, where the file has them.
  package let blockwise: BlockwiseQuantizationEntry?

  private let bytes: FileBytes
  private let scaleVector: FlatBufferVector
  private let zeroPointVector: FlatBufferVector
  private let minimumVector: FlatBufferVector
  private let maximumVector: FlatBufferVector

  init(
    bytes: FileBytes, scales: FlatBufferVector, zeroPoints: FlatBufferVector, minimums: FlatBufferVector,
    maximums: FlatBufferVector, quantizedDimension: Int, detailsType: Int,
    blockwise: BlockwiseQuantizationEntry?
  ) {
    self.bytes = bytes
    (scaleVector, zeroPointVector, minimumVector, maximumVector) = (scales, zeroPoints, minimums, maximums)
    (self.quantizedDimension, self.detailsType, self.blockwise) = (quantizedDimension, detailsType, blockwise)
  }
}

extension QuantizationEntry {
  /// How many scales there are.
  package var scaleCount: Int { scaleVector.count }
  /// The scales.
  package var scales: [Float] { floats(scaleVector) }
  /// The zero points.
  package var zeroPoints: [Int] { (0..<zeroPointVector.count).map(storedZeroPoint) }
  /// The least real values seen when the model was made; only informative.
  package var minimums: [Float] { floats(minimumVector) }
  /// The greatest real values seen when the model was made; only informative.
  package var maximums: [Float] { floats(maximumVector) }

  /// One of the scales.
  package func scale(_ index: Int) -> Float { float(scaleVector, index) }

  /// The zero point that goes with a scale: where there are not as many, as blockwise quantization allows, the first or 0.
  package func zeroPoint(_ index: Int) -> Int {
    if zeroPointVector.count == scaleVector.count { return storedZeroPoint(index) }
    return zeroPointVector.count > 0 ? storedZeroPoint(0) : 0
  }

  /// The first scale that is not a finite number above zero.
  package var firstImproperScale: Float? {
    bytes.first(UInt32.self, of: scaleVector) {
      let scale = Float(bitPattern: $0)
      return !(scale.isFinite && scale > 0)
    }.map { Float(bitPattern: $0) }
  }

  /// The first zero point outside a range.
  package func firstZeroPoint(outside range: ClosedRange<Int>) -> Int? {
    bytes.first(Int64.self, of: zeroPointVector) { !range.contains(Int(clamping: $0)) }
      .map { Int(clamping: $0) }
  }

  private func float(_ vector: FlatBufferVector, _ index: Int) -> Float {
    Float(bitPattern: bytes.integer(at: vector.start + 4 * index))
  }

  private func floats(_ vector: FlatBufferVector) -> [Float] {
    var floats: [Float] = []
    floats.reserveCapacity(vector.count)
    for index in 0..<vector.count { floats.append(float(vector, index)) }
    return floats
  }

  private func storedZeroPoint(_ index: Int) -> Int {
    Int(clamping: bytes.integer(Int64.self, at: zeroPointVector.start + 8 * index))
  }
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
