// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import ArgumentParser

/// The anchors of a raw YOLO head that was trained with its own.
struct AnchorOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The anchors of a raw YOLO head: widths and heights in pixels, the finest grid first; by default as published.",
      valueName: "w,h,w,h,..."))
  var anchors: String?

  func validate() throws { _ = try ApusError.usage { () throws(ApusError) in try sizes } }

  /// The numbers; nil if the command has none.
  var sizes: [Float]? {
    get throws(ApusError) {
      try anchors.map { text throws(ApusError) in try ObjectDetector.Options.anchors(parsing: text) }
    }
  }
}
