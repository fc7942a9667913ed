// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem

/// The activation of a recurrent operator's gates and outputs.
package enum RecurrentActivation: Sendable {
  case none, relu, reluN1To1, relu6, tanh, signBit, logistic

  /// Applies the function in place, unless the run has to end.
  package func apply(to values: inout MutableSpan<Float>, threads: ThreadTeam) {
    var poll = StopPoll(threads)
    let count = values.count
    switch self {
    case .none: return
    case .relu: RecurrentFloats.clamp(&values, from: 0, to: .infinity)
    case .reluN1To1: RecurrentFloats.clamp(&values, from: -1, to: 1)
    case .relu6: RecurrentFloats.clamp(&values, from: 0, to: 6)
    case .tanh:
      for index in 0..<count {
        if poll.mustStop(atTurn: index, of: count, steps: 16) { return }
        values[index] = tanhf(values[index])
      }
    case .signBit: for index in 0..<count { values[index] = values[index].sign == .minus ? 1 : 0 }
    case .logistic:
      for index in 0..<count {
        if poll.mustStop(atTurn: index, of: count, steps: 16) { return }
        values[index] = 1 / (1 + expf(-values[index]))
      }
    }
  }
}

/// The elementwise functions of recurrent operators on a row of floats.
package enum RecurrentFloats {
  /// The logistic function.
  package static func logistic(_ value: Float) -> Float { 1 / (1 + expf(-value)) }

  /// The hyperbolic tangent.
  package static func hyperbolicTangent(_ value: Float) -> Float { tanhf(value) }

  /// Bounds a row; NaN becomes the lower bound, as in the reference's recurrent operators (and in no others).
  static func clamp(_ values: inout MutableSpan<Float>, from low: Float, to high: Float) {
    for index in 0..<values.count {
      let value = values[index]
      values[index] = value > low ? (value < high ? value : high) : low
    }
  }

  /// Makes infinities the greatest floats; NaN stays.
  package static func clampInfinities(of values: inout MutableSpan<Float>) {
    let bounds = ScalarBounds(minimum: -Float.greatestFiniteMagnitude, maximum: .greatestFiniteMagnitude)
    for index in 0..<values.count { values[index] = bounds.clamp(values[index]) }
  }

  /// Sets all values to one.
  package static func fill(_ values: inout MutableSpan<Float>, with value: Float) {
    for index in 0..<values.count { values[index] = value }
  }

  /// Copies a row.
  package static func copy(_ source: Span<Float>, to values: inout MutableSpan<Float>) {
    precondition(source.count == values.count)
    for index in 0..<values.count { values[index] = source[index] }
  }

  /// Shifts and scales a row to mean 0 and variance 1, then multiplies and adds.
  package static func normalize(
    _ values: inout MutableSpan<Float>, coefficients: Span<Float>, bias: Span<Float>
  ) {
    let count = values.count
    precondition(coefficients.count == count && bias.count == count)
    var sum: Float = 0
    for index in 0..<count { sum += values[index] }
    let mean = sum / Float(count)
    var squares: Float = 0
    for index in 0..<count {
      let difference = values[index] - mean
      squares += difference * difference
    }
    let factor = 1 / (squares / Float(count) + 1e-8).squareRoot()
    for index in 0..<count {
      values[index] = (values[index] - mean) * factor * coefficients[index] + bias[index]
    }
  }

  /// Updates the cell: forget gate × cell + (1 − forget gate) × values, clipped.
  package static func updateCell(
    _ cell: inout MutableSpan<Float>, forget: Span<Float>, values: Span<Float>, clip: Float
  ) {
    precondition(forget.count == cell.count && values.count == cell.count)
    for index in 0..<cell.count {
      let kept = forget[index] * cell[index]
      cell[index] = clipped(kept + values[index] * (1 - forget[index]), clip)
    }
  }

  /// Updates the cell: forget gate × cell + input gate × values, clipped.
  package static func updateCell(
    _ cell: inout MutableSpan<Float>, forget: Span<Float>, input: Span<Float>, values: Span<Float>,
    clip: Float
  ) {
    precondition(forget.count == cell.count && values.count == cell.count && input.count == cell.count)
    for index in 0..<cell.count {
      let kept = forget[index] * cell[index]
      cell[index] = clipped(kept + values[index] * input[index], clip)
    }
  }

  /// Multiplies a row by another.
  package static func multiply(_ values: inout MutableSpan<Float>, by factors: Span<Float>) {
    precondition(factors.count == values.count)
    for index in 0..<values.count { values[index] *= factors[index] }
  }

  /// Bounds a row to `-clip...clip`, unless `clip` is 0.
  package static func clip(_ values: inout MutableSpan<Float>, to clip: Float) {
    for index in 0..<values.count { values[index] = clipped(values[index], clip) }
  }

  /// Bounds a value to `-clip...clip`, unless `clip` is 0; NaN becomes `clip`, as in the reference.
  @inline(__always)
  static func clipped(_ value: Float, _ clip: Float) -> Float {
    guard clip > 0 else { return value }
    return value < clip ? (value < -clip ? -clip : value) : clip
  }

  /// Quantizes a row to 8 bits minus its zero point; returns the scale, or 0 if all values are zero.
  package static func quantize(
    _ values: Span<Float>, isAsymmetric: Bool, into result: inout MutableSpan<Int16>
  ) -> Float {
    precondition(values.count == result.count)
    var (low, high): (Float, Float) = (.infinity, -.infinity)
    for index in 0..<values.count {
      low = values[index] < low ? values[index] : low
      high = values[index] > high ? values[index] : high
    }
    if values.count == 0 || low == 0 && high == 0 || low > high { return 0 }
    return isAsymmetric
      ? quantizeAsymmetrically(values, min(low, 0), max(high, 0), into: &result)
      : quantizeSymmetrically(values, max(abs(low), abs(high)), into: &result)
  }

  private static func quantizeSymmetrically(
    _ values: Span<Float>, _ range: Float, into result: inout MutableSpan<Int16>
  ) -> Float {
    let inverse = 127 / range
    for index in 0..<values.count {
      result[index] = Int16(bounded(values[index] * inverse, -127, 127))
    }
    return range / 127
  }

  private static func quantizeAsymmetrically(
    _ values: Span<Float>, _ low: Float, _ high: Float, into result: inout MutableSpan<Int16>
  ) -> Float {
    let (minimum, maximum) = (Double(low), Double(high))
    // The reference computes the range in single precision and the rest in double precision.
    let scale = Double(high - low) / 255
    guard scale.isFinite, scale > 0 else {
      for index in 0..<result.count { result[index] = 0 }
      return 0
    }
    let fromLow = -128 - minimum / scale
    let fromHigh = 127 - maximum / scale
    let lowIsCloser = 128 + abs(minimum / scale) < 127 + abs(maximum / scale)
    let exact = lowIsCloser ? fromLow : fromHigh
    let zeroPoint = Float(min(max(exact, -128), 127).rounded(.toNearestOrAwayFromZero))
    let inverse = 1 / Float(scale)
    for index in 0..<values.count {
      result[index] = Int16(bounded(values[index] * inverse, -128 - zeroPoint, 127 - zeroPoint))
    }
    return Float(scale)
  }

  /// A number rounded and clamped; NaN becomes the lower bound.
  @inline(__always)
  private static func bounded(_ value: Float, _ low: Float, _ high: Float) -> Float {
    let rounded = value.rounded(.toNearestOrAwayFromZero)
    return rounded > low ? (rounded < high ? rounded : high) : low
  }
}
