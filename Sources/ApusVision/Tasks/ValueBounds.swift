// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// Between which numbers the values of an output lie, whatever the picture, as far as the last operators and the quantization say.
struct ValueBounds: Hashable, Sendable {
  let lower: Double
  let upper: Double

  /// Nothing is known.
  static let unknown = ValueBounds(-.infinity, .infinity)

  /// Bounds in either order; those that are not numbers are unknown.
  init(_ one: Double, _ other: Double) {
    let isKnown = !one.isNaN && !other.isNaN
    lower = isKnown ? min(one, other) : -.infinity
    upper = isKnown ? max(one, other) : .infinity
  }

  /// The bounds of an output of a model.
  ///
  /// - Parameter input: Those of the model's input.
  init(ofOutput position: Int, of model: Model, input: ValueBounds = .unknown) throws(ApusError) {
    let subgraph = model.file.subgraphs[0]
    guard subgraph.outputs.indices.contains(position) else {
      self = .unknown
      return
    }
    var search = BoundsSearch(model, input: input)
    self = try search.bounds(of: subgraph.outputs[position], depth: 0)
  }

  /// The bounds of truth values, and of bytes and other short integers with a scale for the whole tensor; of other tensors, unknown.
  init(ofQuantized type: ElementType, _ quantization: QuantizationParameters?) {
    let steps: ClosedRange<Double>
    switch type {
    case .uint8: steps = 0...255
    case .int8: steps = -128...127
    case .int16: steps = -32_768...32_767
    case .uint16: steps = 0...65_535
    case .bool: steps = 0...1
    default:
      self = .unknown
      return
    }
    guard let quantization else {
      self.init(steps.lowerBound, steps.upperBound)
      return
    }
    guard quantization.scales.count == 1, let zeroPoint = quantization.zeroPoints.first else {
      self = .unknown
      return
    }
    let scale = Double(quantization.scale)
    self.init(scale * (steps.lowerBound - Double(zeroPoint)), scale * (steps.upperBound - Double(zeroPoint)))
  }

  /// Whether both bounds are near these, by a share of their distance.
  func isNear(_ lower: Double, _ upper: Double, within share: Double = 0.02) -> Bool {
    let tolerance = share * (upper - lower)
    return abs(self.lower - lower) <= tolerance && abs(self.upper - upper) <= tolerance
  }

  /// Whether all values lie from 0 to 1.
  var isProbability: Bool { lower >= -0.01 && upper <= 1.01 }

  /// Whether values may lie far beyond 0 to 1, as the scales of no probabilities do.
  var isBeyondProbabilities: Bool { lower.isFinite && lower < -0.5 || upper.isFinite && upper > 2 }

  /// The values that both allow.
  func intersection(_ other: ValueBounds) -> ValueBounds {
    let (low, high) = (max(lower, other.lower), min(upper, other.upper))
    return low <= high ? ValueBounds(low, high) : other
  }

  /// The values that either allows.
  func union(_ other: ValueBounds) -> ValueBounds {
    ValueBounds(min(lower, other.lower), max(upper, other.upper))
  }

  /// The values after limiting them to a range.
  func clamped(_ low: Double, _ high: Double) -> ValueBounds {
    ValueBounds(min(max(lower, low), high), min(max(upper, low), high))
  }

  /// The values of a growing function.
  func mapped(_ function: (Double) -> Double) -> ValueBounds { ValueBounds(function(lower), function(upper)) }

  static func + (one: ValueBounds, other: ValueBounds) -> ValueBounds {
    ValueBounds(one.lower + other.lower, one.upper + other.upper)
  }

  static func - (one: ValueBounds, other: ValueBounds) -> ValueBounds {
    ValueBounds(one.lower - other.upper, one.upper - other.lower)
  }

  static func * (one: ValueBounds, other: ValueBounds) -> ValueBounds {
    corners(one, other) { $0 == 0 || $1 == 0 ? 0 : $0 * $1 }
  }

  static func / (one: ValueBounds, other: ValueBounds) -> ValueBounds {
    other.lower <= 0 && other.upper >= 0 ? .unknown : corners(one, other, /)
  }

  /// The values of a function that has its extremes where its arguments have theirs.
  private static func corners(
    _ one: ValueBounds, _ other: ValueBounds, _ function: (Double, Double) -> Double
  ) -> ValueBounds {
    let values = [one.lower, one.upper].flatMap { a in
      [other.lower, other.upper].map { b in function(a, b) }
    }
    guard !values.contains(where: \.isNaN), let low = values.min(), let high = values.max() else {
      return .unknown
    }
    return ValueBounds(low, high)
  }
}

extension ValueBounds: CustomStringConvertible {
  /// For example `0 to 1`, `0 or more`, or `any numbers`.
  var description: String {
    func text(_ value: Double) -> String {
      value == value.rounded() && value.magnitude < 1e6 ? "\(Int(value))" : "\(Float(value))"
    }
    if lower == -.infinity { return upper == .infinity ? "any numbers" : "\(text(upper)) or less" }
    return upper == .infinity ? "\(text(lower)) or more" : "\(text(lower)) to \(text(upper))"
  }
}
