// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import Testing

@Suite struct OperatorCodeTests {
  @Test func knowsEveryCodeOfTheSchema() {
    #expect(OperatorCode.allCases.map(\.number) == Array(0..<210))
    #expect(OperatorCode.allCases.allSatisfy { OperatorCode(number: $0.number) == $0 })
  }

  @Test(
    "constants and names belong together",
    arguments: [
      (OperatorCode.add, 0, "ADD"), (.conv2D, 3, "CONV_2D"), (.depthwiseConv2D, 4, "DEPTHWISE_CONV_2D"),
      (.l2Normalization, 11, "L2_NORMALIZATION"), (.reluN1To1, 20, "RELU_N1_TO_1"), (.custom, 32, "CUSTOM"),
      (.topKV2, 48, "TOPK_V2"), (.padV2, 60, "PADV2"),
      (.resizeNearestNeighbor, 97, "RESIZE_NEAREST_NEIGHBOR"),
      (.if, 118, "IF"), (.while, 119, "WHILE"), (.batchMatMul, 126, "BATCH_MATMUL"), (.cumsum, 128, "CUMSUM"),
      (.relu0To1, 152, "RELU_0_TO_1"), (.stablehloAdd, 163, "STABLEHLO_ADD"), (.dilate, 203, "DILATE"),
      (.stablehloCase, 209, "STABLEHLO_CASE"),
    ])
  func hasTheSchemasNumber(code: OperatorCode, number: Int32, name: String) {
    #expect(code.number == number)
    #expect(code.schemaName == name)
  }

  @Test func knowsNoOtherNumber() {
    #expect(OperatorCode(number: 210) == nil)
    #expect(OperatorCode(number: -1) == nil)
  }

  @Test(
    "operators have their options in the schema's tables",
    arguments: [
      (OperatorCode.conv2D, 1, nil), (.add, 11, nil), (.reduceMax, 27, nil), (.stridedSlice, 32, nil),
      (.unidirectionalSequenceLSTM, 71, nil), (.gelu, 116, nil), (.stablehloScatter, nil, 7),
      (.stablehloCase, nil, 23), (.relu, nil, nil),
    ] as [(OperatorCode, Int?, Int?)])
  func hasItsOptionsInTheSchemasTable(code: OperatorCode, options: Int?, options2: Int?) {
    #expect(code.optionsType == options)
    #expect(code.options2Type == options2)
  }

  @Test func knowsEveryTensorType() {
    #expect(TensorType.allCases.map(\.rawValue) == Array(0..<23))
    #expect(TensorType(rawValue: 9)?.schemaName == "INT8")
    #expect(TensorType.float8E4M3FN.schemaName == "FLOAT8_E4M3FN")
    #expect(TensorType.allCases.filter { $0.bitWidth == nil } == [.string, .resource, .variant])
    #expect(TensorType.int4.byteCount(5) == 3)
    #expect(TensorType.int2.byteCount(0) == 0)
    #expect(TensorType.complex128.byteCount(3) == 48)
    #expect(TensorType.float32.byteCount(.max) == nil)
  }
}
