// SPDX-License-Identifier: Apache-2.0

import ApusFormat
import Testing

@Suite struct OperatorCodeTests {
  @Test func knowsEveryCodeOfTheSchema() {
    #expect(OperatorCode.allCases.map(\.rawValue) == Array(0..<210))
    #expect(Set(OperatorCode.allCases.map(\.schemaName)).count == 210)
    #expect(OperatorCode.allCases.allSatisfy { $0.isKnown })
    #expect(OperatorCode.allCases.allSatisfy { OperatorCode(schemaName: $0.schemaName) == $0 })
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
    #expect(code.rawValue == number)
    #expect(code.schemaName == name)
  }

  @Test func namesAnUnknownCodeByItsNumber() {
    #expect(OperatorCode(rawValue: 210).schemaName == "UNKNOWN_210")
    #expect(OperatorCode(rawValue: -1).schemaName == "UNKNOWN_-1")
    #expect(OperatorCode(schemaName: "CONV_4D") == nil)
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
