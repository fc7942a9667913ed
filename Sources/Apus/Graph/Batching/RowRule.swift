// SPDX-License-Identifier: Apache-2.0

import ApusFormat

/// What an operator does along the first axis of tensors whose rows are the items of a batch, if it may keep them apart.
///
/// Whether it does follows from its shapes, options and constants: ``RowProof`` has the conditions of each rule. Operators without
/// a rule may move anything anywhere.
enum RowRule {
  /// Elements of equal places, operands of lower rank repeated.
  case elements
  /// As ``elements``; a condition of rank 1 may choose whole rows.
  case choice
  /// The last axis, normalized.
  case lastAxis
  /// Pixels of each image, which the first input has; others say how large results are.
  case images
  /// Products of windows of each image with a filter; the input with the images.
  case windows(images: Int)
  /// Products of rows with a filter: FULLY_CONNECTED.
  case filteredRows
  /// Products of matrices: BATCH_MATMUL.
  case matrices
  /// All elements, in their order: a reshape or copy.
  case sameOrder
  /// Axes in another order.
  case transposition
  /// Tensors one after the other along an axis; whether the axis is a new one.
  case joining(isNewAxis: Bool)
  /// Parts along an axis: of this input, cut along the axis that an input or the options have.
  case parts(of: Int, axis: RowAxis)
  case slice
  case stridedSlice
  /// Elements around each row: PAD and its kin.
  case padding
  /// Folding along axes.
  case folding
  /// Along one axis or several, which the second input has.
  case along
  /// The largest elements of the last axis.
  case largest
  case gathering
  /// Rows of a table by index; the inputs with indices and table.
  case lookup(indices: Int, table: Int)
  case gatheringVectors
  case oneHot
  case tiling
  case broadcast
  case fill
  /// Matrices with the last axis as diagonal.
  case diagonal

  /// Where an operator has its axis.
  enum RowAxis {
    case input(Int)
    /// A field of the options, which is 0 by default.
    case option(Int)
  }

  /// Whether equal rows may be made of what does not depend on the batch.
  var makesRows: Bool {
    switch self {
    case .broadcast, .fill: true
    default: false
    }
  }

  /// The rule of an operator; nil for one that may mix rows.
  init?(of code: OperatorCode) {
    switch code {
    case .abs, .add, .addN, .atan2, .bitwiseXor, .bucketize, .cast, .ceil, .complexAbs, .cos, .dequantize,
      .div,
      .elu, .equal, .exp, .fakeQuant, .floor, .floorDiv, .floorMod, .gelu, .greater, .greaterEqual,
      .hardSwish,
      .imag, .leakyRelu, .less, .lessEqual, .log, .logicalAnd, .logicalNot, .logicalOr, .logistic, .maximum,
      .minimum, .mul, .neg, .notEqual, .pow, .prelu, .quantize, .real, .relu, .relu0To1, .relu6, .reluN1To1,
      .rightShift, .round, .rsqrt, .selectV2, .sign, .sin, .sqrt, .square, .squaredDifference, .stablehloAdd,
      .stablehloAnd, .stablehloMaximum, .stablehloMinimum, .stablehloMultiply, .stablehloShiftLeft, .sub,
      .tanh,
      .zerosLike:
      self = .elements
    case .select: self = .choice
    case .l2Normalization, .logSoftmax, .softmax: self = .lastAxis
    case .averagePool2D, .depthToSpace, .l2Pool2D, .localResponseNormalization, .maxPool2D, .resizeBilinear,
      .resizeNearestNeighbor, .spaceToDepth:
      self = .images
    case .conv2D, .conv3D, .depthwiseConv2D: self = .windows(images: 0)
    case .conv3DTranspose, .transposeConv: self = .windows(images: 2)
    case .fullyConnected: self = .filteredRows
    case .batchMatMul: self = .matrices
    case .bitcast, .expandDims, .reshape, .squeeze: self = .sameOrder
    case .transpose: self = .transposition
    case .concatenation: self = .joining(isNewAxis: false)
    case .pack: self = .joining(isNewAxis: true)
    case .split: self = .parts(of: 1, axis: .input(0))
    case .splitV: self = .parts(of: 0, axis: .input(2))
    case .unpack: self = .parts(of: 0, axis: .option(1))
    case .slice: self = .slice
    case .stridedSlice: self = .stridedSlice
    case .mirrorPad, .pad, .padV2: self = .padding
    case .mean, .reduceAll, .reduceAny, .reduceMax, .reduceMin, .reduceProd, .sum: self = .folding
    case .argMax, .argMin, .cumsum, .reverseV2: self = .along
    case .topKV2: self = .largest
    case .gather: self = .gathering
    case .embeddingLookup: self = .lookup(indices: 0, table: 1)
    case .gatherND: self = .gatheringVectors
    case .oneHot: self = .oneHot
    case .tile: self = .tiling
    case .broadcastTo: self = .broadcast
    case .fill: self = .fill
    case .matrixDiag: self = .diagonal
    default: return nil
    }
  }
}
