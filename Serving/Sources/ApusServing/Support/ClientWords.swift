// SPDX-License-Identifier: Apache-2.0
import ApusVision

/// Messages of the library for clients of the server. The library names options and commands of the command line, where a client has
/// parameters and tasks.
enum ClientWords {
  /// The options that clients have as parameters, under their names with `_` for `-`.
  private static let parameters: Set<String> = [
    "anchors", "box-order", "box-units", "candidates", "channels", "class-agnostic", "detection-threshold",
    "fit",
    "fit-output",
    "iou-threshold", "keypoints", "layout", "max-results", "multi-label", "output-index", "output-pixels",
    "palm-angle",
    "pixels",
    "refinement-cells", "resampling", "score-threshold", "scores",
  ]

  /// Advice that needs an option which clients do not have, and advice that helps them.
  private static let others = [
    (
      "choose it by --input-size WIDTHxHEIGHT (inputSize)",
      "tasks of the server take models with a fixed size, so export it with one, or infer with tensors"
    ), ("--labels", "a label file beside the model"),
    ("--raw gives it as it is", "an inference with tensors gives it as it is"),
  ]

  /// A message of the library, with names of parameters for those of options, such as `scores=logit` for `--scores logit`, and names of
  /// tasks for those of commands.
  static func message(_ text: String) -> String {
    var text = text
    for (advice, other) in others { text = text.replacing(advice, with: other) }
    text.replace(/'apus run[^']*'( or an interpreter)?/) { _ in "an inference with tensors" }
    text.replace(/'apus ([a-z\-]+)( [^']*)?'( \([A-Z][A-Za-z]+\))?/) { match in
      guard VisionTaskKind(rawValue: String(match.1)) != nil else { return String(match.0) }
      return "the task '\(match.1)'" + (match.2.map { " with\($0)" } ?? "")
    }
    // A value follows its option, and a word of the sentence does not look like one.
    text.replace(/--([a-z][a-z\-]*)( [a-z0-9\-.,:]*[a-z0-9])?/) { match in
      guard parameters.contains(String(match.1)) else { return String(match.0) }
      let name = String(match.1.replacing("-", with: "_"))
      guard let word = match.2?.dropFirst() else { return name }
      let isValue =
        word.contains(where: \.isNumber) || values.contains(String(word))
        || DetectorLayout(rawValue: String(word)) != nil
      return name + (isValue ? "=" : " ") + word
    }
    return text
  }

  /// The values of options without a digit that messages name, beside layouts.
  private static let values: Set<String> = [
    "byte", "columns", "fraction", "gray", "logit", "pixel", "probability", "raw", "rows", "signed", "unit",
  ]
}
