// SPDX-License-Identifier: Apache-2.0

/// One reading of a model: how a task interprets a property, and the evidence for it.
public struct Assumption: Codable, Hashable, Sendable {
  /// The property that is read, such as `layout`, `box units`, `scores`, `pixels`, `channels`, `fit` or
  /// `labels`.
  public let subject: String
  /// How it is read.
  public let value: String
  /// Where the reading comes from.
  public let source: AssumptionSource
  /// The evidence for it: an option, a field of the metadata, a tensor's type, names, or common practice.
  public let reason: String
  /// The option of the command line that decides it, such as `--pixels`; nil if none does. A server's parameter and a
  /// property of the task's options have the same name in their spelling.
  public let option: String?

  /// Makes a reading.
  public init(
    _ subject: String, _ value: String, _ source: AssumptionSource, reason: String, option: String? = nil
  ) {
    self.subject = subject
    self.value = value
    self.source = source
    self.reason = reason
    self.option = option
  }

  /// The reading for people: `scores: logit, from a guess: check it (usual for masks; --scores decides)`, or
  /// `scores: logit, given by the options (--scores decides)`.
  package var text: String {
    let decides = option.map { "\($0) decides" }
    guard source != .given else {
      return "\(subject): \(value), given by \(reason)" + (decides.map { " (\($0))" } ?? "")
    }
    return "\(subject): \(value), from \(source.text) (\(reason)" + (decides.map { "; \($0)" } ?? "") + ")"
  }
}
