// SPDX-License-Identifier: Apache-2.0
import ApusServing
import Foundation
import Logging
import NIOCore

/// Writes each log entry as one line of JSON on standard error.
struct JSONLogHandler: LogHandler {
  var logLevel = Logger.Level.notice
  var metadata: Logger.Metadata = [:]
  let label: String

  init(label: String, level: Logger.Level) {
    self.label = label
    logLevel = level
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var writer = JSONWriter(capacity: 256)
    writer.object { writer in
      writer.field("time", Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
      writer.field("level", event.level.rawValue)
      writer.field("message", "\(event.message)")
      let all = metadata.merging(event.metadata ?? [:]) { $1 }
      for (key, value) in all.sorted(by: { $0.key < $1.key }) { writer.field(key, "\(value)") }
    }
    var line = writer.buffer
    line.writeString("\n")
    StandardError.write(line)
  }
}

/// Standard error, a whole line at a time.
enum StandardError {
  static func write(_ line: ByteBuffer) {
    try? FileHandle.standardError.write(contentsOf: Data(line.readableBytesView))
  }

  /// Writes a line of text, whatever it contains.
  static func write(_ line: String) { write(ByteBuffer(string: PrintableText.escaped(line) + "\n")) }
}
