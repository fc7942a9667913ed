// SPDX-License-Identifier: Apache-2.0

extension OperatorCode {
  /// The table that an operator's options are in.
  package enum Options: Equatable {
    /// The table of this number in the schema's `BuiltinOptions`.
    case first(Int)
    /// The table of this number in the schema's `BuiltinOptions2`.
    case second(Int)
    /// The operator has no options, or none that change its results.
    case none
  }

  /// The table that the operator's options are in.
  package var options: Options {
    switch self {
    case .conv2D: .first(1)
    case .depthwiseConv2D: .first(2)
    case .lshProjection: .first(4)
    case .averagePool2D, .l2Pool2D, .maxPool2D: .first(5)
    case .svdf: .first(6)
    case .rnn: .first(7)
    case .fullyConnected: .first(8)
    case .softmax: .first(9)
    case .concatenation: .first(10)
    case .add: .first(11)
    case .l2Normalization: .first(12)
    case .localResponseNormalization: .first(13)
    case .lstm: .first(14)
    case .resizeBilinear: .first(15)
    case .reshape: .first(17)
    case .skipGram: .first(18)
    case .spaceToDepth: .first(19)
    case .embeddingLookupSparse: .first(20)
    case .mul: .first(21)
    case .gather: .first(23)
    case .mean, .reduceAll, .reduceAny, .reduceMax, .reduceMin, .reduceProd, .sum: .first(27)
    case .sub: .first(28)
    case .div: .first(29)
    case .squeeze: .first(30)
    case .unidirectionalSequenceRNN: .first(31)
    case .stridedSlice: .first(32)
    case .split: .first(35)
    case .cast: .first(37)
    case .argMax: .first(40)
    case .transposeConv: .first(49)
    case .sparseToDense: .first(50)
    case .shape: .first(55)
    case .argMin: .first(57)
    case .fakeQuant: .first(58)
    case .pack: .first(59)
    case .oneHot: .first(61)
    case .unpack: .first(64)
    case .bidirectionalSequenceLSTM: .first(69)
    case .bidirectionalSequenceRNN: .first(70)
    case .unidirectionalSequenceLSTM: .first(71)
    case .resizeNearestNeighbor: .first(74)
    case .leakyRelu: .first(75)
    case .mirrorPad: .first(77)
    case .splitV: .first(79)
    case .unique: .first(80)
    case .reverseSequence: .first(87)
    case .if: .first(92)
    case .while: .first(93)
    case .depthToSpace: .first(94)
    case .batchMatMul: .first(101)
    case .cumsum: .first(102)
    case .callOnce: .first(103)
    case .conv3D, .conv3DTranspose: .first(106)
    case .hashtable: .first(107)
    case .varHandle: .first(111)
    case .multinomial, .randomStandardNormal, .randomUniform: .first(114)
    case .bucketize: .first(115)
    case .gelu: .first(116)
    case .stablehloScatter: .second(7)
    case .stablehloPad: .second(10)
    case .stablehloReduceWindow: .second(13)
    case .stablehloGather: .second(16)
    case .stablehloRngBitGenerator: .second(19)
    case .reduceWindow: .second(20)
    case .stablehloComposite: .second(21)
    case .stablehloCase: .second(23)
    case .dequantize, .embeddingLookup, .floor, .hashtableLookup, .logistic, .relu, .reluN1To1, .relu6,
      .tanh, .concatEmbeddings, .call, .custom, .pad, .batchToSpaceND, .spaceToBatchND, .transpose,
      .exp, .topKV2, .logSoftmax, .delegate, .prelu, .maximum, .minimum, .less, .neg, .padV2, .greater,
      .greaterEqual, .lessEqual, .select, .slice, .sin, .tile, .expandDims, .equal, .notEqual, .log,
      .sqrt, .rsqrt, .pow, .logicalOr, .logicalAnd, .logicalNot, .floorDiv, .square, .zerosLike, .fill,
      .floorMod, .range, .squaredDifference, .abs, .ceil, .reverseV2, .addN, .gatherND, .cos, .where,
      .rank, .elu, .matrixDiag, .quantize, .matrixSetDiag, .round, .hardSwish, .nonMaxSuppressionV4,
      .nonMaxSuppressionV5, .scatterND, .selectV2, .densify, .segmentSum, .placeholderForGreaterOpCodes,
      .broadcastTo, .rfft2D, .imag, .real, .complexAbs, .hashtableFind, .hashtableImport,
      .hashtableSize, .readVariable, .assignVariable, .broadcastArgs, .dynamicUpdateSlice, .relu0To1,
      .unsortedSegmentProd, .unsortedSegmentMax, .unsortedSegmentSum, .atan2, .unsortedSegmentMin,
      .sign, .bitcast, .bitwiseXor, .rightShift, .stablehloLogistic, .stablehloAdd, .stablehloDivide,
      .stablehloMultiply, .stablehloMaximum, .stablehloReshape, .stablehloClamp, .stablehloConcatenate,
      .stablehloBroadcastInDim, .stablehloConvolution, .stablehloSlice, .stablehloCustomCall,
      .stablehloReduce, .stablehloAbs, .stablehloAnd, .stablehloCosine, .stablehloExponential,
      .stablehloFloor, .stablehloLog, .stablehloMinimum, .stablehloNegate, .stablehloOr,
      .stablehloPower, .stablehloRemainder, .stablehloRsqrt, .stablehloSelect, .stablehloSubtract,
      .stablehloTanh, .stablehloCompare, .stablehloConvert, .stablehloDynamicSlice,
      .stablehloDynamicUpdateSlice, .stablehloIota, .stablehloDotGeneral, .stablehloSort,
      .stablehloWhile, .stablehloTranspose, .dilate, .stablehloShiftLeft, .stablehloCbrt:
      .none
    }
  }

  /// The number of the operator's table in the schema's `BuiltinOptions`; nil if its options are not there.
  package var optionsType: Int? { if case .first(let number) = options { number } else { nil } }

  /// The number of the operator's table in the schema's `BuiltinOptions2`; nil if its options are not there.
  package var options2Type: Int? { if case .second(let number) = options { number } else { nil } }
}
