// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// One frame as ffmpeg describes it: when it is shown, its size and its colors.
struct FrameDescription: Hashable, Sendable {
  /// The frame's number in this run of ffmpeg.
  let frame: Int
  /// When the frame is shown, in seconds; nil if ffmpeg does not know.
  let time: Double?
  /// The size in pixels; nil if the line had none.
  let size: ImageSize?
  /// The matrix and the range; nil where the stream does not say.
  fileprivate(set) var matrix: VideoColor.Matrix?
  fileprivate(set) var range: VideoColor.Range?

  /// A width and a height in pixels.
  struct ImageSize: Hashable, Sendable {
    let width: Int
    let height: Int
  }
}

/// The descriptions of frames, as ffmpeg's filter `showinfo` writes them on standard error before ffmpeg hands over the frame:
///
/// ```text
/// [Parsed_showinfo_1 @ 0x55a30dd92d80] [info] config in time_base: 1/12800, frame_rate: 25/1
/// [Parsed_showinfo_1 @ 0x55a30dd92d80] [info] n:   1 pts:    512 pts_time:0.04    pos:    16116 fmt:yuv420p sar:1/1 s:320x240 …
/// [Parsed_showinfo_1 @ 0x55a30dd92d80] [info] color_range:tv color_space:bt709 color_primaries:bt709 color_trc:bt709
/// ```
///
/// `pts` counts units of `time_base`; `pts_time` is the same with six digits, which are too few for a long film. Where the size of the frames
/// changes, ffmpeg starts the filter again, and `n` with it; what it hands over has the first frame's size all the same.
final class FrameDescriptions: Sendable {
  private struct State {
    var unit: (numerator: Double, denominator: Double)?
    /// The number of the frame that the filter's `n` of 0 is, and the number of frames so far.
    var (first, count) = (0, 0)
    var descriptions: [FrameDescription] = []
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
        guard state.descriptions.count < Self.maximumCount else { return }
        state.descriptions.append(
          FrameDescription(
            frame: frame, time: Self.time(in: line, unit: state.unit), size: Self.size(in: line)))
      } else if let space = Self.value(after: " color_space:", in: line), !state.descriptions.isEmpty {
        let last = state.descriptions.count - 1
        state.descriptions[last].matrix = VideoColor.Matrix(ofFFmpeg: space)
        let range = Self.value(after: " color_range:", in: line)
        state.descriptions[last].range = range == "pc" ? .full : range == "tv" ? .limited : nil
      }
    }
    return true
  }

  /// The description of a frame, and forgets those before it; nil if ffmpeg has said none.
  func description(ofFrame frame: Int) -> FrameDescription? {
    state.withLock { state in
      state.descriptions.removeAll { $0.frame < frame }
      return state.descriptions.first.flatMap { $0.frame == frame ? $0 : nil }
    }
  }

  private static func time(in line: Substring, unit: (numerator: Double, denominator: Double)?) -> Double? {
    guard let unit, let pts = value(after: " pts:", in: line).flatMap({ Double($0) }) else { return nil }
    let time = pts * unit.numerator / unit.denominator
    return abs(time) <= 1e9 ? time : nil
  }

  private static func size(in line: Substring) -> FrameDescription.ImageSize? {
    let sides = value(after: " s:", in: line)?.split(separator: "x").compactMap { Int32($0) } ?? []
    guard sides.count == 2, sides.allSatisfy({ $0 > 0 }) else { return nil }
    return FrameDescription.ImageSize(width: Int(sides[0]), height: Int(sides[1]))
  }

  /// The word after a name, without the spaces before it and the comma behind it.
  private static func value(after name: String, in line: Substring) -> Substring? {
    guard let place = line.firstRange(of: name) else { return nil }
    return line[place.upperBound...].drop { $0 == " " }.prefix { $0 != " " && $0 != "," }
  }
}
