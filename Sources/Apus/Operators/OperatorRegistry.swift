// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// The operators of this build: one line each.
enum OperatorRegistry {
  /// The registration for an operator code of a file; nil if there is none.
  static func registration(for code: OperatorCodeEntry) -> OperatorRegistration? {
    // A model has few codes: searching the list is faster than building a table.
    // By index, because an iterator would copy each line.
    for index in all.indices where all[index].code == code.code {
      if code.code != .custom || all[index].customName == code.customName {
        return OperatorRegistration(all[index])
      }
    }
    return nil
  }

  private static let common: [ElementType] = [.float32, .uint8, .int8]
  private static let integers: [ElementType] = [.uint8, .int8, .uint16, .int16, .uint32, .int32]
  private static let castable: [ElementType] =
    integers + [
      .int64, .bool, .float16, .bfloat16, .float32, .float64, .complex64, .int4, .int2, .uint4,
    ]
  private static let halves: [ElementType] = [.float16, .bfloat16]
  private static let complex: [ElementType] = [.complex64, .complex128]
  private static let numbers: [ElementType] = [.float32, .uint8, .int8, .int16, .int32, .int64]
  private static let reducible: [ElementType] = common + [.int16, .int32, .int64, .bool]
  private static let paddable: [ElementType] =
    common + [.float16, .bfloat16, .int16, .int32, .int64, .bool]

