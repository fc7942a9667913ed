// SPDX-License-Identifier: Apache-2.0

import ApusSystem

extension Trace.Recording {
  /// The recording in Chrome's trace event format, which chrome://tracing and Perfetto read.
  ///
  /// Each event is complete (`"ph":"X"`), with its beginning and duration in microseconds. The events of a thread nest: an
  /// event lies within another one, or apart from it. Outer events come first.
  package var chromeFile: [UInt8] {
    var text = ChromeText(of: self)
    for thread in threads { text.name(thread) }
    for thread in threads {
      // Of events with equal times, the outer one ended last.
      let order = thread.events.indices.sorted { one, other in
        let (first, second) = (thread.events[one], thread.events[other])
        return (first.start, -first.end, -one) < (second.start, -second.end, -other)
      }
      let place = Array(#","pid":\#(text.process),"tid":\#(thread.number)"#.utf8)
      for index in order { text.add(thread.events[index], at: place) }
    }
    text.end(lostCount: lostCount)
    return text.bytes
  }
}

/// JSON of events, as bytes.
///
/// A trace has a hundred thousand events of a few hundred names: what is the same in all events of a name is made once.
private struct ChromeText {
  private(set) var bytes: [UInt8] = []
  let process = Int(getpid())
  private let began: Int
  private let labels: [LabelText]
  /// The beginning of an event without a name of its own, by its kind.
  private let heads: [[UInt8]]
  private var digits = [UInt8](repeating: 0, count: 24)
  private var isFirst = true

  private static let duration = Array(#","dur":"#.utf8)
  private static let tileNumbers = (Array(#","args":{"first":"#.utf8), Array(#","tiles":"#.utf8))
  private static let tileName = (
    Array(#"{"ph":"X","name":"tile "#.utf8), Array(#"","cat":"tile","ts":"#.utf8)
  )
  private static let tilesName = (
    Array(#"{"ph":"X","name":""#.utf8), Array(#" tiles","cat":"tile","ts":"#.utf8)
  )

  /// What events of a label have in the file.
  private struct LabelText {
    /// The beginning of a step or a picture, up to its time.
    let step, picture: [UInt8]
    /// The arguments of a step; empty for what is no operator.
    let arguments: [UInt8]
    /// The end of a tile of the step.
    let tile: [UInt8]

    init(_ label: Trace.Label) {
      step = head(label.name, category: "step")
      picture = head(label.name, category: "stage")
      arguments =
        label.index.map { index in
          Array(#","args":{"operator":\#(index),"kernels":"#.utf8) + quoted(label.kernels) + Array("}".utf8)
        } ?? []
      tile = Array(#","step":"#.utf8) + quoted(label.name) + Array("}}".utf8)
    }
  }

  /// Begins the text of a recording.
  init(of recording: Trace.Recording) {
    began = recording.began
    labels = recording.labels.map(LabelText.init)
    heads = TraceEvent.Kind.allCases.map { kind in
      switch kind {
      case .join: head("wait for other threads", category: "wait")
      case .idle: head("wait for work", category: "wait")
      case .step, .share: head("step", category: "step")
      default: head("\(kind)", category: "stage")
      }
    }
    bytes.reserveCapacity(recording.threads.reduce(4096) { $0 + $1.events.count * 192 })
    write(#"{"displayTimeUnit":"ns","traceEvents":["#)
  }

  /// The thread's name.
  mutating func name(_ thread: Trace.ThreadEvents) {
    separate()
    write(#"{"ph":"M","name":"thread_name","pid":\#(process),"tid":\#(thread.number),"args":{"name":"#)
    bytes += quoted(thread.name)
    write("}},\n")
    write(
      #"{"ph":"M","name":"thread_sort_index","pid":\#(process),"tid":\#(thread.number),"args":{"sort_index":\#(thread.number)}}"#
    )
  }

  /// An event; `place` is the text that names its process and thread.
  mutating func add(_ event: TraceEvent, at place: [UInt8]) {
    let label = labels.indices.contains(Int(event.label)) ? labels[Int(event.label)] : nil
    separate()
    switch event.kind {
    case .tile:
      let name = event.count > 1 ? Self.tilesName : Self.tileName
      bytes += name.0
      write(event.count > 1 ? event.count : event.number)
      bytes += name.1
    case .step, .share: bytes += label?.step ?? heads[Int(event.kind.rawValue)]
    case .picture: bytes += label?.picture ?? heads[Int(event.kind.rawValue)]
    default: bytes += heads[Int(event.kind.rawValue)]
    }
    write(microseconds: event.start - began)
    bytes += Self.duration
    write(microseconds: event.end - event.start)
    bytes += place
    switch event.kind {
    case .tile:
      bytes += Self.tileNumbers.0
      write(event.number)
      bytes += Self.tileNumbers.1
      write(event.count)
      if let label { bytes += label.tile } else { write("}}") }
    case .step, .share:
      if let label { bytes += label.arguments }
      bytes.append(UInt8(ascii: "}"))
    default: bytes.append(UInt8(ascii: "}"))
    }
  }

  mutating func end(lostCount: Int) {
    write("\n],\n\"otherData\":{\"lost_events\":\(lostCount)}}\n")
  }

  // MARK: Parts

  private mutating func separate() {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\n"))
    isFirst = false
  }

  /// A number of nanoseconds as microseconds, exactly.
  private mutating func write(microseconds nanoseconds: Int) {
    if nanoseconds < 0 { bytes.append(UInt8(ascii: "-")) }
    write(nanoseconds.magnitude, decimals: 3)
  }

  private mutating func write(_ number: Int32) {
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    write(UInt(number.magnitude), decimals: 0)
  }

  /// A number whose last `decimals` digits stand behind the point.
  private mutating func write(_ number: UInt, decimals: Int) {
    var (rest, place) = (number, digits.count)
    for _ in 0..<decimals {
      place -= 1
      digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    if decimals > 0 {
      place -= 1
      digits[place] = UInt8(ascii: ".")
    }
    repeat {
      place -= 1
      digits[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    bytes += digits[place...]
  }

  private mutating func write(_ text: String) { bytes += text.utf8 }
}

/// The beginning of an event, up to its time.
private func head(_ name: String, category: String) -> [UInt8] {
  Array(#"{"ph":"X","name":"#.utf8) + quoted(name) + Array(#","cat":"\#(category)","ts":"#.utf8)
}

/// A text as JSON.
private func quoted(_ text: String) -> [UInt8] {
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
  return Array((quoted + "\"").utf8)
}
