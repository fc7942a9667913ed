// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The form of scores, with the reading that says why.
struct ScoreReading: Sendable {
  let form: ScoreForm
  let assumption: Assumption
  /// A warning if the model contradicts the given reading; nil otherwise.
  var warning: String?
}

/// The unit of boxes, with the reading that says why.
struct BoxReading: Sendable {
  let units: BoxUnits
  let assumption: Assumption
}

extension PreparedModel {
  /// Refuses scores in bytes, which no model with boxes or points has.
  func refuseByteScores() throws(ApusError) {
    guard options.scores == .byte else { return }
    throw ApusError(
      .invalidArgument,
      "scores of boxes and points are probability, logit or raw; byte is for classifiers and masks")
  }
}

extension DescribedModel {
  /// Between which numbers the values of a tensor lie, as far as the file says.
  private func bounds(ofTensor tensor: Int) -> ValueBounds {
    var search = BoundsSearch(model, input: .unknown)
    // A constant that cannot be read is an error elsewhere.
    return (try? search.bounds(of: tensor, depth: 0)) ?? .unknown
  }

  /// The form of an output's scores: the caller's; else that of the graph, the exporter and the output's
  /// quantization; else the usual form.
  ///
  /// - Parameters:
  ///   - tensor: The tensor that the output's scores are taken from; nil for the output's own.
  ///   - given: The form that the caller gives; nil if none.
  ///   - usual: The usual form for this kind of model.
  func scores(of output: Int, tensor: Int? = nil, given: ScoreForm?, usual: ScoreForm) -> ScoreReading {
    func reading(_ form: ScoreForm, _ source: AssumptionSource, _ reason: String) -> ScoreReading {
      ScoreReading(
        form: form,
        assumption: Assumption("scores", form.rawValue, source, reason: reason, option: "--scores"))
    }
    if let given {
      var found = reading(given, .given, "the options")
      let own = scores(of: output, tensor: tensor, given: nil, usual: usual).assumption
      if given == .logit, own.source == .model, own.value == ScoreForm.probability.rawValue {
        found.warning =
          "--scores logit makes probabilities of what the model says are probabilities already (\(own.reason))"
      }
      return found
    }
    let tensor = tensor ?? model.file.subgraphs[0].outputs[output]
    let bounds = bounds(ofTensor: tensor)
    if bounds.isProbability {
      return reading(.probability, .model, "the last operators and the quantization allow \(bounds)")
    }
    let search = BoundsSearch(model, input: .unknown)
    let origins = search.origins(of: tensor)
    func name(_ node: OperatorEntry) -> String { model.file.operatorCodes[node.operatorCode].name }
    let names = origins.compactMap { $0.map(name) }
    // Boxes may be joined with scores.
    if let name = names.first(where: { $0 == "LOGISTIC" || $0 == "SOFTMAX" }) {
      return reading(.probability, .model, "\(name) computes them")
    }
    if let export, export.task != nil {
      return reading(.probability, .exporter, "\(export.fileName) has a task whose exports do so")
    }
    if let name = names.first, origins.allSatisfy({ $0.map(search.isLinear) ?? false }) {
      return reading(.logit, .model, "\(name) computes them, and no LOGISTIC or SOFTMAX follows")
    }
    return reading(usual, .guess, "usual for this kind of model")
  }

  /// The unit of an output's boxes: what the caller says, unless the graph proves that it cannot be; else what the metadata, the output's quantization and the
  /// exporter say; else fractions.
  ///
  /// - Parameters:
  ///   - given: What the caller says.
  ///   - side: The longer side of the input, in pixels.
  ///   - hasPoints: Whether the output has keypoints besides, whose unit may be another: its upper bound may be theirs.
  ///   - exported: What the exporter's rules say, and which rule; nil if there are none.
  func boxUnits(
    of output: Int, given: BoxUnits?, side: Int, hasPoints: Bool = false,
    exported: (units: BoxUnits, reason: String)? = nil
  ) -> BoxReading {
    func reading(_ units: BoxUnits, _ source: AssumptionSource, _ reason: String) -> BoxReading {
      BoxReading(
        units: units,
        assumption: Assumption("box units", units.rawValue, source, reason: reason, option: "--box-units"))
    }
    let bounds = bounds(ofTensor: model.file.subgraphs[0].outputs[output])
    let bounded = "the last operators and the quantization allow \(bounds)"
    if let given {
      // Pixels of a larger picture reach beyond 4: what is given cannot be.
      if given == .pixel, bounds.upper < 4, side > 8 { return reading(.fraction, .model, bounded) }
      return reading(given, .given, "the options")
    }
    if case .boundingBox(let properties) = description(of: output)?.content {
      return reading(
        properties.coordinateType == .pixel ? .pixel : .fraction, .model, "the metadata's coordinate type")
    }
    if bounds.upper < 4 { return reading(.fraction, .model, bounded) }
    if !hasPoints, bounds.upper.isFinite, bounds.upper >= Double(side) / 2 {
      return reading(.pixel, .model, bounded)
    }
    if let exported { return reading(exported.units, .exporter, exported.reason) }
    return reading(.fraction, .guess, "usual for this kind of model")
  }
}
