// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// The names of a model's classes, and where they are from.
struct LabelSource: Sendable {
  /// The names.
  var map: LabelMap
  /// The same classes' names in the language asked for; nil where there are none.
  var displayNames: LabelMap?
  /// Where the names are from.
  let source: String

  /// The caller's labels, or else those inside the model; nil where there are none.
  ///
  /// - Parameters:
  ///   - locale: The language of display names, which only metadata can have.
  ///   - offset: How many rows further down a class is looked up; detected where nil.
  init?(given: LabelMap?, of prepared: PreparedModel, locale: String? = nil, offset: Int? = nil) {
    if let given {
      (map, source) = (given, "the caller")
    } else if let names = prepared.export?.names, let last = names.keys.max() {
      // The largest index is limited where the names are read.
      map = LabelMap((0...last).map { names[$0] }, offset: 0)
      source = "names in \(prepared.export?.fileName ?? "")"
    } else if let labels = LabelMap(of: prepared.model) {
      (map, source) = (labels, "\(prepared.model.labelFile ?? "") in the model")
    } else {
      return nil
    }
    if let offset { map.offset = offset }
    if given == nil, let locale, !locale.isEmpty {
      let file = prepared.metadata?.outputs.lazy.compactMap { $0.labelFile(locale: locale) }.first
      if let file, let text = try? prepared.model.associatedFile(named: file.name) {
        displayNames = try? LabelMap(parsing: text, format: .lines, offset: map.offset)
      }
    }
  }

  /// The map for a model that scores that many classes; see ``LabelMap/aligned(toClassCount:)``.
  mutating func align(toClassCount count: Int) {
    map = map.aligned(toClassCount: count)
    displayNames?.offset = map.offset
  }

  /// A class with its names.
  func category(index: Int, score: Float) -> Category {
    Category(index: index, score: score, label: map[index], displayName: displayNames?[index])
  }
}
