// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision

/// The result of a task of `apus watch` for a frame.
struct WatchFinding {
  /// The objects, which can be followed and counted; empty for tasks that find none.
  var detections: [Detection] = []
  /// The result whose keys, `milliseconds` among them, join the frame's line of JSON; nil where the objects are the result.
  var result: (any Encodable)?
  /// The result as text; nil where the objects are the result.
  var text: String?
  /// The time of each stage.
  var timings: StageTimings
  /// Draws what is more than boxes; nil if there is no more.
  var draw: ((ImageBuffer) throws(ApusError) -> ImageBuffer)?
}
