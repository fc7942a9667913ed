// SPDX-License-Identifier: Apache-2.0

/// A track that entered or left a ``ZoneCounter``'s zone.
public struct ZoneEvent: Hashable, Sendable, Codable {
  /// The kinds of events.
  public enum Kind: String, Hashable, Sendable, Codable {
    case entered, left
  }

  /// Whether the track entered or left the zone.
  public let kind: Kind
  /// The track's number.
  public let trackID: Int
  /// The class of the track when it was last seen.
  public let classIndex: Int
  /// When the track was first seen inside, in seconds.
  public let entryTime: Double
  /// The seconds from the first to the latest frame in which the track was seen inside.
  public let dwell: Double

  /// Makes an event.
  public init(kind: Kind, trackID: Int, classIndex: Int = 0, entryTime: Double, dwell: Double) {
    self.kind = kind
    self.trackID = trackID
    self.classIndex = classIndex
    self.entryTime = entryTime
    self.dwell = dwell
  }
}
