// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusVision

/// The assumptions of `apus hear` about a model.
struct SoundInspection: Encodable {
  private let task = "sound"
  private let sampleRate: Int
  private let windowSampleCount: Int
  private let readings: [Assumption]
  private let warnings: [String]

  private enum CodingKeys: CodingKey {
    case task, sampleRate, windowSampleCount, readings, warnings
  }

  /// Reads a model as a classifier of sounds.
  init(
    of model: Model, labels: LabelMap?, scores: ScoreForm?, _ waveform: WaveformOptions,
    _ interpreter: Interpreter.Options
  ) throws(ApusError) {
    var options = AudioClassifier.Options()
    waveform.apply(to: &options)
    options.scores = scores
    options.interpreter = interpreter
    let classifier = try AudioClassifier(model: model, labels: labels, options: options)
    sampleRate = classifier.sampleRate
    windowSampleCount = classifier.windowSampleCount
    readings = classifier.readings
    warnings = classifier.warnings
  }

  /// The assumptions for people.
  var text: String {
    var lines = ["as sound: windows of \(windowSampleCount) samples at \(sampleRate) Hz", "", "readings:"]
    lines += readings.map { "  \($0.text)" }
    lines += warnings.flatMap { ["", "warning: \($0)"] }
    return lines.map(oneLine).joined(separator: "\n")
  }
}
