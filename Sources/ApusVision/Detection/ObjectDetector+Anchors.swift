// SPDX-License-Identifier: Apache-2.0
import Apus

extension ObjectDetector.Options {
  /// Reads anchors as `--anchors` has them: widths and heights in pixels of the input with commas, the finest grid first, such as
  /// `10,13,16,30,33,23`.
  ///
  /// - Throws: `invalidArgument` for anything else.
  public static func anchors(parsing text: String) throws(ApusError) -> [Float] {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map {
      Float(String($0).replacing(" ", with: "")) ?? .nan
    }
    guard numbers.allSatisfy(\.isFinite) else {
      throw ApusError(
        .invalidArgument,
        "anchors are '\(text.prefix(100))', not widths and heights with commas such as 10,13,16,30,33,23")
    }
    return numbers
  }
}
