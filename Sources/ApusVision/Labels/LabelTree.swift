// SPDX-License-Identifier: Apache-2.0

import Apus

/// A value in a JSON or YAML file of labels, with the line where it begins.
struct LabelTree {
  /// The kind and content of a value.
  indirect enum Kind {
    /// A text or number; `isQuoted` says that it can be nothing but a text.
    case scalar(String, isQuoted: Bool)
    case list([LabelTree])
    case map([(key: LabelTree, value: LabelTree)])
  }

  let line: Int
  let kind: Kind

  /// The keys under which files have their labels, the surest first.
  static let keys = [
    "class_id_to_name", "names", "labels", "classes", "class_names", "classnames", "label_names",
    "categories", "id2label",
    "idx_to_class", "index_to_class", "index_to_name", "label2id", "class_to_idx", "class_indices",
    "label_map",
    "labelmap",
  ]
  /// The keys whose maps are by index.
  private static let keysByIndex: Set = [
    "class_id_to_name", "names", "id2label", "idx_to_class", "index_to_class", "index_to_name",
  ]
  /// The key under which RF-DETR's file beside a model has all others.
  private static let wrapper = "metadata"
  private static let indexKeys = ["index", "id", "class_id", "label_id", "category_id", "idx", "value"]
  private static let nameKeys = [
    "display_name", "displayname", "name", "class_name", "label", "title", "class",
  ]

  /// Reads JSON, or a literal of Python.
  init(json lines: [LabelParser.Line]) throws(ApusError) {
    var parser = LabelFlowParser(lines, at: 0, allowsPlainText: false)
    self = try parser.document()
  }

  /// Reads the part of a YAML file that has the labels, or all of it.
  init(yaml lines: [LabelParser.Line]) throws(ApusError) {
    self = try LabelYAML(lines).labels()
  }

  init(line: Int, _ kind: Kind) {
    (self.line, self.kind) = (line, kind)
  }

  /// Whether the text begins as a JSON list or object does, with a value: a name may be `[unknown]`.
  static func looksLikeJSON(_ lines: [LabelParser.Line]) -> Bool {
    let content = lines.lazy.filter { !$0.isEmpty }
    let start = Array(content.flatMap(\.text).filter { $0 != 0x20 && $0 != 0x09 }.prefix(5))
    guard start.first == UInt8(ascii: "{") || start.first == UInt8(ascii: "["), start.count > 1 else {
      return false
    }
    // Of "[0]" and "[1]", each is a name.
    if (0x30...0x39).contains(start[1]) {
      return content.prefix(2).filter { $0.text.first == start[0] }.count == 1
    }
    return "\"'{[}]".utf8.contains(start[1]) || start.dropFirst().elementsEqual("null".utf8)
  }

  /// Whether the text is a YAML file with one of the keys, or a list.
  static func looksLikeYAML(_ lines: [LabelParser.Line]) -> Bool {
    let content = lines.filter { !$0.isEmpty && !$0.isComment }
    if content.first?.text.elementsEqual("---".utf8) == true { return true }
    if content.count > 1, content.allSatisfy({ $0.text.starts(with: "- ".utf8) }) { return true }
    return content.contains { line in
      guard line.indent == 0, let colon = line.text.firstIndex(of: UInt8(ascii: ":")) else { return false }
      let key = String(decoding: line.text[..<colon], as: UTF8.self).lowercased()
      let rest = LabelParser.trimmed(line.text[(colon + 1)...])
      return keys.contains(key) && (rest.isEmpty || "[{#".utf8.contains(rest.first ?? 0))
    }
  }

  // MARK: Rows

  /// The names by row.
  ///
  /// - Throws: `malformedLabels` with the line that is neither a name nor an index.
  func rows() throws(ApusError) -> LabelRows {
    let rows: LabelRows
    switch kind {
    case .scalar: throw refusal("a list of names, or an object by index or by name, was expected")
    case .list(let values): rows = try Self.rows(of: values)
    case .map(let entries): rows = try Self.rows(of: entries, under: nil, depth: 0)
    }
    guard rows.count > 0 else { throw refusal("there are no labels") }
    return rows
  }

  private static func rows(of values: [LabelTree]) throws(ApusError) -> LabelRows {
    let indexKey = try indexKey(of: values)
    var rows = LabelRows(statesRows: indexKey != nil)
    for (position, value) in values.enumerated() {
      var row: Int? = position
      if let indexKey { row = value[indexKey]?.integer }
      try rows.add(value.name(), at: row, line: value.line)
    }
    return rows
  }

