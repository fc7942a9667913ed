// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import ArgumentParser

/// The names of classes, and which of them to report.
struct CategoryOptions: ParsableArguments {
  @Option(name: .long, help: "The label file; without it, the labels inside the model.")
  var labels: String?

  @Option(name: .long, help: "How many label rows precede class 0; detected by default.")
  var labelOffset: Int?

  @Option(name: .long, help: "The language of the model's display names, such as de.")
  var locale: String?

  @Option(name: .long, help: "Report only this label; may be repeated.")
  var allow: [String] = []

  @Option(name: .long, help: "Leave out this label; may be repeated.")
  var deny: [String] = []

  /// A task's options with these names and lists.
  var resultOptions: ResultOptions {
    var options = ResultOptions()
    options.categoryAllowlist = allow
    options.categoryDenylist = deny
    options.displayNamesLocale = locale
    options.labelOffset = labelOffset
    return options
  }

  /// The label file, read.
  var labelMap: LabelMap? {
    get throws(ApusError) {
      guard let labels else { return nil }
      return try LabelMap(contentsOfFile: labels)
    }
  }

  /// Checks the offset against the labels that are used.
  func check(_ found: LabelMap?) throws(ApusError) {
    if let labelOffset, let rows = found?.rowCount, labelOffset >= rows {
      throw ApusError(
        .invalidArgument, "the label offset is \(labelOffset), but there are only \(rows) rows of labels")
    }
  }
}
