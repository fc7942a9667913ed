// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// What the system refuses is one line on standard error, never a signal; nothing half-written is left behind.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct FaultTests {
  /// Runs a line of the shell, in which `$APUS` is the program.
  private func shell(_ line: String, in folder: URL) throws -> (status: Int32, signal: Bool, errors: String) {
    let process = Process()
    let program: URL = try #require(builtExecutable("apus"))
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["-c", line]
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.merging(["APUS": program.path]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, process.terminationReason == .uncaughtSignal, text)
  }

  private func files(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test("a full disk is an error, and leaves nothing behind")
  func fullDisk() throws {
    try withTemporaryFolder { folder in
      // Files may have a kilobyte; the picture has more.
      let limited = try shell("ulimit -f 1; exec \"$APUS\" detect --annotate out.png", in: folder)
      #expect(limited.status == 1 && !limited.signal)
      #expect(limited.errors == "error: cannot write the file 'out.png': File too large\n")
      #expect(try files(in: folder).isEmpty)
      let full = try shell("ln -s /dev/full out.png; exec \"$APUS\" detect --annotate out.png", in: folder)
      #expect(full.status == 1)
      #expect(full.errors == "error: cannot write the file 'out.png': No space left on device\n")
    }
  }

  @Test("what was there stays where writing fails")
  func replacing() throws {
    try withTemporaryFolder { folder in
      let old = folder.appending(path: "out.png")
      try Data("precious".utf8).write(to: old)
      let failed = try shell("ulimit -f 1; exec \"$APUS\" detect --annotate out.png", in: folder)
      #expect(failed.status == 1)
      #expect(try String(contentsOf: old, encoding: .utf8) == "precious")
      #expect(try files(in: folder) == ["out.png"])
      #expect(try shell("exec \"$APUS\" detect --annotate out.png", in: folder).status == 0)
      #expect(try Data(contentsOf: old).starts(with: [0x89, 0x50]))
    }
  }

  @Test("a pipe that nobody reads is an error")
  func closedPipe() throws {
    try withTemporaryFolder { folder in
      let answer = try shell(
        "\"$APUS\" operators --json | true; echo ${PIPESTATUS[0]} >&2", in: folder)
      // It may have written everything before the reader was gone.
      #expect(
        answer.errors == "0\n"
          || answer.errors == "error: cannot write to standard output: Broken pipe\n1\n")
    }
  }

  @Test("memory that the system refuses is an error", arguments: [300, 400, 600])
  func refusedMemory(mebibytes: Int) throws {
    try withTemporaryFolder { folder in
      // A bitmap of 10,000 × 10,000 pixels, of which the file has a gigabyte of nothing.
      var header = Array("BM".utf8)
      func append(_ value: Int, _ count: Int) {
        for index in 0..<count { header.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
      }
      append(54 + 300_000_000, 4)
      append(0, 4)
      append(54, 4)
      append(40, 4)
      append(10_000, 4)
      append(10_000, 4)
      append(1, 2)
      append(24, 2)
      append(0, 24)
      let file = folder.appending(path: "large.bmp")
      try Data(header).write(to: file)
      let handle = try FileHandle(forWritingTo: file)
      try handle.truncate(atOffset: 54 + 300_000_000)
      try handle.close()
      let answer = try shell(
        "ulimit -v \(mebibytes << 10); exec \"$APUS\" detect large.bmp --annotate out.png", in: folder)
      #expect(answer.status == 2 && !answer.signal, "\(answer.errors)")
      #expect(answer.errors.hasPrefix("error: large.bmp: the system has no memory of "), "\(answer.errors)")
    }
  }
}