  /// The key under which all entries have their row; nil if none of them has one.
  ///
  /// - Throws: `malformedLabels` if some entries have one, and others do not: their order says nothing.
  private static func indexKey(of values: [LabelTree]) throws(ApusError) -> String? {
    if let key = indexKeys.first(where: { key in values.allSatisfy { $0[key]?.integer != nil } }) {
      return key
    }
    // A "value" may be anything, such as a color.
    for key in indexKeys where key != "value" {
      guard let known = values.first(where: { $0[key]?.isWhole == true }),
        let other = values.first(where: { $0[key]?.integer == nil })
      else { continue }
      if other[key]?.isWhole == true { throw other.refusal("its index under '\(key)' is negative") }
      throw other.refusal("it has no index of a class under '\(key)', unlike what line \(known.line) has")
    }
    return nil
  }

  private static func rows(
    of entries: [(key: LabelTree, value: LabelTree)], under outer: String?, depth: Int
  ) throws(ApusError) -> LabelRows {
    let longest = keys.reduce(0) { max($0, $1.utf8.count) }
    var known: [String: LabelTree] = [:]
    for (key, value) in entries {
      guard let text = key.text, text.utf8.count <= longest else { continue }
      let word = text.lowercased()
      if known[word] == nil { known[word] = value }
    }
    for key in keys {
      guard let value = known[key] else { continue }
      switch value.kind {
      case .list(let values): return try rows(of: values)
      case .map(let inner):
        guard depth < 4 else { throw value.refusal("labels are nested too deeply") }
        return try rows(of: inner, under: key, depth: depth + 1)
      // A class may be called "names".
      case .scalar: continue
      }
    }
    if let inner = known[wrapper], case .map(let entries) = inner.kind, depth < 4 {
      return try self.rows(of: entries, under: nil, depth: depth + 1)
    }
    var rows = LabelRows(statesRows: true)
    // {"cat": 0}, also where names are digits: {"7": 0}. Keys without quotes are numbers: {0: 7}.
    let keysAreIndices = entries.allSatisfy { $0.key.integer != nil }
    let valuesAreTexts = entries.allSatisfy { $0.value.isQuoted || !$0.key.isQuoted }
    let isByName =
      entries.allSatisfy { $0.value.integer != nil }
      && !(keysAreIndices && (valuesAreTexts || outer.map(keysByIndex.contains) == true))
    for (key, value) in entries {
      if isByName {
        try rows.add(key.text, at: value.integer, line: key.line)
      } else {
        guard let row = key.integer else {
          throw key.refusal(
            "'\(key.text?.prefix(64) ?? "")' is neither the index of a class, nor a name with one, nor one of "
              + Self.keys.prefix(4).joined(separator: ", "))
        }
        try rows.add(value.name(), at: row, line: key.line)
      }
    }
    return rows
  }

  /// Whether a map is one by index, or one by name whose numbers are 0, 1, 2, … or 1, 2, 3, … in any order.
  static func areRows(_ entries: [(key: LabelTree, value: LabelTree)]) -> Bool {
    if entries.allSatisfy({ $0.key.integer != nil }) { return true }
    let numbers = Set(entries.compactMap(\.value.integer))
    guard numbers.count == entries.count, numbers.count > 1, let first = numbers.min(),
      let last = numbers.max()
    else {
      return false
    }
    // No overflow: neither is negative.
    return first <= 1 && last - first == numbers.count - 1
  }

  /// The name that a value says: itself, the last text of a list such as `["n01440764", "tench"]`, or what an object has
  /// under `name`; nil for null.
  private func name() throws(ApusError) -> String? {
    switch kind {
    case .scalar(let text, let isQuoted):
      return !isQuoted && ["null", "None", "~", ""].contains(text) ? nil : text
    case .list(let values):
      guard let last = values.last?.text else { throw refusal("a name was expected, not a list") }
      return last
    case .map:
      guard let name = Self.nameKeys.lazy.compactMap({ self[$0]?.text }).first else {
        throw refusal("an object has no name")
      }
      return name
    }
  }

  private subscript(key: String) -> LabelTree? {
    guard case .map(let entries) = kind else { return nil }
    return entries.first { $0.key.text?.lowercased() == key }?.value
  }

  private var text: String? {
    if case .scalar(let text, _) = kind { text } else { nil }
  }

  private var isQuoted: Bool {
    if case .scalar(_, let isQuoted) = kind { isQuoted } else { false }
  }

  private var integer: Int? {
    guard let whole, whole >= 0 else { return nil }
    return whole
  }

  private var isWhole: Bool { whole != nil }

  /// A whole number, also as `1.0`, which tools write that keep all numbers as floats; nil for other values.
  private var whole: Int? {
    guard case .scalar(let text, let isQuoted) = kind else { return nil }
    return Int(!isQuoted && text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }

  private func refusal(_ message: String) -> ApusError {
    ApusError(.malformedLabels, "line \(line): \(message)")
  }
}
