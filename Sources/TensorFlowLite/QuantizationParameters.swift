// SPDX-License-Identifier: Apache-2.0

/// How the integers of a tensor represent real numbers: `real = scale · (integer − zeroPoint)`.
public struct QuantizationParameters: Equatable, Hashable, Sendable {
  /// The real numbers' distance between two neighboring integers.
  public let scale: Float

  /// The integer that represents zero.
  public let zeroPoint: Int
}
