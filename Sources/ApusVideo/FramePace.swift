// SPDX-License-Identifier: Apache-2.0

/// Chooses the frames that are looked at, where they shall be no more than a number per second.
///
/// ```swift
/// var pace = FramePace(atMost: 5)
/// for try await frame in source where pace.takes(frame.time, isLive: source.isLive) {
///   let result = try await detector.answer(frame.picture())
/// }
/// ```
///
/// The times of frames alone decide, never the speed of the reader.
public struct FramePace: Hashable, Sendable {
  /// The minimum distance between frames, in seconds; 0 for all frames.
  private let distance: Double
  /// When the next frame is due, in seconds; nil before the first one.
  private var due: Double?

  /// Makes a pace.
  ///
  /// - Parameter limit: The maximum number of frames per second; nil, or a number that is not above 0, for all frames.
  public init(atMost limit: Double?) {
    distance = limit.map { $0 > 0 ? 1 / $0 : 0 } ?? 0
  }

  /// Whether a frame is looked at.
  ///
  /// A frame may come a quarter of the distance early, at most 1.5 ms in a file, as many forms of films round times to milliseconds, and 30 ms in a
  /// live source, whose frames have the times at which they arrived. The next one is due as if it had not.
  ///
  /// - Parameters:
  ///   - time: The time of the frame, in seconds; not before that of the last one.
  ///   - isLive: Whether frames have the times of their arrival.
  public mutating func takes(_ time: Double, isLive: Bool) -> Bool {
    let tolerance = min(isLive ? 0.03 : 0.0015, distance / 4)
    if let due, time < due - tolerance { return false }
    let next = (due ?? time) + distance
    // A late frame is not made up for by frames that are closer together.
    due = max(next, time + distance - tolerance)
    return true
  }
}
