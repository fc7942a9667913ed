// SPDX-License-Identifier: Apache-2.0
import Apus

/// The order of a video's frames.
enum FrameTime {
  /// Checks that a frame comes after the one before.
  ///
  /// - Parameters:
  ///   - time: The frame's time, in seconds.
  ///   - last: The time of the frame before; nil for the first one.
  /// - Throws: `invalidArgument`.
  static func check(_ time: Double, after last: Double?) throws(ApusError) {
    guard time.isFinite, last.map({ time - $0 >= 1e-9 }) ?? true else {
      throw ApusError(
        .invalidArgument, "the frame's time is \(time), not a finite one after \(last ?? 0) seconds")
    }
  }
}
