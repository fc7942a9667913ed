// SPDX-License-Identifier: Apache-2.0
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

  func validate() throws {
    if let keypoints, shape == nil {
      throw ValidationError("--keypoints \(keypoints) is not COUNTxNUMBERS such as 17x3")
    }
  }

  /// The numbers; nil if the command has none, or they are not two.
  var shape: (count: Int, values: Int)? {
    let numbers =
      keypoints?.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 } ?? []
    return numbers.count == 2 && numbers.allSatisfy { $0 > 0 } ? (numbers[0], numbers[1]) : nil
  }
}
