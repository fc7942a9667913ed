// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The names of a model's classes, and where they come from.
struct LabelSource: Sendable {
  /// The names.
  var map: LabelMap
  /// The classes' names in the requested language; nil if there are none.
  var displayNames: LabelMap?
  /// The source of names that are given.
  private static let caller = "the caller"

  /// Where the names come from.
  let source: String
  /// The kind of source that gives the names.
  let origin: AssumptionSource
  /// How many classes the model has; nil where its outputs do not say so.
  private var classCount: Int?
  /// Whether class 0 is the background, which the labels leave out.
  private var leavesOutBackground = false
  /// Whether the caller chose how many rows precede class 0.
  private let isOffsetGiven: Bool
  /// From where classes are counted; nil if the number of scores says it.
  private var numbering: Assumption?
  /// Whether class 0 of the model is a background, which no object is.
  private(set) var countsBackground = false
  /// A warning about another numbering that is possible; empty if the model says it.
  private var numberWarnings: [String] = []
  /// Why there are no names in the requested language; empty if there are, or none is requested.
  private var localeWarnings: [String] = []

  /// The caller's labels, or else those inside the model; nil if there are none.
  ///
  /// - Parameters:
  ///   - output: The output whose labels are looked for first; nil for any.
  ///   - locale: The language of display names, which only metadata can have.
  ///   - offset: How many label rows precede class 0; nil to detect it.
  init?(
    given: LabelMap?, of prepared: some DescribedModel, output: Int? = nil, locale: String? = nil,
    offset: Int? = nil
  ) {
    let described = prepared.metadata?.outputs ?? []
    let own = output.flatMap(prepared.description(of:))
    if let given {
      (map, source, origin) = (given, Self.caller, .given)
    } else if let names = prepared.export?.names, let last = names.keys.max() {
      // The largest index is limited where the names are read.
      map = LabelMap(numbered: names, rowCount: last + 1)
      (source, origin) = ("names in \(prepared.export?.fileName ?? "")", .exporter)
    } else if let file = own?.labelFile, let labels = try? LabelMap(inside: prepared.model, file: file.name),
      labels.rowCount > 0
    {
      (map, source, origin) = (labels, "\(file.name) in the model", .model)
    } else if let labels = LabelMap(of: prepared.model) {
      (map, source, origin) = (labels, "\(prepared.model.labelFile ?? "") in the model", .model)
    } else {
      return nil
    }
    isOffsetGiven = offset != nil
    if let offset { map.offset = offset }
    guard let locale, !locale.isEmpty else { return }
    guard given == nil else {
      localeWarnings = ["--locale \(locale) changes nothing: names that are given have no language"]
      return
    }
    let file =
      own?.labelFile(locale: locale) ?? described.lazy.compactMap { $0.labelFile(locale: locale) }.first
    if let file { displayNames = try? LabelMap(inside: prepared.model, file: file.name, offset: map.offset) }
    guard displayNames == nil else { return }
    let known = Set(described.flatMap(\.labelFiles).map(\.locale)).subtracting(["", locale]).sorted()
    localeWarnings = Self.warnings(ofLocale: locale, known: known)
  }

  /// A warning about a requested language that a model has no names in; empty if none is requested.
  ///
  /// - Parameters:
  ///   - locale: The language; nil if none is requested.
  ///   - known: The languages that the model has names in.
  static func warnings(ofLocale locale: String?, known: [String] = []) -> [String] {
    guard let locale, !locale.isEmpty else { return [] }
    let others = known.prefix(maximumLocales).map { "'\($0)'" }.joined(separator: ", ")
    return [
      "--locale \(locale) changes nothing: the model has no names in '\(locale)'"
        + (others.isEmpty ? "" : ", but in \(others)" + (known.count > maximumLocales ? ", …" : ""))
    ]
  }

  /// How many languages a warning names.
  private static let maximumLocales = 8

  /// The map for a model with that many classes; see ``LabelMap/aligned(toClassCount:)``.
  ///
  /// - Parameter offset: How many label rows precede class 0, if the caller chose it.
  mutating func align(toClassCount count: Int, offset: Int? = nil) {
    classCount = count
    map = offset == nil ? map.aligned(toClassCount: count) : map.numbered(forClassCount: count)
    if let offset { map.offset = offset }
    displayNames?.offset = map.offset
  }

  /// Aligns the map to classes whose outputs do not show how they are counted.
  ///
  /// - Parameter offset: How many label rows precede class 0, if the caller chose it.
  mutating func align(to found: ClassNumbering, offset: Int?) {
    // Exporters number the names as their models do.
    guard origin != .exporter else { return }
    let listsBackground = map.detectedOffset == 1
    let usual = listsBackground ? found.usual : found.usualOtherwise
    let start = found.known ?? usual ?? .object
    classCount = found.columns
    func reading(_ start: ClassNumbering.Start, _ source: AssumptionSource, _ reason: String) -> Assumption {
      Assumption("class numbers", start.rawValue, source, reason: reason, option: "--label-offset")
    }
    if let offset {
      let isBackground = offset < map.detectedOffset
      numbering = reading(isBackground ? .background : .object, .given, "the label offset")
      return
    }
    numbering = reading(
      start, found.known == nil ? .guess : .model,
      start == found.known || start == .background
        ? found.reason : "usual for models with suppression inside")
    countsBackground = start == .background
    if countsBackground { map.offset = listsBackground || map.rowCount == found.columns ? 0 : -1 }
    displayNames?.offset = map.offset
    let firstRow = listsBackground ? 1 : 0
    guard found.known == nil, listsBackground || found.isDoubtful, let first = map.name(inRow: firstRow)
    else {
      return
    }
    let other = 2 * firstRow - 1 - map.offset
    let background = listsBackground ? "the background of the labels" : "a background"
    numberWarnings = [
      "class \(firstRow - map.offset) is taken for '\(first)', a guess: nothing in the model says whether its "
        + "classes count \(background); --label-offset\(other < 0 ? "=" : " ")\(other) takes class \(firstRow - other) for it"
    ]
  }

