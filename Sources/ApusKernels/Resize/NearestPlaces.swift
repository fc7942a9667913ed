// SPDX-License-Identifier: Apache-2.0

/// For each output row or column, the nearest one of the input, by the reference's rules; sizes must be
/// positive.
package func nearestPlaces(
  input: Int, output: Int, alignsCorners: Bool, usesHalfPixelCenters: Bool
) -> [Int] {
  let scale =
    alignsCorners && output > 1 ? Float(input - 1) / Float(output - 1) : Float(input) / Float(output)
  let offset: Float = usesHalfPixelCenters ? 0.5 : 0
  return (0..<output).map { position in
    let place = (Float(position) + offset) * scale
    let nearest = place.rounded(alignsCorners ? .toNearestOrAwayFromZero : .down)
    return min(max(Int(nearest), 0), input - 1)
  }
}
