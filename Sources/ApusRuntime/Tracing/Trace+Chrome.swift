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
/// A trace has a hundred thousand events of a few hundred names: what a name becomes is made once.
private struct ChromeText {
  private(set) var bytes: [UInt8] = []
  let process = Int(getpid())
  private let began: Int
  private let labels: [LabelText]
  private var isFirst = true

  /// What a label is in the file.
  private struct LabelText {
    /// Its name, quoted.
    let name: [UInt8]
    /// The arguments of a step; empty for what is no operator.
    let arguments: [UInt8]

    init(_ label: Trace.Label) {
      name = quoted(label.name)
      arguments =
        label.index.map { index in
          Array(#","args":{"operator":\#(index),"kernels":"#.utf8) + quoted(label.kernels) + Array("}".utf8)
        } ?? []
    }
  }

  /// Begins the text of a recording.
  init(of recording: Trace.Recording) {
    began = recording.began
    labels = recording.labels.map(LabelText.init)
    bytes.reserveCapacity(recording.threads.reduce(4096) { $0 + $1.events.count * 128 })
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
    write(#"{"ph":"X","name":"#)
    write(nameOf: event, label)
    switch event.kind {
    case .step, .share: write(#","cat":"step","ts":"#)
    case .tile: write(#","cat":"tile","ts":"#)
    case .join, .idle: write(#","cat":"wait","ts":"#)
    default: write(#","cat":"stage","ts":"#)
    }
    write(microseconds: event.start - began)
    write(#","dur":"#)
    write(microseconds: event.end - event.start)
    bytes += place
    write(argumentsOf: event, label)
    write("}")
  }

  mutating func end(lostCount: Int) {
    write("\n],\n\"otherData\":{\"lost_events\":\(lostCount)}}\n")
  }

  // MARK: Parts

  private mutating func write(nameOf event: TraceEvent, _ label: LabelText?) {
    switch event.kind {
    case .step, .share, .picture:
      if let label {
        bytes += label.name
        return
      }
      if event.kind == .picture { return write(#""picture""#) }
      write(#""step "#)
      write(Int(event.number))
      write(#"""#)
    case .tile where event.count > 1:
      write(#"""#)
      write(Int(event.count))
      write(#" tiles""#)
    case .tile:
      write(#""tile "#)
      write(Int(event.number))
      write(#"""#)
    case .join: write(#""wait for other threads""#)
    case .idle: write(#""wait for work""#)
    default: write("\"\(event.kind)\"")
    }
  }

  private mutating func write(argumentsOf event: TraceEvent, _ label: LabelText?) {
    switch event.kind {
    case .step, .share:
      if let label { bytes += label.arguments }
    case .tile:
      write(#","args":{"first":"#)
      write(Int(event.number))
      write(#","tiles":"#)
      write(Int(event.count))
      if let label {
        write(#","step":"#)
        bytes += label.name
      }
      write("}")
    default: break
    }
  }

  private mutating func separate() {
    write(isFirst ? "\n" : ",\n")
    isFirst = false
  }

  /// A number of nanoseconds as microseconds, exactly.
  private mutating func write(microseconds nanoseconds: Int) {
    if nanoseconds < 0 { write("-") }
    let (whole, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
    write(digitsOf: whole)
    write(".")
    if rest < 100 { write("0") }
    if rest < 10 { write("0") }
    write(digitsOf: rest)
  }

  private mutating func write(_ number: Int) {
    if number < 0 { write("-") }
    write(digitsOf: number.magnitude)
  }

  private mutating func write(digitsOf number: UInt) {
    if number > 9 { write(digitsOf: number / 10) }
    bytes.append(UInt8(ascii: "0") + UInt8(number % 10))
  }

  private mutating func write(_ text: String) { bytes += text.utf8 }
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
