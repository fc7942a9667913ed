// SPDX-License-Identifier: Apache-2.0
import ApusVision
import ArgumentParser

/// The order of a box's numbers, for detectors with suppression inside.
struct BoxOrderOptions: ParsableArguments {
  @Option(
    name: .long,
    help:
      "The order of a box's numbers in a model with suppression inside: ltrb (left, top, right, bottom), tlbr, xywh or cxcywh."
  )
  var boxOrder: BoxOrder?
}

extension BoxOrder: ExpressibleByArgument {}
