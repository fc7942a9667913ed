// SPDX-License-Identifier: Apache-2.0

import ApusSystem

extension Trace.Recording {
  /// Writes the recording in Chrome's trace event format, which chrome://tracing and Perfetto read.
  ///
  /// Each event is complete (`"ph":"X"`), with its beginning and duration in microseconds. The events of a thread nest: an
  /// event lies within another one, or apart from it. Outer events come first.
  ///
  /// - Parameter write: Takes the next bytes of the file, some 64 KiB.
  package func writeChromeFile<E: Error>(_ write: ([UInt8]) throws(E) -> Void) throws(E) {
    var text = ChromeText(of: self)
    for thread in threads {
      // Of events with equal times, the outer one ended last.
      let order = thread.events.indices.sorted { one, other in
        let (first, second) = (thread.events[one], thread.events[other])
        return (first.start, -first.end, -one) < (second.start, -second.end, -other)
      }
      var numbers = ChromeNumbers(thread: thread.number)
      for index in order {
        text.add(thread.events[index], &numbers)
        guard text.bytes.count >= 1 << 16 else { continue }
        try write(text.bytes)
        text.bytes.removeAll(keepingCapacity: true)
      }
    }
    text.end(lostCount: lostCount)
    try write(text.bytes)
  }
}

/// JSON of events, as bytes.
///
/// A trace has a hundred thousand events of a few hundred names. So what all events of a kind and a name have in common is made once and
/// comes first in an event's text; the numbers in which they differ come last.
private struct ChromeText {
  /// The text that has not been written yet.
  var bytes: [UInt8] = []
  private let process = Int(getpid())
  private let began: Int
  private let labels: [Trace.Label]
  /// The beginnings of events by label and kind, as far as they have been needed; see ``head(of:)``.
  private var heads: [[UInt8]]

