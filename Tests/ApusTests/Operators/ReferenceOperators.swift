// SPDX-License-Identifier: Apache-2.0

import Apus

/// Versions and types of LiteRT's kernels: a line for each operator of its default resolver.
///
/// Versions are those that LiteRT 2.3.0 registers. Types are those of the data with which a model of one operator was
/// prepared and run by `BUILTIN_REF` (or the only kernel, where the reference set has none); `any` is every type of
/// fixed width but `complex128`, and `?` says that the types were not tried or are not the kernel's to limit.
struct ReferenceOperator {
  let name: String
  let versions: ClosedRange<Int>
  /// Nil where they are not compared.
  let types: Set<ElementType>?

  static let all: [ReferenceOperator] = table.split(separator: "\n").compactMap(ReferenceOperator.init)

  /// Reads `NAME 1–2: f32 i8`.
  private init?(_ line: Substring) {
    let words = line.split(separator: " ").map { String($0) }
    guard words.count > 2 else { return nil }
    let bounds = words[1].dropLast().split(separator: "–").compactMap { Int($0) }
    guard bounds.count == 2 else { return nil }
    name = words[0]
    versions = bounds[0]...bounds[1]
    let types = words[2...].flatMap { $0 == "any" ? Self.any : Self.short[$0].map { [$0] } ?? [] }
    self.types = words[2] == "?" ? nil : Set(types)
  }

  private static let any: [ElementType] = [
    .float32, .float16, .bfloat16, .float64, .int4, .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64,
    .uint64,
    .bool, .complex64,
  ]

  private static let short: [String: ElementType] = [
    "f32": .float32, "f16": .float16, "bf16": .bfloat16, "f64": .float64, "i2": .int2, "i4": .int4,
    "i8": .int8,
    "i16": .int16, "i32": .int32, "i64": .int64, "u4": .uint4, "u8": .uint8, "u16": .uint16, "u32": .uint32,
    "u64": .uint64, "bool": .bool, "c64": .complex64, "c128": .complex128, "string": .string,
  ]

