// SPDX-License-Identifier: Apache-2.0

/// A function of two 64-bit numbers, for the few operators that take `float64` or `uint64`; integer sums and products wrap.
package enum WideFunction: Hashable, Sendable {
  case sum, product
  /// The maximum or the minimum; the second operand if they are unordered.
  case greater, lesser

  /// The kernel for `float64`.
  package func doubles(_ shapes: BroadcastShapes) -> any BinaryKernel {
    let function: @Sendable (Double, Double) -> Double =
      switch self {
      case .sum: { $0 + $1 }
      case .product: { $0 * $1 }
      case .greater: { $0 > $1 ? $0 : $1 }
      case .lesser: { $0 < $1 ? $0 : $1 }
      }
    return BroadcastBinary(ClosureBinary(body: function), shapes)
  }

  /// The kernel for `uint64`.
  package func integers(_ shapes: BroadcastShapes) -> any BinaryKernel {
    let function: @Sendable (UInt64, UInt64) -> UInt64 =
      switch self {
      case .sum: { $0 &+ $1 }
      case .product: { $0 &* $1 }
      case .greater: { max($0, $1) }
      case .lesser: { min($0, $1) }
      }
    return BroadcastBinary(ClosureBinary(body: function), shapes)
  }
}
