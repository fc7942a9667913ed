// SPDX-License-Identifier: Apache-2.0
import ApusVision
import ArgumentParser

/// The unit of a model's positions, and the axis of its candidates, for the tasks that find boxes or points.
struct BoxUnitOptions: ParsableArguments {
  @Option(name: .long, help: "The unit of the model's boxes and points: fraction or pixel.")
  var boxUnits: BoxUnits?

  @Option(
    name: .long,
    help:
      "Whether the rows or the columns of YOLO's output are candidates, where it is square: rows or columns.")
  var candidates: CandidateAxis?
}

extension CandidateAxis: ExpressibleByArgument {}

extension BoxUnits: ExpressibleByArgument {}
