// SPDX-License-Identifier: Apache-2.0

/// A picture as a point in space: pictures of the same thing lie near each other.
public struct Embedding: Hashable, Codable, Sendable {
  /// The coordinates.
  public var values: [Float]
  /// Which of the model's outputs it is from.
  public var headIndex: Int
  /// The output's name, from the metadata or the tensor.
  public var headName: String

  /// Makes a point.
  public init(_ values: [Float], headIndex: Int = 0, headName: String = "") {
    self.values = values
    self.headIndex = headIndex
    self.headName = headName
  }

  /// The Euclidean length.
  public var norm: Double {
    values.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
  }

  /// Whether every coordinate is zero: such a point has no direction, so that no comparison with it means anything.
  package var isZero: Bool { values.allSatisfy { $0 == 0 } }

  /// The point moved to distance 1 from the origin; the origin itself stays.
  public func l2Normalized() -> Embedding {
    let norm = norm
    guard norm > 0, norm.isFinite else { return self }
    var result = self
    result.values = values.map { Float(Double($0) / norm) }
    return result
  }

  /// The coordinates from −1 to 1 as bytes: `round(128 · v)`, halves away from zero, limited to the type.
  public func quantized() -> [Int8] {
    values.map { value in
      let scaled = (value * 128).rounded()
      return scaled >= 127 ? 127 : scaled > -128 ? Int8(scaled) : -128
    }
  }

  /// The Euclidean distance to another point; nil if the numbers of coordinates differ.
  public func euclideanDistance(to other: Embedding) -> Double? {
    guard values.count == other.values.count else { return nil }
    return zip(values, other.values).reduce(0.0) { sum, pair in
      let difference = Double(pair.0) - Double(pair.1)
      return sum + difference * difference
    }.squareRoot()
  }

  /// The cosine of the angle between two points, −1 to 1; nil if the numbers of coordinates differ, or
  /// one point is the origin.
  public func cosineSimilarity(to other: Embedding) -> Double? {
    guard values.count == other.values.count else { return nil }
    let product = zip(values, other.values).reduce(0.0) { $0 + Double($1.0) * Double($1.1) }
    let norms = norm * other.norm
    // Rounding may lead beyond the cosine of a straight angle.
    return norms > 0 && norms.isFinite ? min(max(product / norms, -1), 1) : nil
  }
}