  /// Aligns the map to a classifier's scores; see ``LabelMap/aligned(toScoreCount:)``.
  ///
  /// - Parameter offset: How many label rows precede class 0, if the caller chose that.
  mutating func align(toScores count: Int, offset: Int? = nil) {
    align(toClassCount: count, offset: offset)
    guard offset == nil else { return }
    let aligned = map.aligned(toScoreCount: count)
    leavesOutBackground = aligned.offset != map.offset
    map = aligned
    displayNames?.offset = map.offset
  }

  /// Warnings about the labels; usually empty.
  var warnings: [String] { letterWarnings + quoteWarnings + countWarnings + numberWarnings + localeWarnings }

  private var quoteWarnings: [String] {
    map.quotedName.map { name in
      [
        "quotes around a label are taken for a part of the name, as in \(name); if they are not, leave them out"
      ]
    } ?? []
  }

  private var letterWarnings: [String] {
    map.damagedName.map { name in
      [
        "the labels are not in UTF-8, so letters are lost, as in '\(name)'; save them as UTF-8, for example with "
          + "'iconv -f latin1 -t utf-8'"
      ]
    } ?? []
  }

  /// A warning about the number of labels; empty if it suits the model.
  private var countWarnings: [String] {
    guard let classCount else { return [] }
    let found = "\(count) for \(classCount) class\(classCount == 1 ? "" : "es")"
    if leavesOutBackground {
      return classCount == LabelMap.imageNetClassCount
        ? [] : ["\(found): class 0 is taken for a background without a name"]
    }
    guard map.rowCount &- map.offset != classCount else { return [] }
    if isOffsetGiven, map.offset != 0 {
      return ["\(found), and --label-offset \(map.offset): \(offsetEffect(ofClassCount: classCount))"]
    }
    let advice =
      map.rowCount == classCount + 1 && map.offset == 0
      ? "; if the first is that of a background, --label-offset 1 says so" : ""
    return ["\(found): names may be those of other classes, or missing\(advice)"]
  }

  /// The effect of an offset that does not suit the numbers of rows and classes.
  private func offsetEffect(ofClassCount classCount: Int) -> String {
    // Beyond that many rows, an offset leaves all classes without names.
    let offset = min(max(map.offset, -LabelMap.maximumRowCount - classCount), LabelMap.maximumRowCount)
    let named = max(0, min(classCount, map.rowCount - offset) - max(0, -offset))
    let missing = classCount - named
    return missing == 0
      ? "names may be those of other classes"
      : "\(missing == 1 ? "1 class has" : "\(missing) classes have") no name"
  }

  /// How many names there are: `there are 3 labels`.
  var count: String {
    let gaps = map.nameCount < map.rowCount && map.statesRows ? ", numbered up to \(map.rowCount - 1)," : ""
    let count = gaps.isEmpty ? map.rowCount : map.nameCount
    return "there \(count == 1 ? "is 1 label" : "are \(count) labels")\(gaps)"
      + (source == Self.caller ? "" : " in \(source)")
  }

  /// Whether a class is among those that the names count, with or without a name.
  func hasRow(ofClass index: Int) -> Bool {
    let (row, overflow) = index.addingReportingOverflow(map.offset)
    return !overflow && row < map.rowCount
  }

  /// Whether the row of a class says that there is no such class. The first may be a background, which answers can have.
  func isPlaceholder(ofClass index: Int) -> Bool {
    let (row, overflow) = index.addingReportingOverflow(map.offset)
    return !overflow && row > 0 && map.isPlaceholder(row)
  }

  /// The map for classes that are the rows themselves.
  mutating func startAtFirstRow() {
    map.offset = 0
    displayNames?.offset = 0
  }

  /// Shifts the rows in which classes are looked up; down if positive.
  mutating func shift(by rows: Int) {
    map.offset += rows
    displayNames?.offset += rows
  }

  /// How the labels are read.
  var readings: [Assumption] {
    [
      Assumption(
        "labels", map.rowCount == 1 ? "1 name" : "\(map.rowCount) names", origin, reason: source,
        option: "--labels")
    ] + (numbering.map { [$0] } ?? [])
  }

  /// The reading of a model without labels.
  ///
  /// - Parameter unread: The files that may have names, as ``unread(of:)`` says.
  static func nothing(unread: String?) -> Assumption {
    Assumption(
      "labels", "none", .model, reason: unread ?? "its file has no names, and none are given",
      option: "--labels")
  }

  /// A warning about files that may have names, none of which is read; empty if there are none.
  static func warnings(ofUnread unread: String?) -> [String] {
    unread.map { ["\($0): extract the right one, and give it with --labels"] } ?? []
  }

  /// The files of a model that may have names, and why none of them is read; nil if there are none, or one is read.
  static func unread(of model: Model) -> String? {
    if let file = model.labelFile {
      do throws(ApusError) {
        _ = try LabelMap(inside: model, file: file)
        return nil
      } catch {
        return "\(file) in the model is not read (\(error.message))"
      }
    }
    let files = model.filesThatMayHaveLabels
    guard !files.isEmpty else { return nil }
    return "the model has \(files.prefix(8).joined(separator: ", "))\(files.count > 8 ? ", …" : ""), "
      + (files.count == 1 ? "which is not read" : "and nothing says which has its labels")
  }

  /// A class with its names.
  func category(index: Int, score: Float) -> Category {
    Category(index: index, score: score, label: map[index], displayName: displayNames?[index])
  }
}
