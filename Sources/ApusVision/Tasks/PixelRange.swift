// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The real numbers that the bytes of a tensor stand for by its scale and zero point, and which pixels these are.
struct PixelRange {
  /// The numbers of the least and the greatest byte.
  let bounds: ClosedRange<Float>

  /// The part of a range that a rounded scale and the pictures of a calibration may change.
  private static let tolerance: Float = 0.02

  /// The range of a tensor; nil for other types than bytes, and without a scale.
  init?(of tensor: Tensor) {
    let bytes: ClosedRange<Float>
    switch tensor.type {
    case .uint8: bytes = 0...255
    case .int8: bytes = -128...127
    default: return nil
    }
    guard let quantization = tensor.quantization, quantization.scale > 0, quantization.scale.isFinite else {
      return nil
    }
    let (scale, zeroPoint) = (quantization.scale, Float(quantization.zeroPoint))
    bounds = scale * (bytes.lowerBound - zeroPoint)...scale * (bytes.upperBound - zeroPoint)
  }

  /// The range of the bytes that the graph first makes of the numbers of its only input; nil if it begins in another way.
  init?(firstIn model: Model) {
    for step in InputPath(model).prefix(InputPath.maximumMovements) {
      if step.code == .quantize {
        self.init(of: model.tensor(step.output, subgraph: 0))
        return
      }
      guard step.isMovement else { return nil }
    }
    return nil
  }

  /// How pixels become numbers of this range: 0 to 255, 0 to 1, -1 to 1, or the range of ImageNet's colors; nil for any other.
  func normalization(channels: Int) -> Normalization? {
    [Normalization.raw, .unit, .signed, .imageNet].first { normalization in
      guard normalization != .imageNet || channels == 3, let usual = normalization.bounds else {
        return false
      }
      let tolerance = Self.tolerance * (usual.upperBound - usual.lowerBound)
      return abs(bounds.lowerBound - usual.lowerBound) <= tolerance
        && abs(bounds.upperBound - usual.upperBound) <= tolerance
    }
  }

  /// Whether the range has no place for some of the numbers that pixels become.
  func cuts(_ normalization: Normalization) -> Bool {
    guard let numbers = normalization.bounds else { return false }
    let tolerance = Self.tolerance * (numbers.upperBound - numbers.lowerBound)
    return bounds.lowerBound - numbers.lowerBound > tolerance
      || numbers.upperBound - bounds.upperBound > tolerance
  }

  /// The range for people.
  var text: String { "\(bounds.lowerBound) to \(bounds.upperBound)" }
}

extension Normalization {
  /// The least and the greatest number that a pixel of any channel becomes; nil if it depends on the picture.
  var bounds: ClosedRange<Float>? {
    switch self {
    case .unit: return 0...1
    case .signed: return -1...1
    case .perImageStandardization: return nil
    case .meanStd(let mean, let std):
      guard !mean.isEmpty, !std.isEmpty else { return nil }
      // One number stands for every channel.
      let channels = (0..<max(mean.count, std.count)).map { channel in
        (mean: mean[min(channel, mean.count - 1)], std: std[min(channel, std.count - 1)])
      }
      let (blacks, whites) = (channels.map { -$0.mean / $0.std }, channels.map { (255 - $0.mean) / $0.std })
      guard let least = blacks.min(), let greatest = whites.max(), least <= greatest else { return nil }
      return least...greatest
    }
  }
}
