// SPDX-License-Identifier: Apache-2.0

/// How integers represent real numbers: `real = scale · (q − zeroPoint)`.
public struct QuantizationParameters: Hashable, Sendable {
  /// One scale for the tensor, or one for each slice along ``quantizedDimension``. They are the file's, unchecked: an
  /// operator that uses them checks that they are finite and above zero.
  public let scales: [Float]

  /// The integers that represent zero, one for each scale.
  public let zeroPoints: [Int]

  /// The axis along which scales differ, if there are several.
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

  /// The first scale, which is the whole tensor's unless ``isPerChannel``; 0 without scales.
  public var scale: Float { scales.first ?? 0 }

  /// The first zero point, which is the whole tensor's unless ``isPerChannel``; 0 without zero points.
  public var zeroPoint: Int { zeroPoints.first ?? 0 }

  /// Whether each slice along ``quantizedDimension`` has its own scale.
  public var isPerChannel: Bool { scales.count > 1 }
}
