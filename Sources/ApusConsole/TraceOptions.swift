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
    let file = try Self.empty(path, of: "--trace")
    try Self.start()
    let outcome = Result { try body() }
    Trace.stop()
    try Self.finish(file)
    try outcome.get()
  }

  /// A file that is empty until the work is done.
  package struct EmptyFile {
    let path: String
    /// The standard stream that leads to the same file, which is written to behind what is there.
    let stream: Int32?
    /// The mark that tells the file from another one of that name; nil for a stream, a pipe and a device.
    let identity: Identity?

    struct Identity: Equatable {
      let device: dev_t
      let number: ino_t
    }
  }

  /// Empties a file for what is written after the work, so that a place that cannot be written to is known before it.
  ///
  /// - Parameter option: What names the file on the command line.
  /// - Parameter mark: A text near the beginning of every such file.
  /// - Throws: `invalidArgument` for a file that is another one, such as a picture, a model or a list of labels.
  @discardableResult
  package static func empty(_ path: String, of option: String, mark: String = "\"traceEvents\"")
    throws(ApusError) -> EmptyFile
  {
    let stream = [Int32(1), 2].first { stream in
      guard let identity = identity(of: path) else { return false }
      var status = stat()
      return unsafe fstat(stream, &status) == 0
        && identity == EmptyFile.Identity(device: status.st_dev, number: status.st_ino)
    }
    if stream != nil { return EmptyFile(path: path, stream: stream, identity: nil) }
    try checkReplaced(path, option, mark)
    try write([], to: path)
    return EmptyFile(path: path, stream: nil, identity: identity(of: path, isEmpty: true))
  }

  /// The mark that tells a file from others; nil if there is none, or if it must be an empty regular file and is none.
  private static func identity(of path: String, isEmpty: Bool = false) -> EmptyFile.Identity? {
    var status = stat()
    guard unsafe stat(path, &status) == 0,
      !isEmpty || status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
    else { return nil }
    return EmptyFile.Identity(device: status.st_dev, number: status.st_ino)
  }

  /// How many bytes of a file are searched for its mark.
  private static let searchedByteCount = 1024

  /// Refuses to replace a file that is not of the kind that is written.
  private static func checkReplaced(_ path: String, _ option: String, _ mark: String) throws(ApusError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
      return
    }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { _ = close(descriptor) }
    var beginning = [UInt8](repeating: 0, count: searchedByteCount)
    let count = unsafe beginning.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0, !String(decoding: beginning.prefix(count), as: UTF8.self).contains(mark) else { return }
    throw ApusError(
      .invalidArgument,
      "\(option) would replace '\(path)', which is no file of that kind: choose another place")
  }

  /// Begins to record.
  package static func start() throws(ApusError) {
    guard Trace.start() else {
      throw ApusError(.resourceLimit, "the system refuses the memory for a trace")
    }
  }

  /// Writes what was recorded, and says what is missing.
  ///
  /// - Throws: `invalidArgument` if the work has written another result there.
  package static func finish(_ emptied: EmptyFile) throws(ApusError) {
    let recording = Trace.recording
    let path = emptied.path
    if let identity = emptied.identity, unsafe access(path, F_OK) == 0,
      identity != self.identity(of: path, isEmpty: true)
    {
      throw ApusError(
        .invalidArgument,
        "the trace would replace '\(path)', which has another result by now: choose another place")
    }
    let file =
      if let stream = emptied.stream { dup(stream) } else {
        unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
      }
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
        "warning: the trace lacks its \(recording.lostCount) oldest events: a thread keeps \(Trace.maximumEvents); "
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
