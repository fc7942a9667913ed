// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import Testing

/// Operators of multiply-accumulates take every mix of types that LiteRT's reference kernels take, and answer it as they
/// do: for each mix there is a golden.
///
/// Not in the list: `CONV_2D` of float32 with float16 weights, which the reference accepts and then reads as float32
/// (here they are float16); mixes of signed with unsigned bytes, which it accepts and takes for each other (refused here).
@Suite struct MatrixOperandTests {
  /// Types of activations, weights, bias and output; `*` marks a scale for each channel of the weights.
  private static let mixes: [String: [String]] = [
    "CONV_2D": [
      "float32 float32 float32 float32", "float32 int8 float32 float32", "float32 int8* float32 float32",
      "float32 int4* float32 float32", "float32 uint8 float32 float32", "uint8 uint8 int32 uint8",
      "int8 int8 int32 int8", "int8 int8* int32 int8", "int8 int4* int32 int8", "int16 int8* int64 int16",
      "int16 int8* int32 int16", "int16 int8 int64 int16", "int16 int16 int64 int16",
    ],
    "DEPTHWISE_CONV_2D": [
      "float32 float32 float32 float32", "float32 float32 none float32", "float32 int8* float32 float32",
      "uint8 uint8 int32 uint8", "uint8 uint8 none uint8", "int8 int8 int32 int8", "int8 int8* int32 int8",
      "int8 int8* none int8", "int8 int4* int32 int8", "int16 int8* int64 int16", "int16 int8 int64 int16",
      "int16 int8* none int16", "int16 int16 int64 int16",
    ],
    "FULLY_CONNECTED": [
      "float32 float32 float32 float32", "float32 float32 none float32", "float32 int8 float32 float32",
      "float32 int8* float32 float32", "float32 int4* float32 float32", "float32 uint8 float32 float32",
      "uint8 uint8 int32 uint8", "uint8 uint8 none uint8", "uint8 uint8 int32 int16", "int8 int8 int32 int8",
      "int8 int8* int32 int8", "int8 int8* none int8", "int8 int4* int32 int8", "int16 int8* int64 int16",
      "int16 int8* int32 int16", "int16 int8 int64 int16", "int16 int8* none int16",
      "int16 int16 int64 int16",
      "int8 int8 int32 int16",
    ],
    "TRANSPOSE_CONV": [
      "float32 float32 float32 float32", "float32 float32 none float32", "float32 int8 float32 float32",
      "float32 int8* float32 float32", "uint8 uint8 int32 uint8", "uint8 uint8 none uint8",
      "int8 int8 int32 int8",
      "int8 int8* int32 int8", "int8 int8* none int8", "int16 int8* int64 int16", "int16 int8* int32 int16",
      "int16 int8 int64 int16", "int16 int8* none int16",
    ],
    "CONV_3D": ["float32 float32 float32 float32", "float32 float32 none float32"],
  ]

  @Test("each mix of types has a golden", arguments: mixes.keys.sorted())
  func hasGoldens(name: String) throws {
    let contents = try GoldenArchive(name: name).open()
    var found: Set<String> = []
    for name in contents.cases { found.insert(try mix(of: contents.model(of: name))) }
    #expect(Self.mixes[name]?.filter { !found.contains($0) } == [], "\(name)")
  }

  /// The mix of the operator of a model.
  private func mix(of model: Model) throws -> String {
    let subgraph = model.file.subgraphs[0]
    let node = try #require(subgraph.operators.first)
    let isTransposed = model.operatorCounts.first?.name == "TRANSPOSE_CONV"
    let (activations, bias) = isTransposed ? (2, 3) : (0, 2)
    func type(_ tensor: Int) -> String { "\(ElementType(subgraph.tensors[tensor].type))" }
    let isPerChannel = subgraph.tensors[node.inputs[1]].quantization.map { $0.scales.count > 1 } ?? false
    let hasBias = node.inputs.count > bias && node.inputs[bias] >= 0
    return [
      type(node.inputs[activations]), type(node.inputs[1]) + (isPerChannel ? "*" : ""),
      hasBias ? type(node.inputs[bias]) : "none", type(node.outputs[0]),
    ].joined(separator: " ")
  }
}