  private static let table = """
    ABS 1–5: f32 i8 i16 i32
    ADD 1–6: f32 f16 i8 u8 i16 i32 i64
    ADD_N 1–1: f32 i32
    ARG_MAX 1–3: f32 i8 u8 i32 bool
    ARG_MIN 1–3: f32 i8 u8 i32 bool
    ASSIGN_VARIABLE 1–1: ?
    ATAN2 1–1: f32 f16 bf16 f64
    AVERAGE_POOL_2D 1–3: f32 i8 u8 i16
    BATCH_MATMUL 1–4: f32 i8 i16
    BATCH_TO_SPACE_ND 1–4: f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool c64
    BIDIRECTIONAL_SEQUENCE_LSTM 1–3: f32
    BIDIRECTIONAL_SEQUENCE_RNN 1–3: f32
    BITCAST 1–1: any
    BITWISE_XOR 1–1: i8 u8 i16 u16 i32 u32
    BROADCAST_ARGS 1–1: i32 i64
    BROADCAST_TO 2–4: any
    BUCKETIZE 1–1: f32 f64 i32 i64
    CALL_ONCE 1–1: ?
    CAST 1–9: f32 f16 bf16 f64 i2 i4 u4 i8 u8 i16 u16 i32 u32 i64 bool c64
    CEIL 1–1: f32
    COMPLEX_ABS 1–1: c64 c128
    CONCATENATION 1–7: f32 f16 bf16 i4 i8 u8 i16 i32 u32 i64 bool
    CONV_2D 1–8: f32 i8 u8 i16
    CONV_3D 1–1: f32
    CONV_3D_TRANSPOSE 1–1: f32
    COS 1–2: f32 f16
    CUMSUM 1–1: f32 i32 i64
    DENSIFY 1–1: f32 f16 i8
    DEPTHWISE_CONV_2D 1–7: f32 i8 u8 i16
    DEPTH_TO_SPACE 1–2: f32 i8 u8 i32 i64
    DEQUANTIZE 1–9: f16 i2 i4 u4 i8 u8 i16
    DILATE 1–1: i8 i16 i32 i64 u8 u16 u32 u64 f32 f64
    DIV 1–2: f32 i8 u8 i16 i32
    DYNAMIC_UPDATE_SLICE 1–6: any
    ELU 1–1: f32 i8
    EMBEDDING_LOOKUP 1–5: any
    EMBEDDING_LOOKUP_SPARSE 1–1: f32
    EQUAL 1–5: f32 f16 i8 u8 i16 i32 i64 bool
    EXP 1–2: f32 i8 i16
    EXPAND_DIMS 1–1: any
    FAKE_QUANT 1–2: f32
    FILL 1–5: f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool c64
    FLOOR 1–1: f32 f16 bf16
    FLOOR_DIV 1–3: f32 i8 i16 i32
    FLOOR_MOD 1–2: f32 i8 i16 i32 i64
    FULLY_CONNECTED 1–14: f32 i8 u8 i16
    GATHER 1–8: f32 f16 bf16 i4 i8 u8 i16 i32 i64 bool
    GATHER_ND 1–6: f32 f16 bf16 i8 u8 i16 i32 i64 bool
    GELU 1–3: f32 f16 i8 u8 i16
    GREATER 1–2: f32 f16 bf16 i8 u8 i16 i32 i64
    GREATER_EQUAL 1–3: f32 f16 i8 u8 i16 i32 i64
    HARD_SWISH 1–1: f32 i8 u8
    HASHTABLE 1–1: ?
    HASHTABLE_FIND 1–1: ?
    HASHTABLE_IMPORT 1–1: ?
    HASHTABLE_LOOKUP 1–1: ?
    HASHTABLE_SIZE 1–1: ?
    IF 1–1: ?
    IMAG 1–1: c64 c128
    L2_NORMALIZATION 1–2: f32 i8 u8
    L2_POOL_2D 1–1: f32
    LEAKY_RELU 1–2: f32 i8 u8 i16
    LESS 1–3: f32 f16 bf16 i8 u8 i16 i32 i64
    LESS_EQUAL 1–2: f32 f16 i8 u8 i16 i32 i64
    LOCAL_RESPONSE_NORMALIZATION 1–1: f32
    LOG 1–2: f32 i8 i16
    LOGICAL_AND 1–1: bool
    LOGICAL_NOT 1–1: bool
    LOGICAL_OR 1–1: bool
    LOGISTIC 1–3: f32 f16 bf16 i8 u8 i16
    LOG_SOFTMAX 1–2: f32 i8 u8
    LSH_PROJECTION 1–1: ?
    LSTM 1–4: f32 i8 u8
    MATRIX_DIAG 1–1: any
    MATRIX_SET_DIAG 1–1: any
    MAXIMUM 1–4: f32 f16 bf16 i8 u8 i16 i32 i64
    MAX_POOL_2D 1–3: f32 i8 u8 i16
    MEAN 1–3: f32 i8 u8 i16 i32 i64
    MINIMUM 1–4: f32 f16 bf16 i8 u8 i16 i32 i64
    MIRROR_PAD 1–3: f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool c64
    MUL 1–8: f32 f16 i8 u8 i16 i32 u32 i64 c64
    MULTINOMIAL 1–1: ?
    NEG 1–1: f32 f16 bf16 i8 i16 i32 i64
    NON_MAX_SUPPRESSION_V4 1–1: f32
    NON_MAX_SUPPRESSION_V5 1–1: f32
    NOT_EQUAL 1–4: f32 f16 i8 u8 i16 i32 i64 bool
    ONE_HOT 1–1: f32 i8 u8 i32 i64 bool
    PACK 1–5: f32 i8 u8 i16 i32 u32 i64
    PAD 1–6: f32 f16 bf16 i8 u8 i16 i32 i64 bool
    PADV2 1–6: f32 f16 bf16 i8 u8 i16 i32 i64 bool
    POW 1–1: f32 i32
    PRELU 1–1: f32 i8 u8 i16
    QUANTIZE 1–6: f32 i8 u8 i16 i32
    RANDOM_STANDARD_NORMAL 1–1: ?
    RANDOM_UNIFORM 1–1: ?
    RANGE 1–2: f32 i32 i64
    RANK 1–1: any
    READ_VARIABLE 1–1: ?
    REAL 1–1: c64 c128
    REDUCE_ALL 1–1: bool
    REDUCE_ANY 1–1: bool
    REDUCE_MAX 1–3: f32 i8 u8 i16 i32 i64 bool
    REDUCE_MIN 1–3: f32 i8 u8 i16 i32 i64 bool
    REDUCE_PROD 1–2: f32 i8 u8 i16 i32 i64 bool
    REDUCE_WINDOW 1–1: ?
    RELU 1–3: f32 i8 u8 i16
    RELU6 1–3: f32 i8 u8 i16
    RELU_0_TO_1 1–1: f32 i8 u8
    RELU_N1_TO_1 1–1: f32 i8 u8
    RESHAPE 1–1: any
    RESIZE_BILINEAR 1–4: f32 i8 u8 i16
    RESIZE_NEAREST_NEIGHBOR 1–4: f32 f16 bf16 i8 u8 i16 u16 i32 u32 bool
    REVERSE_SEQUENCE 1–1: f32 u8 i16 i32 i64
    REVERSE_V2 1–4: f32 f16 bf16 i8 u8 i16 i32 i64 bool
    RFFT2D 1–1: f32
    RIGHT_SHIFT 1–1: i8 u8 i16 u16 i32 u32
    RNN 1–3: f32
    ROUND 1–1: f32 f16 bf16
    RSQRT 1–3: f32 i8 i16
    SCATTER_ND 1–1: f32 i8 u8 i32 i64 bool
    SEGMENT_SUM 1–1: f32 i32
    SELECT 1–4: f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool c64
    SELECT_V2 1–2: f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool c64
    SHAPE 1–1: any
    SIGN 1–2: f32 f64 i32
    SIN 1–2: f32 f16
    SKIP_GRAM 1–1: string
    SLICE 1–8: any
    SOFTMAX 1–4: f32 f16 i8 u8 i16
    SPACE_TO_BATCH_ND 1–4: f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool c64
    SPACE_TO_DEPTH 1–2: f32 i8 u8 i32 i64
    SPARSE_TO_DENSE 1–3: f32 i8 u8 i32 i64
    SPLIT 1–5: f32 i8 u8 i16 i32 i64
    SPLIT_V 1–3: f32 i8 u8 i16 i32 i64
    SQRT 1–2: f32 i8 i16
    SQUARE 1–1: f32
    SQUARED_DIFFERENCE 1–2: f32 i8 i32
    SQUEEZE 1–2: any
    STABLEHLO_ADD 1–1: ?
    STABLEHLO_AND 1–1: ?
    STABLEHLO_CASE 1–1: ?
    STABLEHLO_COMPOSITE 1–1: ?
    STABLEHLO_GATHER 1–1: ?
    STABLEHLO_MAXIMUM 1–1: ?
    STABLEHLO_MINIMUM 1–1: ?
    STABLEHLO_MULTIPLY 1–1: ?
    STABLEHLO_PAD 1–1: ?
    STABLEHLO_REDUCE_WINDOW 1–1: ?
    STABLEHLO_RNG_BIT_GENERATOR 1–1: ?
    STABLEHLO_SCATTER 1–1: ?
    STABLEHLO_SHIFT_LEFT 1–1: ?
    STRIDED_SLICE 1–8: f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool c64
    SUB 1–5: f32 i8 u8 i16 i32 i64
    SUM 1–2: f32 i8 u8 i16 i32 i64 bool
    SVDF 1–4: f32 i8
    TANH 1–3: f32 f16 bf16 i8 u8 i16
    TILE 1–3: f32 f16 bf16 f64 i8 u8 i16 u16 i32 u32 i64 u64 bool c64
    TOPK_V2 1–3: f32 i8 u8 i16 i32 i64
    TRANSPOSE 1–9: any
    TRANSPOSE_CONV 1–5: f32 i8 u8 i16
    UNIDIRECTIONAL_SEQUENCE_LSTM 1–4: f32 i8
    UNIDIRECTIONAL_SEQUENCE_RNN 1–3: f32
    UNIQUE 1–1: f32 i8 u8 i16 i32 i64
    UNPACK 1–6: f32 f16 bf16 i8 u8 i16 i32 bool
    UNSORTED_SEGMENT_MAX 1–1: f32 i32
    UNSORTED_SEGMENT_MIN 1–1: f32 i32
    UNSORTED_SEGMENT_PROD 1–1: f32 i32
    UNSORTED_SEGMENT_SUM 1–1: f32 i32
    VAR_HANDLE 1–1: ?
    WHERE 1–2: f32 i8 u8 i32 u32 i64 bool
    WHILE 1–1: ?
    ZEROS_LIKE 1–1: f32 i32 i64
    """
}
