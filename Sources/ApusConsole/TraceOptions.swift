// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusRuntime
import ApusSystem
import ArgumentParser

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where a trace of the command's work goes.
package struct TraceOptions: ParsableArguments {
  @Option(
    name: .long, help: "A file for the times of steps, tiles and threads, for chrome://tracing and Perfetto.")
  package var trace: String?

  package init() {}

  /// Runs `body`, and writes what its threads did to the file, if one is given; also when `body` throws.
  package func record(_ body: () throws -> Void) throws {
    guard let path = trace else { return try body() }
    try Self.checkReplaced(path)
    // A place that cannot be written to is known before the work.
    try Self.write([], to: path)
    try Self.start()
    let outcome = Result { try body() }
    Trace.stop()
    try Self.finish(path)
    try outcome.get()
  }

  /// Refuses to replace a file that is no trace, such as a picture.
  private static func checkReplaced(_ path: String) throws(ApusError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
      return
    }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { _ = close(descriptor) }
    var first: UInt8 = 0
    guard unsafe read(descriptor, &first, 1) == 1, first != UInt8(ascii: "{"), first != UInt8(ascii: "[")
    else {
      return
    }
    throw ApusError(
      .invalidArgument, "--trace would replace '\(path)', which is no trace: choose another place")
  }

  /// Begins to record.
  package static func start() throws(ApusError) {
    guard Trace.start() else {
      throw ApusError(.resourceLimit, "the system refuses the memory for a trace")
    }
  }

  /// Writes what was recorded, and says what is missing.
  package static func finish(_ path: String) throws(ApusError) {
    let recording = Trace.recording
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw unwritable(path) }
    let outcome = Result { () throws(ApusError) in
      try recording.writeChromeFile { bytes throws(ApusError) in
        guard writeAll(bytes, to: file) else { throw unwritable(path) }
      }
    }
    guard close(file) == 0 else { throw unwritable(path) }
    try outcome.get()
    if recording.lostCount > 0 {
      Output.writeError(
        "warning: the trace lacks its \(recording.lostCount) oldest events: a thread keeps \(Trace.mostEvents); "
          + "fewer runs or pictures make a whole trace")
    }
  }

  /// Writes a file for which the user has given a name.
  package static func write(_ bytes: [UInt8], to path: String) throws(ApusError) {
    do { try Data(bytes).write(to: URL(filePath: path)) } catch {
      throw unwritable(path)
    }
  }

  private static func unwritable(_ path: String) -> ApusError {
    ApusError(ApusError.Code(rawValue: "unwritableFile"), "cannot write '\(path)'")
  }
}

/// A command whose work can be traced.
package protocol TracedCommand: ParsableCommand {
  /// Where the trace goes.
  var traceOptions: TraceOptions { get }
}
