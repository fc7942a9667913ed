// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import ArgumentParser

/// How many keypoints a YOLO model has whose file does not say it.
struct PoseOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The keypoints of a YOLO pose, and the numbers of each: 21x3, or 4x2 without scores; by default what the metadata says, or 17x3.",
      valueName: "COUNTxNUMBERS"))
  var keypoints: String?

  func validate() throws { _ = try ApusError.usage { () throws(ApusError) in try shape } }

  /// The numbers; nil if the command has none.
  var shape: (count: Int, values: Int)? {
    get throws(ApusError) {
      guard let keypoints else { return nil }
      return try KeypointDetector.Options.keypoints(parsing: keypoints)
    }
  }
}
