// SPDX-License-Identifier: Apache-2.0

import Apus

/// Why a call fails: a status of TensorFlow Lite's C API, and a message for the error reporter.
struct Refusal: Error {
  /// `kTfLiteError`, or another status above zero.
  let status: Int32
  /// The place, what was found and what was expected.
  let message: String

  init(_ message: String, status: Int32 = Status.error) {
    self.status = status
    self.message = message
  }

  /// The refusal of the engine.
  init(_ error: ApusError) {
    self.init(error.message, status: error.code == .cancelled ? Status.cancelled : Status.error)
  }
}

/// The values of `TfLiteStatus` that calls return.
enum Status {
  /// `kTfLiteOk`.
  static let ok: Int32 = 0
  /// `kTfLiteError`.
  static let error: Int32 = 1
  /// `kTfLiteCancelled`.
  static let cancelled: Int32 = 8
}
