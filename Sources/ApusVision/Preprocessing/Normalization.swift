import Apus

/// How 8-bit pixels become the numbers that a model was trained on.
public enum Normalization: Hashable, Sendable {
  /// `v / 255`: 0 to 1.
  case unit
  /// `(v − 127.5) / 127.5`: −1 to 1.
  case signed
  /// `(v − mean) / std`, with one number for all channels or one for each, in the order of the input's channels.
  case meanStd(mean: [Float], std: [Float])
  /// `(v − mean) / max(std, 1/√N)` over all `N` values of the picture, as `tf.image.per_image_standardization`.
  case perImageStandardization

  /// The values 0 to 255 of each channel, normalized; channel `c` begins at `256 · c`.
  func table(for image: PreparedImage) throws(ApusError) -> [Float] {
    let channels = image.channels.count
    switch self {
    case .unit: return Self.table(mean: [0], std: [255], channels: channels)
    case .signed: return Self.table(mean: [127.5], std: [127.5], channels: channels)
    case .meanStd(let mean, let std):
      for (name, values) in [("mean", mean), ("std", std)] {
        guard values.count == 1 || values.count == channels else {
          throw ApusError(
            .invalidArgument,
            "the normalization has \(values.count) values for \(name), but the input has \(channels) channels"
          )
        }
        guard values.allSatisfy({ $0.isFinite }), name == "mean" || values.allSatisfy({ $0 > 0 }) else {
          throw ApusError(.invalidArgument, "the normalization has a \(name) of \(values)")
        }
      }
      return Self.table(mean: mean, std: std, channels: channels)
    case .perImageStandardization:
      var sum = 0
      var squares = 0
      for byte in image.bytes {
        sum += Int(byte)
        squares += Int(byte) * Int(byte)
      }
      let count = Double(image.bytes.count)
      let mean = Double(sum) / count
      let variance = max(Double(squares) / count - mean * mean, 0)
      let deviation = max(variance.squareRoot(), 1 / count.squareRoot())
      return Self.table(mean: [Float(mean)], std: [Float(deviation)], channels: channels)
    }
  }

  private static func table(mean: [Float], std: [Float], channels: Int) -> [Float] {
    (0..<channels).flatMap { channel in
      let (mean, std) = (mean.count == 1 ? mean[0] : mean[channel], std.count == 1 ? std[0] : std[channel])
      return (0..<256).map { (Float($0) - mean) / std }
    }
  }
}
