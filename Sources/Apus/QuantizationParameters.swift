// SPDX-License-Identifier: Apache-2.0

/// How integers stand for real numbers: `real = scale · (q − zeroPoint)`.
public struct QuantizationParameters: Hashable, Sendable {
  /// One scale for the tensor, or one for each slice along ``quantizedDimension``; finite and above zero.
  public let scales: [Float]

  /// As many as there are scales.
  public let zeroPoints: [Int]

  /// The axis along which scales differ, where there are several.
  public let quantizedDimension: Int

  /// Makes parameters for one scale per slice along an axis.
  public init(scales: [Float], zeroPoints: [Int], quantizedDimension: Int = 0) {
    self.scales = scales
    self.zeroPoints = zeroPoints
    self.quantizedDimension = quantizedDimension
  }

  /// Makes parameters for a whole tensor.
  public init(scale: Float, zeroPoint: Int) {
    self.init(scales: [scale], zeroPoints: [zeroPoint])
  }

  /// The first scale: of the whole tensor, where there is one.
  public var scale: Float { scales.first ?? 0 }

  /// The first zero point: of the whole tensor, where there is one.
  public var zeroPoint: Int { zeroPoints.first ?? 0 }

  /// Whether each slice along ``quantizedDimension`` has its own scale.
  public var isPerChannel: Bool { scales.count > 1 }
}
