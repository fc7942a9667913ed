// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// A system's refusal is one line on standard error, never a signal; nothing half-written is left behind.
@Suite(.enabled(if: builtExecutable("apus") != nil, "apus is missing"))
struct FaultTests {
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

  @Test("a file with the longest name is replaced")
  func replacingLongNames() throws {
    try withTemporaryFolder { folder in
      let line = "exec \"$APUS\" detect --annotate \(String(repeating: "l", count: 251)).png"
      #expect(try shell(line, in: folder).status == 0)
      let again = try shell(line, in: folder)
      #expect(again.status == 0, "\(again.errors)")
      #expect(try files(in: folder).count == 1)
    }
  }

  private static let mayMount =
    (try? shell("unshare -rm true", in: FileManager.default.temporaryDirectory).status == 0) ?? false

  @Test("a file that is a mount of its own is written where it is", .enabled(if: mayMount, "no mounts here"))
  func replacingMounts() throws {
    try withTemporaryFolder { folder in
      let mounted = try shell(
        "echo old > host; touch a.png; exec unshare -rm sh -c 'mount --bind host a.png && exec \"$APUS\" detect --annotate a.png'",
        in: folder)
      #expect(mounted.status == 0, "\(mounted.errors)")
      #expect(try Data(contentsOf: folder.appending(path: "host")).starts(with: [0x89, 0x50]))
      #expect(try files(in: folder) == ["a.png", "host"])
    }
  }

  /// Writes a bitmap of `side` × `side` pixels as a sparse file, with data only for its header.
  private func bitmap(side: Int, at file: URL) throws {
    var header = Array("BM".utf8)
    func append(_ value: Int, _ count: Int) {
      for index in 0..<count { header.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
    append(54 + 3 * side * side, 4)
    append(0, 4)
    append(54, 4)
    append(40, 4)
    append(side, 4)
    append(side, 4)
    append(1, 2)
    append(24, 2)
    append(0, 24)
    try Data(header).write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    try handle.truncate(atOffset: UInt64(54 + 3 * side * side))
    try handle.close()
  }

  @Test(
    "a process that is killed leaves a whole file behind, or none", arguments: [SIGKILL, SIGTERM, SIGINT])
  func killed(signal: Int32) throws {
    try withTemporaryFolder { folder in
      try bitmap(side: 4000, at: folder.appending(path: "in.bmp"))
      let line = "exec \"$APUS\" filter in.bmp out.ppm --chain invert"
      let output = folder.appending(path: "out.ppm")
      let began = ContinuousClock.now
      #expect(try shell(line, in: folder).status == 0)
      let whole = (ContinuousClock.now - began) / .seconds(1)
      let size = try Data(contentsOf: output).count
      #expect(size > 3 * 4000 * 4000)
      for step in 1...12 {
        try? FileManager.default.removeItem(at: output)
        let after = whole * Double(step) / 12
        let seconds = String(format: "%.3f", after)
        _ = try shell(
          "\"$APUS\" filter in.bmp out.ppm --chain invert & sleep \(seconds); kill -\(signal) $!; wait",
          in: folder)
        let names = try files(in: folder)
        #expect(names == ["in.bmp"] || names == ["in.bmp", "out.ppm"])
        if names.contains("out.ppm") { #expect(try Data(contentsOf: output).count == size) }
      }
    }
  }

  @Test("signals that are handled or ignored do not disturb a run")
  func signals() throws {
    try withTemporaryFolder { folder in
      // Stopped and continued, and told of windows, children and alarms that it ignores.
      let answer = try shell(
        """
        trap '' ALRM USR1 USR2 HUP
        "$APUS" detect --annotate out.png & process=$!
        for _ in 1 2 3 4 5 6 7 8 9 10; do
          for signal in STOP CONT ALRM USR1 USR2 HUP WINCH CHLD CONT; do kill -$signal $process 2>/dev/null; done
        done
        wait $process
        """, in: folder)
      #expect(answer.status == 0 && !answer.signal, "\(answer.errors)")
      #expect(try files(in: folder) == ["out.png"])
    }
  }

  @Test("a pipe that nobody reads ends the program quietly, by the signal for closed pipes")
  func closedPipe() throws {
    try withTemporaryFolder { folder in
      let answer = try shell(
        "\"$APUS\" operators --json | true; echo ${PIPESTATUS[0]} >&2", in: folder)
      // It may have written everything before the reader was gone.
      #expect(answer.errors == "0\n" || answer.errors == "141\n")
    }
  }

  @Test("memory that the system refuses is an error", arguments: [300, 400, 600])
  func refusedMemory(mebibytes: Int) throws {
    try withTemporaryFolder { folder in
      // 300 MB of nothing.
      try bitmap(side: 10_000, at: folder.appending(path: "large.bmp"))
      let answer = try shell(
        "ulimit -v \(mebibytes << 10); exec \"$APUS\" detect large.bmp --annotate out.png", in: folder)
      #expect(answer.status == 2 && !answer.signal, "\(answer.errors)")
      #expect(answer.errors.hasPrefix("error: large.bmp: the system refuses "), "\(answer.errors)")
    }
  }
}
