// SPDX-License-Identifier: Apache-2.0
import ApusVision
import ArgumentParser

/// The form of a model's scores, for the tasks that read scores.
struct ScoreOptions: ParsableArguments {
  @Option(
    name: .long,
    help: "What the model's scores are: probability, logit, raw, or byte (0 to 255) for classes and masks.")
  var scores: ScoreForm?
}

extension ScoreForm: ExpressibleByArgument {}
