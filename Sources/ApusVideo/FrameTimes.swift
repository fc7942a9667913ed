// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The times of frames, as ffmpeg's filter `showinfo` writes them on standard error before ffmpeg hands over the frame:
///
/// ```text
/// [Parsed_showinfo_1 @ 0x55a30dd92d80] [info] config in time_base: 1/12800, frame_rate: 25/1
/// [Parsed_showinfo_1 @ 0x55a30dd92d80] [info] n:   1 pts:    512 pts_time:0.04    pos:    16116 fmt:yuv420p …
/// ```
///
/// `pts` counts units of `time_base`; `pts_time` is the same with six digits, which are too few for a long film. Where the size of the frames
/// changes, ffmpeg starts the filter again, and `n` with it.
final class FrameTimes: Sendable {
  private struct State {
    var unit: (numerator: Double, denominator: Double)?
    /// The number of the frame that the filter's `n` of 0 is, and the number of frames so far.
    var (first, count) = (0, 0)
    var times: [(frame: Int, time: Double)] = []
  }

  private let state = Mutex(State())
  /// The maximum number of frames that ffmpeg has described and not handed over.
  private static let maximumCount = 4096

  /// Reads a line of ffmpeg; returns false for a line that `showinfo` has not written.
  func take(_ line: Substring) -> Bool {
    guard line.hasPrefix("[Parsed_showinfo_") else { return false }
    state.withLock { state in
      if let unit = Self.value(after: "config in time_base:", in: line) {
        let parts = unit.split(separator: "/").compactMap { Double($0) }
        state.unit = parts.count == 2 && parts.allSatisfy { $0 > 0 } ? (parts[0], parts[1]) : nil
        state.first = state.count
      } else if let number = Self.value(after: "] n:", in: line).flatMap({ Int32($0) }), number >= 0 {
        let frame = state.first + Int(number)
        state.count = frame + 1
        if let pts = Self.value(after: " pts:", in: line).flatMap({ Double($0) }), let unit = state.unit,
          abs(pts * unit.numerator / unit.denominator) <= 1e9, state.times.count < Self.maximumCount
        {
          state.times.append((frame, pts * unit.numerator / unit.denominator))
        }
      }
    }
    return true
  }

  /// The time of a frame in seconds, and forgets those before it; nil if ffmpeg has said none.
  func time(ofFrame frame: Int) -> Double? {
    state.withLock { state in
      state.times.removeAll { $0.frame < frame }
      return state.times.first.flatMap { $0.frame == frame ? $0.time : nil }
    }
  }

  /// The word after a name, without the spaces before it and the comma behind it.
  private static func value(after name: String, in line: Substring) -> Substring? {
    guard let place = line.firstRange(of: name) else { return nil }
    return line[place.upperBound...].drop { $0 == " " }.prefix { $0 != " " && $0 != "," }
  }
}
