// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import Foundation
import TestSupport
import Testing

/// Small broken models, one for each rule of the format and each class of known vulnerabilities × operator.
///
/// `Tools/fuzzing/corpus.py` makes them and says which kind of error each must give. The texts are in `errors.tsv`; a change
/// of them shows there. To write it anew, set `APUS_RECORD_CORPUS` to its path.
@Suite struct CorpusTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Corpus")

  private static func table(_ name: String) throws -> [String: [String]] {
    let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    var rows: [String: [String]] = [:]
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      rows[fields[0]] = Array(fields.dropFirst())
    }
    return rows
  }

  /// The outcome of a model: the error's code and text, or that it runs.
  private static func outcome(of bytes: [UInt8]) -> (code: String, text: String) {
    var options = Interpreter.Options()
    options.memoryLimit = 256 << 20
    options.loopLimit = 1 << 12
    do throws(ApusError) {
      let interpreter = try Interpreter(model: Model(bytes: bytes), options: options)
      // Conditions are true for ever.
      for position in interpreter.inputs.indices where interpreter.inputs[position].type == .bool {
        try interpreter.withInputBytes(at: position) { span in
          for offset in 0..<span.byteCount { span.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self) }
        }
      }
      try interpreter.invoke()
      return ("runs", "")
    } catch {
      return (error.code.rawValue, error.message)
    }
  }

  @Test("every file gives its error, or runs where it may")
  func errors() throws {
    let archive = try ZipArchive(Array(Data(contentsOf: Self.folder.appending(path: "corpus.zip"))))
    let kinds = try Self.table("kinds.tsv")
    let record = ProcessInfo.processInfo.environment["APUS_RECORD_CORPUS"]
    let known = record == nil ? try Self.table("errors.tsv") : [:]
    var found: [String] = []
    var errors = 0
    for entry in archive.entries {
      let name = String(entry.name.dropLast(".tflite".count))
      let outcome = Self.outcome(of: try archive.contents(of: entry, maximumSize: 1 << 20))
      let kind = try #require(kinds[name]?.first)
      if kind != "?" { #expect(outcome.code == kind, "\(name): \(outcome.text)") }
      if outcome.code != "runs" { errors += 1 }
      found.append("\(name)\t\(outcome.code)\t\(outcome.text)")
      if record == nil { #expect(known[name] == [outcome.code, outcome.text], "\(name)") }
    }
    #expect(archive.entries.count == kinds.count && errors >= 200)
    if let record {
      try (found.joined(separator: "\n") + "\n").write(toFile: record, atomically: true, encoding: .utf8)
    }
  }
}
