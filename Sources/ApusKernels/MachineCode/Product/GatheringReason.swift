// SPDX-License-Identifier: Apache-2.0

/// Why a product's rows are copied before they are multiplied, rather than read where they lie in the input.
enum GatheringReason {
  case padding
  /// Bytes are multiplied as `int16`.
  case widening
  /// Terms of a tap do not fill its last step.
  case partialSteps
  /// Signs are turned once, rather than for each panel.
  case signs

  /// The reason, for people to read.
  var text: String {
    switch self {
    case .padding: "padding"
    case .widening: "bytes become 16-bit integers"
    case .partialSteps: "taps are no whole steps"
    case .signs: "signs are turned"
    }
  }
}
