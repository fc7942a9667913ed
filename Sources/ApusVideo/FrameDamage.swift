// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Counts the frames that ffmpeg calls damaged, by its messages. It leaves them out, or fills in what is missing, and ends with status 0:
///
/// ```text
/// [warning] file:film.avi: corrupt input packet in stream 0
/// [vist#0:0/mpeg4 @ 0x42d39540] [dec:mpeg4 @ 0x42d48700] [warning] corrupt decoded frame
/// [h264 @ 0x55ac16ccfc80] [info] concealing 123 DC, 123 AC, 123 MV errors in I frame
/// [error] Error while decoding stream #0:0: Invalid data found when processing input
/// [mjpeg @ 0x55ebc50cf000] [error] overread 8
/// ```
///
/// One frame may give a message of each kind, so that the kind with the most of them counts: there are at least as many damaged frames.
final class FrameDamage: Sendable {
  private struct State {
    /// Whether messages are about frames that are read, and not about those that ffmpeg looks at to recognize the source.
    var isReading = false
    /// Whether the source is MPEG-TS. ffmpeg calls packets corrupt there whose numbers do not go on, as where whole films were joined.
    var isNumbered = false
    /// The messages of each kind.
    var counts: [Int] = []
    var total = 0
    /// The kind of the last message; nil for none.
    var last: Int?
  }

  /// The beginnings of the messages of a kind.
  private static let kinds: [[String]] = [
    ["corrupt input packet in stream"], ["corrupt decoded frame"], ["concealing "],
    ["Error while decoding stream", "Error submitting packet to decoder", "Decoding error: "],
    ["overread "], ["error y="],
  ]
  /// The kind of messages about packets, which are not decoded yet.
  private static let packets = 0
  /// The beginning of ffmpeg's description of the source.
  private static let input = "[info] Input #0, "
  private static let levels = ["warning", "error", "info"]

  private let state = Mutex(State(counts: [Int](repeating: 0, count: kinds.count)))
  private let isFile: Bool
  private let found: @Sendable (String, Int) -> Void

  /// - Parameters:
  ///   - isFile: Whether all of the source is read. Of a stream that is joined in the middle, ffmpeg cannot decode what comes before its
  ///     first whole frame, which is no damage.
  ///   - found: Called with ffmpeg's message about damaged frames, and how many there are.
  init(ofFile isFile: Bool, _ found: @escaping @Sendable (String, Int) -> Void) {
    (self.isFile, self.found) = (isFile, found)
  }

  /// Notes that ffmpeg has decoded a frame.
  func noteFrame() {
    state.withLock { state in
      state.isReading = true
      state.last = nil
    }
  }

  /// Reads a message of ffmpeg.
  func take(_ line: Substring) {
    let repeats = Self.repeats(line)
    let text = repeats == nil ? Self.damage(in: line) : nil
    let (kind, count) = state.withLock { state -> (Int?, Int) in
      if line.hasPrefix(Self.input) {
        state.isNumbered = line.dropFirst(Self.input.count).hasPrefix("mpegts,")
        if isFile { state.isReading = true }
      }
      if repeats == nil { state.last = text?.kind }
      guard let kind = state.last, state.isReading, kind != Self.packets || !state.isNumbered else {
        return (nil, 0)
      }
      state.counts[kind] += repeats ?? 1
      let more = max(state.counts[kind] - state.total, 0)
      state.total += more
      return (kind, more)
    }
    guard let kind, count > 0 else { return }
    found(text.map { String($0.text.prefix(200)) } ?? Self.kinds[kind][0], count)
  }

  /// The kind and the text of a message about a damaged frame; nil for another message.
  private static func damage(in line: Substring) -> (kind: Int, text: Substring)? {
    guard let text = FFmpeg.text(of: line, levels: levels) else { return nil }
    // Versions before 7 name the source first, without a part of ffmpeg: `[warning] file:film.avi: corrupt decoded frame in stream 0`.
    let named = line.hasPrefix("[warning] ") ? text.ranges(of: ": corrupt ").last : nil
    let words = named.map { text[$0.lowerBound...].dropFirst(2) } ?? text
    return kinds.firstIndex { $0.contains { words.hasPrefix($0) } }.map { ($0, words) }
  }

  /// How often ffmpeg repeats its last message, as it says; nil for another message.
  private static func repeats(_ line: Substring) -> Int? {
    guard line.hasPrefix("    Last message repeated ") else { return nil }
    return line.split(separator: " ").dropFirst(3).first.flatMap { Int($0) }.map {
      min(max($0, 0), 1_000_000)
    }
  }
}
