// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The first arithmetic of a graph on its input, where it shows how pixels become numbers: models with a
/// layer for scaling or for the mean color take pixels that are not scaled yet, and the scale of models that
/// quantize floats shows the range of their numbers.
struct FirstArithmetic {
  /// How pixels become numbers.
  let normalization: Normalization
  /// The evidence for the normalization, in words.
  let reason: String
  /// The order of channels in which the graph has ImageNet's mean color, and the evidence for it; nil if it has none.
  let order: (channels: ImageProcessor.Channels, reason: String)?

  /// The distance of a mean color from ImageNet's, in steps of 255, within which it is the same: publications round it in several ways.
  private static let colorTolerance: Float = 1
  /// Movements that keep the order of channels.
  private static let keepingOrder: Set<OperatorCode> = [
    .quantize, .dequantize, .cast, .reshape, .transpose, .squeeze, .expandDims, .pad, .mirrorPad,
    .resizeBilinear, .resizeNearestNeighbor,
  ]

  /// Looks at the operator that quantizes the model's only input, or computes with it and a constant; nil if it says nothing.
  init?(_ model: Model, channels: Int) {
    var path = InputPath(model)
    var keepsOrder = true
    for _ in 0..<InputPath.maximumMovements {
      guard let step = path.next() else { return nil }
      if step.code == .quantize, let range = PixelRange(of: model.tensor(step.output, subgraph: 0)),
        let found = range.normalization(channels: channels)
      {
        normalization = found
        reason = "the graph begins with \(step.code.schemaName) of \(range.text), as for such pixels"
        order = nil
        return
      }
      if step.isMovement {
        keepsOrder = keepsOrder && Self.keepingOrder.contains(step.code)
        continue
      }
      guard let values = path.constant(of: step) else { return nil }
      var beginning = Self.text(step, values)
      if let found = Self.normalization(step, values) {
        normalization = found
      } else if let next = path.next(), let others = path.constant(of: next),
        let found = Self.normalization(step, values, followedBy: next, others)
      {
        normalization = found
        beginning += " and " + Self.text(next, others)
      } else {
        return nil
      }
      reason = "the graph begins with \(beginning), as for such pixels"
      let means = path.constants(of: step, count: 3)
      order = keepsOrder && channels == 3 ? means.flatMap { Self.order(of: $0, step) } : nil
      return
    }
    return nil
  }

  /// An operator and its constant for people.
  private static func text(_ step: InputPath.Step, _ values: ClosedRange<Float>) -> String {
    let numbers =
      values.lowerBound == values.upperBound
      ? "\(values.lowerBound)" : "\(values.lowerBound) to \(values.upperBound)"
    return "\(step.code.schemaName) and \(numbers)"
  }

  /// The pixels that an operator with a constant suits; nil if nothing follows.
  private static func normalization(_ step: InputPath.Step, _ values: ClosedRange<Float>) -> Normalization? {
    let (low, high) = (values.lowerBound, values.upperBound)
    switch step.code {
    // Divisors of pixels are 255, 127.5 or deviations of colors, means at least 100.
    case .mul where low > 0 && high <= 1 / 50: return .raw
    case .div where step.isFirst && low >= 50: return .raw
    case .sub where step.isFirst && low >= 50: return .raw
    case .add where high <= -50: return .raw
    // Means of colors from 0 to 1.
    case .sub where step.isFirst && low >= 0.3 && high <= 0.6: return .unit
    case .add where low >= -0.6 && high <= -0.3: return .unit
    // Pixels from 0 to 1 become bytes.
    case .mul where values == 255...255: return .unit
    // Negatives of pictures.
    case .sub where !step.isFirst && values == 1...1: return .unit
    case .sub where !step.isFirst && values == 255...255: return .raw
    default: return nil
    }
  }

  /// The pixels that two operators with constants suit together; nil if nothing follows.
  private static func normalization(
    _ step: InputPath.Step, _ values: ClosedRange<Float>, followedBy next: InputPath.Step,
    _ others: ClosedRange<Float>
  ) -> Normalization? {
    switch (step.code, next.code) {
    case (.mul, .add), (.mul, .sub):
      guard next.code == .add || next.isFirst else { return nil }
      // x / std - mean / std: deviations and means of colors from 0 to 1, or of pixels from 0 to 1 that become -1 to 1.
      let offsets = next.code == .sub ? others : -others.upperBound ... -others.lowerBound
      guard values.lowerBound >= 2, values.upperBound <= 8, offsets.lowerBound > 0 else { return nil }
      let means = offsets.lowerBound / values.upperBound...offsets.upperBound / values.lowerBound
      return means.lowerBound >= 0.3 && means.upperBound <= 0.6 ? .unit : nil
    // Only pixels from -1 to 1 become 0 to 1 or 0 to 255.
    case (.add, .mul) where values == 1...1:
      return others == 0.5...0.5 || others == 127.5...127.5 ? .signed : nil
    case (.add, .div) where values == 1...1:
      return next.isFirst && others == 2...2 ? .signed : nil
    default: return nil
    }
  }

  /// The order of channels in which ImageNet's mean color is subtracted; nil for other numbers.
  private static func order(of values: [Float], _ step: InputPath.Step) -> (
    ImageProcessor.Channels, String
  )? {
    guard step.code == .sub && step.isFirst || step.code == .add, values.count == 3,
      case .meanStd(let colors, _) = Normalization.imageNet
    else { return nil }
    let means = step.code == .add ? values.map { -$0 } : values
    let one: Float = means.allSatisfy { $0 <= 1 } ? 255 : 1
    func isNear(_ colors: [Float]) -> Bool {
      zip(means, colors).allSatisfy { abs($0 * one - $1) <= colorTolerance }
    }
    let text = means.map { "\($0)" }.joined(separator: ", ")
    if isNear(colors) {
      return (.rgb, "the graph subtracts \(text), about ImageNet's mean color as red, green, blue")
    }
    return isNear(colors.reversed())
      ? (.bgr, "the graph subtracts \(text), about ImageNet's mean color as blue, green, red") : nil
  }
}
