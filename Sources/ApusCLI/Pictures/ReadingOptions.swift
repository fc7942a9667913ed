// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusConsole
import ApusVision
import ArgumentParser

/// How a model takes pictures, where its file does not say it, or says it wrong.
struct ReadingOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "How a pixel of 0 to 255 becomes a number: unit (0 to 1), signed (-1 to 1), raw (0 to 255), or MEAN:STD for (pixel - MEAN) / STD, both in units of 0 to 255, such as 127.5:127.5, or three of each with commas; by default what the model, its exporter or its kind says, see inspect --as.",
      valueName: "unit|signed|raw|MEAN:STD"))
  var pixels: String?

  @Option(name: .long, help: "The order of the model's channels: rgb, bgr or gray.")
  var channels: ImageProcessor.Channels?

  func validate() throws {
    // The range 0 to 1, written as 0:1, would be taken for a mean of 0 and a divisor of 1.
    let normalization = try ApusError.usage { () throws(ApusError) in try self.normalization }
    if let pixels, pixels != "raw", normalization == .raw {
      Output.writeError(
        "warning: --pixels \(pixels) leaves pixels at 0 to 255, as raw does; --pixels unit makes 0 to 1 of them"
      )
    }
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
  }
}

extension ImageProcessor.Channels: ExpressibleByArgument {}
