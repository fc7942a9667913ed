// SPDX-License-Identifier: Apache-2.0
import Apus

/// What scores are, with the reading that says why.
struct ScoreReading: Sendable {
  let form: ScoreForm
  let assumption: Assumption
}

/// The unit of boxes, with the reading that says why.
struct BoxReading: Sendable {
  let units: BoxUnits
  let assumption: Assumption
}

extension DescribedModel {
  /// The least and the greatest number that an output can hold, from its quantization; nil for floats.
  func range(of output: Int) -> ClosedRange<Float>? {
    let tensor = outputs[output]
    let limits: (Float, Float)
    switch tensor.type {
    case .uint8: limits = (0, 255)
    case .int8: limits = (-128, 127)
    case .int16: limits = (-32768, 32767)
    default: return nil
    }
    guard let quantization = tensor.quantization, quantization.scales.count == 1, quantization.scale > 0,
      quantization.scale.isFinite
    else { return nil }
    let zeroPoint = Float(quantization.zeroPoint)
    return quantization.scale * (limits.0 - zeroPoint)...quantization.scale * (limits.1 - zeroPoint)
  }

  /// What the scores of an output are: what the caller says; else what the graph, the exporter and the output's
  /// quantization say; else what is usual.
  ///
  /// - Parameters:
  ///   - given: What the caller says.
  ///   - usual: What is usual for this kind of model.
  func scores(of output: Int, given: ScoreForm?, usual: ScoreForm) -> ScoreReading {
    func reading(_ form: ScoreForm, _ source: AssumptionSource, _ reason: String) -> ScoreReading {
      ScoreReading(
        form: form,
        assumption: Assumption("scores", form.rawValue, source, reason: reason, option: "--scores"))
    }
    if let given { return reading(given, .given, "the options") }
    let origin = OutputOrigin(of: output, in: model.file)
    if case .probability(let name) = origin {
      return reading(.probability, .model, "\(name) computes them")
    }
    if let export, export.task != nil {
      return reading(.probability, .exporter, "\(export.fileName) has a task whose exports do so")
    }
    // A step of rounding more than 1 is still 1.
    if let range = range(of: output), range.lowerBound >= -0.01, range.upperBound <= 1.01 {
      return reading(.probability, .model, "the quantization has no numbers outside 0 to 1")
    }
    if case .linear(let name) = origin {
      return reading(.logit, .model, "\(name) computes them, and no LOGISTIC or SOFTMAX follows")
    }
    return reading(usual, .guess, "usual for this kind of model")
  }

  /// The unit of an output's boxes: what the caller says; else what the metadata, the output's quantization and the
  /// exporter say; else fractions.
  ///
  /// - Parameters:
  ///   - given: What the caller says.
  ///   - side: The longer side of the input, in pixels.
  ///   - exported: What the exporter's rules say, and which rule; nil if there are none.
  func boxUnits(
    of output: Int, given: BoxUnits?, side: Int, exported: (units: BoxUnits, reason: String)? = nil
  ) -> BoxReading {
    func reading(_ units: BoxUnits, _ source: AssumptionSource, _ reason: String) -> BoxReading {
      BoxReading(
        units: units,
        assumption: Assumption("box units", units.rawValue, source, reason: reason, option: "--box-units"))
    }
    if let given { return reading(given, .given, "the options") }
    if case .boundingBox(let properties) = description(of: output)?.content {
      return reading(
        properties.coordinateType == .pixel ? .pixel : .fraction, .model, "the metadata's coordinate type")
    }
    if let greatest = range(of: output)?.upperBound {
      if greatest < 4 {
        return reading(.fraction, .model, "the quantization has no numbers above \(greatest)")
      }
      if greatest >= Float(side) / 2 {
        return reading(.pixel, .model, "the quantization has numbers up to \(greatest)")
      }
    }
    if let exported { return reading(exported.units, .exporter, exported.reason) }
    return reading(.fraction, .guess, "usual for this kind of model")
  }
}
