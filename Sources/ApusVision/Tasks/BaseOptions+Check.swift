// SPDX-License-Identifier: Apache-2.0
import Apus

extension BaseOptions {
  /// Refuses units, scores and candidates that are given for a kind of model that has others, whatever is given.
  ///
  /// - Parameter readings: How the task reads the outputs.
  func check(_ readings: [Assumption]) throws(ApusError) {
    let given = [
      ("box units", boxUnits?.rawValue), ("scores", scores?.rawValue), ("candidates", candidates?.rawValue),
    ]
    for case (let subject, let value?) in given {
      guard let reading = readings.first(where: { $0.subject == subject }), reading.source != .given,
        reading.value != value
      else { continue }
      throw ApusError(
        .invalidArgument,
        "\(subject) are given as \(value), but a model of this kind has no others than \(reading.value): \(reading.reason)"
      )
    }
  }
}
