// SPDX-License-Identifier: Apache-2.0

import ApusConsole

/// The measurements on a picture: the milliseconds of each run, and what was found.
struct PictureReport: Encodable {
  struct Box: Encodable {
    let index: Int
    let score: Float
    let x, y, width, height: Float
  }

  let picture: String
  var width = 0
  var height = 0
  /// How many pixels in each direction became one when the file was decoded.
  var reduction = 1
  var readMs: [Double] = []
  var decodeMs: [Double] = []
  var prepareMs: [Double] = []
  var inferenceMs: [Double] = []
  var postprocessMs: [Double] = []
  /// From the file to the boxes.
  var totalMs: [Double] = []
  /// Of that, what processors spent on it: other work on the machine makes no difference.
  var cpuMs: [Double] = []
  var detections: [Box] = []

  init(picture: String) {
    self.picture = picture
  }

  /// The medians, for people.
  var text: String {
    let scale = reduction == 1 ? "" : ", decoded at 1/\(reduction)"
    let stages = [
      ("read", readMs), ("decode", decodeMs), ("prepare", prepareMs), ("inference", inferenceMs),
      ("postprocess", postprocessMs), ("total", totalMs), ("of the processor", cpuMs),
    ]
    let times = stages.map { "\($0.0) \(decimal($0.1.median, 2)) ms" }.joined(separator: ", ")
    return "\(picture), \(width) × \(height) pixels\(scale), \(detections.count) objects: \(times)"
  }
}
