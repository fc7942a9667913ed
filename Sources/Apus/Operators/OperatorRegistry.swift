// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// The operators of this build: one line each.
enum OperatorRegistry {
  /// The registration for an operator code of a file; ``OperatorRegistration/unknown`` if there is none.
  static func registration(for entry: OperatorCodeEntry) -> OperatorRegistration {
    guard entry.code == .custom else { return builtin(entry.code) }
    return custom.first { $0.name == entry.customName } ?? .unknown
  }

  /// Every operator.
  static var all: [OperatorRegistration] {
    OperatorCode.allCases.map(builtin).filter { $0 !== OperatorRegistration.unknown } + custom
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

  /// The registration of a builtin operator. A switch, because a model uses about ten of nearly two hundred: a table would be
  /// filled with all of them in the first load of a process, which takes a tenth of a small model's time.
  private static func builtin(_ code: OperatorCode) -> OperatorRegistration {
    switch code {
    case .abs: .init(code, versions: 1...5, types: [.float32, .int8, .int16, .int32], Abs.prepare)
    case .add: .init(code, versions: 1...6, types: numbers, asFloats: [.float16], Add.prepare)
    case .addN: .init(code, versions: 1...1, types: [.float32, .int32], AddN.prepare)
    case .argMax: .init(code, versions: 1...3, types: common + [.int32, .bool], ArgMinMax.maximum)
    case .argMin: .init(code, versions: 1...3, types: common + [.int32, .bool], ArgMinMax.minimum)
    case .assignVariable:
      .init(
        code, versions: 1...1, types: ElementType.movable, at: .input(1), first: [.resource, .int32],
        isPure: false, AssignVariable.prepare)
    case .atan2: .init(code, versions: 1...1, types: [.float32, .float64], asFloats: halves, Atan2.prepare)
    case .averagePool2D: .init(code, versions: 1...3, types: common + [.int16], Pooling2D.average)
    case .batchMatMul: .init(code, versions: 1...4, types: [.float32, .int8, .int16], BatchMatMul.prepare)
    case .batchToSpaceND:
      .init(code, versions: 1...4, types: ElementType.movableBytes, SpaceToBatch.prepareBack)
    case .bidirectionalSequenceLSTM:
      .init(code, versions: 1...3, types: [.float32], isPure: false, BidirectionalSequenceLSTM.prepare)
    case .bidirectionalSequenceRNN:
      .init(code, versions: 1...3, types: [.float32], isPure: false, RecurrentNetwork.prepareBidirectional)
    case .bitcast: .init(code, versions: 1...1, types: ElementType.movable, Bitcast.prepare)
    case .bitwiseXor: .init(code, versions: 1...1, types: integers, BinaryFunctions.prepare(.exclusiveOr))
    case .broadcastArgs: .init(code, versions: 1...1, types: [.int32, .int64], BroadcastTo.prepareShape)
    case .broadcastTo: .init(code, versions: 2...4, types: ElementType.movable, BroadcastTo.prepare)
    case .bucketize:
      .init(code, versions: 1...1, types: [.float32, .float64, .int32, .int64], Bucketize.prepare)
    case .callOnce: .init(code, versions: 1...1, types: [], isPure: false, CallOnce.prepare)
    case .cast: .init(code, versions: 1...9, types: castable, Cast.prepare)
    case .ceil: .init(code, versions: 1...1, types: [.float32], FloatUnary.prepare(.ceil))
    case .complexAbs: .init(code, versions: 1...1, types: complex, ComplexParts.prepare(.magnitude))
    case .concatenation:
      .init(
        code, versions: 1...7,
        types: common + [.float16, .bfloat16, .int4, .int16, .int32, .uint32, .int64, .bool],
        Concatenation.prepare)
    case .conv2D: .init(code, versions: 1...8, types: common + [.int16], Conv2D.prepare)
    case .conv3D: .init(code, versions: 1...1, types: [.float32], Conv3D.prepare)
    case .conv3DTranspose:
      .init(code, versions: 1...1, types: [.float32], at: .input(2), first: [.int32], Conv3DTranspose.prepare)
    case .cos: .init(code, versions: 1...2, types: [.float32], asFloats: [.float16], FloatUnary.prepare(.cos))
    case .cumsum: .init(code, versions: 1...1, types: [.float32, .int32, .int64], CumulativeSum.prepare)
    case .densify: .init(code, versions: 1...1, types: [.float32, .float16, .int8], Densify.prepare)
    case .depthToSpace:
      .init(code, versions: 1...2, types: common + [.int32, .int64], SpaceToDepth.prepareBack)
    case .depthwiseConv2D: .init(code, versions: 1...7, types: common + [.int16], DepthwiseConv2D.prepare)
    case .dequantize:
      .init(
        code, versions: 1...9, types: [.uint8, .int8, .int16, .int4, .uint4, .int2, .float16],
        Dequantize.prepare)
    case .dilate: .init(code, versions: 1...1, types: ElementType.movableBytes, Dilate.prepare)
    case .div: .init(code, versions: 1...2, types: common + [.int16, .int32], Div.prepare)
    case .dynamicUpdateSlice:
      .init(code, versions: 1...6, types: ElementType.movable, DynamicUpdateSlice.prepare)
    case .elu: .init(code, versions: 1...1, types: [.float32, .int8], Elu.prepare)
    case .embeddingLookup:
      .init(
        code, versions: 1...5, types: ElementType.movable + [.int2], at: .input(1), first: [.int32],
        EmbeddingLookup.prepare)
    case .embeddingLookupSparse:
      .init(
        code, versions: 1...1, types: [.float32], at: .input(4), first: [.int32],
        EmbeddingLookupSparse.prepare)
    case .equal:
      .init(
        code, versions: 1...5, types: numbers + [.bool], asFloats: [.float16], Comparisons.prepare(.equal))
    case .exp: .init(code, versions: 1...2, types: [.float32, .int8, .int16], Exp.prepare)
    case .expandDims: .init(code, versions: 1...1, types: ElementType.reshapable, ExpandDims.prepare)
    case .fakeQuant: .init(code, versions: 1...2, types: [.float32], FakeQuant.prepare)
    case .fill:
      .init(
        code, versions: 1...5, types: ElementType.movableBytes, at: .input(1), first: [.int32, .int64],
        Fill.prepare)
    case .floor: .init(code, versions: 1...1, types: [.float32], asFloats: halves, FloatUnary.prepare(.floor))
    case .floorDiv: .init(code, versions: 1...3, types: [.float32, .int8, .int16, .int32], FloorDiv.prepare)
    case .floorMod:
      .init(code, versions: 1...2, types: [.float32, .int8, .int16, .int32, .int64], FloorMod.prepare)
    case .fullyConnected: .init(code, versions: 1...14, types: common + [.int16], FullyConnected.prepare)
    case .gather: .init(code, versions: 1...8, types: paddable + [.int4], Gather.prepare)
    case .gatherND: .init(code, versions: 1...6, types: paddable, GatherND.prepare)
    case .gelu: .init(code, versions: 1...3, types: common + [.int16], asFloats: [.float16], Gelu.prepare)
    case .greater:
      .init(code, versions: 1...2, types: numbers, asFloats: halves, Comparisons.prepare(.greater))
    case .greaterEqual:
      .init(code, versions: 1...3, types: numbers, asFloats: [.float16], Comparisons.prepare(.greaterEqual))
    case .hardSwish: .init(code, versions: 1...1, types: common, HardSwish.prepare)
    case .hashtableLookup: .init(code, versions: 1...1, types: [.int32], HashtableLookup.prepare)
    case .if:
      .init(
        code, versions: 1...1, types: ElementType.movable + [.resource], at: .input(1), first: [.bool],
        isPure: false, If.prepare)
    case .imag: .init(code, versions: 1...1, types: complex, ComplexParts.prepare(.imaginary))
    case .l2Normalization: .init(code, versions: 1...2, types: common, L2NormalizationOperator.prepare)
    case .l2Pool2D: .init(code, versions: 1...1, types: [.float32], Pooling2D.l2)
    case .leakyRelu: .init(code, versions: 1...2, types: common + [.int16], LeakyRelu.prepare)
    case .less: .init(code, versions: 1...3, types: numbers, asFloats: halves, Comparisons.prepare(.less))
    case .lessEqual:
      .init(code, versions: 1...2, types: numbers, asFloats: [.float16], Comparisons.prepare(.lessEqual))
    case .localResponseNormalization:
      .init(code, versions: 1...1, types: [.float32], LocalResponseNormalization.prepare)
    case .log: .init(code, versions: 1...2, types: [.float32, .int8, .int16], Log.prepare)
    case .logicalAnd: .init(code, versions: 1...1, types: [.bool], BinaryFunctions.prepare(.logicalAnd))
    case .logicalNot: .init(code, versions: 1...1, types: [.bool], LogicalNot.prepare)
    case .logicalOr: .init(code, versions: 1...1, types: [.bool], BinaryFunctions.prepare(.logicalOr))
    case .logistic: .init(code, versions: 1...3, types: common + [.int16], asFloats: halves, Logistic.prepare)
    case .logSoftmax: .init(code, versions: 1...2, types: common, LogSoftmaxOperator.prepare)
    case .lshProjection: .init(code, versions: 1...1, types: [.float32], LSHProjection.prepare)
    case .lstm:
      .init(code, versions: 1...4, types: common, isPure: false, UnidirectionalSequenceLSTM.prepareStep)
    case .matrixDiag: .init(code, versions: 1...1, types: ElementType.movable, MatrixDiagonal.prepare)
    case .matrixSetDiag: .init(code, versions: 1...1, types: ElementType.movable, MatrixDiagonal.prepareSet)
    case .maximum: .init(code, versions: 1...4, types: numbers, asFloats: halves, Maximum.prepare)
    case .maxPool2D: .init(code, versions: 1...3, types: common + [.int16], Pooling2D.maximum)
    case .mean: .init(code, versions: 1...3, types: common + [.int16, .int32, .int64], MeanOrSum.mean)
    case .minimum: .init(code, versions: 1...4, types: numbers, asFloats: halves, Minimum.prepare)
    case .mirrorPad: .init(code, versions: 1...3, types: ElementType.movableBytes, MirrorPad.prepare)
    case .mul:
      .init(code, versions: 1...8, types: numbers + [.uint32, .complex64], asFloats: [.float16], Mul.prepare)
    case .multinomial: .init(code, versions: 1...1, types: [.float32], isPure: false, Multinomial.prepare)
    case .neg:
      .init(
        code, versions: 1...1, types: [.float32, .int8, .int16, .int32, .int64], asFloats: halves,
        Neg.prepare)
    case .nonMaxSuppressionV4: .init(code, versions: 1...1, types: [.float32], NonMaxSuppression.prepareHard)
    case .nonMaxSuppressionV5: .init(code, versions: 1...1, types: [.float32], NonMaxSuppression.prepareSoft)
    case .notEqual:
      .init(
        code, versions: 1...4, types: numbers + [.bool], asFloats: [.float16], Comparisons.prepare(.notEqual))
    case .oneHot:
      .init(
        code, versions: 1...1, types: common + [.int32, .int64, .bool], at: .input(2),
        first: [.int32, .int64], OneHot.prepare)
    case .pack: .init(code, versions: 1...5, types: numbers + [.uint32], Pack.prepare)
    case .pad: .init(code, versions: 1...6, types: paddable, Pad.prepare)
    case .padV2: .init(code, versions: 1...6, types: paddable, Pad.prepare)
    case .pow: .init(code, versions: 1...1, types: [.float32, .int32], Pow.prepare)
    case .prelu: .init(code, versions: 1...1, types: common + [.int16], PRelu.prepare)
    case .quantize: .init(code, versions: 1...6, types: common + [.int16, .int32], Quantize.prepare)
    case .randomStandardNormal:
      .init(code, versions: 1...1, types: [.int32], isPure: false, RandomNumbers.prepareNormal)
    case .randomUniform:
      .init(code, versions: 1...1, types: [.int32], isPure: false, RandomNumbers.prepareUniform)
    case .range: .init(code, versions: 1...2, types: [.float32, .int32, .int64], NumberRange.prepare)
    case .rank: .init(code, versions: 1...1, types: ElementType.reshapable, Shape.prepareRank)
    case .readVariable:
      .init(
        code, versions: 1...1, types: ElementType.movable, at: .output(0), first: [.resource, .int32],
        isPure: false, ReadVariable.prepare)
    case .real: .init(code, versions: 1...1, types: complex, ComplexParts.prepare(.real))
    case .reduceAll: .init(code, versions: 1...1, types: [.bool], Reduce.all)
    case .reduceAny: .init(code, versions: 1...1, types: [.bool], Reduce.any)
    case .reduceMax: .init(code, versions: 1...3, types: reducible, Reduce.maximum)
    case .reduceMin: .init(code, versions: 1...3, types: reducible, Reduce.minimum)
    case .reduceProd: .init(code, versions: 1...2, types: reducible.filter { $0 != .uint8 }, Reduce.product)
    case .reduceWindow: .init(code, versions: 1...1, types: ReduceWindow.types, ReduceWindow.prepare)
    case .relu: .init(code, versions: 1...3, types: common + [.int16], Relu.prepare)
    case .relu0To1: .init(code, versions: 1...1, types: common, Relu0To1.prepare)
    case .relu6: .init(code, versions: 1...3, types: common + [.int16], Relu6.prepare)
    case .reluN1To1: .init(code, versions: 1...1, types: common, ReluN1To1.prepare)
    case .reshape: .init(code, versions: 1...1, types: ElementType.reshapable, Reshape.prepare)
    case .resizeBilinear: .init(code, versions: 1...4, types: common + [.int16], ResizeBilinear.prepare)
    case .resizeNearestNeighbor:
      .init(
        code, versions: 1...4,
        types: common + [.float16, .bfloat16, .int16, .uint16, .int32, .uint32, .bool],
        ResizeNearestNeighbor.prepare)
    case .reverseSequence:
      .init(
        code, versions: 1...1, types: [.float32, .uint8, .int16, .int32, .int64], ReverseSequence.prepare)
    case .reverseV2: .init(code, versions: 1...4, types: paddable, Reverse.prepare)
    case .rfft2D: .init(code, versions: 1...1, types: [.float32], RFFT2D.prepare)
    case .rightShift: .init(code, versions: 1...1, types: integers, BinaryFunctions.prepare(.shiftRight))
    case .rnn: .init(code, versions: 1...3, types: [.float32], isPure: false, RecurrentNetwork.prepareStep)
    case .round: .init(code, versions: 1...1, types: [.float32], asFloats: halves, FloatUnary.prepare(.round))
    case .rsqrt: .init(code, versions: 1...3, types: [.float32, .int8, .int16], Rsqrt.prepare)
    case .scatterND:
      .init(
        code, versions: 1...1, types: common + [.int32, .int64, .bool], at: .input(1), first: [.int32],
        GatherND.prepareScatter)
    case .segmentSum: .init(code, versions: 1...1, types: [.float32, .int32], SegmentReduction.sorted)
    case .select:
      .init(
        code, versions: 1...4, types: ElementType.movableBytes, at: .input(1), first: [.bool], Select.prepare)
    case .selectV2:
      .init(
        code, versions: 1...2, types: ElementType.movableBytes, at: .input(1), first: [.bool],
        Select.prepareVersion2)
    case .shape: .init(code, versions: 1...1, types: ElementType.reshapable, Shape.prepare)
    case .sign: .init(code, versions: 1...2, types: [.float32, .float64, .int32], Sign.prepare)
    case .sin: .init(code, versions: 1...2, types: [.float32], asFloats: [.float16], FloatUnary.prepare(.sin))
    case .slice: .init(code, versions: 1...8, types: ElementType.movable, Slice.prepare)
    case .softmax:
      .init(code, versions: 1...4, types: common + [.int16], asFloats: [.float16], SoftmaxOperator.prepare)
    case .spaceToBatchND: .init(code, versions: 1...4, types: ElementType.movableBytes, SpaceToBatch.prepare)
    case .spaceToDepth: .init(code, versions: 1...2, types: common + [.int32, .int64], SpaceToDepth.prepare)
    case .sparseToDense:
      .init(
        code, versions: 1...3, types: common + [.int32, .int64], at: .input(2), first: [.int32, .int64],
        SparseToDense.prepare)
    case .split: .init(code, versions: 1...5, types: numbers, at: .input(1), first: [.int32], Split.prepare)
    case .splitV: .init(code, versions: 1...3, types: numbers, Split.prepareV)
    case .sqrt: .init(code, versions: 1...2, types: [.float32, .int8, .int16], Sqrt.prepare)
    case .square: .init(code, versions: 1...1, types: [.float32], FloatUnary.prepare(.square))
    case .squaredDifference:
      .init(code, versions: 1...2, types: [.float32, .int8, .int32], SquaredDifference.prepare)
    case .squeeze: .init(code, versions: 1...2, types: ElementType.reshapable, Squeeze.prepare)
    case .stablehloAdd:
      .init(
        code, versions: 1...1, types: StableHLOFunctions.types, asFloats: [.float16], StableHLOFunctions.add)
    case .stablehloAnd:
      .init(code, versions: 1...1, types: StableHLOFunctions.bitTypes, StableHLOFunctions.and)
    case .stablehloCase: .init(code, versions: 1...1, types: [.int32], isPure: false, StableHLOCase.prepare)
    case .stablehloComposite:
      .init(
        code, versions: 1...1, types: ElementType.movable + [.resource], isPure: false,
        StableHLOComposite.prepare)
    case .stablehloGather:
      .init(code, versions: 1...1, types: ElementType.movableBytes, StableHLOGather.prepare)
    case .stablehloMaximum:
      .init(
        code, versions: 1...1, types: StableHLOFunctions.types, asFloats: [.float16],
        StableHLOFunctions.maximum)
    case .stablehloMinimum:
      .init(
        code, versions: 1...1, types: StableHLOFunctions.types, asFloats: [.float16],
        StableHLOFunctions.minimum)
    case .stablehloMultiply:
      .init(
        code, versions: 1...1, types: StableHLOFunctions.types, asFloats: [.float16],
        StableHLOFunctions.multiply)
    case .stablehloPad: .init(code, versions: 1...1, types: ElementType.movableBytes, StableHLOPad.prepare)
    case .stablehloReduceWindow:
      .init(code, versions: 1...1, types: ReduceWindow.types, ReduceWindow.prepareStableHLO)
    case .stablehloRngBitGenerator:
      .init(code, versions: 1...1, types: [.uint64], StableHLORngBitGenerator.prepare)
    case .stablehloScatter:
      .init(code, versions: 1...1, types: StableHLOScatter.types, StableHLOScatter.prepare)
    case .stablehloShiftLeft:
      .init(code, versions: 1...1, types: StableHLOFunctions.shiftTypes, StableHLOFunctions.shiftLeft)
    case .stridedSlice: .init(code, versions: 1...8, types: ElementType.movableBytes, StridedSlice.prepare)
    case .sub: .init(code, versions: 1...5, types: numbers, Sub.prepare)
    case .sum: .init(code, versions: 1...2, types: reducible, Reduce.sum)
    case .svdf: .init(code, versions: 1...4, types: [.float32, .int8], isPure: false, SVDF.prepare)
    case .tanh: .init(code, versions: 1...3, types: common + [.int16], asFloats: halves, Tanh.prepare)
    case .tile: .init(code, versions: 1...3, types: ElementType.movableBytes, Tile.prepare)
    case .topKV2: .init(code, versions: 1...3, types: common + [.int16, .int32, .int64], TopK.prepare)
    case .transpose: .init(code, versions: 1...9, types: ElementType.movable + [.uint4], Transpose.prepare)
    case .transposeConv:
      .init(
        code, versions: 1...5, types: common + [.int16], at: .input(2), first: [.int32],
        TransposeConv.prepare)
    case .unidirectionalSequenceLSTM:
      .init(
        code, versions: 1...4, types: [.float32, .int8], isPure: false, UnidirectionalSequenceLSTM.prepare)
    case .unidirectionalSequenceRNN:
      .init(code, versions: 1...3, types: [.float32], isPure: false, RecurrentNetwork.prepareSequence)
    case .unique:
      .init(code, versions: 1...1, types: [.float32, .int8, .int16, .uint8, .int32, .int64], Unique.prepare)
    case .unpack:
      .init(
        code, versions: 1...6, types: common + [.float16, .bfloat16, .int16, .int32, .bool], Unpack.prepare)
    case .unsortedSegmentMax:
      .init(code, versions: 1...1, types: [.float32, .int32], SegmentReduction.maximum)
    case .unsortedSegmentMin:
      .init(code, versions: 1...1, types: [.float32, .int32], SegmentReduction.minimum)
    case .unsortedSegmentProd:
      .init(code, versions: 1...1, types: [.float32, .int32], SegmentReduction.product)
    case .unsortedSegmentSum: .init(code, versions: 1...1, types: [.float32, .int32], SegmentReduction.sum)
    case .varHandle:
      .init(code, versions: 1...1, types: [.resource], at: .output(0), isPure: false, VarHandle.prepare)
    case .where:
      .init(code, versions: 1...2, types: common + [.int32, .uint32, .int64, .bool], Where.prepare)
    case .while:
      .init(code, versions: 1...1, types: ElementType.movable + [.resource], isPure: false, While.prepare)
    case .zerosLike: .init(code, versions: 1...1, types: [.float32, .int32, .int64], Fill.prepareZeros)
    default: .unknown
    }
  }

  /// Custom operators.
  private static let custom: [OperatorRegistration] = [
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
