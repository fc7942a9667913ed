// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// The value of `grpc-timeout`: up to eight digits and a unit, such as `500m`.
struct CallTimeout: CustomStringConvertible {
  /// The number and its unit, such as `500 ms`.
  let description: String
  /// How long the call may take; nil for more than 365 days, which is no limit.
  let amount: TimeAmount?

  private static let longest = TimeAmount.hours(24 * 365)

  /// Reads the value; nil for one that the protocol does not have.
  init?(_ text: String) {
    let digits = text.utf8.dropLast()
    guard (1...8).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int64(text.dropLast())
    else { return nil }
    let unit: Int64
    let name: String
    switch text.utf8.last {
    case UInt8(ascii: "H"): (unit, name) = (3_600_000_000_000, "h")
    case UInt8(ascii: "M"): (unit, name) = (60_000_000_000, "min")
    case UInt8(ascii: "S"): (unit, name) = (1_000_000_000, "s")
    case UInt8(ascii: "m"): (unit, name) = (1_000_000, "ms")
    case UInt8(ascii: "u"): (unit, name) = (1_000, "µs")
    case UInt8(ascii: "n"): (unit, name) = (1, "ns")
    default: return nil
    }
    description = "\(number) \(name)"
    let (nanoseconds, overflows) = number.multipliedReportingOverflow(by: unit)
    amount = overflows || nanoseconds > Self.longest.nanoseconds ? nil : .nanoseconds(nanoseconds)
  }
}
