// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A time as headers have it (RFC 9110, section 5.6.7): whole seconds, the past one of a time between two.
enum HTTPTime {
  /// Such as `Sun, 01 Mar 2026 12:00:00 GMT`.
  static func text(_ time: Date) -> String {
    let second = Int(time.timeIntervalSince1970.rounded(.down))
    let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    // Such as 2026-03-01T12:00:00Z.
    let parts = Date(timeIntervalSince1970: TimeInterval(second)).formatted(.iso8601).split {
      "-T:Z".contains($0)
    }
    let month = months[(Int(parts[1]) ?? 1) - 1]
    return
      "\(days[second / 86_400 % 7]), \(parts[2]) \(month) \(parts[0]) \(parts[3]):\(parts[4]):\(parts[5]) GMT"
  }
}
