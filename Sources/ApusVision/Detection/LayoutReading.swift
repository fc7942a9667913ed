// SPDX-License-Identifier: Apache-2.0

/// The layout that a model is taken for, and what says so.
struct LayoutReading: Sendable {
  let layout: DetectorLayout
  let source: AssumptionSource
  let reason: String

  init(_ layout: DetectorLayout, _ source: AssumptionSource, _ reason: String) {
    self.layout = layout
    self.source = source
    self.reason = reason
  }

  /// The layout that the caller chose.
  init(given layout: DetectorLayout) { self.init(layout, .given, "the options say so") }

  var assumption: Assumption {
    Assumption("layout", layout.rawValue, source, reason: reason, option: "--layout")
  }

  /// The unit of boxes that the layout has by its definition, unless the caller says otherwise.
  func boxUnits(_ units: BoxUnits, given: BoxUnits?) -> BoxReading {
    BoxReading(
      units: given ?? units,
      assumption: Assumption(
        "box units", (given ?? units).rawValue, given == nil ? source : .given,
        reason: given == nil ? "\(layout.rawValue) has them by its definition" : "the options",
        option: "--box-units"))
  }

  /// The form of the scores by the layout's definition, unless the caller says otherwise.
  func scores(_ form: ScoreForm, given: ScoreForm?) -> ScoreReading {
    ScoreReading(
      form: given ?? form,
      assumption: Assumption(
        "scores", (given ?? form).rawValue, given == nil ? source : .given,
        reason: given == nil ? "\(layout.rawValue) has them by its definition" : "the options",
        option: "--scores"))
  }

  /// How such models are usually trained.
  func pictures(
    fit: FitPolicy, _ normalization: Normalization, channels: ImageProcessor.Channels = .rgb
  ) -> PictureDefaults {
    PictureDefaults(
      fit: fit, channels: channels, normalization: normalization, normalizesIntegers: normalization != .raw,
      reason: "usual for \(layout.rawValue)")
  }
}
