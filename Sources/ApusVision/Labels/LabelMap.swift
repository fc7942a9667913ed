// SPDX-License-Identifier: Apache-2.0

import Apus

/// The names of a model's classes.
///
/// These forms are read, with or without a byte order mark, with LF, CRLF or CR line ends:
///
/// - **One name a line**, as in COCO's `labelmap.txt` and AutoML's `dict.txt`. The row is the line's position.
///   Blank lines at the end are dropped; elsewhere they are rows without a name, so that later rows keep theirs.
///   Every line is a name, also one that begins with `#`.
/// - **Numbered lines**: `0: person`, `0  person`, `0<tab>person`, `0,person` or `0 person`. A number followed by a
///   colon, a comma, a tab or two spaces in the first line makes the file numbered, and then every line must be. One
///   space does so only if every line has a number and no two have the same: `7 eleven` among other names stays a name.
///   Blank lines and lines that begin with `#` are skipped.
/// - **Protocol buffer text**: `item { id: 1 name: 'n01' display_name: "Person" }`, where the display name wins.
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
  public enum Format: String, CaseIterable, Hashable, Sendable {
    /// Decided by what the text looks like.
    case automatic
    /// One name a line, whatever the lines look like.
    case lines
    /// A number and a name on every line.
    case numberedLines
    /// `item { … }` with `id`, `name` and `display_name`.
    case protobufText
  }

  /// The maximum size of a label file, in bytes.
  public static let maximumFileSize = 16 << 20
  /// The maximum number of rows.
  public static let maximumRowCount = 1 << 20
  /// The maximum length of a name, in bytes of UTF-8.
  public static let maximumNameLength = 4_096

  /// The names by row.
  private let names: [Int: String]

  /// One more than the last row: how many classes the file counts, those without a name included.
  public let rowCount: Int

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
    self.init(names: names, rowCount: rows.count, offset: offset)
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
    do {
      try self.init(parsing: bytes, format: format, offset: offset)
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
    let (names, rowCount) = try LabelParser.parse(bytes, format: format)
    self.init(names: names, rowCount: rowCount, offset: offset)
  }

  /// Reads labels from the text of a label file.
  ///
  /// - Throws: `malformedLabels` with the line, or `resourceLimit` for too much text.
  public init(parsing text: String, format: Format = .automatic, offset: Int? = nil) throws(ApusError) {
    try self.init(parsing: Array(text.utf8), format: format, offset: offset)
  }

  private init(names: [Int: String], rowCount: Int, offset: Int?) {
    detectedOffset = Self.detectOffset(names)
    self.names = names.filter { $0.value != Self.placeholder }
    self.rowCount = rowCount
    self.offset = offset ?? detectedOffset
  }

  /// What label files contain in a row without a class.
  private static let placeholder = "???"

  private static func detectOffset(_ names: [Int: String]) -> Int {
    switch names[0]?.lowercased() {
    case placeholder, "background", "__background__", "_background_", "unlabeled": 1
    case nil: names[1] == nil ? 0 : 1
    default: 0
    }
  }

  /// The name of a class as the model counts it; nil outside the map, and for a row without
  /// a name.
  public subscript(index: Int) -> String? {
    let (row, overflow) = index.addingReportingOverflow(offset)
    return overflow ? nil : names[row]
  }

  /// The name in a row of the file, whatever the offset.
  public func name(inRow row: Int) -> String? {
    names[row]
  }

  /// The classes with that name, as the model counts them, in order; rows before the offset are left out.
  public func indices(named name: String) -> [Int] {
    names.filter { $0.value == name }.compactMap { row, _ in
      let (index, overflow) = row.subtractingReportingOverflow(offset)
      return overflow || index < 0 ? nil : index
    }.sorted()
  }

  /// The map for a model that scores that many classes: with as many rows as classes, the background has a
  /// score of its own, and the offset is 0; otherwise the map stays as it is.
  public func aligned(toClassCount count: Int) -> LabelMap {
    guard count == rowCount else { return self }
    var result = self
    result.offset = 0
    return result
  }
}
