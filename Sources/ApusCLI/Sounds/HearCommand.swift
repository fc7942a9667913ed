// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusVision
import ArgumentParser

/// `apus hear`: the classes of sounds over time.
struct HearCommand: TracedCommand {
  static let configuration = CommandConfiguration(
    commandName: "hear", abstract: "Classifies sounds.",
    discussion: """
      For models that take a waveform, such as YAMNet. A sound is mixed to one
      channel, resampled to the model's rate and cut into windows as long as the
      model's input.

      For example:
        apus hear street.wav --model yamnet.tflite
        apus hear recordings --model birds.tflite --labels birds.txt --json
      """)

  @Argument(help: "WAV files, folders of them, or - for names on standard input.")
  var sound: [String] = []

  @Option(name: .long, help: "The .tflite model that takes a waveform.")
  var model: String

  @OptionGroup var categories: CategoryOptions

  @Option(name: .long, help: "The maximum number of classes per window and sound.")
  var top = 5

  @Option(
    name: .long, help: "The minimum score of a class; by default that of the model's metadata, or none.")
  var scoreThreshold: Float?

  @OptionGroup var scores: ScoreOptions

  @OptionGroup var hearing: SoundOptions

  @Flag(help: "Print one JSON object a line, for each sound.")
  var json = false

  @OptionGroup var engine: EngineOptions

  @OptionGroup var limits: LimitOptions

  @OptionGroup var traceOptions: TraceOptions

  func validate() throws {
    guard top >= 1 else { throw ValidationError("--top is \(top), not 1 or more") }
  }

  func run() throws {
    guard !sound.isEmpty else { throw ValidationError("no sound is given") }
    let sources = try SoundFiles(sound)
    let files = sources.files
    let classifier = try makeClassifier(isShared: files.count > 1)
    var failures = 0
    let warnings = TaskWarnings { classifier.warnings }
    warnings.write()
    for file in files {
      do throws(ApusError) {
        let checkTime = limits.time.watch("hearing it", isShared: files.count > 1)
        let result = try classifier.classify(AudioClip(contentsOfFile: file), checkTime: checkTime)
        warnings.write()
        guard json else {
          Output.write(text(result, of: file, by: classifier))
          continue
        }
        let report = SoundReport(sound: file, answer: result)
        do { try Output.writeJSON(report) } catch {
          throw ApusError(.invalidData, "the result cannot be written as JSON")
        }
      } catch {
        failures += 1
        // The name stands before the message.
        let message = ["the sound '\(file)': ", "cannot read the file '\(file)': "]
          .reduce(error.message(isPicture: false)) { $0.hasPrefix($1) ? String($0.dropFirst($1.count)) : $0 }
        Output.writeError(
          "error: \(file): " + message.split(whereSeparator: \.isNewline).joined(separator: " "))
        if json { try Output.writeJSON(SoundFailure(sound: file, error: message)) }
      }
    }
    if failures > 0 || sources.leaveOutSounds { throw ExitCode(2) }
  }

  private func makeClassifier(isShared: Bool) throws -> AudioClassifier {
    var options = AudioClassifier.Options()
    options.resultOptions = categories.resultOptions
    options.maxResults = top
    options.scoreThreshold = scoreThreshold
    options.scores = scores.scores
    hearing.apply(to: &options)
    options.interpreter = try engine.interpreterOptions
    limits.apply(to: &options.interpreter, isShared: isShared)
    let classifier = try AudioClassifier(
      model: Model(contentsOfFile: model), labels: categories.labelMap, options: options)
    try categories.check(classifier.labels)
    return classifier
  }

  private func text(
    _ result: AudioClassificationResult, of file: String, by classifier: AudioClassifier
  ) -> String {
    func seconds(_ duration: Duration) -> String { decimal(duration / .seconds(1), 2) }
    let count = result.windows.count
    var lines = [
      "\(oneLine(file)), \(seconds(result.duration)) s: \(count) \(count == 1 ? "window" : "windows") of "
        + "\(seconds(result.windowDuration)) s"
    ]
    if let rate = classifier.readings.first, rate.source == .guess {
      lines.append("sample rate: \(rate.value), a guess: --rate decides")
    }
    for (head, means) in result.means.enumerated() {
      if result.means.count > 1 { lines.append(oneLine(means.headName)) }
      lines.append(
        table(
          [["class", "mean score"]] + means.categories.map { [$0.name, decimal(Double($0.score), 4)] },
          rightAligned: [1]))
      guard count > 1 else { continue }
      var windows = [["from", "to", "class", "score"]]
      for window in result.windows {
        let end = min(window.start + result.windowDuration, result.duration)
        let best = window.classifications[head].categories.first
        windows.append([
          seconds(window.start), seconds(end), best?.name ?? "–", decimal(best.map { Double($0.score) }, 4),
        ])
      }
      lines.append(table(windows, rightAligned: [0, 1, 3]))
    }
    return lines.joined(separator: "\n")
  }
}

/// A result with the sound's name.
private struct SoundReport: Encodable {
  let sound: String
  let answer: AudioClassificationResult

  private enum CodingKeys: CodingKey {
    case sound
  }

  func encode(to encoder: any Encoder) throws {
    try answer.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(sound, forKey: .sound)
  }
}

/// Why there is no result.
private struct SoundFailure: Encodable {
  let sound: String
  let error: String
}
