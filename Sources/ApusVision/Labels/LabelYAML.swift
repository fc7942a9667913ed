// SPDX-License-Identifier: Apache-2.0

import Apus

/// Reads the labels of a YAML file: lists and maps of names in both styles. Everything else in the file is skipped.
struct LabelYAML {
  /// The lines that are neither blank nor comments nor marks of documents.
  private let lines: [LabelParser.Line]

  init(_ lines: [LabelParser.Line]) {
    self.lines = lines.filter { line in
      !line.isEmpty && !line.isComment && !line.text.starts(with: "%".utf8)
        && !["---", "..."].contains { line.text.elementsEqual($0.utf8) }
    }
  }

  /// The value under one of the keys that labels have, or else the whole text.
  func labels() throws(ApusError) -> LabelTree {
    guard let first = lines.first else { throw ApusError(.malformedLabels, "line 1: there are no labels") }
    if "[{".utf8.contains(first.text.first ?? 0) {
      var parser = LabelFlowParser(lines, at: 0, allowsPlainText: true)
      return try parser.document()
    }
    var found: [String: (index: Int, value: Int)] = [:]
    for (index, line) in lines.enumerated() where line.indent == first.indent {
      guard let (key, value) = try? entry(index), let name = key else { continue }
      if LabelTree.keys.contains(name.lowercased()) { found[name.lowercased()] = (index, value) }
    }
    for key in LabelTree.keys {
      guard let (index, value) = found[key] else { continue }
      if let tree = try labels(behind: value, in: index) { return tree }
    }
    // Settings are not names: the numbers of a whole file are all rows.
    let tree = try block(at: 0, inside: -1)
    if case .map(let entries) = tree.kind, !LabelTree.areRows(entries) {
      throw refusal(
        first, "there is no list or map called " + LabelTree.keys.prefix(4).joined(separator: ", "))
    }
    return tree
  }

  /// The list or map of a key: behind its colon, or in the lines below it. Nil for a single value.
  private func labels(behind position: Int, in index: Int) throws(ApusError) -> LabelTree? {
    let line = lines[index]
    let rest = Self.withoutComment(line.text[position...])
    let next = lines.indices.contains(index + 1) ? lines[index + 1] : nil
    for (index, text) in [(index, rest), (index + 1, rest.isEmpty ? next?.text ?? [] : [])]
    where "[{".utf8.contains(text.first ?? 0) {
      var parser = LabelFlowParser(lines, at: index, position: text.startIndex, allowsPlainText: true)
      return try parser.value(depth: 0)
    }
    guard rest.isEmpty, let next, next.indent > line.indent || next.indent == line.indent && Self.isItem(next)
    else {
      // A map by name may have a class with that name.
      if Int(String(decoding: rest, as: UTF8.self)) != nil { return nil }
      throw refusal(line, "a list or a map of names was expected")
    }
    return try block(at: index + 1, inside: line.indent)
  }

  /// The lines from one on that belong together: items of a list, or entries of a map.
  ///
  /// - Parameter outer: How far what contains them is indented.
  private func block(at start: Int, inside outer: Int) throws(ApusError) -> LabelTree {
    let isList = Self.isItem(lines[start])
    let indent = lines[start].indent
    var items: [LabelTree] = []
    var entries: [(key: LabelTree, value: LabelTree)] = []
    var index = start
    while index < lines.count, lines[index].indent == indent, Self.isItem(lines[index]) == isList {
      let line = lines[index]
      if isList {
        items.append(try item(&index))
      } else {
        guard let (key, value) = try entry(index), let key else {
          throw refusal(line, "'key: value' was expected")
        }
        entries.append(
          (LabelTree(line: line.number, .scalar(key, isQuoted: false)), try scalar(value, in: index)))
        index += 1
      }
    }
    if index < lines.count, lines[index].indent > outer {
      throw refusal(lines[index], "it belongs to no list or map of names")
    }
    return LabelTree(line: lines[start].number, isList ? .list(items) : .map(entries))
  }

