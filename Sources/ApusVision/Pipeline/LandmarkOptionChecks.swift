// SPDX-License-Identifier: Apache-2.0
import Apus

/// The checks that the options of all tasks with landmarks share.
enum LandmarkOptionChecks {
  /// Throws unless a maximum number of subjects is positive.
  static func checkMaximum(_ name: String, _ value: Int) throws(ApusError) {
    guard value >= 1 else { throw ApusError(.invalidArgument, "\(name) is \(value), not 1 or more") }
  }

  /// Throws unless each threshold is from 0 to 1.
  static func checkThresholds(_ thresholds: KeyValuePairs<String, Float>) throws(ApusError) {
    for (name, value) in thresholds where !(0...1).contains(value) {
      throw ApusError(.invalidArgument, "\(name) is \(value), not 0 to 1")
    }
  }
}
