// SPDX-License-Identifier: Apache-2.0

/// A reduction that one generated function of a pooling layer computes, lane by lane.
package struct TapReduction: Hashable, Sendable {
  /// How taps are combined. Bytes are added as `int16`.
  package enum Operation: Hashable, Sendable {
    case greatestUnsignedBytes, greatestSignedBytes, greatestFloats
    case sumOfUnsignedBytes, sumOfSignedBytes, sumOfWords, sumOfFloats

    /// The size of an element in memory, and in registers.
    package var byteCounts: (source: Int, kept: Int) {
      switch self {
      case .greatestUnsignedBytes, .greatestSignedBytes: (1, 1)
      case .sumOfUnsignedBytes, .sumOfSignedBytes: (1, 2)
      case .sumOfWords: (2, 2)
      case .greatestFloats, .sumOfFloats: (4, 4)
      }
    }
  }

  /// The form of the stored result.
  package enum Result: Hashable, Sendable {
    /// The combined taps, for another reduction.
    case kept
    /// Maxima, clamped. Those of bytes start from the lower bound, and the upper one is applied at the end.
    case bounded
    /// Sums times a factor, clamped: floats, or bytes from `int16` sums by ``WordMean``.
    case product
    /// Sums of floats divided by the count, clamped.
    case quotient
  }

  /// How taps are reduced.
  package let operation: Operation
  /// How reduced values become results.
  package let result: Result
  /// The size of a vector.
  package let width: Int

  /// Elements per vector.
  var lanes: Int { width / operation.byteCounts.kept }
  /// The size of a stored element.
  package var resultByteCount: Int {
    let kept = operation.byteCounts.kept
    return result == .product && kept == 2 ? 1 : kept
  }
}
