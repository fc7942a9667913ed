// SPDX-License-Identifier: Apache-2.0
import ApusSystem  // Links the functions of mathematics.

/// Reads and writes the text files of the MOTChallenge (Leal-Taixé et al., "MOTChallenge 2015: Towards a Benchmark for Multi-Target
/// Tracking", arXiv:1504.01942), one box a line: `frame,id,left,top,width,height,score,…`.
///
/// ```swift
/// for frame in try MOTChallenge.frames(in: bytes) {
///   for track in try tracker.update(frame.detections) { text += MOTChallenge.line(track, frame: frame.number) }
/// }
/// ```
public enum MOTChallenge {
  /// The boxes of one frame.
  public struct Frame: Hashable, Sendable {
    /// The frame's number, usually from 1.
    public let number: Int
    /// The boxes in the order of the file.
    public var detections: [TrackingDetection]
  }

  /// The largest number of a frame.
  public static let maximumFrame = 1_000_000_000

  /// The frames of a file that have boxes, by number.
  ///
  /// Fields are separated by commas, or else by semicolons, tabs or spaces. A line may end after the height; its score is then 1. Fields
  /// after the score are ignored, and so are blank lines.
  ///
  /// - Parameters:
  ///   - bytes: The file, in UTF-8.
  ///   - limit: The maximum number of boxes.
  /// - Throws: `malformedFile` with the line's number, or `resourceLimit`.
  public static func frames(in bytes: [UInt8], limit: Int = 10_000_000) throws(TrackingError) -> [Frame] {
    var numbers: [(frame: Int, detection: TrackingDetection)] = []
    var number = 0
    // Line by line: an array of them would take many times the memory of a file of line feeds.
    var rest = bytes[...]
    while !rest.isEmpty {
      number += 1
      let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
      var line = rest[..<end]
      rest = rest[min(end + 1, rest.endIndex)...]
      if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
      while let last = line.last, isBlank(last) { line.removeLast() }
      while let first = line.first, isBlank(first) { line.removeFirst() }
      if line.isEmpty { continue }
      guard numbers.count < limit else {
        throw TrackingError(.resourceLimit, "line \(number): there are more boxes than the limit of \(limit)")
      }
      numbers.append(try box(line, number))
    }
    return grouped(numbers)
  }

  /// Boxes by frame, in the order of the file within a frame.
  private static func grouped(_ boxes: [(frame: Int, detection: TrackingDetection)]) -> [Frame] {
    var frames: [Frame] = []
    let order = boxes.indices.sorted { (boxes[$0].frame, $0) < (boxes[$1].frame, $1) }
    for index in order {
      let (number, detection) = boxes[index]
      if frames.last?.number != number { frames.append(Frame(number: number, detections: [])) }
      frames[frames.count - 1].detections.append(detection)
    }
    return frames
  }

  /// The box of a line.
  private static func box(_ line: ArraySlice<UInt8>, _ number: Int) throws(TrackingError)
    -> (frame: Int, detection: TrackingDetection)
  {
    let fields = fields(line)
    guard fields.count >= 6 else {
      throw TrackingError(
        .malformedFile,
        "line \(number) has \(fields.count) fields, not at least 6: frame, id, left, top, width, height")
    }
    func value(_ index: Int, _ name: String) throws(TrackingError) -> Double {
      let text = String(decoding: fields[index].prefix(40), as: UTF8.self)
      guard fields[index].count <= 40, fields[index].allSatisfy(isOfNumber), let value = Double(text),
        value.isFinite
      else {
        throw TrackingError(.malformedFile, "line \(number): the \(name) is '\(text)', not a number")
      }
      return value
    }
    let frame = try value(0, "frame")
    guard frame == frame.rounded(), frame >= 0, frame <= Double(maximumFrame) else {
      throw TrackingError(
        .malformedFile, "line \(number): the frame is \(frame), not a whole number from 0 to \(maximumFrame)")
    }
    let (left, top) = (try value(2, "left"), try value(3, "top"))
    let (width, height) = (try value(4, "width"), try value(5, "height"))
    let box = TrackingBox(x: left, y: top, width: width, height: height)
    guard box.isUsable else {
      throw TrackingError(
        .malformedFile,
        """
        line \(number): the box at \(left), \(top) has the size \(width) × \(height), not a positive one within ±1e9
        """)
    }
    let score = fields.count > 6 ? try value(6, "score") : 1
    return (Int(frame), TrackingDetection(box: box, score: score))
  }

  /// Whether a byte is a space, a tab or a carriage return.
  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

  /// Whether a byte may be part of a decimal number; `Double` also reads hexadecimal ones, and ignores what follows a zero byte.
  private static func isOfNumber(_ byte: UInt8) -> Bool {
    0x30...0x39 ~= byte || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte)
  }

  private static func fields(_ line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    func trimmed(_ field: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
      var field = field
      while let first = field.first, isBlank(first) { field.removeFirst() }
      while let last = field.last, isBlank(last) { field.removeLast() }
      return field
    }
    for separator in [UInt8(ascii: ","), UInt8(ascii: ";")] where line.contains(separator) {
      return line.split(separator: separator, maxSplits: 7, omittingEmptySubsequences: false).map(trimmed)
    }
    return line.split(maxSplits: 7, whereSeparator: isBlank)
  }

  /// The line of a track, with its line feed. Numbers from 1 on have up to four decimals, and smaller ones the digits of a `Float`: boxes
  /// may be fractions of a picture.
  public static func line(_ track: Track, frame: Int) -> String {
    func text(_ value: Double) -> String {
      if abs(value) >= 1 { return "\((value * 10_000).rounded() / 10_000)" }
      // Numbers too small for a `Float` stay what they are: no box has the size 0.
      return Float(value) == 0 ? "\(value)" : "\(Float(value))"
    }
    let box = track.box
    let values = [box.minX, box.minY, box.width, box.height, track.score].map(text).joined(separator: ",")
    return "\(frame),\(track.id),\(values),-1,-1,-1\n"
  }
}
