// SPDX-License-Identifier: Apache-2.0

/// The two rows or columns of the input that an output row or column interpolates, and its position between
/// them.
struct InterpolationTap: Sendable {
  let lower: Int
  let upper: Int
  /// The distance from the lower one; may be outside 0...1 at the edges.
  let fraction: Float
  /// The distance in units of 2⁻¹⁰, for integers, which compute positions in these units; or in sixteenths.
  let weight: Int32

  /// The taps along one axis, by the reference's rules; both sizes are between 1 and 2²⁴.
  static func table(
    input: Int, output: Int, alignsCorners: Bool, usesHalfPixelCenters: Bool, isInteger: Bool
  ) -> [InterpolationTap] {
    let isAligned = alignsCorners && output > 1
    if isInteger {
      let (size, steps) = isAligned ? (input - 1, output - 1) : (input, output)
      let scale = (size * 1024 + steps / 2) / steps
      return (0..<output).map { position in
        let place = position * scale + (usesHalfPixelCenters ? scale / 2 - 512 : 0)
        let lower = min(max(place / 1024, 0), input - 1)
        let upper = min(max((place + 1023) / 1024, 0), input - 1)
        return InterpolationTap(
          lower: lower, upper: upper, fraction: 0, weight: Int32(truncatingIfNeeded: place - lower * 1024))
      }
    }
    let scale = isAligned ? Float(input - 1) / Float(output - 1) : Float(input) / Float(output)
    return (0..<output).map { position in
      let value = Float(position)
      let place = usesHalfPixelCenters ? (value + 0.5) * scale - 0.5 : value * scale
      let lower = min(max(Int(place.rounded(.down)), 0), input - 1)
      let upper = min(max(Int(place.rounded(.up)), 0), input - 1)
      let fraction = place - Float(lower)
      return InterpolationTap(
        lower: lower, upper: upper, fraction: fraction, weight: Int32(max(-64, min(64, fraction * 16))))
    }
  }

  /// Whether the fraction is a whole number of sixteenths.
  var isInSixteenths: Bool { Float(weight) == fraction * 16 }
}
