// SPDX-License-Identifier: Apache-2.0

/// Why a product's rows are copied (im2col) before they are multiplied, rather than read in place.
enum GatheringReason {
  /// Floats are rounded to bfloat16 first.
  case rounding
  case padding
  /// Bytes are widened to `int16` first.
  case widening
  /// A tap's length is not a multiple of the K-step.
  case partialSteps
  /// Signs of bytes are flipped once, rather than for each panel.
  case signs

  /// The reason in the output of `apus inspect --plan`.
  var text: String {
    switch self {
    case .rounding: "floats are rounded"
    case .padding: "padding"
    case .widening: "bytes become 16-bit integers"
    case .partialSteps: "taps are no whole steps"
    case .signs: "sign bits flipped"
    }
  }
}
