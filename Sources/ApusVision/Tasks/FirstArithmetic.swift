// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The first arithmetic of a graph on its input, where it shows how pixels become numbers: models with a
/// layer for scaling or for the mean color take pixels that are not scaled yet, and the scale of models that
/// quantize floats shows the range of their numbers.
struct FirstArithmetic {
  /// How pixels become numbers.
  let normalization: Normalization
  /// The evidence for the normalization, in words.
  let reason: String

  /// Looks at the operator that quantizes the model's only input, or computes with it and a constant; nil if it says nothing.
  init?(_ model: Model, channels: Int) {
    var path = InputPath(model)
    for _ in 0..<InputPath.maximumMovements {
      guard let step = path.next() else { return nil }
      if step.code == .quantize, let range = PixelRange(of: model.tensor(step.output, subgraph: 0)),
        let found = range.normalization(channels: channels)
      {
        normalization = found
        reason = "the graph begins with \(step.code.schemaName) of \(range.text), as for such pixels"
        return
      }
      if step.isMovement { continue }
      guard let values = path.constant(of: step) else { return nil }
      var beginning = Self.text(step, values)
      if let found = Self.normalization(step.code, values, isFirst: step.isFirst) {
        normalization = found
      } else if step.code == .mul, values == 2...2, let next = path.next(),
        let offset = path.constant(of: next),
        next.code == .sub && next.isFirst && offset == 1...1 || next.code == .add && offset == -1 ... -1
      {
        // Only pixels from 0 to 1 become numbers from -1 to 1.
        normalization = .unit
        beginning += " and " + Self.text(next, offset)
      } else {
        return nil
      }
      reason = "the graph begins with \(beginning), as for such pixels"
      return
    }
    return nil
  }

  /// An operator and its constant for people.
  private static func text(_ step: InputPath.Step, _ values: ClosedRange<Float>) -> String {
    let numbers =
      values.lowerBound == values.upperBound
      ? "\(values.lowerBound)" : "\(values.lowerBound) to \(values.upperBound)"
    return "\(step.code.schemaName) and \(numbers)"
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
