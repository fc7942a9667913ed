// SPDX-License-Identifier: Apache-2.0

/// Options of layers with weights, of windows, and of normalization; each field has its number in `schema.fbs`.
extension OperatorOptions {
  /// `Conv2DOptions`.
  struct Conv2DOptions {
    let fields: Fields
    var padding: Int { get throws(ApusError) { try fields.int8(0) } }
    var strideWidth: Int { get throws(ApusError) { try fields.int32(1) } }
    var strideHeight: Int { get throws(ApusError) { try fields.int32(2) } }
    var activation: Int { get throws(ApusError) { try fields.int8(3) } }
    var dilationWidth: Int { get throws(ApusError) { try fields.int32(4, default: 1) } }
    var dilationHeight: Int { get throws(ApusError) { try fields.int32(5, default: 1) } }
  }

  /// `DepthwiseConv2DOptions`.
  struct DepthwiseConv2DOptions {
    let fields: Fields
    var padding: Int { get throws(ApusError) { try fields.int8(0) } }
    var strideWidth: Int { get throws(ApusError) { try fields.int32(1) } }
    var strideHeight: Int { get throws(ApusError) { try fields.int32(2) } }
    var activation: Int { get throws(ApusError) { try fields.int8(4) } }
    var dilationWidth: Int { get throws(ApusError) { try fields.int32(5, default: 1) } }
    var dilationHeight: Int { get throws(ApusError) { try fields.int32(6, default: 1) } }
  }

  /// `LSHProjectionOptions`.
  struct LSHProjectionOptions {
    let fields: Fields
    var kind: Int { get throws(ApusError) { try fields.int8(0) } }
  }

  /// `Pool2DOptions`.
  struct Pool2DOptions {
    let fields: Fields
    var padding: Int { get throws(ApusError) { try fields.int8(0) } }
    var strideWidth: Int { get throws(ApusError) { try fields.int32(1) } }
    var strideHeight: Int { get throws(ApusError) { try fields.int32(2) } }
    var filterWidth: Int { get throws(ApusError) { try fields.int32(3) } }
    var filterHeight: Int { get throws(ApusError) { try fields.int32(4) } }
    var activation: Int { get throws(ApusError) { try fields.int8(5) } }
  }

  /// `SVDFOptions`.
  struct SVDFOptions {
    let fields: Fields
    var rank: Int { get throws(ApusError) { try fields.int32(0) } }
    var activation: Int { get throws(ApusError) { try fields.int8(1) } }
    var isAsymmetric: Bool { get throws(ApusError) { try fields.bool(2) } }
  }

  /// `RNNOptions`.
  struct RNNOptions {
    let fields: Fields
    var activation: Int { get throws(ApusError) { try fields.int8(0) } }
    var isAsymmetric: Bool { get throws(ApusError) { try fields.bool(1) } }
  }

  /// `FullyConnectedOptions`.
  struct FullyConnectedOptions {
    let fields: Fields
    var activation: Int { get throws(ApusError) { try fields.int8(0) } }
    var weightsFormat: Int { get throws(ApusError) { try fields.int8(1) } }
    var keepsDimensions: Bool { get throws(ApusError) { try fields.bool(2) } }
    var isAsymmetric: Bool { get throws(ApusError) { try fields.bool(3) } }
    var biasType: Int { get throws(ApusError) { try fields.int8(4) } }
  }

  /// `SoftmaxOptions`.
  struct SoftmaxOptions {
    let fields: Fields
    var beta: Float { get throws(ApusError) { try fields.float(0) } }
  }

  /// `LocalResponseNormalizationOptions`.
  struct LocalResponseNormalizationOptions {
    let fields: Fields
    var radius: Int { get throws(ApusError) { try fields.int32(0) } }
    var bias: Float { get throws(ApusError) { try fields.float(1) } }
    var alpha: Float { get throws(ApusError) { try fields.float(2) } }
    var beta: Float { get throws(ApusError) { try fields.float(3) } }
  }

