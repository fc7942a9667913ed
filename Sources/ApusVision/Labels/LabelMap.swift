// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat

/// The names of a model's classes.
///
/// These forms are read, with or without a byte order mark, with LF, CRLF or CR line ends:
///
/// - **One name a line**, as in COCO's `labelmap.txt` and AutoML's `dict.txt`. The row is the line's position.
///   Blank lines at the end are dropped; elsewhere they are rows without a name, so that later rows keep theirs.
///   Every line is a name, also one that begins with `#`.
/// - **Numbered lines**: `0: person`, `0  person`, `0<tab>person`, `0,person`, `0=person`, `0|person`, `0 - person`, `0 -> person`,
///   `0. person`, `0) person` or `0 person`. A number followed by a colon or another of these marks, a tab or two spaces in the first line
///   makes the file numbered, and then every line must be. A dot, a parenthesis or one space does so only if the numbers can be rows of
///   the model and the names behind them differ: `20 DH`, `50 DH` and `7 eleven` stay names. Numbers may also follow the names, as in
///   `person,0`. Blank lines and lines that begin with `#` are skipped.
/// - **Protocol buffer text**: `item { id: 1 name: 'n01' display_name: "Person" }`, where the display name wins.
/// - **JSON**: a list of names, an object by index or by name, or one that has those under `names`, `labels`, `classes`,
///   `categories`, `id2label` and the like.
/// - **YAML**: the same under `names` and the like, as lists and maps in both styles.
/// - **Names in quotes**: `"person",` on each line or one behind the other, as a program's list has them, with or without its
///   brackets and `labels =`. A comma or semicolon at the end of every line is no part of the names.
/// - **CSV** with a header that names its columns, or with an index and a name in each row.
///
/// UTF-8 and UTF-16 are read. What looks like one of these forms and is damaged is refused, never read as names.
///
/// A row called `???` has no name. A model that does not output the background counts its classes from the
/// first real row, so a class is looked up ``offset`` rows further down: 1 if row 0 is `???`, `background`,
/// `__background__`, `_background_` or `unlabeled`, or where numbering starts at 1; otherwise 0. Classifiers that
/// do output the background need 0: see ``aligned(toClassCount:)``.
///
/// ```swift
/// let labels = try LabelMap(contentsOfFile: "labelmap.txt")
/// labels[0]       // "person", where the first line is "???"
/// labels[9_999]   // nil
/// ```
public struct LabelMap: Hashable, Sendable {
  /// How a label file is written.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Format: String, CaseIterable, Hashable, Sendable {
    /// Decided by the extension of a file, where it is `json`, `yaml`, `yml`, `csv`, `tsv`, `pbtxt` or `names`, and by
    /// what the text looks like.
    case automatic
    /// One name a line, whatever the lines look like.
    case lines
    /// A number and a name on every line.
    case numberedLines
    /// `item { … }` with `id`, `name` and `display_name`.
    case protobufText
    /// A JSON list or object.
    case json
    /// YAML with `names` or the like.
    case yaml
    /// Values separated by commas, semicolons or tabs.
    case csv
  }

  /// The maximum size of a label file, in bytes.
  public static let maximumFileSize = 16 << 20
  /// The maximum number of rows.
  public static let maximumRowCount = 1 << 20
  /// The maximum length of a name, in bytes of UTF-8.
  public static let maximumNameLength = 4_096

  /// The names by row, as they are looked up.
  private let rows: LabelRows
  /// The readings of numbers at the beginnings of lines; nil if they do not depend on the model.
  private var numbering: LabelNumbering?
  /// Whether numbers at the beginnings of lines are taken for rows.
  private var areNumbered: Bool

  /// One more than the last row: how many classes the file counts, those without a name included.
  public var rowCount: Int { rows.count }

  /// How many rows have a name.
  var nameCount: Int { rows.names.count }

  /// Whether the file says which row each name has, rather than listing names in order.
  var statesRows: Bool { rows.statesRows }

  /// How many label rows precede class 0.
  public var offset: Int

  /// The offset that the rows themselves suggest, 0 or 1.
  public let detectedOffset: Int

  /// Makes a map from names in order; nil and `???` are rows without a name.
  ///
  /// - Parameters:
  ///   - rows: The names.
  ///   - offset: How many label rows precede class 0; nil to detect it.
  public init(_ rows: [String?], offset: Int? = nil) {
    var names: [Int: String] = [:]
    for (row, name) in rows.enumerated() {
      if let name { names[row] = name }
    }
    self.init(LabelRows(names: names, count: rows.count), offset: offset)
  }

  /// Makes a map from names whose numbers are those of the classes.
  init(numbered names: [Int: String], rowCount: Int) {
    self.init(LabelRows(names: names, count: rowCount, statesRows: true), offset: 0)
  }

  /// Reads a label file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - format: How the file is written.
  ///   - offset: How many label rows precede class 0; nil to detect it.
  /// - Throws: `unreadableFile`, `resourceLimit` for a file that is too long, or `malformedLabels` with the line.
  public init(contentsOfFile path: String, format: Format = .automatic, offset: Int? = nil) throws(ApusError)
  {
    let bytes = try readWholeFile(at: path, limit: Self.maximumFileSize)
    if !bytes.isEmpty, let kind = FileKind(insteadOfText: bytes) {
      throw ApusError(.malformedLabels, "the label file '\(path)': it is \(kind.name), not a list of names")
    }
    do {
      let named = format == .automatic ? Format(ofFile: path) : format
      try self.init(parsing: bytes, format: named, offset: offset)
    } catch {
      throw ApusError(error.code, "the label file '\(path)': \(error.message)")
    }
  }

  /// Reads a label file; nil without a path.
  init?(ofFile path: String?) throws(ApusError) {
    guard let path else { return nil }
    try self.init(contentsOfFile: path)
  }

  /// Reads labels from the bytes of a label file; invalid UTF-8 becomes U+FFFD.
  ///
  /// - Throws: `malformedLabels` with the line, or `resourceLimit` for too many bytes.
  public init(parsing bytes: [UInt8], format: Format = .automatic, offset: Int? = nil) throws(ApusError) {
    switch try LabelParser.parse(bytes, format: format) {
    case .rows(let rows): self.init(rows, offset: offset)
    case .numbering(let numbering):
      self.init(numbering, areNumbered: numbering.areRows(ofClassCount: nil), offset: offset)
    }
  }

  /// Reads labels from the text of a label file.
  ///
  /// - Throws: `malformedLabels` with the line, or `resourceLimit` for too much text.
  public init(parsing text: String, format: Format = .automatic, offset: Int? = nil) throws(ApusError) {
    try self.init(parsing: Array(text.utf8), format: format, offset: offset)
  }

  private init(_ rows: LabelRows, offset: Int?) {
    detectedOffset = Self.detectOffset(rows.names)
    self.rows = rows.withoutLines
    (numbering, areNumbered) = (nil, false)
    self.offset = offset ?? detectedOffset
  }

  private init(_ numbering: LabelNumbering, areNumbered: Bool, offset: Int?) {
    self.init(numbering.rows(ifNumbered: areNumbered), offset: offset)
    (self.numbering, self.areNumbered) = (numbering, areNumbered)
  }

  private static func detectOffset(_ names: [Int: String]) -> Int {
    guard let first = names[0] else { return names[1] == nil ? 0 : 1 }
    return isBackground(first) || first.lowercased() == "unlabeled" ? 1 : 0
  }

  /// Whether a name is that of the background of a detector's classes.
  package static func isBackground(_ name: String) -> Bool {
    [LabelRows.placeholder, "background", "__background__", "_background_"].contains(name.lowercased())
  }

  /// The name of a class as the model counts it; nil outside the map, and for a row without
  /// a name.
  public subscript(index: Int) -> String? {
    let (row, overflow) = index.addingReportingOverflow(offset)
    return overflow ? nil : rows.name(row)
  }

  /// Whether a row of the file says that it has no class.
  func isPlaceholder(_ row: Int) -> Bool { rows.isPlaceholder(row) }

  /// The name in a row of the file, whatever the offset.
  public func name(inRow row: Int) -> String? {
    rows.name(row)
  }

  /// A name with letters that were not UTF-8 and are lost; nil if there is none.
  var damagedName: String? {
    rows.names.filter { $0.value.unicodeScalars.contains("\u{FFFD}") }.min { $0.key < $1.key }?.value
  }

  /// A name with quotes around it, perhaps with a comma behind them; nil if there is none.
  var quotedName: String? {
    func isQuoted(_ name: String) -> Bool {
      let letters = Array(name.utf8)
      let end = letters.last == UInt8(ascii: ",") ? letters.count - 2 : letters.count - 1
      return end > 1 && letters[0] == letters[end]
        && (letters[0] == UInt8(ascii: "\"") || letters[0] == UInt8(ascii: "'"))
    }
    return rows.names.filter { isQuoted($0.value) }.min { $0.key < $1.key }?.value
  }

  /// The classes with that name, as the model counts them, in order; rows before the offset are left out.
  public func indices(named name: String) -> [Int] {
    rows.names.filter { $0.value == name && name != LabelRows.placeholder }.compactMap { row, _ in
      let (index, overflow) = row.subtractingReportingOverflow(offset)
      return overflow || index < 0 ? nil : index
    }.sorted()
  }

  /// The map for a model that scores that many classes: with as many rows as classes, the background has a
  /// score of its own, and the offset is 0; otherwise the offset stays. Numbers at the beginnings of lines are
  /// rows if they can be rows of this model, and part of the names otherwise.
  public func aligned(toClassCount count: Int) -> LabelMap {
    var result = numbered(forClassCount: count)
    if count == result.rowCount { result.offset = 0 }
    return result
  }

  /// The map for a classifier with that many scores: as ``aligned(toClassCount:)``, but if a list of names leaves out the background,
  /// which has a score, class 1 is the first row. Names with an index keep it, except with the 1,001 classes of ImageNet, whose lists count
  /// from the first real class.
  public func aligned(toScoreCount count: Int) -> LabelMap {
    var result = aligned(toClassCount: count)
    if result.leavesOutBackground(ofScoreCount: count) { result.offset = -1 }
    return result
  }

  /// How many classes models of ImageNet have, the background included.
  static let imageNetClassCount = 1_001

  /// Whether class 0 of a classifier with that many scores is a background that the rows leave out.
  private func leavesOutBackground(ofScoreCount count: Int) -> Bool {
    rowCount + 1 == count && detectedOffset == 0 && offset == 0
      && (!statesRows || count == Self.imageNetClassCount)
  }

  /// The map with the reading of numbered lines that suits a model with that many classes.
  func numbered(forClassCount count: Int) -> LabelMap {
    guard let numbering, numbering.areRows(ofClassCount: count) != areNumbered else { return self }
    let other = LabelMap(numbering, areNumbered: !areNumbered, offset: nil)
    // An offset that the caller chose stays.
    return offset == detectedOffset ? other : LabelMap(numbering, areNumbered: !areNumbered, offset: offset)
  }
}

extension LabelMap.Format {
  /// The form that a file's extension names; automatic for others.
  init(ofFile path: String) {
    let name = path.split(separator: "/").last ?? ""
    switch name.lastIndex(of: ".").map({ name[$0...].lowercased() }) {
    case ".json": self = .json
    case ".yaml", ".yml": self = .yaml
    case ".csv", ".tsv": self = .csv
    case ".pbtxt", ".prototxt": self = .protobufText
    case ".names": self = .lines
    default: self = .automatic
    }
  }
}
