// SPDX-License-Identifier: Apache-2.0
import ApusVision

extension ImageBuffer {
  /// A warning about a picture whose file is damaged, in the words of `apus`; nil if it is not.
  var warning: String? {
    flaw.map {
      "the file is damaged, so parts of the picture may be wrong (\(PrintableText.escaped($0)))"
    }
  }
}

/// A result with a warning about its picture, as `apus detect --json` prints both.
struct ResultWithWarning<Answer: Encodable>: Encodable {
  let answer: Answer
  let warning: String?

  private enum CodingKeys: CodingKey {
    case warning
  }

  func encode(to encoder: any Encoder) throws {
    try answer.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(warning, forKey: .warning)
  }
}
