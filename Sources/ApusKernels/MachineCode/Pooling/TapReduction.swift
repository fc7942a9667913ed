// SPDX-License-Identifier: Apache-2.0

/// What one generated function of a pool does: it brings taps together, lane by lane, and makes results of that.
package struct TapReduction: Hashable, Sendable {
  /// How taps come together. Bytes are added as `int16`.
  enum Operation: Hashable, Sendable {
    case greatestUnsignedBytes, greatestSignedBytes, greatestFloats
    case sumOfUnsignedBytes, sumOfSignedBytes, sumOfWords, sumOfFloats

    /// Bytes of an element that is read, and of one that is kept in registers.
    var byteCounts: (source: Int, kept: Int) {
      switch self {
      case .greatestUnsignedBytes, .greatestSignedBytes: (1, 1)
      case .sumOfUnsignedBytes, .sumOfSignedBytes: (1, 2)
      case .sumOfWords: (2, 2)
      case .greatestFloats, .sumOfFloats: (4, 4)
      }
    }
  }

  /// What results are.
  enum Result: Hashable, Sendable {
    /// What the taps made, for another reduction.
    case kept
    /// Maxima, brought below a bound; they begin at the other.
    case bounded
    /// Sums times a factor, between bounds: floats, or `int16` as bytes, by ``WordMean``.
    case product
    /// Sums of floats by a divisor, between bounds.
    case quotient
  }

  let operation: Operation
  let result: Result
  /// Bytes of a vector.
  let width: Int

  /// Elements of a vector.
  var lanes: Int { width / operation.byteCounts.kept }
  /// Bytes of an element that is written.
  var resultByteCount: Int {
    let kept = operation.byteCounts.kept
    return result == .product && kept == 2 ? 1 : kept
  }
}
