// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision

/// The lines of a list: a file, and what the truth says of it.
struct EvaluationList {
  /// A line.
  struct Entry {
    let line: Int
    let name: String
    /// Nil if the line has only a name.
    let truth: String?
  }

  /// The list's path.
  let path: String
  private(set) var entries: [Entry] = []

  /// The maximum size of a list, in bytes, and of entries.
  private static let maximumFileSize = 1 << 28
  private static let maximumCount = 1 << 22
  /// The names of first columns that mark a first line as a heading.
  private static let headings: Set = [
    "name", "file", "filename", "file_name", "image", "picture", "path", "filepath", "image_id", "id",
  ]

  /// Reads a list: `name,class` lines, or with a tab or, before a number, a space instead of the comma; names may be in quotes. Lists for
  /// EEMBC's runner have `name,count,class`.
  ///
  /// - Throws: `unreadableFile`, `resourceLimit`, or `invalidArgument` for a list of nothing or a name that is there twice.
  init(_ path: String) throws(ApusError) {
    self.path = path
    func check(_ bytes: [UInt8]) throws(ApusError) {
      guard bytes.contains(0) else { return }
      throw ApusError(
        .invalidArgument,
        "'\(path)' is no list: it has bytes that no text has; a list has lines of a name and a class")
    }
    // A file of another kind may have no end.
    let bytes = try readWholeFile(
      at: path == "-" ? "/dev/stdin" : path, limit: Self.maximumFileSize, check: check)
    try check(bytes)
    // By bytes: names may differ in Unicode's form alone.
    var lines: [[UInt8]: Int] = [:]
    // Line by line: an array of them would take many times the memory of a file of line feeds.
    var rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
    var place = -1
    while !rest.isEmpty {
      place += 1
      let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
      let line = Self.trimmed(Substring(String(decoding: rest[..<end], as: UTF8.self)))
      rest = rest[min(end + 1, rest.endIndex)...]
      guard !line.isEmpty else { continue }
      let (name, truth) = Self.split(line)
      if entries.isEmpty, lines.isEmpty, Self.headings.contains(name.lowercased()) { continue }
      guard entries.count < Self.maximumCount else {
        throw ApusError(.resourceLimit, "the list '\(path)' has more than \(Self.maximumCount) lines")
      }
      if let other = lines.updateValue(place + 1, forKey: Array(name.plainPath.utf8)) {
        throw ApusError(
          .invalidArgument, "line \(place + 1) of '\(path)' has '\(name)', which line \(other) has already")
      }
      entries.append(Entry(line: place + 1, name: name, truth: truth))
    }
    guard !entries.isEmpty else { throw ApusError(.invalidArgument, "the list '\(path)' has no lines") }
    takeClassesOfEEMBC()
  }

  /// Takes the class out of lists for EEMBC's runner, whose every line has the number of classes before it, and perhaps a window's width and step
  /// behind it.
  private mutating func takeClassesOfEEMBC() {
    var (classes, counts): ([String], Set<Int>) = ([], [])
    for entry in entries {
      let numbers = (entry.truth ?? "").split(separator: ",", omittingEmptySubsequences: false).map {
        Int($0)
      }
      guard [2, 4].contains(numbers.count), let count = numbers[0], let index = numbers[1],
        numbers.allSatisfy({ $0 != nil }), (0..<count).contains(index)
      else { return }
      classes.append("\(index)")
      counts.insert(count)
    }
    guard counts.count == 1 else { return }
    entries = zip(entries, classes).map { Entry(line: $0.line, name: $0.name, truth: $1) }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { " \t\r".contains($0) }
    while let last = text.last, " \t\r\r\n".contains(last) { text.removeLast() }
    return text
  }

  /// The name and the rest of a line; commas in quotes separate nothing.
  private static func split(_ line: Substring) -> (name: String, truth: String?) {
    if line.first == "\"" {
      let (name, rest) = quoted(line)
      let truth = trimmed(trimmed(rest).drop { ",\t;".contains($0) })
      return (name, truth.isEmpty ? nil : unquoted(truth))
    }
    var end = line.firstIndex(of: "\t") ?? line.firstIndex(of: ",")
    if end == nil, let space = line.lastIndex(of: " "), Int(line[line.index(after: space)...]) != nil {
      end = space
    }
    guard let end else { return (String(line), nil) }
    let truth = trimmed(line[line.index(after: end)...])
    return (String(trimmed(line[..<end])), truth.isEmpty ? nil : unquoted(truth))
  }

  private static func unquoted(_ text: Substring) -> String {
    guard text.first == "\"" else { return String(text) }
    let (inside, rest) = quoted(text)
    return rest.isEmpty ? inside : String(text)
  }

  /// The text between quotes, where two quotes stand for one, and the text after them.
  private static func quoted(_ text: Substring) -> (String, Substring) {
    var (inside, rest) = ("", text.dropFirst())
    while let next = rest.popFirst() {
      if next == "\"" {
        guard rest.first == "\"" else { return (inside, rest) }
        rest.removeFirst()
      }
      inside.append(next)
    }
    return (inside, rest)
  }
}
