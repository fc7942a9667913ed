// SPDX-License-Identifier: Apache-2.0

extension OperatorCode {
  /// `ADD`.
  package static let add = OperatorCode(rawValue: 0)
  /// `AVERAGE_POOL_2D`.
  package static let averagePool2D = OperatorCode(rawValue: 1)
  /// `CONCATENATION`.
  package static let concatenation = OperatorCode(rawValue: 2)
  /// `CONV_2D`.
  package static let conv2D = OperatorCode(rawValue: 3)
  /// `DEPTHWISE_CONV_2D`.
  package static let depthwiseConv2D = OperatorCode(rawValue: 4)
  /// `DEPTH_TO_SPACE`.
  package static let depthToSpace = OperatorCode(rawValue: 5)
  /// `DEQUANTIZE`.
  package static let dequantize = OperatorCode(rawValue: 6)
  /// `EMBEDDING_LOOKUP`.
  package static let embeddingLookup = OperatorCode(rawValue: 7)
  /// `FLOOR`.
  package static let floor = OperatorCode(rawValue: 8)
  /// `FULLY_CONNECTED`.
  package static let fullyConnected = OperatorCode(rawValue: 9)
  /// `HASHTABLE_LOOKUP`.
  package static let hashtableLookup = OperatorCode(rawValue: 10)
  /// `L2_NORMALIZATION`.
  package static let l2Normalization = OperatorCode(rawValue: 11)
  /// `L2_POOL_2D`.
  package static let l2Pool2D = OperatorCode(rawValue: 12)
  /// `LOCAL_RESPONSE_NORMALIZATION`.
  package static let localResponseNormalization = OperatorCode(rawValue: 13)
  /// `LOGISTIC`.
  package static let logistic = OperatorCode(rawValue: 14)
  /// `LSH_PROJECTION`.
  package static let lshProjection = OperatorCode(rawValue: 15)
  /// `LSTM`.
  package static let lstm = OperatorCode(rawValue: 16)
  /// `MAX_POOL_2D`.
  package static let maxPool2D = OperatorCode(rawValue: 17)
  /// `MUL`.
  package static let mul = OperatorCode(rawValue: 18)
  /// `RELU`.
  package static let relu = OperatorCode(rawValue: 19)
  /// `RELU_N1_TO_1`.
  package static let reluN1To1 = OperatorCode(rawValue: 20)
  /// `RELU6`.
  package static let relu6 = OperatorCode(rawValue: 21)
  /// `RESHAPE`.
  package static let reshape = OperatorCode(rawValue: 22)
  /// `RESIZE_BILINEAR`.
  package static let resizeBilinear = OperatorCode(rawValue: 23)
  /// `RNN`.
  package static let rnn = OperatorCode(rawValue: 24)
  /// `SOFTMAX`.
  package static let softmax = OperatorCode(rawValue: 25)
  /// `SPACE_TO_DEPTH`.
  package static let spaceToDepth = OperatorCode(rawValue: 26)
  /// `SVDF`.
  package static let svdf = OperatorCode(rawValue: 27)
  /// `TANH`.
  package static let tanh = OperatorCode(rawValue: 28)
  /// `CONCAT_EMBEDDINGS`.
  package static let concatEmbeddings = OperatorCode(rawValue: 29)
  /// `SKIP_GRAM`.
  package static let skipGram = OperatorCode(rawValue: 30)
  /// `CALL`.
  package static let call = OperatorCode(rawValue: 31)
  /// `CUSTOM`.
  package static let custom = OperatorCode(rawValue: 32)
  /// `EMBEDDING_LOOKUP_SPARSE`.
  package static let embeddingLookupSparse = OperatorCode(rawValue: 33)
  /// `PAD`.
  package static let pad = OperatorCode(rawValue: 34)
  /// `UNIDIRECTIONAL_SEQUENCE_RNN`.
  package static let unidirectionalSequenceRNN = OperatorCode(rawValue: 35)
  /// `GATHER`.
  package static let gather = OperatorCode(rawValue: 36)
  /// `BATCH_TO_SPACE_ND`.
  package static let batchToSpaceND = OperatorCode(rawValue: 37)
  /// `SPACE_TO_BATCH_ND`.
  package static let spaceToBatchND = OperatorCode(rawValue: 38)
  /// `TRANSPOSE`.
  package static let transpose = OperatorCode(rawValue: 39)
  /// `MEAN`.
  package static let mean = OperatorCode(rawValue: 40)
  /// `SUB`.
  package static let sub = OperatorCode(rawValue: 41)
  /// `DIV`.
  package static let div = OperatorCode(rawValue: 42)
  /// `SQUEEZE`.
  package static let squeeze = OperatorCode(rawValue: 43)
  /// `UNIDIRECTIONAL_SEQUENCE_LSTM`.
  package static let unidirectionalSequenceLSTM = OperatorCode(rawValue: 44)
  /// `STRIDED_SLICE`.
  package static let stridedSlice = OperatorCode(rawValue: 45)
  /// `BIDIRECTIONAL_SEQUENCE_RNN`.
  package static let bidirectionalSequenceRNN = OperatorCode(rawValue: 46)
  /// `EXP`.
  package static let exp = OperatorCode(rawValue: 47)
  /// `TOPK_V2`.
  package static let topKV2 = OperatorCode(rawValue: 48)
  /// `SPLIT`.
  package static let split = OperatorCode(rawValue: 49)
  /// `LOG_SOFTMAX`.
  package static let logSoftmax = OperatorCode(rawValue: 50)
  /// `DELEGATE`.
  package static let delegate = OperatorCode(rawValue: 51)
  /// `BIDIRECTIONAL_SEQUENCE_LSTM`.
  package static let bidirectionalSequenceLSTM = OperatorCode(rawValue: 52)
  /// `CAST`.
  package static let cast = OperatorCode(rawValue: 53)
  /// `PRELU`.
  package static let prelu = OperatorCode(rawValue: 54)
  /// `MAXIMUM`.
  package static let maximum = OperatorCode(rawValue: 55)
  /// `ARG_MAX`.
  package static let argMax = OperatorCode(rawValue: 56)
  /// `MINIMUM`.
  package static let minimum = OperatorCode(rawValue: 57)
  /// `LESS`.
  package static let less = OperatorCode(rawValue: 58)
  /// `NEG`.
  package static let neg = OperatorCode(rawValue: 59)
  /// `PADV2`.
  package static let padV2 = OperatorCode(rawValue: 60)
  /// `GREATER`.
  package static let greater = OperatorCode(rawValue: 61)
  /// `GREATER_EQUAL`.
  package static let greaterEqual = OperatorCode(rawValue: 62)
  /// `LESS_EQUAL`.
  package static let lessEqual = OperatorCode(rawValue: 63)
  /// `SELECT`.
  package static let select = OperatorCode(rawValue: 64)
  /// `SLICE`.
  package static let slice = OperatorCode(rawValue: 65)
  /// `SIN`.
  package static let sin = OperatorCode(rawValue: 66)
  /// `TRANSPOSE_CONV`.
  package static let transposeConv = OperatorCode(rawValue: 67)
  /// `SPARSE_TO_DENSE`.
  package static let sparseToDense = OperatorCode(rawValue: 68)
  /// `TILE`.
  package static let tile = OperatorCode(rawValue: 69)
  /// `EXPAND_DIMS`.
  package static let expandDims = OperatorCode(rawValue: 70)
  /// `EQUAL`.
  package static let equal = OperatorCode(rawValue: 71)
  /// `NOT_EQUAL`.
  package static let notEqual = OperatorCode(rawValue: 72)
  /// `LOG`.
  package static let log = OperatorCode(rawValue: 73)
  /// `SUM`.
  package static let sum = OperatorCode(rawValue: 74)
  /// `SQRT`.
  package static let sqrt = OperatorCode(rawValue: 75)
  /// `RSQRT`.
  package static let rsqrt = OperatorCode(rawValue: 76)
  /// `SHAPE`.
  package static let shape = OperatorCode(rawValue: 77)
  /// `POW`.
  package static let pow = OperatorCode(rawValue: 78)
  /// `ARG_MIN`.
  package static let argMin = OperatorCode(rawValue: 79)
  /// `FAKE_QUANT`.
  package static let fakeQuant = OperatorCode(rawValue: 80)
  /// `REDUCE_PROD`.
  package static let reduceProd = OperatorCode(rawValue: 81)
  /// `REDUCE_MAX`.
  package static let reduceMax = OperatorCode(rawValue: 82)
  /// `PACK`.
  package static let pack = OperatorCode(rawValue: 83)
  /// `LOGICAL_OR`.
  package static let logicalOr = OperatorCode(rawValue: 84)
  /// `ONE_HOT`.
  package static let oneHot = OperatorCode(rawValue: 85)
  /// `LOGICAL_AND`.
  package static let logicalAnd = OperatorCode(rawValue: 86)
  /// `LOGICAL_NOT`.
  package static let logicalNot = OperatorCode(rawValue: 87)
  /// `UNPACK`.
  package static let unpack = OperatorCode(rawValue: 88)
  /// `REDUCE_MIN`.
  package static let reduceMin = OperatorCode(rawValue: 89)
  /// `FLOOR_DIV`.
  package static let floorDiv = OperatorCode(rawValue: 90)
  /// `REDUCE_ANY`.
  package static let reduceAny = OperatorCode(rawValue: 91)
  /// `SQUARE`.
  package static let square = OperatorCode(rawValue: 92)
  /// `ZEROS_LIKE`.
  package static let zerosLike = OperatorCode(rawValue: 93)
  /// `FILL`.
  package static let fill = OperatorCode(rawValue: 94)
  /// `FLOOR_MOD`.
  package static let floorMod = OperatorCode(rawValue: 95)
  /// `RANGE`.
  package static let `range` = OperatorCode(rawValue: 96)
  /// `RESIZE_NEAREST_NEIGHBOR`.
  package static let resizeNearestNeighbor = OperatorCode(rawValue: 97)
  /// `LEAKY_RELU`.
  package static let leakyRelu = OperatorCode(rawValue: 98)
  /// `SQUARED_DIFFERENCE`.
  package static let squaredDifference = OperatorCode(rawValue: 99)
  /// `MIRROR_PAD`.
  package static let mirrorPad = OperatorCode(rawValue: 100)
  /// `ABS`.
  package static let abs = OperatorCode(rawValue: 101)
  /// `SPLIT_V`.
  package static let splitV = OperatorCode(rawValue: 102)
  /// `UNIQUE`.
  package static let unique = OperatorCode(rawValue: 103)
  /// `CEIL`.
  package static let ceil = OperatorCode(rawValue: 104)
  /// `REVERSE_V2`.
  package static let reverseV2 = OperatorCode(rawValue: 105)
  /// `ADD_N`.
  package static let addN = OperatorCode(rawValue: 106)
  /// `GATHER_ND`.
  package static let gatherND = OperatorCode(rawValue: 107)
  /// `COS`.
  package static let cos = OperatorCode(rawValue: 108)
  /// `WHERE`.
  package static let `where` = OperatorCode(rawValue: 109)
  /// `RANK`.
  package static let rank = OperatorCode(rawValue: 110)
  /// `ELU`.
  package static let elu = OperatorCode(rawValue: 111)
  /// `REVERSE_SEQUENCE`.
  package static let reverseSequence = OperatorCode(rawValue: 112)
  /// `MATRIX_DIAG`.
  package static let matrixDiag = OperatorCode(rawValue: 113)
  /// `QUANTIZE`.
  package static let quantize = OperatorCode(rawValue: 114)
  /// `MATRIX_SET_DIAG`.
  package static let matrixSetDiag = OperatorCode(rawValue: 115)
  /// `ROUND`.
  package static let round = OperatorCode(rawValue: 116)
  /// `HARD_SWISH`.
  package static let hardSwish = OperatorCode(rawValue: 117)
  /// `IF`.
  package static let `if` = OperatorCode(rawValue: 118)
  /// `WHILE`.
  package static let `while` = OperatorCode(rawValue: 119)
  /// `NON_MAX_SUPPRESSION_V4`.
  package static let nonMaxSuppressionV4 = OperatorCode(rawValue: 120)
  /// `NON_MAX_SUPPRESSION_V5`.
  package static let nonMaxSuppressionV5 = OperatorCode(rawValue: 121)
  /// `SCATTER_ND`.
  package static let scatterND = OperatorCode(rawValue: 122)
  /// `SELECT_V2`.
  package static let selectV2 = OperatorCode(rawValue: 123)
  /// `DENSIFY`.
  package static let densify = OperatorCode(rawValue: 124)
  /// `SEGMENT_SUM`.
  package static let segmentSum = OperatorCode(rawValue: 125)
  /// `BATCH_MATMUL`.
  package static let batchMatMul = OperatorCode(rawValue: 126)
  /// `PLACEHOLDER_FOR_GREATER_OP_CODES`.
  package static let placeholderForGreaterOpCodes = OperatorCode(rawValue: 127)
  /// `CUMSUM`.
  package static let cumsum = OperatorCode(rawValue: 128)
  /// `CALL_ONCE`.
  package static let callOnce = OperatorCode(rawValue: 129)
  /// `BROADCAST_TO`.
  package static let broadcastTo = OperatorCode(rawValue: 130)
  /// `RFFT2D`.
  package static let rfft2D = OperatorCode(rawValue: 131)
  /// `CONV_3D`.
  package static let conv3D = OperatorCode(rawValue: 132)
  /// `IMAG`.
  package static let imag = OperatorCode(rawValue: 133)
  /// `REAL`.
  package static let real = OperatorCode(rawValue: 134)
  /// `COMPLEX_ABS`.
  package static let complexAbs = OperatorCode(rawValue: 135)
  /// `HASHTABLE`.
  package static let hashtable = OperatorCode(rawValue: 136)
  /// `HASHTABLE_FIND`.
  package static let hashtableFind = OperatorCode(rawValue: 137)
  /// `HASHTABLE_IMPORT`.
  package static let hashtableImport = OperatorCode(rawValue: 138)
  /// `HASHTABLE_SIZE`.
  package static let hashtableSize = OperatorCode(rawValue: 139)
  /// `REDUCE_ALL`.
  package static let reduceAll = OperatorCode(rawValue: 140)
  /// `CONV_3D_TRANSPOSE`.
  package static let conv3DTranspose = OperatorCode(rawValue: 141)
  /// `VAR_HANDLE`.
  package static let varHandle = OperatorCode(rawValue: 142)
  /// `READ_VARIABLE`.
  package static let readVariable = OperatorCode(rawValue: 143)
  /// `ASSIGN_VARIABLE`.
  package static let assignVariable = OperatorCode(rawValue: 144)
  /// `BROADCAST_ARGS`.
  package static let broadcastArgs = OperatorCode(rawValue: 145)
  /// `RANDOM_STANDARD_NORMAL`.
  package static let randomStandardNormal = OperatorCode(rawValue: 146)
  /// `BUCKETIZE`.
  package static let bucketize = OperatorCode(rawValue: 147)
  /// `RANDOM_UNIFORM`.
  package static let randomUniform = OperatorCode(rawValue: 148)
  /// `MULTINOMIAL`.
  package static let multinomial = OperatorCode(rawValue: 149)
  /// `GELU`.
  package static let gelu = OperatorCode(rawValue: 150)
  /// `DYNAMIC_UPDATE_SLICE`.
  package static let dynamicUpdateSlice = OperatorCode(rawValue: 151)
  /// `RELU_0_TO_1`.
  package static let relu0To1 = OperatorCode(rawValue: 152)
  /// `UNSORTED_SEGMENT_PROD`.
  package static let unsortedSegmentProd = OperatorCode(rawValue: 153)
  /// `UNSORTED_SEGMENT_MAX`.
  package static let unsortedSegmentMax = OperatorCode(rawValue: 154)
  /// `UNSORTED_SEGMENT_SUM`.
  package static let unsortedSegmentSum = OperatorCode(rawValue: 155)
  /// `ATAN2`.
  package static let atan2 = OperatorCode(rawValue: 156)
  /// `UNSORTED_SEGMENT_MIN`.
  package static let unsortedSegmentMin = OperatorCode(rawValue: 157)
  /// `SIGN`.
  package static let sign = OperatorCode(rawValue: 158)
  /// `BITCAST`.
  package static let bitcast = OperatorCode(rawValue: 159)
  /// `BITWISE_XOR`.
  package static let bitwiseXor = OperatorCode(rawValue: 160)
  /// `RIGHT_SHIFT`.
  package static let rightShift = OperatorCode(rawValue: 161)
}
