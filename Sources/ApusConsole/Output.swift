// SPDX-License-Identifier: Apache-2.0

import ApusSystem
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Results go to standard output, everything else to standard error.
package enum Output {
  /// Makes writing to a closed pipe, or beyond a limit on files, a failure rather than a signal that ends the
  /// process; and keeps what the process opens from taking the place of a standard stream that is closed.
  package static func surviveRefusedWrites() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    // Opened the wrong way, so that reading and writing fail as they did. The system gives the least free number.
    for stream in Int32(0)...2 where fcntl(stream, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  /// How long lines of results for people are: as the variable `COLUMNS` says, by default 80 characters.
  package static var columns: Int {
    guard let text = unsafe getenv("COLUMNS"), let count = unsafe Int(String(cString: text)), count > 0 else {
      return 80
    }
    return min(max(count, 40), 1_000)
  }

  /// Writes results: a line, or several with line feeds between them.
  ///
  /// Names of files, labels and models may have any character. Code that puts one into a line calls
  /// ``oneLine(_:)``, so that it makes no line of its own; other characters that a terminal might obey are
  /// replaced here.
  package static func write(_ text: String) {
    write(withoutControls(text, replacement: "\u{FFFD}", keepsLines: true) + "\n", to: 1)
  }

  /// Writes a line for people, apart from the results.
  package static func writeError(_ line: String) {
    write(withoutControls(line, replacement: "\u{FFFD}", keepsLines: false) + "\n", to: 2)
  }

  /// Shows progress, if standard error is a terminal.
  package static func progress(_ line: String) {
    if isatty(2) == 1 { writeError(line) }
  }

  /// Whether standard error is a terminal.
  package static var isErrorTerminal: Bool { isatty(2) == 1 }

  /// Replaces the last call's line on the terminal; an empty one removes it.
  package static func showTransient(_ line: String) {
    write("\r\u{1B}[K" + line, to: 2)
  }

  /// Writes one JSON document as a line of results.
  package static func writeJSON(_ value: some Encodable) throws {
    write(try json(value))
  }

  /// One JSON document as a line, in which escapes stand for all control characters.
  package static func json(_ value: some Encodable) throws -> String {
    escapingControls(in: String(decoding: try encoded(value), as: UTF8.self))
  }

  /// One JSON document, with names in the case that JSON has.
  package static func encoded(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
    return try encoder.encode(value)
  }

  /// Takes what is done before a failure of standard output ends the process: completing a file that is being written. The last one counts.
  package static func beforeEnding(_ body: @escaping @Sendable () -> Void) {
    ending.withLock { $0 = body }
  }

  private static let ending = Mutex<(@Sendable () -> Void)?>(nil)

  private static func write(_ text: String, to descriptor: Int32) {
    if !writeAll(Array(text.utf8), to: descriptor) { fail(to: descriptor) }
  }

  /// Results that cannot be written are a failure, errors that cannot be written are dropped, and a reader such as `head`
  /// that wants no more ends the process as it ends others: by the signal for closed pipes.
  private static func fail(to descriptor: Int32) {
    guard descriptor == 1 else { return }
    let reason = errno
    let body = ending.withLock { ending in
      defer { ending = nil }
      return ending
    }
    body?()
    if reason == EPIPE {
      signal(SIGPIPE, SIG_DFL)
      raise(SIGPIPE)
    }
    writeError(unsafe "error: cannot write to standard output: \(String(cString: strerror(reason)))")
    exit(1)
  }
}

/// Writes all bytes to an open file; returns whether that succeeded, otherwise `errno` says why not.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  var written = 0
  while written < bytes.count {
    let count = unsafe bytes[written...].withUnsafeBytes {
      unsafe write(descriptor, $0.baseAddress, $0.count)
    }
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { return false }
    written += count
  }
  return true
}
