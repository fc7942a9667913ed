// SPDX-License-Identifier: Apache-2.0
import ApusVision
import ArgumentParser

/// What a model's positions are, for the tasks that find boxes or points.
struct BoxUnitOptions: ParsableArguments {
  @Option(name: .long, help: "The unit of the model's boxes and points: fraction or pixel.")
  var boxUnits: BoxUnits?
}

extension BoxUnits: ExpressibleByArgument {}
