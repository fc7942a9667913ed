// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The anchors of a raw YOLO head that was trained with its own.
struct AnchorOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The anchors of a raw YOLO head: widths and heights in pixels, the finest grid first; by default as published.",
      valueName: "w,h,w,h,..."))
  var anchors: String?

  func validate() throws {
    if let anchors, sizes?.allSatisfy(\.isFinite) != true {
      throw ValidationError("--anchors \(anchors) are not numbers separated by commas")
    }
  }

  /// The numbers; nil if the command has none.
  var sizes: [Float]? {
    anchors?.split(separator: ",", omittingEmptySubsequences: false).map {
      Float($0.replacing(" ", with: "")) ?? .nan
    }
  }
}
