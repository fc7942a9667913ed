// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusVision

/// The classes of a model by what folders, lists and truths call them.
struct ClassNames {
  /// The file of names that were given; nil for the labels of the model.
  private let given: LabelMap?
  private let labels: LabelMap?
  private let count: Int
  /// The offset that is added to class numbers.
  private let offset: Int
  private let exact: [String: [Int]]
  private let loose: [String: [Int]]
  /// By each name of labels that have several, with commas between them.
  private let parts: [String: [Int]]

  /// Collects names.
  ///
  /// - Parameters:
  ///   - path: The file of the names that the truth uses, one for each score or from class 1 on; nil if it uses labels or numbers.
  ///   - labels: The labels of the model.
  ///   - count: How many classes the model has.
  ///   - offset: The offset that is added to class numbers.
  init(_ path: String?, labels: LabelMap?, count: Int, offset: Int) throws(ApusError) {
    given = try path.map { path throws(ApusError) in
      try Self.checked(LabelMap(contentsOfFile: path).aligned(toScoreCount: count), count: count)
    }
    self.labels = labels
    self.count = count
    self.offset = offset
    var (exact, loose, parts): ([String: [Int]], [String: [Int]], [String: [Int]]) = ([:], [:], [:])
    if let names = given ?? labels {
      for index in 0..<min(count, LabelMap.maximumRowCount) {
        guard let name = names[index] else { continue }
        exact[name, default: []].append(index)
        loose[Self.plain(name), default: []].append(index)
        // Labels of ImageNet have several names.
        for part in name.split(separator: ",") where part.utf8.count < name.utf8.count {
          parts[Self.plain(String(part)), default: []].append(index)
        }
      }
    }
    (self.exact, self.loose, self.parts) = (exact, loose, parts)
  }

  /// The names of a file that a truth uses, aligned to a model's classes; warns if they are more or fewer than those.
  static func checked(_ names: LabelMap, count: Int) -> LabelMap {
    if names.rowCount - names.offset != count {
      Output.writeError(
        "warning: --class-names has \(names.rowCount) names for \(count) classes: names may be those of other classes, or missing"
      )
    }
    return names
  }

  /// A name without case and the marks that stand for spaces in names of files.
  static func plain(_ name: String) -> String {
    name.lowercased().split { " _-".contains($0) }.joined(separator: " ")
  }

  /// The class with a name, or of a number. With an offset for numbers, numbers are never names, such as those of labels that are digits.
  ///
  /// - Parameter place: What says it, for errors.
  /// - Throws: `invalidArgument` if there is none, or several.
  func index(of text: String, place: String) throws(ApusError) -> Int {
    let isNumber = offset != 0 && Int(text) != nil
    let found = isNumber ? [] : exact[text] ?? loose[Self.plain(text)] ?? parts[Self.plain(text)] ?? []
    if found.count == 1 { return found[0] }
    if found.count > 1 {
      throw ApusError(
        .invalidArgument,
        "\(place): '\(text)' is the name of the classes \(found.prefix(4).map(String.init).joined(separator: " and ")); write the number"
      )
    }
    guard let number = Int(text) else {
      let names = (0..<min(count, 3)).compactMap { (given ?? labels)?[$0] }.map { "'\($0)'" }
      let known =
        count == 1
        ? Self.pairAdvice
        : names.isEmpty
          ? "the model has no labels: give --labels, or --class-names with the names that the truth uses, or numbers"
          : "classes are \(names.joined(separator: ", ")), …; --class-names names a file of other names, in the order of the classes"
      throw ApusError(.invalidArgument, "\(place): no class of the model is called '\(text)'; \(known)")
    }
    let (index, overflow) = number.addingReportingOverflow(offset)
    guard !overflow, (0..<count).contains(index) else {
      throw ApusError(
        .invalidArgument,
        "\(place): the class is \(number)" + (offset != 0 ? " with --class-offset \(offset)" : "")
          + ", but "
          + (count == 1
            ? "class 0 is the model's only one; \(Self.pairAdvice)"
            : "the model's classes are 0 to \(count - 1); --class-offset shifts numbers"))
    }
    return index
  }

  /// How one score becomes that of two classes.
  private static let pairAdvice =
    "the model gives one score: --labels with two names makes it that of the second"

  /// Says that numbers of the truth seem to leave out the model's background; nil if they do not.
  ///
  /// - Parameter truths: The class of each name or number that the truth has.
  func backgroundWarning(ofTruths truths: [String: Int]) -> String? {
    let isBackground = name(of: 0).map(LabelMap.isBackground) ?? (count == Self.imageNetWithBackground)
    guard isBackground, offset == 0, truths["0"] == 0, truths[String(count - 1)] == nil else { return nil }
    return
      "the truth has the class 0, which seems to be the background of the model's \(count) classes; --class-offset 1 is for numbers that "
      + "leave the background out"
  }

  /// The classes of ImageNet and a background, as models of TensorFlow have them.
  private static let imageNetWithBackground = 1_001

  /// The name of a class; nil if it has none.
  func name(of index: Int) -> String? { labels?[index] ?? given?[index] }

  /// The name of a class, or its number, for people.
  func text(of index: Int) -> String { name(of: index) ?? "class \(index)" }
}
