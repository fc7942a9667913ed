// SPDX-License-Identifier: Apache-2.0
import Apus

extension KeypointDetector.Options {
  /// Reads the keypoints of an object as `--keypoints` has them: how many there are and how many numbers each has, such as `17x3`.
  ///
  /// - Throws: `invalidArgument` for anything else.
  public static func keypoints(parsing text: String) throws(ApusError) -> (count: Int, values: Int) {
    let numbers = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard numbers.count == 2, numbers[0] > 0, (2...3).contains(numbers[1]) else {
      throw ApusError(
        .invalidArgument,
        "keypoints are '\(text.prefix(100))', not COUNTx2 or COUNTx3 such as 17x3")
    }
    return (numbers[0], numbers[1])
  }
}
