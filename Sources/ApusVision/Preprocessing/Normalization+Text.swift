// SPDX-License-Identifier: Apache-2.0
import Apus

extension Normalization: CustomStringConvertible {
  /// The normalization as options spell it: `unit`, `signed`, `raw` or `MEAN:STD`; `per-image` is no option.
  public var description: String {
    switch self {
    case .unit: return "unit"
    case .signed: return "signed"
    case .raw: return "raw"
    case .meanStd(let mean, let std):
      return [mean, std].map { $0.map { "\($0)" }.joined(separator: ",") }.joined(separator: ":")
    case .perImageStandardization: return "per-image"
    }
  }

  /// Reads what the option `--pixels` says: `unit` (0 to 1), `signed` (−1 to 1), `raw` (0 to 255) or `MEAN:STD`
  /// (`(v − MEAN) ÷ STD`, one number of each, or one for each channel with commas: `123.7,116.3,103.5:58.4,57.1,57.4`).
  ///
  /// - Throws: `invalidArgument` for anything else, and for numbers that are not finite or divisors that are not positive.
  public init(parsing text: String) throws(ApusError) {
    switch text {
    case "unit": self = .unit
    case "signed": self = .signed
    case "raw": self = .raw
    default:
      func refusal(_ what: String) -> ApusError {
        ApusError(
          .invalidArgument,
          "pixels are '\(text.prefix(100))'\(what), not unit, signed, raw or MEAN:STD such as 127.5:127.5")
      }
      let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { part in
        part.split(separator: ",", omittingEmptySubsequences: false).map { number in
          Float(String(number).replacing(" ", with: "")) ?? .nan
        }
      }
      guard parts.count == 2 else { throw refusal("") }
      guard parts.joined().allSatisfy(\.isFinite) else { throw refusal(", with what is no number") }
      guard parts[1].allSatisfy({ $0 > 0 }) else { throw refusal(", with a divisor that is not positive") }
      guard parts.allSatisfy({ (1...4).contains($0.count) }) else {
        throw refusal(", with \(parts[0].count) and \(parts[1].count) numbers")
      }
      self = .meanStd(mean: parts[0], std: parts[1])
    }
  }
}
