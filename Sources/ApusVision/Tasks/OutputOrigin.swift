// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// What a model's graph says about the numbers of an output: the operators that compute them, behind those that only
/// move numbers around.
enum OutputOrigin: Hashable, Sendable {
  /// Some are results of this operator, which are within 0 to 1.
  case probability(by: String)
  /// All are results of this layer, whose numbers have no bounds.
  case linear(by: String)
  /// Anything else.
  case unknown

  private static let probabilities: Set<String> = ["LOGISTIC", "SOFTMAX"]
  /// Layers with the field of their options that names the activation.
  private static let layers = [
    "CONV_2D": 3, "DEPTHWISE_CONV_2D": 4, "FULLY_CONNECTED": 0, "TRANSPOSE_CONV": 3,
  ]
  /// Operators that move values, or choose among them, with the number of leading inputs that hold the
  /// values; 0 for all.
  private static let views: [String: Int] = [
    "RESHAPE": 1, "SQUEEZE": 1, "EXPAND_DIMS": 1, "TRANSPOSE": 1, "SLICE": 1, "STRIDED_SLICE": 1, "GATHER": 1,
    "GATHER_ND": 1, "UNPACK": 1, "SPLIT_V": 1, "QUANTIZE": 1, "DEQUANTIZE": 1, "CAST": 1, "TOPK_V2": 1,
    "REDUCE_MAX": 1, "CONCATENATION": 0, "PACK": 0,
  ]
  /// The most operators that are looked at.
  private static let mostOperators = 4096

  /// Follows an output back to what computes it.
  init(of output: Int, in file: ModelFile) {
    self = .unknown
    let subgraph = file.subgraphs[0]
    guard subgraph.outputs.indices.contains(output) else { return }
    var writers: [Int: OperatorEntry] = [:]
    for entry in subgraph.operators { for tensor in entry.outputs { writers[tensor] = entry } }
    var waiting = [subgraph.outputs[output]]
    var seen = Set(waiting)
    var layers: Set<String> = []
    var hasOther = false
    while let tensor = waiting.popLast() {
      guard seen.count <= Self.mostOperators, let entry = writers[tensor] else {
        hasOther = true
        continue
      }
      let name = file.operatorCodes[entry.operatorCode].name
      if Self.probabilities.contains(name) {
        self = .probability(by: name)
        return
      }
      if let field = Self.layers[name], (try? entry.options.int8(field, default: 0)) == 0 {
        layers.insert(name)
      } else if name == "SPLIT" {
        // Its first input is the axis.
        for input in entry.inputs.dropFirst() where seen.insert(input).inserted { waiting.append(input) }
      } else if let count = Self.views[name] {
        for input in entry.inputs.prefix(count == 0 ? entry.inputs.count : count)
        where seen.insert(input).inserted { waiting.append(input) }
      } else {
        hasOther = true
      }
    }
    if !hasOther, let layer = layers.min() { self = .linear(by: layer) }
  }
}
