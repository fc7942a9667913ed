// SPDX-License-Identifier: Apache-2.0

/// A result whose times are measured around the code that makes it.
protocol TimedResult: VisionResult {
  /// The time of each stage.
  var timings: StageTimings { get set }
}
