// SPDX-License-Identifier: Apache-2.0

import ApusSystem

extension Trace.Recording {
  /// The recording in Chrome's trace event format, which chrome://tracing and Perfetto read.
  ///
  /// Each event is complete (`"ph":"X"`), with its beginning and duration in microseconds. The events of a thread nest: an
  /// event lies within another one, or apart from it. Outer events come first.
  package var chromeFile: [UInt8] {
    var text = ChromeText(process: Int(getpid()), began: began)
    text.begin()
    for thread in threads { text.name(thread) }
    for thread in threads {
      // Of events with equal times, the outer one ended last.
      let order = thread.events.indices.sorted { one, other in
        let (first, second) = (thread.events[one], thread.events[other])
        return (first.start, -first.end, -one) < (second.start, -second.end, -other)
      }
      for index in order { text.add(thread.events[index], of: thread, labels) }
    }
    text.end(lostCount: lostCount)
    return text.bytes
  }
}

/// JSON of events, as bytes.
private struct ChromeText {
  private(set) var bytes: [UInt8] = []
  private let process: Int
  private let began: Int
  private var isFirst = true

  init(process: Int, began: Int) {
    self.process = process
    self.began = began
  }

  mutating func begin() { write(#"{"displayTimeUnit":"ns","traceEvents":["#) }

  /// The thread's name.
  mutating func name(_ thread: Trace.ThreadEvents) {
    separate()
    write(#"{"ph":"M","name":"thread_name","pid":\#(process),"tid":\#(thread.number),"args":{"name":"#)
    write(quoted: thread.name)
    write("}},\n")
    write(
      #"{"ph":"M","name":"thread_sort_index","pid":\#(process),"tid":\#(thread.number),"args":{"sort_index":\#(thread.number)}}"#
    )
  }

  mutating func add(_ event: TraceEvent, of thread: Trace.ThreadEvents, _ labels: [Trace.Label]) {
    let label = labels.indices.contains(Int(event.label)) ? labels[Int(event.label)] : nil
    separate()
    write(#"{"ph":"X","name":"#)
    write(quoted: Self.name(of: event, label))
    write(#","cat":"\#(Self.category(of: event.kind))","ts":"#)
    write(microseconds: event.start - began)
    write(#","dur":"#)
    write(microseconds: event.end - event.start)
    write(#","pid":\#(process),"tid":\#(thread.number)"#)
    write(arguments: event, label)
    write("}")
  }

  mutating func end(lostCount: Int) {
    write("\n],\n\"otherData\":{\"lost_events\":\(lostCount)}}\n")
  }

  // MARK: Parts

  private static func name(of event: TraceEvent, _ label: Trace.Label?) -> String {
    switch event.kind {
    case .step, .share: label?.name ?? "step \(event.number)"
    case .picture: label?.name ?? "picture"
    case .tile: event.count > 1 ? "\(event.count) tiles" : "tile \(event.number)"
    case .join: "wait for other threads"
    case .idle: "wait for work"
    default: "\(event.kind)"
    }
  }

  private static func category(of kind: TraceEvent.Kind) -> String {
    switch kind {
    case .step, .share: "step"
    case .tile: "tile"
    case .join, .idle: "wait"
    default: "stage"
    }
  }

  private mutating func write(arguments event: TraceEvent, _ label: Trace.Label?) {
    switch event.kind {
    case .step, .share:
      guard let label, let index = label.index else { return }
      write(#","args":{"operator":\#(index),"kernels":"#)
      write(quoted: label.kernels)
      write("}")
    case .tile:
      write(#","args":{"first":\#(event.number),"tiles":\#(event.count)"#)
      if let label {
        write(#","step":"#)
        write(quoted: label.name)
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
    let (whole, rest) = (nanoseconds / 1000, abs(nanoseconds % 1000))
    write("\(nanoseconds < 0 && whole == 0 ? "-" : "")\(whole).")
    write(rest < 10 ? "00\(rest)" : rest < 100 ? "0\(rest)" : "\(rest)")
  }

  private mutating func write(quoted text: String) {
    write("\"")
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": write("\\\(scalar)")
      case _ where scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value || 0x2028...0x2029 ~= scalar.value:
        let digits = String(scalar.value, radix: 16)
        write("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
      default: write(String(scalar))
      }
    }
    write("\"")
  }

  private mutating func write(_ text: String) { bytes += text.utf8 }
}
