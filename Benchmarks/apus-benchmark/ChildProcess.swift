// SPDX-License-Identifier: Apache-2.0

import Apus

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A child failed, and printed the reason on standard error, which it shares with its parent.
struct ChildFailure: Error {
  /// The status with which to exit: 1 to 64.
  let status: Int32
}

/// This program in another process, with memory of its own.
enum ChildProcess {
  /// Runs this program with other arguments and returns what it prints.
  static func output(arguments: [String]) throws -> [UInt8] {
    let command = ([executable] + arguments).map(quoted).joined(separator: " ")
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
    guard status == 0 else {
      let code = status >> 8 & 0xFF
      if status & 0x7F != 0 || code > 64 {
        throw ApusError(.invalidArgument, "a measurement crashed: \(command)")
      }
      throw ChildFailure(status: code)
    }
    return bytes
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