  /// Begins the text of a recording, with the names of its threads.
  init(of recording: Trace.Recording) {
    (began, labels) = (recording.began, recording.labels)
    heads = Array(repeating: [], count: (labels.count + 1) * TraceEvent.Kind.allCases.count)
    bytes.reserveCapacity(1 << 17)
    let threads = recording.threads.map { thread in
      let place = #""pid":\#(process),"tid":\#(thread.number)"#
      return #"""
        {"ph":"M","name":"thread_name",\#(place),"args":{"name":\#(quoted(thread.name))}},
        {"ph":"M","name":"thread_sort_index",\#(place),"args":{"sort_index":\#(thread.number)}}
        """#
    }
    // Events follow those of their threads, so that each begins with a comma.
    bytes += (#"{"displayTimeUnit":"ns","traceEvents":["# + "\n" + threads.joined(separator: ",\n")).utf8
  }

  /// Adds an event; `numbers` are those of its thread.
  mutating func add(_ event: TraceEvent, _ numbers: inout ChromeNumbers) {
    let label = labels.indices.contains(Int(event.label)) ? Int(event.label) + 1 : 0
    let place = label * TraceEvent.Kind.allCases.count + Int(event.kind.rawValue)
    if heads[place].isEmpty { heads[place] = head(event.kind, label > 0 ? labels[label - 1] : nil) }
    bytes += heads[place]
    bytes += numbers.text(of: event, began: began)
  }

  mutating func end(lostCount: Int) {
    bytes += "\n],\n\"otherData\":{\"lost_events\":\(lostCount)}}\n".utf8
  }

  /// The beginning of an event, up to its first number.
  private func head(_ kind: TraceEvent.Kind, _ label: Trace.Label?) -> [UInt8] {
    let (name, category) =
      switch kind {
      case .step, .share: (label?.name ?? "step", "step")
      case .picture: (label?.name ?? "picture", "stage")
      case .join: ("wait for other threads", "wait")
      case .idle: ("wait for work", "wait")
      case .tile: ("", "tile")
      default: ("\(kind)", "stage")
      }
    let text = #","# + "\n" + #"{"ph":"X","cat":"\#(category)","pid":\#(process)"#
    guard kind != .tile else {
      let step = label.map { #""step":\#(quoted($0.name)),"# } ?? ""
      return Array(#"\#(text),"args":{\#(step)"first":"#.utf8)
    }
    var arguments = ""
    if kind == .step || kind == .share, let label, let index = label.index {
      arguments = #","args":{"operator":\#(index),"kernels":\#(quoted(label.kernels))}"#
    }
    return Array(#"\#(text),"name":\#(quoted(name))\#(arguments),"ts":"#.utf8)
  }
}

/// The numbers at the end of an event's text, written from the last digit to the first.
private struct ChromeNumbers {
  private var bytes: [UInt8]
  /// The first byte of what all events of the thread end with.
  private let suffix: Int

  private static let duration = Array(#","dur":"#.utf8)
  private static let time = Array(#"","ts":"#.utf8)
  private static let tile = Array(#"},"name":"tile "#.utf8)
  private static let tiles = (Array(#"},"name":""#.utf8), Array(#" tiles"#.utf8))
  private static let count = Array(#","tiles":"#.utf8)

  init(thread: Int) {
    let end = #","tid":\#(thread)}"#.utf8
    suffix = 256 - end.count
    bytes = Array(repeating: 0, count: suffix) + end
  }

  /// The text after an event's head; its times are relative to `began`.
  mutating func text(of event: TraceEvent, began: Int) -> ArraySlice<UInt8> {
    var place = suffix
    var text = bytes.mutableSpan
    prepend(microseconds: event.end - event.start, to: &text, &place)
    prepend(Self.duration, to: &text, &place)
    prepend(microseconds: event.start - began, to: &text, &place)
    if event.kind == .tile {
      prepend(Self.time, to: &text, &place)
      if event.count > 1 { prepend(Self.tiles.1, to: &text, &place) }
      prepend(event.count > 1 ? event.count : event.number, to: &text, &place)
      prepend(event.count > 1 ? Self.tiles.0 : Self.tile, to: &text, &place)
      prepend(event.count, to: &text, &place)
      prepend(Self.count, to: &text, &place)
      prepend(event.number, to: &text, &place)
    }
    return bytes[place...]
  }
}

/// Writes bytes before those from `place` on, which it moves.
private func prepend(_ bytes: [UInt8], to text: inout MutableSpan<UInt8>, _ place: inout Int) {
  place -= bytes.count
  for index in bytes.indices { text[place + index] = bytes[index] }
}

private func prepend(_ number: Int32, to text: inout MutableSpan<UInt8>, _ place: inout Int) {
  _ = prepend(digits: UInt(number.magnitude), atLeast: 1, to: &text, &place)
  if number < 0 { prepend(byte: UInt8(ascii: "-"), to: &text, &place) }
}

/// Writes a number of nanoseconds as microseconds, exactly.
private func prepend(microseconds nanoseconds: Int, to text: inout MutableSpan<UInt8>, _ place: inout Int) {
  let rest = prepend(digits: nanoseconds.magnitude, atLeast: 3, atMost: 3, to: &text, &place)
  prepend(byte: UInt8(ascii: "."), to: &text, &place)
  _ = prepend(digits: rest, atLeast: 1, to: &text, &place)
  if nanoseconds < 0 { prepend(byte: UInt8(ascii: "-"), to: &text, &place) }
}

/// Writes the last digits of a number; returns the number without them.
private func prepend(
  digits number: UInt, atLeast least: Int, atMost most: Int = 20, to text: inout MutableSpan<UInt8>,
  _ place: inout Int
) -> UInt {
  var (rest, count) = (number, 0)
  while count < least || rest > 0 && count < most {
    prepend(byte: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10), to: &text, &place)
    rest /= 10
    count += 1
  }
  return rest
}

private func prepend(byte: UInt8, to text: inout MutableSpan<UInt8>, _ place: inout Int) {
  place -= 1
  text[place] = byte
}

/// A text as JSON.
private func quoted(_ text: String) -> String {
  var quoted = "\""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\"", "\\": quoted += "\\\(scalar)"
    case _ where scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value || 0x2028...0x2029 ~= scalar.value:
      let digits = String(scalar.value, radix: 16)
      quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: quoted.unicodeScalars.append(scalar)
    }
  }
  return quoted + "\""
}
