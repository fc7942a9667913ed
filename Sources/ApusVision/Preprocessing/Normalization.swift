// SPDX-License-Identifier: Apache-2.0

import Apus

/// How 8-bit pixels become the numbers that a model was trained on.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum Normalization: Hashable, Sendable {
  /// `v / 255`: 0 to 1.
  case unit
  /// `(v − 127.5) / 127.5`: −1 to 1.
  case signed
  /// `v`: 0 to 255.
  public static let raw = Normalization.meanStd(mean: [0], std: [1])
  /// The mean colors of ImageNet, on which PyTorch's models are trained.
  static let imageNet = Normalization.meanStd(mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375])
  /// `(v − mean) / std`, with one number for all channels or one for each, in the order of the input's channels.
  case meanStd(mean: [Float], std: [Float])
  /// `(v − mean) / max(std, 1/√N)` over all `N` values of the picture, as `tf.image.per_image_standardization`.
  case perImageStandardization

  /// The normalization of an input with this order of channels; ImageNet's numbers belong to colors.
  func ofColors(_ channels: ImageProcessor.Channels) -> Normalization {
    guard self == .imageNet, channels == .bgr, case .meanStd(let mean, let std) = self else { return self }
    return .meanStd(mean: mean.reversed(), std: std.reversed())
  }

  /// Refuses numbers up to 1 for bytes without a quantization, which would keep two or three of them.
  static func check(_ normalization: Normalization?, scale: Float, zeroPoint: Int) throws(ApusError) {
    guard scale != 1 || zeroPoint != 0 || normalization != .unit && normalization != .signed else {
      throw ApusError(
        .invalidArgument,
        "pixels as numbers up to 1 need the scale and the zero point of the input's quantization: they are left at 1 and 0"
      )
    }
  }

  /// Refuses numbers that do not fit an input.
  func check(channels: Int) throws(ApusError) {
    guard case .meanStd(let mean, let std) = self else { return }
    for (name, values) in [("mean", mean), ("std", std)] {
      guard values.count == 1 || values.count == channels else {
        throw ApusError(
          .invalidArgument,
          "the normalization has \(values.count) values for \(name), but the input has \(channels) channels")
      }
      guard values.allSatisfy(\.isFinite), name == "mean" || values.allSatisfy({ $0 > 0 }) else {
        throw ApusError(.invalidArgument, "the normalization has a \(name) of \(values)")
      }
    }
  }

  /// The values 0 to 255 of each channel, normalized; channel `c` begins at `256 · c`.
  ///
  /// - Parameter bytes: The picture, which ``perImageStandardization`` alone looks at.
  func table(channels: Int, of bytes: [UInt8]) throws(ApusError) -> [Float] {
    switch self {
    case .unit: return Self.table(mean: [0], std: [255], channels: channels)
    case .signed: return Self.table(mean: [127.5], std: [127.5], channels: channels)
    case .meanStd(let mean, let std):
      try check(channels: channels)
      return Self.table(mean: mean, std: std, channels: channels)
    case .perImageStandardization:
      var sum = 0
      var squares = 0
      for byte in bytes {
        sum += Int(byte)
        squares += Int(byte) * Int(byte)
      }
      let count = Double(max(bytes.count, 1))
      let mean = Double(sum) / count
      let variance = max(Double(squares) / count - mean * mean, 0)
      let deviation = max(variance.squareRoot(), 1 / count.squareRoot())
      return Self.table(mean: [Float(mean)], std: [Float(deviation)], channels: channels)
    }
  }

  /// The table, quantized: `round(x / scale) + zeroPoint`, halves away from zero, limited to the type.
  func table<Value: FixedWidthInteger>(
    channels: Int, of bytes: [UInt8], scale: Float, zeroPoint: Int
  ) throws(ApusError) -> [Value] {
    guard scale > 0, scale.isFinite else {
      throw ApusError(.invalidArgument, "the input's quantization scale is \(scale)")
    }
    return try table(channels: channels, of: bytes).map { value in
      let quantized = (value / scale).rounded() + Float(zeroPoint)
      if quantized >= Float(Value.max) { return Value.max }
      return quantized > Float(Value.min) ? Value(quantized) : Value.min
    }
  }

  private static func table(mean: [Float], std: [Float], channels: Int) -> [Float] {
    var table: [Float] = []
    table.reserveCapacity(256 * channels)
    for channel in 0..<channels {
      if channel > 0, mean.count == 1, std.count == 1 {
        // All channels are alike.
        table += table[..<256]
        continue
      }
      let (mean, std) = (mean.count == 1 ? mean[0] : mean[channel], std.count == 1 ? std[0] : std[channel])
      for value in 0..<256 { table.append((Float(value) - mean) / std) }
    }
    return table
  }
}
