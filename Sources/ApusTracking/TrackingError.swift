// SPDX-License-Identifier: Apache-2.0

#if LocalizedErrors
  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif
#endif

/// Why a detection, an option, a line, a zone or a file of detections was refused.
///
/// Branch on ``code``; show ``message`` to people.
public struct TrackingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of a failure: an open set, so that new kinds do not break callers.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code's stable name.
    public let rawValue: String

    /// Makes a code from its stable name.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// An option, a line, a polygon or a parameter is outside its range.
    public static let invalidArgument = Code(rawValue: "invalidArgument")
    /// A box or score is not finite, or a box is empty or inverted.
    public static let invalidDetection = Code(rawValue: "invalidDetection")
    /// A time is not finite, or earlier than the one before.
    public static let invalidTime = Code(rawValue: "invalidTime")
    /// A line of a file of detections is damaged.
    public static let malformedFile = Code(rawValue: "malformedFile")
    /// There are more detections, or lines of a file, than the limit.
    public static let resourceLimit = Code(rawValue: "resourceLimit")
  }

  /// The kind of the failure.
  public let code: Code

  /// The place, what was found and what was expected; in lower case, with no full stop.
  public let message: String

  /// Makes an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The message.
  public var description: String { message }
}

#if LocalizedErrors
  extension TrackingError: LocalizedError {
    /// The message, which `localizedDescription` returns.
    public var errorDescription: String? { message }
  }
#endif