  /// `LSTMOptions`.
  struct LSTMOptions {
    let fields: Fields
    var activation: Int { get throws(ApusError) { try fields.int8(0) } }
    var cellClip: Float { get throws(ApusError) { try fields.float(1) } }
    var projectionClip: Float { get throws(ApusError) { try fields.float(2) } }
    var kernelType: Int { get throws(ApusError) { try fields.int8(3) } }
    var isAsymmetric: Bool { get throws(ApusError) { try fields.bool(4) } }
  }

  /// `EmbeddingLookupSparseOptions`.
  struct EmbeddingLookupSparseOptions {
    let fields: Fields
    var combiner: Int { get throws(ApusError) { try fields.int8(0) } }
  }

  /// `SequenceRNNOptions`.
  struct SequenceRNNOptions {
    let fields: Fields
    var isTimeMajor: Bool { get throws(ApusError) { try fields.bool(0) } }
    var activation: Int { get throws(ApusError) { try fields.int8(1) } }
    var isAsymmetric: Bool { get throws(ApusError) { try fields.bool(2) } }
  }

  /// `TransposeConvOptions`.
  struct TransposeConvOptions {
    let fields: Fields
    var padding: Int { get throws(ApusError) { try fields.int8(0) } }
    var strideWidth: Int { get throws(ApusError) { try fields.int32(1) } }
    var strideHeight: Int { get throws(ApusError) { try fields.int32(2) } }
    var activation: Int { get throws(ApusError) { try fields.int8(3) } }
    var biasType: Int { get throws(ApusError) { try fields.int8(4) } }
  }

  /// `BidirectionalSequenceLSTMOptions`.
  struct BidirectionalSequenceLSTMOptions {
    let fields: Fields
    var activation: Int { get throws(ApusError) { try fields.int8(0) } }
    var cellClip: Float { get throws(ApusError) { try fields.float(1) } }
    var projectionClip: Float { get throws(ApusError) { try fields.float(2) } }
    var isMerged: Bool { get throws(ApusError) { try fields.bool(3) } }
    var isTimeMajor: Bool { get throws(ApusError) { try fields.bool(4, default: true) } }
    var isAsymmetric: Bool { get throws(ApusError) { try fields.bool(5) } }
  }

  /// `BidirectionalSequenceRNNOptions`.
  struct BidirectionalSequenceRNNOptions {
    let fields: Fields
    var isTimeMajor: Bool { get throws(ApusError) { try fields.bool(0) } }
    var activation: Int { get throws(ApusError) { try fields.int8(1) } }
    var isMerged: Bool { get throws(ApusError) { try fields.bool(2) } }
    var isAsymmetric: Bool { get throws(ApusError) { try fields.bool(3) } }
  }

  /// `UnidirectionalSequenceLSTMOptions`.
  struct UnidirectionalSequenceLSTMOptions {
    let fields: Fields
    var activation: Int { get throws(ApusError) { try fields.int8(0) } }
    var cellClip: Float { get throws(ApusError) { try fields.float(1) } }
    var projectionClip: Float { get throws(ApusError) { try fields.float(2) } }
    var isTimeMajor: Bool { get throws(ApusError) { try fields.bool(3) } }
    var isAsymmetric: Bool { get throws(ApusError) { try fields.bool(4) } }
  }

  /// `BatchMatMulOptions`.
  struct BatchMatMulOptions {
    let fields: Fields
    var transposesLeft: Bool { get throws(ApusError) { try fields.bool(0) } }
    var transposesRight: Bool { get throws(ApusError) { try fields.bool(1) } }
    var isAsymmetric: Bool { get throws(ApusError) { try fields.bool(2) } }
  }

  /// `Conv3DOptions`.
  struct Conv3DOptions {
    let fields: Fields
    var padding: Int { get throws(ApusError) { try fields.int8(0) } }
    var strideDepth: Int { get throws(ApusError) { try fields.int32(1) } }
    var strideWidth: Int { get throws(ApusError) { try fields.int32(2) } }
    var strideHeight: Int { get throws(ApusError) { try fields.int32(3) } }
    var activation: Int { get throws(ApusError) { try fields.int8(4) } }
    var dilationDepth: Int { get throws(ApusError) { try fields.int32(5, default: 1) } }
    var dilationWidth: Int { get throws(ApusError) { try fields.int32(6, default: 1) } }
    var dilationHeight: Int { get throws(ApusError) { try fields.int32(7, default: 1) } }
  }
}
