// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The numbers by which a model takes samples.
public enum SampleRange: String, CaseIterable, Codable, Sendable {
  /// −1 to 1.
  case signed
  /// −32,768 to 32,767, as samples of 16 bits are, in whatever type.
  case int16

  /// The number of the largest sample, without the last step.
  var one: Float { self == .signed ? 1 : 32_768 }

  /// The range for people.
  var text: String { self == .signed ? "-1 to 1" : "-32768 to 32767" }
}

/// How the range of samples is read.
struct SampleReading: Sendable {
  /// The range.
  let range: SampleRange
  /// The reading for people.
  let assumption: Assumption

  /// The part of a range that a rounded scale and the sounds of a calibration may change.
  private static let tolerance = 0.05

  private init(_ range: SampleRange, _ source: AssumptionSource, _ reason: String) {
    self.range = range
    assumption = Assumption(
      "samples", "\(range.rawValue) (\(range.text))", source, reason: reason, option: "--samples")
  }

  /// Decides the range: by the options, else by the input's type and quantization, else by what the graph does first, else as usual.
  ///
  /// - Parameter input: The input's place among those of the model.
  /// - Throws: `invalidArgument` for a range that integers without a scale cannot have.
  init(of tensor: Tensor, input: Int, in model: Model, given: SampleRange?) throws(ApusError) {
    let isWhole = tensor.type == .int16 && tensor.quantization == nil
    if let given {
      guard !isWhole || given == .int16 else {
        throw ApusError(
          .invalidArgument,
          "the input \(tensor) takes integers without a scale, so its samples can only be int16, not \(given.rawValue)"
        )
      }
      self.init(given, .given, "the options")
    } else if isWhole {
      self.init(.int16, .model, "the input takes int16 without a scale")
    } else if tensor.type != .float32 {
      let bounds = ValueBounds(ofQuantized: tensor.type, tensor.quantization)
      let found = "the input takes \(tensor.type.rawValue) that stand for \(bounds)"
      if bounds.isNear(-1, 1, within: Self.tolerance) {
        self.init(.signed, .model, found)
      } else if bounds.isNear(-32_768, 32_767, within: Self.tolerance) {
        self.init(.int16, .model, found)
      } else {
        self.init(bounds.upper > 1_000 ? .int16 : .signed, .guess, found)
      }
    } else if let (range, beginning) = Self.arithmetic(model, input) {
      self.init(range, .model, "the graph begins with \(beginning), as for such samples")
    } else {
      self.init(.signed, .guess, "usual for models whose file does not say")
    }
  }

  /// The range that the first operator with a constant suits, and that operator for people; nil if nothing follows.
  private static func arithmetic(_ model: Model, _ input: Int) -> (SampleRange, String)? {
    var path = InputPath(model, input: input)
    for _ in 0..<InputPath.maximumMovements {
      guard let step = path.next() else { return nil }
      if step.isMovement { continue }
      guard let values = path.constant(of: step), values.lowerBound == values.upperBound else { return nil }
      let number = values.lowerBound
      let text = "\(step.code.schemaName) and \(number)"
      func isNear(_ other: Float) -> Bool { abs(number - other) <= 1e-3 * other }
      switch step.code {
      case .div where step.isFirst && (isNear(32_768) || isNear(32_767)): return (.int16, text)
      case .mul where isNear(1 / 32_768) || isNear(1 / 32_767): return (.int16, text)
      case .mul where isNear(32_768) || isNear(32_767): return (.signed, text)
      default: return nil
      }
    }
    return nil
  }
}
