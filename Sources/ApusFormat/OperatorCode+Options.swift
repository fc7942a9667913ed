// SPDX-License-Identifier: Apache-2.0

extension OperatorCode {
  /// The table of the schema's `BuiltinOptions` that holds the operator's options; nil for an operator without any.
  package var optionsType: Int? {
    switch self {
    case .conv2D: 1
    case .depthwiseConv2D: 2
    case .lshProjection: 4
    case .averagePool2D, .l2Pool2D, .maxPool2D: 5
    case .svdf: 6
    case .rnn: 7
    case .fullyConnected: 8
    case .softmax: 9
    case .concatenation: 10
    case .add: 11
    case .l2Normalization: 12
    case .localResponseNormalization: 13
    case .lstm: 14
    case .resizeBilinear: 15
    case .reshape: 17
    case .skipGram: 18
    case .spaceToDepth: 19
    case .embeddingLookupSparse: 20
    case .mul: 21
    case .gather: 23
    case .mean, .reduceAll, .reduceAny, .reduceMax, .reduceMin, .reduceProd, .sum: 27
    case .sub: 28
    case .div: 29
    case .squeeze: 30
    case .unidirectionalSequenceRNN: 31
    case .stridedSlice: 32
    case .split: 35
    case .cast: 37
    case .argMax: 40
    case .transposeConv: 49
    case .sparseToDense: 50
    case .shape: 55
    case .argMin: 57
    case .fakeQuant: 58
    case .pack: 59
    case .oneHot: 61
    case .unpack: 64
    case .bidirectionalSequenceLSTM: 69
    case .bidirectionalSequenceRNN: 70
    case .unidirectionalSequenceLSTM: 71
    case .resizeNearestNeighbor: 74
    case .leakyRelu: 75
    case .mirrorPad: 77
    case .splitV: 79
    case .unique: 80
    case .reverseSequence: 87
    case .if: 92
    case .while: 93
    case .depthToSpace: 94
    case .batchMatMul: 101
    case .cumsum: 102
    case .callOnce: 103
    case .conv3D, .conv3DTranspose: 106
    case .hashtable: 107
    case .varHandle: 111
    case .multinomial, .randomStandardNormal, .randomUniform: 114
    case .bucketize: 115
    case .gelu: 116
    default: nil
    }
  }

  /// The table of the schema's `BuiltinOptions2` that holds the operator's options; nil for an operator without any.
  package var options2Type: Int? {
    switch self {
    case .stablehloScatter: 7
    case .stablehloPad: 10
    case .stablehloReduceWindow: 13
    case .stablehloGather: 16
    case .stablehloRngBitGenerator: 19
    case .reduceWindow: 20
    case .stablehloComposite: 21
    case .stablehloCase: 23
    default: nil
    }
  }
}
