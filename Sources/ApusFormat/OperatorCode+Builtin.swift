// SPDX-License-Identifier: Apache-2.0

extension OperatorCode {
  /// `ADD`.
  @inlinable package static var add: OperatorCode { OperatorCode(rawValue: 0) }
  /// `AVERAGE_POOL_2D`.
  @inlinable package static var averagePool2D: OperatorCode { OperatorCode(rawValue: 1) }
  /// `CONCATENATION`.
  @inlinable package static var concatenation: OperatorCode { OperatorCode(rawValue: 2) }
  /// `CONV_2D`.
  @inlinable package static var conv2D: OperatorCode { OperatorCode(rawValue: 3) }
  /// `DEPTHWISE_CONV_2D`.
  @inlinable package static var depthwiseConv2D: OperatorCode { OperatorCode(rawValue: 4) }
  /// `DEPTH_TO_SPACE`.
  @inlinable package static var depthToSpace: OperatorCode { OperatorCode(rawValue: 5) }
  /// `DEQUANTIZE`.
  @inlinable package static var dequantize: OperatorCode { OperatorCode(rawValue: 6) }
  /// `EMBEDDING_LOOKUP`.
  @inlinable package static var embeddingLookup: OperatorCode { OperatorCode(rawValue: 7) }
  /// `FLOOR`.
  @inlinable package static var floor: OperatorCode { OperatorCode(rawValue: 8) }
  /// `FULLY_CONNECTED`.
  @inlinable package static var fullyConnected: OperatorCode { OperatorCode(rawValue: 9) }
  /// `HASHTABLE_LOOKUP`.
  @inlinable package static var hashtableLookup: OperatorCode { OperatorCode(rawValue: 10) }
  /// `L2_NORMALIZATION`.
  @inlinable package static var l2Normalization: OperatorCode { OperatorCode(rawValue: 11) }
  /// `L2_POOL_2D`.
  @inlinable package static var l2Pool2D: OperatorCode { OperatorCode(rawValue: 12) }
  /// `LOCAL_RESPONSE_NORMALIZATION`.
  @inlinable package static var localResponseNormalization: OperatorCode { OperatorCode(rawValue: 13) }
  /// `LOGISTIC`.
  @inlinable package static var logistic: OperatorCode { OperatorCode(rawValue: 14) }
  /// `LSH_PROJECTION`.
  @inlinable package static var lshProjection: OperatorCode { OperatorCode(rawValue: 15) }
  /// `LSTM`.
  @inlinable package static var lstm: OperatorCode { OperatorCode(rawValue: 16) }
  /// `MAX_POOL_2D`.
  @inlinable package static var maxPool2D: OperatorCode { OperatorCode(rawValue: 17) }
  /// `MUL`.
  @inlinable package static var mul: OperatorCode { OperatorCode(rawValue: 18) }
  /// `RELU`.
  @inlinable package static var relu: OperatorCode { OperatorCode(rawValue: 19) }
  /// `RELU_N1_TO_1`.
  @inlinable package static var reluN1To1: OperatorCode { OperatorCode(rawValue: 20) }
  /// `RELU6`.
  @inlinable package static var relu6: OperatorCode { OperatorCode(rawValue: 21) }
  /// `RESHAPE`.
  @inlinable package static var reshape: OperatorCode { OperatorCode(rawValue: 22) }
  /// `RESIZE_BILINEAR`.
  @inlinable package static var resizeBilinear: OperatorCode { OperatorCode(rawValue: 23) }
  /// `RNN`.
  @inlinable package static var rnn: OperatorCode { OperatorCode(rawValue: 24) }
  /// `SOFTMAX`.
  @inlinable package static var softmax: OperatorCode { OperatorCode(rawValue: 25) }
  /// `SPACE_TO_DEPTH`.
  @inlinable package static var spaceToDepth: OperatorCode { OperatorCode(rawValue: 26) }
  /// `SVDF`.
  @inlinable package static var svdf: OperatorCode { OperatorCode(rawValue: 27) }
  /// `TANH`.
  @inlinable package static var tanh: OperatorCode { OperatorCode(rawValue: 28) }
  /// `CONCAT_EMBEDDINGS`.
  @inlinable package static var concatEmbeddings: OperatorCode { OperatorCode(rawValue: 29) }
  /// `SKIP_GRAM`.
  @inlinable package static var skipGram: OperatorCode { OperatorCode(rawValue: 30) }
  /// `CALL`.
  @inlinable package static var call: OperatorCode { OperatorCode(rawValue: 31) }
  /// `CUSTOM`.
  @inlinable package static var custom: OperatorCode { OperatorCode(rawValue: 32) }
  /// `EMBEDDING_LOOKUP_SPARSE`.
  @inlinable package static var embeddingLookupSparse: OperatorCode { OperatorCode(rawValue: 33) }
  /// `PAD`.
  @inlinable package static var pad: OperatorCode { OperatorCode(rawValue: 34) }
  /// `UNIDIRECTIONAL_SEQUENCE_RNN`.
  @inlinable package static var unidirectionalSequenceRNN: OperatorCode { OperatorCode(rawValue: 35) }
  /// `GATHER`.
  @inlinable package static var gather: OperatorCode { OperatorCode(rawValue: 36) }
  /// `BATCH_TO_SPACE_ND`.
  @inlinable package static var batchToSpaceND: OperatorCode { OperatorCode(rawValue: 37) }
  /// `SPACE_TO_BATCH_ND`.
  @inlinable package static var spaceToBatchND: OperatorCode { OperatorCode(rawValue: 38) }
  /// `TRANSPOSE`.
  @inlinable package static var transpose: OperatorCode { OperatorCode(rawValue: 39) }
  /// `MEAN`.
  @inlinable package static var mean: OperatorCode { OperatorCode(rawValue: 40) }
  /// `SUB`.
  @inlinable package static var sub: OperatorCode { OperatorCode(rawValue: 41) }
  /// `DIV`.
  @inlinable package static var div: OperatorCode { OperatorCode(rawValue: 42) }
  /// `SQUEEZE`.
  @inlinable package static var squeeze: OperatorCode { OperatorCode(rawValue: 43) }
  /// `UNIDIRECTIONAL_SEQUENCE_LSTM`.
  @inlinable package static var unidirectionalSequenceLSTM: OperatorCode { OperatorCode(rawValue: 44) }
  /// `STRIDED_SLICE`.
  @inlinable package static var stridedSlice: OperatorCode { OperatorCode(rawValue: 45) }
  /// `BIDIRECTIONAL_SEQUENCE_RNN`.
  @inlinable package static var bidirectionalSequenceRNN: OperatorCode { OperatorCode(rawValue: 46) }
  /// `EXP`.
  @inlinable package static var exp: OperatorCode { OperatorCode(rawValue: 47) }
  /// `TOPK_V2`.
  @inlinable package static var topKV2: OperatorCode { OperatorCode(rawValue: 48) }
  /// `SPLIT`.
  @inlinable package static var split: OperatorCode { OperatorCode(rawValue: 49) }
  /// `LOG_SOFTMAX`.
  @inlinable package static var logSoftmax: OperatorCode { OperatorCode(rawValue: 50) }
  /// `DELEGATE`.
  @inlinable package static var delegate: OperatorCode { OperatorCode(rawValue: 51) }
  /// `BIDIRECTIONAL_SEQUENCE_LSTM`.
  @inlinable package static var bidirectionalSequenceLSTM: OperatorCode { OperatorCode(rawValue: 52) }
  /// `CAST`.
  @inlinable package static var cast: OperatorCode { OperatorCode(rawValue: 53) }
  /// `PRELU`.
  @inlinable package static var prelu: OperatorCode { OperatorCode(rawValue: 54) }
  /// `MAXIMUM`.
  @inlinable package static var maximum: OperatorCode { OperatorCode(rawValue: 55) }
  /// `ARG_MAX`.
  @inlinable package static var argMax: OperatorCode { OperatorCode(rawValue: 56) }
  /// `MINIMUM`.
  @inlinable package static var minimum: OperatorCode { OperatorCode(rawValue: 57) }
  /// `LESS`.
  @inlinable package static var less: OperatorCode { OperatorCode(rawValue: 58) }
  /// `NEG`.
  @inlinable package static var neg: OperatorCode { OperatorCode(rawValue: 59) }
  /// `PADV2`.
  @inlinable package static var padV2: OperatorCode { OperatorCode(rawValue: 60) }
  /// `GREATER`.
  @inlinable package static var greater: OperatorCode { OperatorCode(rawValue: 61) }
  /// `GREATER_EQUAL`.
  @inlinable package static var greaterEqual: OperatorCode { OperatorCode(rawValue: 62) }
  /// `LESS_EQUAL`.
  @inlinable package static var lessEqual: OperatorCode { OperatorCode(rawValue: 63) }
  /// `SELECT`.
  @inlinable package static var select: OperatorCode { OperatorCode(rawValue: 64) }
  /// `SLICE`.
  @inlinable package static var slice: OperatorCode { OperatorCode(rawValue: 65) }
  /// `SIN`.
  @inlinable package static var sin: OperatorCode { OperatorCode(rawValue: 66) }
  /// `TRANSPOSE_CONV`.
  @inlinable package static var transposeConv: OperatorCode { OperatorCode(rawValue: 67) }
  /// `SPARSE_TO_DENSE`.
  @inlinable package static var sparseToDense: OperatorCode { OperatorCode(rawValue: 68) }
  /// `TILE`.
  @inlinable package static var tile: OperatorCode { OperatorCode(rawValue: 69) }
  /// `EXPAND_DIMS`.
  @inlinable package static var expandDims: OperatorCode { OperatorCode(rawValue: 70) }
  /// `EQUAL`.
  @inlinable package static var equal: OperatorCode { OperatorCode(rawValue: 71) }
  /// `NOT_EQUAL`.
  @inlinable package static var notEqual: OperatorCode { OperatorCode(rawValue: 72) }
  /// `LOG`.
  @inlinable package static var log: OperatorCode { OperatorCode(rawValue: 73) }
  /// `SUM`.
  @inlinable package static var sum: OperatorCode { OperatorCode(rawValue: 74) }
  /// `SQRT`.
  @inlinable package static var sqrt: OperatorCode { OperatorCode(rawValue: 75) }
  /// `RSQRT`.
  @inlinable package static var rsqrt: OperatorCode { OperatorCode(rawValue: 76) }
  /// `SHAPE`.
  @inlinable package static var shape: OperatorCode { OperatorCode(rawValue: 77) }
  /// `POW`.
  @inlinable package static var pow: OperatorCode { OperatorCode(rawValue: 78) }
  /// `ARG_MIN`.
  @inlinable package static var argMin: OperatorCode { OperatorCode(rawValue: 79) }
  /// `FAKE_QUANT`.
  @inlinable package static var fakeQuant: OperatorCode { OperatorCode(rawValue: 80) }
  /// `REDUCE_PROD`.
  @inlinable package static var reduceProd: OperatorCode { OperatorCode(rawValue: 81) }
  /// `REDUCE_MAX`.
  @inlinable package static var reduceMax: OperatorCode { OperatorCode(rawValue: 82) }
  /// `PACK`.
  @inlinable package static var pack: OperatorCode { OperatorCode(rawValue: 83) }
  /// `LOGICAL_OR`.
  @inlinable package static var logicalOr: OperatorCode { OperatorCode(rawValue: 84) }
  /// `ONE_HOT`.
  @inlinable package static var oneHot: OperatorCode { OperatorCode(rawValue: 85) }
  /// `LOGICAL_AND`.
  @inlinable package static var logicalAnd: OperatorCode { OperatorCode(rawValue: 86) }
  /// `LOGICAL_NOT`.
  @inlinable package static var logicalNot: OperatorCode { OperatorCode(rawValue: 87) }
  /// `UNPACK`.
  @inlinable package static var unpack: OperatorCode { OperatorCode(rawValue: 88) }
  /// `REDUCE_MIN`.
  @inlinable package static var reduceMin: OperatorCode { OperatorCode(rawValue: 89) }
  /// `FLOOR_DIV`.
  @inlinable package static var floorDiv: OperatorCode { OperatorCode(rawValue: 90) }
  /// `REDUCE_ANY`.
  @inlinable package static var reduceAny: OperatorCode { OperatorCode(rawValue: 91) }
  /// `SQUARE`.
  @inlinable package static var square: OperatorCode { OperatorCode(rawValue: 92) }
  /// `ZEROS_LIKE`.
  @inlinable package static var zerosLike: OperatorCode { OperatorCode(rawValue: 93) }
  /// `FILL`.
  @inlinable package static var fill: OperatorCode { OperatorCode(rawValue: 94) }
  /// `FLOOR_MOD`.
  @inlinable package static var floorMod: OperatorCode { OperatorCode(rawValue: 95) }
  /// `RANGE`.
  @inlinable package static var `range`: OperatorCode { OperatorCode(rawValue: 96) }
  /// `RESIZE_NEAREST_NEIGHBOR`.
  @inlinable package static var resizeNearestNeighbor: OperatorCode { OperatorCode(rawValue: 97) }
  /// `LEAKY_RELU`.
  @inlinable package static var leakyRelu: OperatorCode { OperatorCode(rawValue: 98) }
  /// `SQUARED_DIFFERENCE`.
  @inlinable package static var squaredDifference: OperatorCode { OperatorCode(rawValue: 99) }
  /// `MIRROR_PAD`.
  @inlinable package static var mirrorPad: OperatorCode { OperatorCode(rawValue: 100) }
  /// `ABS`.
  @inlinable package static var abs: OperatorCode { OperatorCode(rawValue: 101) }
  /// `SPLIT_V`.
  @inlinable package static var splitV: OperatorCode { OperatorCode(rawValue: 102) }
  /// `UNIQUE`.
  @inlinable package static var unique: OperatorCode { OperatorCode(rawValue: 103) }
  /// `CEIL`.
  @inlinable package static var ceil: OperatorCode { OperatorCode(rawValue: 104) }
  /// `REVERSE_V2`.
  @inlinable package static var reverseV2: OperatorCode { OperatorCode(rawValue: 105) }
  /// `ADD_N`.
  @inlinable package static var addN: OperatorCode { OperatorCode(rawValue: 106) }
  /// `GATHER_ND`.
  @inlinable package static var gatherND: OperatorCode { OperatorCode(rawValue: 107) }
  /// `COS`.
  @inlinable package static var cos: OperatorCode { OperatorCode(rawValue: 108) }
  /// `WHERE`.
  @inlinable package static var `where`: OperatorCode { OperatorCode(rawValue: 109) }
  /// `RANK`.
  @inlinable package static var rank: OperatorCode { OperatorCode(rawValue: 110) }
  /// `ELU`.
  @inlinable package static var elu: OperatorCode { OperatorCode(rawValue: 111) }
  /// `REVERSE_SEQUENCE`.
  @inlinable package static var reverseSequence: OperatorCode { OperatorCode(rawValue: 112) }
  /// `MATRIX_DIAG`.
  @inlinable package static var matrixDiag: OperatorCode { OperatorCode(rawValue: 113) }
  /// `QUANTIZE`.
  @inlinable package static var quantize: OperatorCode { OperatorCode(rawValue: 114) }
  /// `MATRIX_SET_DIAG`.
  @inlinable package static var matrixSetDiag: OperatorCode { OperatorCode(rawValue: 115) }
  /// `ROUND`.
  @inlinable package static var round: OperatorCode { OperatorCode(rawValue: 116) }
  /// `HARD_SWISH`.
  @inlinable package static var hardSwish: OperatorCode { OperatorCode(rawValue: 117) }
  /// `IF`.
  @inlinable package static var `if`: OperatorCode { OperatorCode(rawValue: 118) }
  /// `WHILE`.
  @inlinable package static var `while`: OperatorCode { OperatorCode(rawValue: 119) }
  /// `NON_MAX_SUPPRESSION_V4`.
  @inlinable package static var nonMaxSuppressionV4: OperatorCode { OperatorCode(rawValue: 120) }
  /// `NON_MAX_SUPPRESSION_V5`.
  @inlinable package static var nonMaxSuppressionV5: OperatorCode { OperatorCode(rawValue: 121) }
  /// `SCATTER_ND`.
  @inlinable package static var scatterND: OperatorCode { OperatorCode(rawValue: 122) }
  /// `SELECT_V2`.
  @inlinable package static var selectV2: OperatorCode { OperatorCode(rawValue: 123) }
  /// `DENSIFY`.
  @inlinable package static var densify: OperatorCode { OperatorCode(rawValue: 124) }
  /// `SEGMENT_SUM`.
  @inlinable package static var segmentSum: OperatorCode { OperatorCode(rawValue: 125) }
  /// `BATCH_MATMUL`.
  @inlinable package static var batchMatMul: OperatorCode { OperatorCode(rawValue: 126) }
  /// `PLACEHOLDER_FOR_GREATER_OP_CODES`.
  @inlinable package static var placeholderForGreaterOpCodes: OperatorCode { OperatorCode(rawValue: 127) }
  /// `CUMSUM`.
  @inlinable package static var cumsum: OperatorCode { OperatorCode(rawValue: 128) }
  /// `CALL_ONCE`.
  @inlinable package static var callOnce: OperatorCode { OperatorCode(rawValue: 129) }
  /// `BROADCAST_TO`.
  @inlinable package static var broadcastTo: OperatorCode { OperatorCode(rawValue: 130) }
  /// `RFFT2D`.
  @inlinable package static var rfft2D: OperatorCode { OperatorCode(rawValue: 131) }
  /// `CONV_3D`.
  @inlinable package static var conv3D: OperatorCode { OperatorCode(rawValue: 132) }
  /// `IMAG`.
  @inlinable package static var imag: OperatorCode { OperatorCode(rawValue: 133) }
  /// `REAL`.
  @inlinable package static var real: OperatorCode { OperatorCode(rawValue: 134) }
  /// `COMPLEX_ABS`.
  @inlinable package static var complexAbs: OperatorCode { OperatorCode(rawValue: 135) }
  /// `HASHTABLE`.
  @inlinable package static var hashtable: OperatorCode { OperatorCode(rawValue: 136) }
  /// `HASHTABLE_FIND`.
  @inlinable package static var hashtableFind: OperatorCode { OperatorCode(rawValue: 137) }
  /// `HASHTABLE_IMPORT`.
  @inlinable package static var hashtableImport: OperatorCode { OperatorCode(rawValue: 138) }
  /// `HASHTABLE_SIZE`.
  @inlinable package static var hashtableSize: OperatorCode { OperatorCode(rawValue: 139) }
  /// `REDUCE_ALL`.
  @inlinable package static var reduceAll: OperatorCode { OperatorCode(rawValue: 140) }
  /// `CONV_3D_TRANSPOSE`.
  @inlinable package static var conv3DTranspose: OperatorCode { OperatorCode(rawValue: 141) }
  /// `VAR_HANDLE`.
  @inlinable package static var varHandle: OperatorCode { OperatorCode(rawValue: 142) }
  /// `READ_VARIABLE`.
  @inlinable package static var readVariable: OperatorCode { OperatorCode(rawValue: 143) }
  /// `ASSIGN_VARIABLE`.
  @inlinable package static var assignVariable: OperatorCode { OperatorCode(rawValue: 144) }
  /// `BROADCAST_ARGS`.
  @inlinable package static var broadcastArgs: OperatorCode { OperatorCode(rawValue: 145) }
  /// `RANDOM_STANDARD_NORMAL`.
  @inlinable package static var randomStandardNormal: OperatorCode { OperatorCode(rawValue: 146) }
  /// `BUCKETIZE`.
  @inlinable package static var bucketize: OperatorCode { OperatorCode(rawValue: 147) }
  /// `RANDOM_UNIFORM`.
  @inlinable package static var randomUniform: OperatorCode { OperatorCode(rawValue: 148) }
  /// `MULTINOMIAL`.
  @inlinable package static var multinomial: OperatorCode { OperatorCode(rawValue: 149) }
  /// `GELU`.
  @inlinable package static var gelu: OperatorCode { OperatorCode(rawValue: 150) }
  /// `DYNAMIC_UPDATE_SLICE`.
  @inlinable package static var dynamicUpdateSlice: OperatorCode { OperatorCode(rawValue: 151) }
  /// `RELU_0_TO_1`.
  @inlinable package static var relu0To1: OperatorCode { OperatorCode(rawValue: 152) }
  /// `UNSORTED_SEGMENT_PROD`.
  @inlinable package static var unsortedSegmentProd: OperatorCode { OperatorCode(rawValue: 153) }
  /// `UNSORTED_SEGMENT_MAX`.
  @inlinable package static var unsortedSegmentMax: OperatorCode { OperatorCode(rawValue: 154) }
  /// `UNSORTED_SEGMENT_SUM`.
  @inlinable package static var unsortedSegmentSum: OperatorCode { OperatorCode(rawValue: 155) }
  /// `ATAN2`.
  @inlinable package static var atan2: OperatorCode { OperatorCode(rawValue: 156) }
  /// `UNSORTED_SEGMENT_MIN`.
  @inlinable package static var unsortedSegmentMin: OperatorCode { OperatorCode(rawValue: 157) }
  /// `SIGN`.
  @inlinable package static var sign: OperatorCode { OperatorCode(rawValue: 158) }
  /// `BITCAST`.
  @inlinable package static var bitcast: OperatorCode { OperatorCode(rawValue: 159) }
  /// `BITWISE_XOR`.
  @inlinable package static var bitwiseXor: OperatorCode { OperatorCode(rawValue: 160) }
  /// `RIGHT_SHIFT`.
  @inlinable package static var rightShift: OperatorCode { OperatorCode(rawValue: 161) }
}
