// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusSystem

/// This program in another process: with memory of its own, and allowed to crash.
package enum OwnProcess {
  /// How a process ended.
  package struct Ending: Sendable {
    /// The bytes that it printed on standard output.
    package let output: [UInt8]
    /// Its status, if it ended by itself.
    package let status: Int32?
    /// The number of the signal that ended it.
    package let signal: Int32?
  }

  /// Runs this program with other arguments, and waits for its end. It has this process's standard error, unless `isQuiet`.
  ///
  /// - Throws: `unreadableFile` if the system refuses to start it.
  package static func run(_ arguments: [String], isQuiet: Bool = false) throws(ApusError) -> Ending {
    // The shell is replaced, so that the ending is the program's own.
    let command =
      "exec " + ([executable] + arguments).map(quoted).joined(separator: " ")
      + (isQuiet ? " 2>/dev/null" : "")
    guard let stream = unsafe popen(command, "r") else {
      throw ApusError(.unreadableFile, "\(executable): cannot be started")
    }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, stream)
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    let status = unsafe pclose(stream)
    let signal = status & 0x7F
    return Ending(
      output: bytes, status: signal == 0 ? status >> 8 & 0xFF : nil, signal: signal == 0 ? nil : signal)
  }

  private static var executable: String {
    var path = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    guard count > 0 else { return CommandLine.arguments[0] }
    return String(decoding: path[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// A quoted word for the shell.
  private static func quoted(_ word: String) -> String {
    "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
