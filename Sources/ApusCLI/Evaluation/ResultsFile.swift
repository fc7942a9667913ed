// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusSystem
import ApusVision
import FoundationEssentials
import Synchronization

/// The answers that an evaluation has so far, in a file: one that was ended goes on where it was.
///
/// The first line says which model and which options they are of, each further line is an answer. A line that was not written to its end is
/// dropped.
final class ResultsFile<Answer: Codable & Sendable>: Sendable {
  /// The facts that decide the answers.
  struct Header: Codable, Equatable {
    /// The version of the format.
    var version = 1
    /// The task.
    let task: String
    /// The SHA-256 of the model.
    let model: String
    /// The options that decide answers, as given.
    let settings: [String: String]

    private enum CodingKeys: String, CodingKey {
      case version = "apus_evaluation"
      case task, model, settings
    }
  }

  private struct Line: Codable {
    let file: String
    /// The size of the file and of its mask.
    let bytes: Int
    /// Where they are and when they were changed last; nil in the results of earlier versions.
    let modified: Int?
    let answer: Answer
  }

  private let path: String
  private let descriptor: Int32
  /// The answers by the bytes of their files' names: Swift's texts are equal for two names that differ in Unicode's form alone.
  private let known: [[UInt8]: Line]
  private let turn = Mutex(())

  /// The maximum size of such a file, in bytes.
  private static var maximumFileSize: Int { 1 << 30 }
  private static var beginning: String { #"{"apus_evaluation":"# }

  /// Opens a file, or makes it.
  ///
  /// - Throws: `invalidArgument` for a file that is of another model or other options, in use, or of another kind; `unwritableFile`.
  init(_ path: String, header: Header) throws(ApusError) {
    self.path = path
    descriptor = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Self.unwritable(path) }
    do throws(ApusError) {
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        throw ApusError(.invalidArgument, "the results '\(path)' are in use by another evaluation")
      }
      guard try regularFileSize(at: path) != nil else {
        throw ApusError(.invalidArgument, "the results '\(path)' are no regular file")
      }
      let bytes = try readWholeFile(at: path, limit: Self.maximumFileSize)
      known = try Self.lines(of: bytes, header, path)
      let whole = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
      guard whole == bytes.count || ftruncate(descriptor, off_t(whole)) == 0 else {
        throw Self.unwritable(path)
      }
      if whole == 0 { try append(header) }
    } catch {
      _ = close(descriptor)
      throw error
    }
  }

  deinit { _ = close(descriptor) }

  /// How many answers the file has.
  var count: Int { known.count }

  /// The answer about a file; nil if there is none, or the file has changed since.
  func answer(of item: EvaluationItem) -> Answer? {
    guard let line = known[Array(item.name.utf8)], let modified = line.modified,
      EvaluationFileState(bytes: line.bytes, modified: modified) == item.state
    else { return nil }
    return line.answer
  }

  /// Adds an answer.
  ///
  /// - Parameter state: The file as it was before it was read.
  /// - Throws: `unwritableFile`.
  func add(_ answer: Answer, of item: EvaluationItem, _ state: EvaluationFileState) throws(ApusError) {
    try append(Line(file: item.name, bytes: state.bytes, modified: state.modified, answer: answer))
  }

  private func append(_ value: some Encodable) throws(ApusError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else {
      throw ApusError(.internalError, "an answer cannot be written as JSON")
    }
    try write(Array(data) + [0x0A])
  }

  /// Writes a line; one thread at a time.
  private func write(_ bytes: [UInt8]) throws(ApusError) {
    let isWritten = turn.withLock { _ in writeAll(bytes, to: descriptor) }
    guard isWritten else { throw Self.unwritable(path) }
  }

  private static func lines(
    of bytes: [UInt8], _ header: Header, _ path: String
  ) throws(ApusError) -> [[UInt8]: Line] {
    guard !bytes.isEmpty else { return [:] }
    let refusal = ApusError(
      .invalidArgument,
      "'\(path)' is no file of results of apus evaluate; name a new file, or one that --resume made before")
    let marks = Array(beginning.utf8)
    guard bytes.starts(with: marks) || marks.starts(with: bytes) else { throw refusal }
    var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    // After the last line feed, there is nothing or the beginning of a line.
    lines.removeLast()
    guard let first = lines.first else { return [:] }
    let decoder = JSONDecoder()
    guard let found = try? decoder.decode(Header.self, from: Data(first)) else { throw refusal }
    try check(found, header, path)
    var known: [[UInt8]: Line] = [:]
    for (number, line) in lines.enumerated().dropFirst() {
      guard let line = try? decoder.decode(Line.self, from: Data(line)) else {
        throw ApusError(
          .invalidData, "line \(number + 1) of the results '\(path)' is damaged; remove the line or the file")
      }
      known[Array(line.file.utf8)] = line
    }
    return known
  }

  /// Refuses results that this evaluation would not have.
  private static func check(_ found: Header, _ header: Header, _ path: String) throws(ApusError) {
    func refusal(_ what: String) -> ApusError {
      ApusError(
        .invalidArgument, "the results '\(path)' are \(what); name another file, or evaluate as before")
    }
    guard found.version == header.version else { throw refusal("of another version of apus") }
    guard found.task == header.task else {
      throw refusal("those of --task \(found.task), not \(header.task)")
    }
    guard found.model == header.model else { throw refusal("those of another model") }
    for name in Set(found.settings.keys).union(header.settings.keys).sorted() {
      let (before, now) = (found.settings[name], header.settings[name])
      guard before == now else {
        throw refusal("those with \(name) \(before ?? "as by default"), not \(now ?? "as by default")")
      }
    }
  }

  private static func unwritable(_ path: String) -> ApusError {
    ApusError(.unwritableFile, "cannot write the file '\(path)': \(systemReason(errno))")
  }
}
