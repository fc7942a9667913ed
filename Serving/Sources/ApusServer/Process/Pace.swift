// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// How fast clients must send what they have begun to send, and take what they have asked for.
enum Pace {
  /// The period over which a rate is measured.
  static let window = TimeAmount.seconds(30)
  /// The minimum rate in bytes a second.
  static let minimumRate = 4_096
  /// The minimum number of bytes in a window.
  static let minimumBytes = minimumRate * 30

  /// How long a client may take an answer: at the minimum rate alone, one of 256 MiB would be held for 18 hours.
  ///
  /// - Parameter deadline: How long a request may take to come; nil for any time.
  /// - Returns: Ten times the deadline; nil for any time.
  static func longestAnswer(_ deadline: TimeAmount?) -> TimeAmount? { deadline.map { $0 * 10 } }
}
