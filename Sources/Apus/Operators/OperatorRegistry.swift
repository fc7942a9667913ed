// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import ApusKernels

/// The table of operators: all that the engine knows about each besides its arithmetic.
///
/// The schema's facts (number, name, options) are in `OperatorCode`. The switches of both are exhaustive, so that the
/// compiler names every place that a new operator lacks.
enum OperatorRegistry {
  /// The registration for an operator code of a file; ``OperatorRegistration/unknown`` if there is none.
  static func registration(for entry: OperatorCodeEntry) -> OperatorRegistration {
    guard let code = entry.code else { return .unknown }
    guard code == .custom else { return builtin(code) }
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

  /// The registration of a builtin operator; ``OperatorRegistration/unknown`` if this build lacks it.
  ///
  /// A switch, because a model uses about ten of nearly two hundred: an array would be filled with all of them in the
  /// first load of a process, which takes a tenth of a small model's time.
  private static func builtin(_ code: OperatorCode) -> OperatorRegistration {
    switch code {
    case .abs:
      .init(code, versions: 1...5, types: [.float32, .int8, .int16, .int32], rows: .elements, Abs.prepare)
    case .add:
      .init(
        code, versions: 1...6, types: numbers, asFloats: [.float16], result: .like(input: 1),
        rows: .elements, Add.prepare)
    case .addN:
      .init(
        code, versions: 1...1, types: [.float32, .int32], result: .like(input: 0), rows: .elements,
        AddN.prepare)
    case .argMax:
      .init(
        code, versions: 1...3, types: common + [.int32, .bool], result: .option(ArgMinMax.maximumType),
        rows: .along, ArgMinMax.maximum)
    case .argMin:
      .init(
        code, versions: 1...3, types: common + [.int32, .bool], result: .option(ArgMinMax.minimumType),
        rows: .along, ArgMinMax.minimum)
    case .assignVariable:
      .init(
        code, versions: 1...1, types: ElementType.movable, at: .input(1), first: [.resource, .int32],
        rows: .mixed, isPure: false, AssignVariable.prepare)
    case .atan2:
      .init(
        code, versions: 1...1, types: [.float32, .float64], asFloats: halves, rows: .elements, Atan2.prepare)
    case .averagePool2D:
      .init(code, versions: 1...3, types: common + [.int16], rows: .images, Pooling2D.average)
    case .batchMatMul:
      .init(code, versions: 1...4, types: [.float32, .int8, .int16], rows: .matrices, BatchMatMul.prepare)
    case .batchToSpaceND:
      .init(code, versions: 1...4, types: ElementType.movableBytes, rows: .mixed, SpaceToBatch.prepareBack)
    case .bidirectionalSequenceLSTM:
      .init(
        code, versions: 1...3, types: [.float32], rows: .mixed, isPure: false,
        BidirectionalSequenceLSTM.prepare)
    case .bidirectionalSequenceRNN:
      .init(
        code, versions: 1...3, types: [.float32], rows: .mixed, isPure: false,
        RecurrentNetwork.prepareBidirectional)
    case .bitcast: .init(code, versions: 1...1, types: ElementType.movable, rows: .sameOrder, Bitcast.prepare)
    case .bitwiseXor:
      .init(
        code, versions: 1...1, types: integers, result: .like(input: 0), rows: .elements,
        BinaryFunctions.prepare(.exclusiveOr))
    case .broadcastArgs:
      .init(code, versions: 1...1, types: [.int32, .int64], rows: .mixed, BroadcastTo.prepareShape)
    case .broadcastTo:
      .init(code, versions: 2...4, types: ElementType.movable, rows: .broadcast, BroadcastTo.prepare)
    case .bucketize:
      .init(
        code, versions: 1...1, types: [.float32, .float64, .int32, .int64], result: .fixed(.int32),
        rows: .elements, Bucketize.prepare)
    case .callOnce:
      .init(
        code, versions: 1...1, types: [], rows: .mixed, subgraphs: .called(CallOnce.subgraphs),
        isPure: false, CallOnce.prepare)
    case .cast: .init(code, versions: 1...9, types: castable, rows: .elements, Cast.prepare)
    case .ceil:
      .init(
        code, versions: 1...1, types: [.float32], result: .like(input: 0), rows: .elements,
        FloatUnary.prepare(.ceil))
    case .complexAbs:
      .init(code, versions: 1...1, types: complex, rows: .elements, ComplexParts.prepare(.magnitude))
    case .concatenation:
      .init(
        code, versions: 1...7,
        types: common + [.float16, .bfloat16, .int4, .int16, .int32, .uint32, .int64, .bool],
        rows: .joining(isNewAxis: false), Concatenation.prepare)
    case .conv2D:
      .init(code, versions: 1...8, types: common + [.int16], rows: .windows(images: 0), Conv2D.prepare)
    case .conv3D: .init(code, versions: 1...1, types: [.float32], rows: .windows(images: 0), Conv3D.prepare)
    case .conv3DTranspose:
      .init(
        code, versions: 1...1, types: [.float32], at: .input(2), first: [.int32], rows: .windows(images: 2),
        Conv3DTranspose.prepare)
    case .cos:
      .init(
        code, versions: 1...2, types: [.float32], asFloats: [.float16], rows: .elements,
        FloatUnary.prepare(.cos))
    case .cumsum:
      .init(code, versions: 1...1, types: [.float32, .int32, .int64], rows: .along, CumulativeSum.prepare)
    case .densify:
      .init(
        code, versions: 1...1, types: [.float32, .float16, .int8], result: .like(input: 0), rows: .mixed,
        Densify.prepare)
    case .depthToSpace:
      .init(code, versions: 1...2, types: common + [.int32, .int64], rows: .images, SpaceToDepth.prepareBack)
    case .depthwiseConv2D:
      .init(
        code, versions: 1...7, types: common + [.int16], rows: .windows(images: 0), DepthwiseConv2D.prepare)
    case .dequantize:
      .init(
        code, versions: 1...9, types: [.uint8, .int8, .int16, .int4, .uint4, .int2, .float16],
        result: .fixed(.float32), rows: .elements, Dequantize.prepare)
    case .dilate: .init(code, versions: 1...1, types: ElementType.movableBytes, rows: .mixed, Dilate.prepare)
    case .div:
      .init(
        code, versions: 1...2, types: common + [.int16, .int32], result: .like(input: 1), rows: .elements,
        Div.prepare)
    case .dynamicUpdateSlice:
      .init(
        code, versions: 1...6, types: ElementType.movable, result: .like(input: 0), rows: .mixed,
        DynamicUpdateSlice.prepare)
    case .elu: .init(code, versions: 1...1, types: [.float32, .int8], rows: .elements, Elu.prepare)
    case .embeddingLookup:
      .init(
        code, versions: 1...5, types: ElementType.movable + [.int2], at: .input(1), first: [.int32],
        rows: .lookup(indices: 0, table: 1), EmbeddingLookup.prepare)
    case .embeddingLookupSparse:
      .init(
        code, versions: 1...1, types: [.float32], at: .input(4), first: [.int32], rows: .mixed,
        EmbeddingLookupSparse.prepare)
    case .equal:
      .init(
        code, versions: 1...5, types: numbers + [.bool], asFloats: [.float16], result: .fixed(.bool),
        rows: .elements, Comparisons.prepare(.equal))
    case .exp:
      .init(
        code, versions: 1...2, types: [.float32, .int8, .int16], result: .like(input: 0), rows: .elements,
        Exp.prepare)
    case .expandDims:
      .init(
        code, versions: 1...1, types: ElementType.reshapable, result: .like(input: 0), rows: .sameOrder,
        ExpandDims.prepare)
    case .fakeQuant:
      .init(
        code, versions: 1...2, types: [.float32], result: .like(input: 0), rows: .elements,
        FakeQuant.prepare)
    case .fill:
      .init(
        code, versions: 1...5, types: ElementType.movableBytes, at: .input(1), first: [.int32, .int64],
        result: .like(input: 1), rows: .fill, Fill.prepare)
    case .floor:
      .init(
        code, versions: 1...1, types: [.float32], asFloats: halves, result: .like(input: 0),
        rows: .elements, FloatUnary.prepare(.floor))
    case .floorDiv:
      .init(
        code, versions: 1...3, types: [.float32, .int8, .int16, .int32], result: .like(input: 0),
        rows: .elements, FloorDiv.prepare)
    case .floorMod:
      .init(
        code, versions: 1...2, types: [.float32, .int8, .int16, .int32, .int64], result: .like(input: 0),
        rows: .elements, FloorMod.prepare)
    case .fullyConnected:
      .init(code, versions: 1...14, types: common + [.int16], rows: .filteredRows, FullyConnected.prepare)
    case .gather:
      .init(
        code, versions: 1...8, types: paddable + [.int4], result: .like(input: 0), rows: .gathering,
        Gather.prepare)
    case .gatherND:
      .init(
        code, versions: 1...6, types: paddable, result: .like(input: 0), rows: .gatheringVectors,
        GatherND.prepare)
    case .gelu:
      .init(
        code, versions: 1...3, types: common + [.int16], asFloats: [.float16], rows: .elements, Gelu.prepare)
    case .greater:
      .init(
        code, versions: 1...2, types: numbers, asFloats: halves, result: .fixed(.bool), rows: .elements,
        Comparisons.prepare(.greater))
    case .greaterEqual:
      .init(
        code, versions: 1...3, types: numbers, asFloats: [.float16], result: .fixed(.bool), rows: .elements,
        Comparisons.prepare(.greaterEqual))
    case .hardSwish: .init(code, versions: 1...1, types: common, rows: .elements, HardSwish.prepare)
    case .hashtableLookup:
      .init(code, versions: 1...1, types: [.int32], rows: .mixed, HashtableLookup.prepare)
    case .if:
      .init(
        code, versions: 1...1, types: ElementType.movable + [.resource], at: .input(1), first: [.bool],
        rows: .mixed, subgraphs: .called(If.subgraphs, argumentsFrom: 1), isPure: false, If.prepare)
    case .imag:
      .init(code, versions: 1...1, types: complex, rows: .elements, ComplexParts.prepare(.imaginary))
    case .l2Normalization:
      .init(code, versions: 1...2, types: common, rows: .lastAxis, L2NormalizationOperator.prepare)
    case .l2Pool2D: .init(code, versions: 1...1, types: [.float32], rows: .images, Pooling2D.l2)
    case .leakyRelu:
      .init(code, versions: 1...2, types: common + [.int16], rows: .elements, LeakyRelu.prepare)
    case .less:
      .init(
        code, versions: 1...3, types: numbers, asFloats: halves, result: .fixed(.bool), rows: .elements,
        Comparisons.prepare(.less))
    case .lessEqual:
      .init(
        code, versions: 1...2, types: numbers, asFloats: [.float16], result: .fixed(.bool), rows: .elements,
        Comparisons.prepare(.lessEqual))
    case .localResponseNormalization:
      .init(code, versions: 1...1, types: [.float32], rows: .images, LocalResponseNormalization.prepare)
    case .log: .init(code, versions: 1...2, types: [.float32, .int8, .int16], rows: .elements, Log.prepare)
    case .logicalAnd:
      .init(
        code, versions: 1...1, types: [.bool], result: .like(input: 0), rows: .elements,
        BinaryFunctions.prepare(.logicalAnd))
    case .logicalNot: .init(code, versions: 1...1, types: [.bool], rows: .elements, LogicalNot.prepare)
    case .logicalOr:
      .init(
        code, versions: 1...1, types: [.bool], result: .like(input: 0), rows: .elements,
        BinaryFunctions.prepare(.logicalOr))
    case .logistic:
      .init(
        code, versions: 1...3, types: common + [.int16], asFloats: halves, rows: .elements, Logistic.prepare)
    case .logSoftmax: .init(code, versions: 1...2, types: common, rows: .lastAxis, LogSoftmaxOperator.prepare)
    case .lshProjection: .init(code, versions: 1...1, types: [.float32], rows: .mixed, LSHProjection.prepare)
    case .lstm:
      .init(
        code, versions: 1...4, types: common, rows: .mixed, isPure: false,
        UnidirectionalSequenceLSTM.prepareStep)
    case .matrixDiag:
      .init(
        code, versions: 1...1, types: ElementType.movable, result: .like(input: 0), rows: .diagonal,
        MatrixDiagonal.prepare)
    case .matrixSetDiag:
      .init(
        code, versions: 1...1, types: ElementType.movable, result: .like(input: 0), rows: .mixed,
        MatrixDiagonal.prepareSet)
    case .maximum:
      .init(
        code, versions: 1...4, types: numbers, asFloats: halves, result: .like(input: 0), rows: .elements,
        Maximum.prepare)
    case .maxPool2D: .init(code, versions: 1...3, types: common + [.int16], rows: .images, Pooling2D.maximum)
    case .mean:
      .init(code, versions: 1...3, types: common + [.int16, .int32, .int64], rows: .folding, MeanOrSum.mean)
    case .minimum:
      .init(
        code, versions: 1...4, types: numbers, asFloats: halves, result: .like(input: 0), rows: .elements,
        Minimum.prepare)
    case .mirrorPad:
      .init(code, versions: 1...3, types: ElementType.movableBytes, rows: .padding, MirrorPad.prepare)
    case .mul:
      .init(
        code, versions: 1...8, types: numbers + [.uint32, .complex64], asFloats: [.float16],
        rows: .elements, Mul.prepare)
    case .multinomial:
      .init(code, versions: 1...1, types: [.float32], rows: .mixed, isPure: false, Multinomial.prepare)
    case .neg:
      .init(
        code, versions: 1...1, types: [.float32, .int8, .int16, .int32, .int64], asFloats: halves,
        result: .like(input: 0), rows: .elements, Neg.prepare)
    case .nonMaxSuppressionV4:
      .init(
        code, versions: 1...1, types: [.float32], result: .fixedEach([.int32, .int32]), rows: .mixed,
        NonMaxSuppression.prepareHard)
    case .nonMaxSuppressionV5:
      .init(
        code, versions: 1...1, types: [.float32], result: .fixedEach([.int32, .float32, .int32]),
        rows: .mixed, NonMaxSuppression.prepareSoft)
    case .notEqual:
      .init(
        code, versions: 1...4, types: numbers + [.bool], asFloats: [.float16], result: .fixed(.bool),
        rows: .elements, Comparisons.prepare(.notEqual))
    case .oneHot:
      .init(
        code, versions: 1...1, types: common + [.int32, .int64, .bool], at: .input(2),
        first: [.int32, .int64], result: .like(input: 2), rows: .oneHot, OneHot.prepare)
    case .pack:
      .init(code, versions: 1...5, types: numbers + [.uint32], rows: .joining(isNewAxis: true), Pack.prepare)
    case .pad: .init(code, versions: 1...6, types: paddable, rows: .padding, Pad.prepare)
    case .padV2: .init(code, versions: 1...6, types: paddable, rows: .padding, Pad.prepare)
    case .pow:
      .init(
        code, versions: 1...1, types: [.float32, .int32], result: .like(input: 0), rows: .elements,
        Pow.prepare)
    case .prelu:
      .init(
        code, versions: 1...1, types: common + [.int16], result: .like(input: 0), rows: .elements,
        PRelu.prepare)
    case .quantize:
      .init(code, versions: 1...6, types: common + [.int16, .int32], rows: .elements, Quantize.prepare)
    case .randomStandardNormal:
      .init(code, versions: 1...1, types: [.int32], rows: .mixed, isPure: false, RandomNumbers.prepareNormal)
    case .randomUniform:
      .init(code, versions: 1...1, types: [.int32], rows: .mixed, isPure: false, RandomNumbers.prepareUniform)
    case .range:
      .init(
        code, versions: 1...2, types: [.float32, .int32, .int64], result: .like(input: 0), rows: .mixed,
        NumberRange.prepare)
    case .rank:
      .init(
        code, versions: 1...1, types: ElementType.reshapable, result: .fixed(.int32), rows: .mixed,
        Shape.prepareRank)
    case .readVariable:
      .init(
        code, versions: 1...1, types: ElementType.movable, at: .output(0), first: [.resource, .int32],
        rows: .mixed, isPure: false, ReadVariable.prepare)
    case .real: .init(code, versions: 1...1, types: complex, rows: .elements, ComplexParts.prepare(.real))
    case .reduceAll: .init(code, versions: 1...1, types: [.bool], rows: .folding, Reduce.all)
    case .reduceAny: .init(code, versions: 1...1, types: [.bool], rows: .folding, Reduce.any)
    case .reduceMax: .init(code, versions: 1...3, types: reducible, rows: .folding, Reduce.maximum)
    case .reduceMin: .init(code, versions: 1...3, types: reducible, rows: .folding, Reduce.minimum)
    case .reduceProd: .init(code, versions: 1...2, types: reducible, rows: .folding, Reduce.product)
    case .reduceWindow:
      .init(code, versions: 1...1, types: ReduceWindow.types, rows: .mixed, ReduceWindow.prepare)
    case .relu: .init(code, versions: 1...3, types: common + [.int16], rows: .elements, Relu.prepare)
    case .relu0To1: .init(code, versions: 1...1, types: common, rows: .elements, Relu0To1.prepare)
    case .relu6: .init(code, versions: 1...3, types: common + [.int16], rows: .elements, Relu6.prepare)
    case .reluN1To1: .init(code, versions: 1...1, types: common, rows: .elements, ReluN1To1.prepare)
    case .reshape:
      .init(code, versions: 1...1, types: ElementType.reshapable, rows: .sameOrder, Reshape.prepare)
    case .resizeBilinear:
      .init(
        code, versions: 1...4, types: common + [.int16], result: .like(input: 0), rows: .images,
        ResizeBilinear.prepare)
    case .resizeNearestNeighbor:
      .init(
        code, versions: 1...4,
        types: common + [.float16, .bfloat16, .int16, .uint16, .int32, .uint32, .bool],
        result: .like(input: 0), rows: .images, ResizeNearestNeighbor.prepare)
    case .reverseSequence:
      .init(
        code, versions: 1...1, types: [.float32, .uint8, .int16, .int32, .int64], rows: .mixed,
        ReverseSequence.prepare)
    case .reverseV2: .init(code, versions: 1...4, types: paddable, rows: .along, Reverse.prepare)
    case .rfft2D:
      .init(
        code, versions: 1...1, types: [.float32], result: .fixed(.complex64), rows: .mixed, RFFT2D.prepare)
    case .rightShift:
      .init(
        code, versions: 1...1, types: integers, result: .like(input: 0), rows: .elements,
        BinaryFunctions.prepare(.shiftRight))
    case .rnn:
      .init(
        code, versions: 1...3, types: [.float32], rows: .mixed, isPure: false, RecurrentNetwork.prepareStep)
    case .round:
      .init(
        code, versions: 1...1, types: [.float32], asFloats: halves, result: .like(input: 0),
        rows: .elements, FloatUnary.prepare(.round))
    case .rsqrt:
      .init(code, versions: 1...3, types: [.float32, .int8, .int16], rows: .elements, Rsqrt.prepare)
    case .scatterND:
      .init(
        code, versions: 1...1, types: common + [.int32, .int64, .bool], at: .input(1), first: [.int32],
        result: .like(input: 1), rows: .mixed, GatherND.prepareScatter)
    case .segmentSum:
      .init(code, versions: 1...1, types: [.float32, .int32], rows: .mixed, SegmentReduction.sorted)
    case .select:
      .init(
        code, versions: 1...4, types: ElementType.movableBytes, at: .input(1), first: [.bool],
        result: .like(input: 1), rows: .choice, Select.prepare)
    case .selectV2:
      .init(
        code, versions: 1...2, types: ElementType.movableBytes, at: .input(1), first: [.bool],
        result: .like(input: 1), rows: .elements, Select.prepareVersion2)
    case .shape:
      .init(
        code, versions: 1...1, types: ElementType.reshapable, result: .option(Shape.type), rows: .mixed,
        Shape.prepare)
    case .sign:
      .init(code, versions: 1...2, types: [.float32, .float64, .int32], rows: .elements, Sign.prepare)
    case .sin:
      .init(
        code, versions: 1...2, types: [.float32], asFloats: [.float16], rows: .elements,
        FloatUnary.prepare(.sin))
    case .slice: .init(code, versions: 1...8, types: ElementType.movable, rows: .slice, Slice.prepare)
    case .softmax:
      .init(
        code, versions: 1...4, types: common + [.int16], asFloats: [.float16], rows: .lastAxis,
        SoftmaxOperator.prepare)
    case .spaceToBatchND:
      .init(code, versions: 1...4, types: ElementType.movableBytes, rows: .mixed, SpaceToBatch.prepare)
    case .spaceToDepth:
      .init(code, versions: 1...2, types: common + [.int32, .int64], rows: .images, SpaceToDepth.prepare)
    case .sparseToDense:
      .init(
        code, versions: 1...3, types: common + [.int32, .int64], at: .input(2), first: [.int32, .int64],
        result: .like(input: 2), rows: .mixed, SparseToDense.prepare)
    case .split:
      .init(
        code, versions: 1...5, types: numbers, at: .input(1), first: [.int32], result: .allLike(input: 1),
        rows: .parts(of: 1, axis: .input(0)), Split.prepare)
    case .splitV:
      .init(
        code, versions: 1...3, types: numbers, result: .allLike(input: 0),
        rows: .parts(of: 0, axis: .input(2)), Split.prepareV)
    case .sqrt: .init(code, versions: 1...2, types: [.float32, .int8, .int16], rows: .elements, Sqrt.prepare)
    case .square:
      .init(code, versions: 1...1, types: [.float32], rows: .elements, FloatUnary.prepare(.square))
    case .squaredDifference:
      .init(
        code, versions: 1...2, types: [.float32, .int8, .int32], result: .like(input: 1), rows: .elements,
        SquaredDifference.prepare)
    case .squeeze:
      .init(code, versions: 1...2, types: ElementType.reshapable, rows: .sameOrder, Squeeze.prepare)
    case .stablehloAdd:
      .init(
        code, versions: 1...1, types: StableHLOFunctions.types, asFloats: [.float16], rows: .elements,
        StableHLOFunctions.add)
    case .stablehloAnd:
      .init(
        code, versions: 1...1, types: StableHLOFunctions.bitTypes, rows: .elements, StableHLOFunctions.and)
    case .stablehloCase:
      .init(
        code, versions: 1...1, types: [.int32], rows: .mixed,
        subgraphs: .called(StableHLOCase.subgraphs, argumentsFrom: 1), isPure: false, StableHLOCase.prepare)
    case .stablehloComposite:
      .init(
        code, versions: 1...1, types: ElementType.movable + [.resource], rows: .mixed,
        subgraphs: .called(StableHLOComposite.subgraphs), isPure: false, StableHLOComposite.prepare)
    case .stablehloGather:
      .init(code, versions: 1...1, types: ElementType.movableBytes, rows: .mixed, StableHLOGather.prepare)
    case .stablehloMaximum:
      .init(
        code, versions: 1...1, types: StableHLOFunctions.types, asFloats: [.float16], rows: .elements,
        StableHLOFunctions.maximum)
    case .stablehloMinimum:
      .init(
        code, versions: 1...1, types: StableHLOFunctions.types, asFloats: [.float16], rows: .elements,
        StableHLOFunctions.minimum)
    case .stablehloMultiply:
      .init(
        code, versions: 1...1, types: StableHLOFunctions.types, asFloats: [.float16], rows: .elements,
        StableHLOFunctions.multiply)
    case .stablehloPad:
      .init(code, versions: 1...1, types: ElementType.movableBytes, rows: .mixed, StableHLOPad.prepare)
    case .stablehloReduceWindow:
      .init(
        code, versions: 1...1, types: ReduceWindow.types, rows: .mixed, subgraphs: .body(ReduceWindow.body),
        ReduceWindow.prepareStableHLO)
    case .stablehloRngBitGenerator:
      .init(code, versions: 1...1, types: [.uint64], rows: .mixed, StableHLORngBitGenerator.prepare)
    case .stablehloScatter:
      .init(
        code, versions: 1...1, types: StableHLOScatter.types, rows: .mixed,
        subgraphs: .body(StableHLOScatter.body), StableHLOScatter.prepare)
    case .stablehloShiftLeft:
      .init(
        code, versions: 1...1, types: StableHLOFunctions.shiftTypes, result: .like(input: 0),
        rows: .elements, StableHLOFunctions.shiftLeft)
    case .stridedSlice:
      .init(code, versions: 1...8, types: ElementType.movableBytes, rows: .stridedSlice, StridedSlice.prepare)
    case .sub:
      .init(code, versions: 1...5, types: numbers, result: .like(input: 1), rows: .elements, Sub.prepare)
    case .sum: .init(code, versions: 1...2, types: reducible, rows: .folding, Reduce.sum)
    case .svdf:
      .init(code, versions: 1...4, types: [.float32, .int8], rows: .mixed, isPure: false, SVDF.prepare)
    case .tanh:
      .init(code, versions: 1...3, types: common + [.int16], asFloats: halves, rows: .elements, Tanh.prepare)
    case .tile: .init(code, versions: 1...3, types: ElementType.movableBytes, rows: .tiling, Tile.prepare)
    case .topKV2:
      .init(code, versions: 1...3, types: common + [.int16, .int32, .int64], rows: .largest, TopK.prepare)
    case .transpose:
      .init(
        code, versions: 1...9, types: ElementType.movable + [.uint4], rows: .transposition,
        Transpose.prepare)
    case .transposeConv:
      .init(
        code, versions: 1...5, types: common + [.int16], at: .input(2), first: [.int32],
        rows: .windows(images: 2), TransposeConv.prepare)
    case .unidirectionalSequenceLSTM:
      .init(
        code, versions: 1...4, types: [.float32, .int8], rows: .mixed, isPure: false,
        UnidirectionalSequenceLSTM.prepare)
    case .unidirectionalSequenceRNN:
      .init(
        code, versions: 1...3, types: [.float32], rows: .mixed, isPure: false,
        RecurrentNetwork.prepareSequence)
    case .unique:
      .init(
        code, versions: 1...1, types: [.float32, .int8, .int16, .uint8, .int32, .int64], rows: .mixed,
        Unique.prepare)
    case .unpack:
      .init(
        code, versions: 1...6, types: common + [.float16, .bfloat16, .int16, .int32, .bool],
        rows: .parts(of: 0, axis: .unpackOption), Unpack.prepare)
    case .unsortedSegmentMax:
      .init(code, versions: 1...1, types: [.float32, .int32], rows: .mixed, SegmentReduction.maximum)
    case .unsortedSegmentMin:
      .init(code, versions: 1...1, types: [.float32, .int32], rows: .mixed, SegmentReduction.minimum)
    case .unsortedSegmentProd:
      .init(code, versions: 1...1, types: [.float32, .int32], rows: .mixed, SegmentReduction.product)
    case .unsortedSegmentSum:
      .init(code, versions: 1...1, types: [.float32, .int32], rows: .mixed, SegmentReduction.sum)
    case .varHandle:
      .init(
        code, versions: 1...1, types: [.resource], at: .output(0), rows: .mixed, isPure: false,
        VarHandle.prepare)
    case .where:
      .init(
        code, versions: 1...2, types: common + [.int32, .uint32, .int64, .bool], result: .fixed(.int64),
        rows: .mixed, Where.prepare)
    case .while:
      .init(
        code, versions: 1...1, types: ElementType.movable + [.resource], rows: .mixed,
        subgraphs: .called(While.subgraphs), isPure: false, While.prepare)
    case .zerosLike:
      .init(
        code, versions: 1...1, types: [.float32, .int32, .int64], result: .like(input: 0), rows: .elements,
        Fill.prepareZeros)
    case .concatEmbeddings, .skipGram, .call, .custom, .delegate, .placeholderForGreaterOpCodes,
      .hashtable, .hashtableFind, .hashtableImport, .hashtableSize, .stablehloLogistic,
      .stablehloDivide, .stablehloReshape, .stablehloClamp, .stablehloConcatenate,
      .stablehloBroadcastInDim, .stablehloConvolution, .stablehloSlice, .stablehloCustomCall,
      .stablehloReduce, .stablehloAbs, .stablehloCosine, .stablehloExponential, .stablehloFloor,
      .stablehloLog, .stablehloNegate, .stablehloOr, .stablehloPower, .stablehloRemainder,
      .stablehloRsqrt, .stablehloSelect, .stablehloSubtract, .stablehloTanh, .stablehloCompare,
      .stablehloConvert, .stablehloDynamicSlice, .stablehloDynamicUpdateSlice, .stablehloIota,
      .stablehloDotGeneral, .stablehloSort, .stablehloWhile, .stablehloTranspose, .stablehloCbrt:
      .unknown
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
    .init(
      custom: "NumericVerify", types: [.float16, .uint8, .int8, .int16], result: .fixed(.float32),
      isPure: false, NumericVerify.prepare),
    .init(custom: "PosenetDecoderOp", types: [.float32, .uint8], PosenetDecoder.prepare),
    .init(custom: "TFLite_Detection_PostProcess", types: [.float32, .uint8], DetectionPostProcess.prepare),
    .init(custom: "TransformLandmarks", versions: 1...2, types: [.float32], TransformLandmarks.prepare),
    .init(custom: "TransformTensor", types: [.float32], TransformTensorBilinear.prepare),
    .init(
      custom: "TransformTensorBilinear", versions: 1...2, types: [.float32], TransformTensorBilinear.prepare),
  ]
}
