// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Which output of a model has the mask.
struct MaskOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The output that has the mask, counted from 0, of a model with several; by default the likeliest.",
      valueName: "index"))
  var outputIndex: Int?

  func validate() throws {
    guard let outputIndex, outputIndex < 0 else { return }
    throw ValidationError("--output-index is \(outputIndex), not 0 or more")
  }
}