  /// `- name`, or `- id: 0` with further lines that are entries of the same map.
  private func item(_ index: inout Int) throws(ApusError) -> LabelTree {
    let line = lines[index]
    let content = LabelParser.trimmed(line.text.dropFirst())
    guard let (key, _) = try entry(index, from: content.startIndex), key != nil else {
      defer { index += 1 }
      return try scalar(content.startIndex, in: index)
    }
    var entries: [(key: LabelTree, value: LabelTree)] = []
    var position = content.startIndex
    let indent = line.indent + position - line.text.startIndex
    repeat {
      guard let (key, value) = try entry(index, from: position), let key else {
        throw refusal(lines[index], "'key: value' was expected")
      }
      entries.append(
        (
          LabelTree(line: lines[index].number, .scalar(key, isQuoted: false)),
          try scalar(value, in: index)
        ))
      index += 1
      if index < lines.count { position = lines[index].text.startIndex }
    } while index < lines.count && lines[index].indent == indent && !Self.isItem(lines[index])
    return LabelTree(line: line.number, .map(entries))
  }

  private static func isItem(_ line: LabelParser.Line) -> Bool {
    line.text.first == UInt8(ascii: "-")
      && (line.text.count == 1 || line.text.dropFirst().first == 0x20)
  }

  /// The key of a line and where its value begins; a nil key if there is no colon that ends one.
  private func entry(_ index: Int, from start: Int? = nil) throws(ApusError) -> (key: String?, value: Int)? {
    let text = lines[index].text
    let start = start ?? text.startIndex
    guard start < text.endIndex else { return nil }
    if text[start] == UInt8(ascii: "\"") || text[start] == UInt8(ascii: "'") {
      var parser = LabelFlowParser(lines, at: index, position: start, allowsPlainText: true)
      let key = try parser.quoted(by: text[start])
      let rest = LabelParser.trimmed(text[parser.position...])
      guard rest.first == UInt8(ascii: ":") else { return nil }
      return (key, rest.startIndex + 1)
    }
    var position = start
    while position < text.endIndex {
      let next = position + 1 < text.endIndex ? text[position + 1] : 0x20
      if text[position] == UInt8(ascii: ":"), next == 0x20 || next == 0x09 {
        return (String(decoding: LabelParser.trimmed(text[start..<position]), as: UTF8.self), position + 1)
      }
      position += 1
    }
    return nil
  }

  /// A single value that ends with its line, or a list or map in brackets.
  private func scalar(_ position: Int, in index: Int) throws(ApusError) -> LabelTree {
    let line = lines[index]
    let rest = Self.withoutComment(line.text[min(position, line.text.endIndex)...])
    guard let first = rest.first else { return LabelTree(line: line.number, .scalar("", isQuoted: false)) }
    if "\"'[{".utf8.contains(first) {
      var parser = LabelFlowParser(
        Array(lines[index...index]), at: 0, position: rest.startIndex, allowsPlainText: true)
      return try parser.document()
    }
    guard !"&*|>!%@`".utf8.contains(first) else {
      throw refusal(line, "'\(Unicode.Scalar(first))' is a part of YAML that is not read here")
    }
    return LabelTree(line: line.number, .scalar(String(decoding: rest, as: UTF8.self), isQuoted: false))
  }

  /// Without spaces around it, and without what follows ` #` outside quotes.
  private static func withoutComment(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let text = LabelParser.trimmed(text)
    if let first = text.first, "\"'[{".utf8.contains(first) { return text }
    var position = text.startIndex
    while position < text.endIndex {
      if text[position] == UInt8(ascii: "#"), position == text.startIndex || text[position - 1] == 0x20 {
        return LabelParser.trimmed(text[..<position])
      }
      position += 1
    }
    return text
  }

  private func refusal(_ line: LabelParser.Line, _ message: String) -> ApusError {
    ApusError(.malformedLabels, "line \(line.number): \(message)")
  }
}