  /// Every operator in alphabetical order, custom ones last.
  static let all: [OperatorListing] = [
    .init(.abs, versions: 1...5, types: [.float32, .int8, .int16, .int32], Abs.prepare),
    .init(.add, versions: 1...6, types: numbers, asFloats: [.float16], Add.prepare),
    .init(.addN, versions: 1...1, types: [.float32, .int32], AddN.prepare),
    .init(.argMax, versions: 1...3, types: common + [.int32, .bool], ArgMinMax.maximum),
    .init(.argMin, versions: 1...3, types: common + [.int32, .bool], ArgMinMax.minimum),
    .init(
      .assignVariable, versions: 1...1, types: ElementType.movable, at: .input(1),
      first: [.resource, .int32],
      isPure: false, AssignVariable.prepare),
    .init(.atan2, versions: 1...1, types: [.float32, .float64], asFloats: halves, Atan2.prepare),
    .init(.averagePool2D, versions: 1...3, types: common + [.int16], Pooling2D.average),
    .init(.batchMatMul, versions: 1...4, types: [.float32, .int8, .int16], BatchMatMul.prepare),
    .init(
      .batchToSpaceND, versions: 1...4, types: ElementType.movableBytes, SpaceToBatch.prepareBack),
    .init(
      .bidirectionalSequenceLSTM, versions: 1...3, types: [.float32], isPure: false,
      BidirectionalSequenceLSTM.prepare),
    .init(
      .bidirectionalSequenceRNN, versions: 1...3, types: [.float32], isPure: false,
      RecurrentNetwork.prepareBidirectional),
    .init(.bitcast, versions: 1...1, types: ElementType.movable, Bitcast.prepare),
    .init(.bitwiseXor, versions: 1...1, types: integers, BinaryFunctions.prepare(.exclusiveOr)),
    .init(.broadcastArgs, versions: 1...1, types: [.int32, .int64], BroadcastTo.prepareShape),
    .init(.broadcastTo, versions: 2...4, types: ElementType.movable, BroadcastTo.prepare),
    .init(.bucketize, versions: 1...1, types: [.float32, .float64, .int32, .int64], Bucketize.prepare),
    .init(.callOnce, versions: 1...1, types: [], isPure: false, CallOnce.prepare),
    .init(.cast, versions: 1...9, types: castable, Cast.prepare),
    .init(.ceil, versions: 1...1, types: [.float32], FloatUnary.prepare(.ceil)),
    .init(.complexAbs, versions: 1...1, types: complex, ComplexParts.prepare(.magnitude)),
    .init(
      .concatenation, versions: 1...7,
      types: common + [.float16, .bfloat16, .int4, .int16, .int32, .uint32, .int64, .bool],
      Concatenation.prepare),
    .init(.conv2D, versions: 1...8, types: common + [.int16], Conv2D.prepare),
    .init(.conv3D, versions: 1...1, types: [.float32], Conv3D.prepare),
    .init(
      .conv3DTranspose, versions: 1...1, types: [.float32], at: .input(2), first: [.int32],
      Conv3DTranspose.prepare),
    .init(.cos, versions: 1...2, types: [.float32], asFloats: [.float16], FloatUnary.prepare(.cos)),
    .init(.cumsum, versions: 1...1, types: [.float32, .int32, .int64], CumulativeSum.prepare),
    .init(.densify, versions: 1...1, types: [.float32, .float16, .int8], Densify.prepare),
    .init(.depthToSpace, versions: 1...2, types: common + [.int32, .int64], SpaceToDepth.prepareBack),
    .init(.depthwiseConv2D, versions: 1...7, types: common + [.int16], DepthwiseConv2D.prepare),
    .init(
      .dequantize, versions: 1...9, types: [.uint8, .int8, .int16, .int4, .uint4, .int2, .float16],
      Dequantize.prepare),
    .init(.dilate, versions: 1...1, types: ElementType.movableBytes, Dilate.prepare),
    .init(.div, versions: 1...2, types: common + [.int16, .int32], Div.prepare),
    .init(.dynamicUpdateSlice, versions: 1...6, types: ElementType.movable, DynamicUpdateSlice.prepare),
    .init(.elu, versions: 1...1, types: [.float32, .int8], Elu.prepare),
    .init(
      .embeddingLookup, versions: 1...5, types: ElementType.movable + [.int2], at: .input(1), first: [.int32],
      EmbeddingLookup.prepare),
    .init(
      .embeddingLookupSparse, versions: 1...1, types: [.float32], at: .input(4), first: [.int32],
      EmbeddingLookupSparse.prepare),
    .init(
      .equal, versions: 1...5, types: numbers + [.bool], asFloats: [.float16], Comparisons.prepare(.equal)),
    .init(.exp, versions: 1...2, types: [.float32, .int8, .int16], Exp.prepare),
    .init(.expandDims, versions: 1...1, types: ElementType.reshapable, ExpandDims.prepare),
    .init(.fakeQuant, versions: 1...2, types: [.float32], FakeQuant.prepare),
    .init(
      .fill, versions: 1...5, types: ElementType.movableBytes, at: .input(1), first: [.int32, .int64],
      Fill.prepare),
    .init(.floor, versions: 1...1, types: [.float32], asFloats: halves, FloatUnary.prepare(.floor)),
    .init(.floorDiv, versions: 1...3, types: [.float32, .int8, .int16, .int32], FloorDiv.prepare),
    .init(.floorMod, versions: 1...2, types: [.float32, .int8, .int16, .int32, .int64], FloorMod.prepare),
    .init(.fullyConnected, versions: 1...14, types: common + [.int16], FullyConnected.prepare),
    .init(.gather, versions: 1...8, types: paddable + [.int4], Gather.prepare),
    .init(.gatherND, versions: 1...6, types: paddable, GatherND.prepare),
    .init(.gelu, versions: 1...3, types: common + [.int16], asFloats: [.float16], Gelu.prepare),
    .init(.greater, versions: 1...2, types: numbers, asFloats: halves, Comparisons.prepare(.greater)),
    .init(
      .greaterEqual, versions: 1...3, types: numbers, asFloats: [.float16], Comparisons.prepare(.greaterEqual)
    ),
    .init(.hardSwish, versions: 1...1, types: common, HardSwish.prepare),
    .init(.hashtableLookup, versions: 1...1, types: [.int32], HashtableLookup.prepare),
    .init(
      .if, versions: 1...1, types: ElementType.movable + [.resource], at: .input(1), first: [.bool],
      isPure: false,
      If.prepare),
    .init(.imag, versions: 1...1, types: complex, ComplexParts.prepare(.imaginary)),
    .init(.l2Normalization, versions: 1...2, types: common, L2NormalizationOperator.prepare),
    .init(.l2Pool2D, versions: 1...1, types: [.float32], Pooling2D.l2),
    .init(.leakyRelu, versions: 1...2, types: common + [.int16], LeakyRelu.prepare),
    .init(.less, versions: 1...3, types: numbers, asFloats: halves, Comparisons.prepare(.less)),
    .init(.lessEqual, versions: 1...2, types: numbers, asFloats: [.float16], Comparisons.prepare(.lessEqual)),
    .init(
      .localResponseNormalization, versions: 1...1, types: [.float32], LocalResponseNormalization.prepare),
    .init(.log, versions: 1...2, types: [.float32, .int8, .int16], Log.prepare),
    .init(.logicalAnd, versions: 1...1, types: [.bool], BinaryFunctions.prepare(.logicalAnd)),
    .init(.logicalNot, versions: 1...1, types: [.bool], LogicalNot.prepare),
    .init(.logicalOr, versions: 1...1, types: [.bool], BinaryFunctions.prepare(.logicalOr)),
    .init(.logistic, versions: 1...3, types: common + [.int16], asFloats: halves, Logistic.prepare),
    .init(.logSoftmax, versions: 1...2, types: common, LogSoftmaxOperator.prepare),
    .init(.lshProjection, versions: 1...1, types: [.float32], LSHProjection.prepare),
    .init(
      .lstm, versions: 1...4, types: common, isPure: false, UnidirectionalSequenceLSTM.prepareStep),
    .init(.matrixDiag, versions: 1...1, types: ElementType.movable, MatrixDiagonal.prepare),
    .init(.matrixSetDiag, versions: 1...1, types: ElementType.movable, MatrixDiagonal.prepareSet),
    .init(.maximum, versions: 1...4, types: numbers, asFloats: halves, Maximum.prepare),
    .init(.maxPool2D, versions: 1...3, types: common + [.int16], Pooling2D.maximum),
    .init(.mean, versions: 1...3, types: common + [.int16, .int32, .int64], MeanOrSum.mean),
    .init(.minimum, versions: 1...4, types: numbers, asFloats: halves, Minimum.prepare),
    .init(.mirrorPad, versions: 1...3, types: ElementType.movableBytes, MirrorPad.prepare),
    .init(
      .mul, versions: 1...8, types: numbers + [.uint32, .complex64], asFloats: [.float16], Mul.prepare),
    .init(.multinomial, versions: 1...1, types: [.float32], isPure: false, Multinomial.prepare),
    .init(
      .neg, versions: 1...1, types: [.float32, .int8, .int16, .int32, .int64], asFloats: halves, Neg.prepare),
    .init(.nonMaxSuppressionV4, versions: 1...1, types: [.float32], NonMaxSuppression.prepareHard),
    .init(.nonMaxSuppressionV5, versions: 1...1, types: [.float32], NonMaxSuppression.prepareSoft),
    .init(
      .notEqual, versions: 1...4, types: numbers + [.bool], asFloats: [.float16],
      Comparisons.prepare(.notEqual)),
    .init(
      .oneHot, versions: 1...1, types: common + [.int32, .int64, .bool], at: .input(2),
      first: [.int32, .int64],
      OneHot.prepare),
    .init(.pack, versions: 1...5, types: numbers + [.uint32], Pack.prepare),
    .init(.pad, versions: 1...6, types: paddable, Pad.prepare),
    .init(.padV2, versions: 1...6, types: paddable, Pad.prepare),
    .init(.pow, versions: 1...1, types: [.float32, .int32], Pow.prepare),
    .init(.prelu, versions: 1...1, types: common + [.int16], PRelu.prepare),
    .init(.quantize, versions: 1...6, types: common + [.int16, .int32], Quantize.prepare),
    .init(
      .randomStandardNormal, versions: 1...1, types: [.int32], isPure: false, RandomNumbers.prepareNormal),
    .init(.randomUniform, versions: 1...1, types: [.int32], isPure: false, RandomNumbers.prepareUniform),
    .init(.range, versions: 1...2, types: [.float32, .int32, .int64], NumberRange.prepare),
    .init(.rank, versions: 1...1, types: ElementType.reshapable, Shape.prepareRank),
    .init(
      .readVariable, versions: 1...1, types: ElementType.movable, at: .output(0), first: [.resource, .int32],
      isPure: false, ReadVariable.prepare),
    .init(.real, versions: 1...1, types: complex, ComplexParts.prepare(.real)),
    .init(.reduceAll, versions: 1...1, types: [.bool], Reduce.all),
    .init(.reduceAny, versions: 1...1, types: [.bool], Reduce.any),
    .init(.reduceMax, versions: 1...3, types: reducible, Reduce.maximum),
    .init(.reduceMin, versions: 1...3, types: reducible, Reduce.minimum),
    .init(.reduceProd, versions: 1...2, types: reducible.filter { $0 != .uint8 }, Reduce.product),
    .init(.reduceWindow, versions: 1...1, types: ReduceWindow.types, ReduceWindow.prepare),
    .init(.relu, versions: 1...3, types: common + [.int16], Relu.prepare),
    .init(.relu0To1, versions: 1...1, types: common, Relu0To1.prepare),
    .init(.relu6, versions: 1...3, types: common + [.int16], Relu6.prepare),
    .init(.reluN1To1, versions: 1...1, types: common, ReluN1To1.prepare),
    .init(.reshape, versions: 1...1, types: ElementType.reshapable, Reshape.prepare),
    .init(.resizeBilinear, versions: 1...4, types: common + [.int16], ResizeBilinear.prepare),
    .init(
      .resizeNearestNeighbor, versions: 1...4,
      types: common + [.float16, .bfloat16, .int16, .uint16, .int32, .uint32, .bool],
      ResizeNearestNeighbor.prepare),
    .init(
      .reverseSequence, versions: 1...1, types: [.float32, .uint8, .int16, .int32, .int64],
      ReverseSequence.prepare),
    .init(.reverseV2, versions: 1...4, types: paddable, Reverse.prepare),
    .init(.rfft2D, versions: 1...1, types: [.float32], RFFT2D.prepare),
    .init(.rightShift, versions: 1...1, types: integers, BinaryFunctions.prepare(.shiftRight)),
    .init(.rnn, versions: 1...3, types: [.float32], isPure: false, RecurrentNetwork.prepareStep),
    .init(.round, versions: 1...1, types: [.float32], asFloats: halves, FloatUnary.prepare(.round)),
    .init(.rsqrt, versions: 1...3, types: [.float32, .int8, .int16], Rsqrt.prepare),
    .init(
      .scatterND, versions: 1...1, types: common + [.int32, .int64, .bool], at: .input(1), first: [.int32],
      GatherND.prepareScatter),
    .init(.segmentSum, versions: 1...1, types: [.float32, .int32], SegmentReduction.sorted),
    .init(
      .select, versions: 1...4, types: ElementType.movableBytes, at: .input(1), first: [.bool], Select.prepare
    ),
    .init(
      .selectV2, versions: 1...2, types: ElementType.movableBytes, at: .input(1), first: [.bool],
      Select.prepareVersion2),
    .init(.shape, versions: 1...1, types: ElementType.reshapable, Shape.prepare),
    .init(.sign, versions: 1...2, types: [.float32, .float64, .int32], Sign.prepare),
    .init(.sin, versions: 1...2, types: [.float32], asFloats: [.float16], FloatUnary.prepare(.sin)),
    .init(.slice, versions: 1...8, types: ElementType.movable, Slice.prepare),
    .init(.softmax, versions: 1...4, types: common + [.int16], asFloats: [.float16], SoftmaxOperator.prepare),
    .init(.spaceToBatchND, versions: 1...4, types: ElementType.movableBytes, SpaceToBatch.prepare),
    .init(.spaceToDepth, versions: 1...2, types: common + [.int32, .int64], SpaceToDepth.prepare),
    .init(
      .sparseToDense, versions: 1...3, types: common + [.int32, .int64], at: .input(2),
      first: [.int32, .int64],
      SparseToDense.prepare),
    .init(
      .split, versions: 1...5, types: numbers, at: .input(1), first: [.int32], Split.prepare),
    .init(.splitV, versions: 1...3, types: numbers, Split.prepareV),
    .init(.sqrt, versions: 1...2, types: [.float32, .int8, .int16], Sqrt.prepare),
    .init(.square, versions: 1...1, types: [.float32], FloatUnary.prepare(.square)),
    .init(.squaredDifference, versions: 1...2, types: [.float32, .int8, .int32], SquaredDifference.prepare),
    .init(.squeeze, versions: 1...2, types: ElementType.reshapable, Squeeze.prepare),
    .init(
      .stablehloAdd, versions: 1...1, types: StableHLOFunctions.types, asFloats: [.float16],
      StableHLOFunctions.add),
    .init(
      .stablehloAnd, versions: 1...1, types: StableHLOFunctions.bitTypes,
      StableHLOFunctions.and),
    .init(.stablehloCase, versions: 1...1, types: [.int32], isPure: false, StableHLOCase.prepare),
    .init(
      .stablehloComposite, versions: 1...1, types: ElementType.movable + [.resource], isPure: false,
      StableHLOComposite.prepare),
    .init(.stablehloGather, versions: 1...1, types: ElementType.movableBytes, StableHLOGather.prepare),
    .init(
      .stablehloMaximum, versions: 1...1, types: StableHLOFunctions.types, asFloats: [.float16],
      StableHLOFunctions.maximum),
    .init(
      .stablehloMinimum, versions: 1...1, types: StableHLOFunctions.types, asFloats: [.float16],
      StableHLOFunctions.minimum),
    .init(
      .stablehloMultiply, versions: 1...1, types: StableHLOFunctions.types, asFloats: [.float16],
      StableHLOFunctions.multiply),
    .init(.stablehloPad, versions: 1...1, types: ElementType.movableBytes, StableHLOPad.prepare),
    .init(
      .stablehloReduceWindow, versions: 1...1, types: ReduceWindow.types, ReduceWindow.prepareStableHLO),
    .init(
      .stablehloRngBitGenerator, versions: 1...1, types: [.uint64], StableHLORngBitGenerator.prepare),
    .init(.stablehloScatter, versions: 1...1, types: StableHLOScatter.types, StableHLOScatter.prepare),
    .init(
      .stablehloShiftLeft, versions: 1...1, types: StableHLOFunctions.shiftTypes,
      StableHLOFunctions.shiftLeft),
    .init(.stridedSlice, versions: 1...8, types: ElementType.movableBytes, StridedSlice.prepare),
    .init(.sub, versions: 1...5, types: numbers, Sub.prepare),
    .init(.sum, versions: 1...2, types: reducible, Reduce.sum),
    .init(.svdf, versions: 1...4, types: [.float32, .int8], isPure: false, SVDF.prepare),
    .init(.tanh, versions: 1...3, types: common + [.int16], asFloats: halves, Tanh.prepare),
    .init(.tile, versions: 1...3, types: ElementType.movableBytes, Tile.prepare),
    .init(.topKV2, versions: 1...3, types: common + [.int16, .int32, .int64], TopK.prepare),
    .init(.transpose, versions: 1...9, types: ElementType.movable + [.uint4], Transpose.prepare),
    .init(
      .transposeConv, versions: 1...5, types: common + [.int16], at: .input(2), first: [.int32],
      TransposeConv.prepare),
    .init(
      .unidirectionalSequenceLSTM, versions: 1...4, types: [.float32, .int8], isPure: false,
      UnidirectionalSequenceLSTM.prepare),
    .init(
      .unidirectionalSequenceRNN, versions: 1...3, types: [.float32], isPure: false,
      RecurrentNetwork.prepareSequence),
    .init(
      .unique, versions: 1...1, types: [.float32, .int8, .int16, .uint8, .int32, .int64], Unique.prepare),
    .init(
      .unpack, versions: 1...6, types: common + [.float16, .bfloat16, .int16, .int32, .bool], Unpack.prepare),
    .init(.unsortedSegmentMax, versions: 1...1, types: [.float32, .int32], SegmentReduction.maximum),
    .init(.unsortedSegmentMin, versions: 1...1, types: [.float32, .int32], SegmentReduction.minimum),
    .init(.unsortedSegmentProd, versions: 1...1, types: [.float32, .int32], SegmentReduction.product),
    .init(.unsortedSegmentSum, versions: 1...1, types: [.float32, .int32], SegmentReduction.sum),
    .init(.varHandle, versions: 1...1, types: [.resource], at: .output(0), isPure: false, VarHandle.prepare),
    .init(.where, versions: 1...2, types: common + [.int32, .uint32, .int64, .bool], Where.prepare),
    .init(.while, versions: 1...1, types: ElementType.movable + [.resource], isPure: false, While.prepare),
    .init(.zerosLike, versions: 1...1, types: [.float32, .int32, .int64], Fill.prepareZeros),
    .init(custom: "AudioSpectrogram", types: [.float32], AudioSpectrogram.prepare),
    .init(custom: "Convolution2DTransposeBias", types: [.float32], Convolution2DTransposeBias.prepare),
    .init(
      custom: "Landmarks2TransformMatrix", versions: 1...2, types: [.float32],
      Landmarks2TransformMatrix.prepare),
    .init(custom: "MaxPoolingWithArgmax2D", types: [.float32], ArgmaxPooling2D.pool),
    .init(custom: "MaxUnpooling2D", types: [.float32], ArgmaxPooling2D.unpool),
    .init(custom: "Mfcc", types: [.float32], Mfcc.prepare),
    .init(custom: "PosenetDecoderOp", types: [.float32, .uint8], PosenetDecoder.prepare),
    .init(custom: "TFLite_Detection_PostProcess", types: [.float32, .uint8], DetectionPostProcess.prepare),
    .init(custom: "TransformLandmarks", versions: 1...2, types: [.float32], TransformLandmarks.prepare),
    .init(custom: "TransformTensor", types: [.float32], TransformTensorBilinear.prepare),
    .init(
      custom: "TransformTensorBilinear", versions: 1...2, types: [.float32], TransformTensorBilinear.prepare),
  ]
}
