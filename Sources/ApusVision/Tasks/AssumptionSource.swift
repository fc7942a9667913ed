// SPDX-License-Identifier: Apache-2.0

/// Where the reading of a model comes from, the most certain first.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum AssumptionSource: String, Codable, Hashable, Sendable, CaseIterable {
  /// The caller's options.
  case given
  /// The model itself: its metadata, types, quantization or operators.
  case model
  /// The metadata of the tool that exported the model.
  case exporter
  /// A value that is usual for models of this kind: nothing in the file says so.
  case guess

  /// The source in words.
  public var text: String {
    switch self {
    case .given: "given"
    case .model: "the model"
    case .exporter: "its exporter"
    case .guess: "a guess: check it"
    }
  }
}
