// SPDX-License-Identifier: Apache-2.0

/// A track that crossed a ``LineCounter``'s line.
public struct LineCrossing: Hashable, Sendable, Codable {
  /// Which way a line is crossed.
  public enum Direction: String, CaseIterable, Hashable, Sendable, Codable {
    /// To the left as seen from the line's start towards its end; upwards, if the line runs from left to right.
    case `in`
    /// To the right as seen from the line's start towards its end.
    case out
  }

  /// The track's number.
  public let trackID: Int
  /// Which way the track crossed.
  public let direction: Direction
  /// The class of the track when it crossed.
  public let classIndex: Int

  /// Makes a crossing.
  public init(trackID: Int, direction: Direction, classIndex: Int = 0) {
    self.trackID = trackID
    self.direction = direction
    self.classIndex = classIndex
  }
}
