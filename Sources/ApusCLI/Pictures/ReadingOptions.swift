// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import ArgumentParser

/// What a model's numbers mean, where its file does not say it, or says it wrong.
struct ReadingOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "How pixels become numbers: unit (0 to 1), signed (-1 to 1), raw (0 to 255), or MEAN:STD, three of each with commas; by default what the model, its exporter or its kind says, see inspect --as.",
      valueName: "range"))
  var pixels: String?

  @Option(name: .long, help: "The order of the model's channels: rgb, bgr or gray.")
  var channels: ImageProcessor.Channels?

  @Option(name: .long, help: "The unit of the model's boxes and points: fraction or pixel.")
  var boxUnits: BoxUnits?

  @Option(name: .long, help: "What the model's scores are: probability, logit or raw.")
  var scores: ScoreForm?

  func validate() throws {
    _ = try normalization
  }

  /// How pixels become numbers; nil if the command does not say.
  private var normalization: Normalization? {
    get throws(ApusError) {
      guard let pixels else { return nil }
      return try Normalization(parsing: pixels)
    }
  }

  /// Puts the readings into a task's options.
  func apply(to options: inout BaseOptions) throws {
    options.normalization = try normalization
    options.channels = channels
    options.boxUnits = boxUnits
    options.scores = scores
  }
}

extension ImageProcessor.Channels: ExpressibleByArgument {}
extension BoxUnits: ExpressibleByArgument {}
extension ScoreForm: ExpressibleByArgument {}
