// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// What a graph does first with the numbers of its input, where that says which pixels they are: models with a layer for scaling
/// or for the mean color take pixels that are not scaled yet.
struct FirstArithmetic {
  /// How pixels become numbers.
  let normalization: Normalization
  /// What says so.
  let reason: String

  /// How many operators that only move numbers may come before.
  private static let mostMovements = 16

  /// Looks at the operator that computes with the model's only input and a constant; nil if it says nothing.
  init?(_ model: Model) {
    let subgraph = model.file.subgraphs[0]
    guard var tensor = subgraph.inputs.first else { return nil }
    for _ in 0..<Self.mostMovements {
      let readers = subgraph.operators.filter { $0.inputs.contains(tensor) }
      guard readers.count == 1, let node = readers.first, let output = node.outputs.first else { return nil }
      guard let code = model.file.operatorCodes[node.operatorCode].code else { return nil }
      if BoundsSearch.movements.contains(code) || code == .pad, node.inputs.first == tensor {
        tensor = output
        continue
      }
      guard node.inputs.count == 2, let other = node.inputs.first(where: { $0 != tensor }),
        subgraph.tensors.indices.contains(other),
        let values = try? model.constantBounds(of: other),
        let found = Self.normalization(code, values, isFirst: node.inputs[0] == tensor)
      else { return nil }
      normalization = found
      let numbers =
        values.lowerBound == values.upperBound
        ? "\(values.lowerBound)" : "\(values.lowerBound) to \(values.upperBound)"
      reason = "the graph begins with \(code.schemaName) and \(numbers), as for such pixels"
      return
    }
    return nil
  }

  /// The pixels that an operator with a constant suits; nil if nothing follows.
  private static func normalization(_ code: OperatorCode, _ values: ClosedRange<Float>, isFirst: Bool)
    -> Normalization?
  {
    let (low, high) = (values.lowerBound, values.upperBound)
    switch code {
    // Divisors of pixels are 255, 127.5 or deviations of colors, means at least 100.
    case .mul where low > 0 && high <= 1 / 50: return .raw
    case .div where isFirst && low >= 50: return .raw
    case .sub where isFirst && low >= 50: return .raw
    case .add where high <= -50: return .raw
    // Means of colors from 0 to 1.
    case .sub where isFirst && low >= 0.3 && high <= 0.6: return .unit
    case .add where low >= -0.6 && high <= -0.3: return .unit
    default: return nil
    }
  }
}
