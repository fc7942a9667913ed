// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// PRELU of bytes in single precision: the difference from the zero point times one factor, or if negative
/// times its channel's factor, plus an offset with the product's sign, truncated.
///
/// A factor combines a channel's slope with the scales. An offset is right for all channels if it is within
/// bounds that each of the 256 values sets. Both sides of zero usually have a common offset; if not, one side
/// adds an extra one. The results for all values are computed and compared with the reference's.
package struct SinglePrecisionRelu: Sendable {
  package let isSigned: Bool
  package let zeroPoint: Int32
  /// The factor of differences that are not negative.
  package let positive: Float
  /// The factors of negative differences, for each element of a row.
  package let factors: [Float]
  package let offset: Float
  /// Added to positive products, besides the offset; 0 if both sides share one offset.
  package let extra: Float
  /// Added to truncated sums; the result is clamped to the type's range.
  package let outputZeroPoint: Int32

  /// Finds the floats; throws if there are none.
  init(_ relu: QuantizedParametricRelu, isSigned: Bool, factors: [Int32]) throws(Decline) {
    let output = relu.positive.output
    let bytes: ClosedRange<Int32> = isSigned ? -128...127 : 0...255
    guard output.minimum == bytes.lowerBound, output.maximum == bytes.upperBound else {
      throw Decline("results are not brought between the bounds of bytes alone")
    }
    self.isSigned = isSigned
    zeroPoint = relu.positive.zeroPoint
    outputZeroPoint = output.zeroPoint
    let room = (bytes.lowerBound - output.zeroPoint)...(bytes.upperBound - output.zeroPoint)
    let distances = bytes.lowerBound - zeroPoint...bytes.upperBound - zeroPoint
    let above = Side(
      distances: distances.clamped(to: 0...max(0, distances.upperBound)), room: room,
      factor: output.multiplier.real, result: output.multiplier.apply)
    // Factors are bytes, so channels with equal ones share their float.
    var below: [Int32: (side: Side, float: Float)] = [:]
    var aboveBounds = Bounds()
    guard let positive = above.float(&aboveBounds) else {
      throw Decline("no float makes the same results of what is above zero")
    }
    var bounds = Bounds()
    var floats: [Float] = []
    floats.reserveCapacity(factors.count)
    for (channel, factor) in factors.enumerated() {
      if let known = below[factor] {
        floats.append(known.float)
        continue
      }
      let distance = factor - relu.alphaZeroPoint
      let side = Side(
        distances: distances.clamped(to: min(0, distances.lowerBound)...0), room: room,
        factor: relu.negative.real * Double(distance)
      ) { relu.negative.apply($0 &* distance) }
      guard let float = side.float(&bounds) else {
        throw Decline("no float makes the same results of what is below zero in channel \(channel)")
      }
      below[factor] = (side, float)
      floats.append(float)
    }
    let common = Bounds(least: max(bounds.least, aboveBounds.least), end: min(bounds.end, aboveBounds.end))
    let sidesAgree = common.length > 0
    let offset = (sidesAgree ? common : bounds).middle
    let extra = sidesAgree ? 0 : aboveBounds.middle - offset
    // Adding the offset rounds, so all results are compared once more with the offset in place.
    guard above.agrees(positive, offset, extra),
      below.values.allSatisfy({ $0.side.agrees($0.float, offset, 0) })
    else {
      throw Decline("no offset makes the same results in all channels")
    }
    self.positive = positive
    self.factors = floats
    self.offset = offset
    self.extra = extra
  }

  /// A range of offsets: from `least` on, below `end`.
  private struct Bounds {
    var least = 0.0
    var end = 1.0

    var length: Double { end - least }
    var middle: Float { Float((least + end) / 2) }
  }

  /// The values on one side of zero.
  private struct Side {
    let distances: ClosedRange<Int32>
    /// The range that results are clamped to.
    let room: ClosedRange<Int32>
    let factor: Double
    /// The reference's results, which may be beyond ``room``.
    let results: [Int32]

    /// The maximum of products, so that their sums with offsets fit in 32-bit integers.
    private static let limit = 0x1p30

    init(
      distances: ClosedRange<Int32>, room: ClosedRange<Int32>, factor: Double, result: (Int32) -> Int32
    ) {
      self.distances = distances
      self.room = room
      self.factor = factor
      results = distances.map(result)
    }

    /// A float at most two ulps from the factor: the first that leaves enough offsets, otherwise the one that
    /// leaves most. Narrows the bounds; nil if no offset is left.
    func float(_ bounds: inout Bounds) -> Float? {
      let nearest = Float(factor)
      let next = [nearest.nextUp, nearest.nextDown, nearest.nextUp.nextUp, nearest.nextDown.nextDown]
      var best: (float: Float, bounds: Bounds)?
      for float in [nearest] + next {
        guard let found = self.bounds(float, within: bounds), found.length > best?.bounds.length ?? 0 else {
          continue
        }
        best = (float, found)
        // Most leave enough.
        if found.length > 0x1p-9 { break }
      }
      guard let best else { return nil }
      bounds = best.bounds
      return best.float
    }

    /// The offsets with which a float gives all results.
    private func bounds(_ float: Float, within bounds: Bounds) -> Bounds? {
      var bounds = bounds
      for (distance, result) in zip(distances, results) {
        let product = Float(distance) * float
        let magnitude = Double(product.magnitude)
        guard magnitude < Self.limit, result == 0 || (result < 0) == (product < 0) else { return nil }
        let bounded = min(max(result, room.lowerBound), room.upperBound)
        bounds.least = max(bounds.least, Double(bounded.magnitude) - magnitude)
        if bounded == result { bounds.end = min(bounds.end, Double(result.magnitude) + 1 - magnitude) }
      }
      return bounds
    }

    /// Whether the code of ``X86Target/parametricRelu(_:)`` computes all results.
    func agrees(_ float: Float, _ offset: Float, _ extra: Float) -> Bool {
      zip(distances, results).allSatisfy { distance, result in
        let product = Float(distance) * float
        let more = min(Float(max(distance, 0)), extra.magnitude)
        let base = extra < 0 ? product - more : product + more
        let sum = Int32(base + Float(signOf: product, magnitudeOf: offset))
        return min(max(sum, room.lowerBound), room.upperBound)
          == min(max(result, room.lowerBound), room.upperBound)
      }
    }
  }
}
