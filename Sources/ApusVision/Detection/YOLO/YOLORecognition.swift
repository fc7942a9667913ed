// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat

/// Tells the kinds of YOLO heads apart, by the number of candidates first, by metadata where there is some.
struct YOLORecognition {
  /// The last two dimensions of the output.
  let dimensions: (first: Int, second: Int)
  /// The input's size.
  let width: Int
  let height: Int
  /// Columns behind the class scores: mask coefficients, keypoints.
  let extra: Int
  /// The exporter's metadata; nil if there is none.
  let export: ExportMetadata?
  /// Whether the model calls itself YOLO v10.
  let isCalledVersion10: Bool
  /// Where the candidates are; nil for what the shape says.
  var axis: CandidateAxis?
  /// Whether a picture decides how many rows the output has.
  var hasOpenRows = false

  private var knownClasses: Int? { (export?.names.keys.max()).map { $0 + 1 } }

  /// The only kind that fits; nil if none does.
  ///
  /// - Parameter chosen: The kind that the caller says it is.
  /// - Throws: `invalidArgument` if several kinds fit.
  func shape(chosen: DetectorLayout?) throws(ApusError) -> YOLOShape? {
    if let chosen { return self.chosen(chosen) }
    let found = candidates().filter {
      axis == nil || $0.layout == .yoloEndToEnd || $0.isTransposed == (axis == .columns)
    }
    guard let first = found.first else { return nil }
    let layouts = Set(found.map(\.layout))
    guard layouts.count == 1 else {
      let choices = found.map { "\($0.layout.rawValue) (\($0.reason))" }.joined(separator: " or ")
      throw ApusError(
        .invalidArgument,
        "the output \(dimensions.first)×\(dimensions.second) can be that of \(choices): the layout must be chosen"
      )
    }
    return first
  }

  /// Refuses an output that would be a head but for the number of names that the exporter gives.
  func refuseNames(_ shape: TensorShape) throws(ApusError) {
    guard let export, let knownClasses, let found = try? unnamed.shape(chosen: nil) else { return }
    throw ApusError(
      .invalidArgument,
      """
      the output \(shape) is that of \(found.layout.rawValue) with \(found.classes) classes (\(found.reason)), but names in \
      \(export.fileName) are those of \(knownClasses); --layout \(found.layout.rawValue) reads it so all the same
      """)
  }

  /// The recognition of this model without the exporter's names.
  private var unnamed: YOLORecognition {
    YOLORecognition(
      dimensions: dimensions, width: width, height: height, extra: extra, export: nil,
      isCalledVersion10: isCalledVersion10, axis: axis, hasOpenRows: hasOpenRows)
  }

  // MARK: What fits

  /// Every kind that the dimensions allow; of the same kind, the exporters' own order comes first.
  private func candidates() -> [YOLOShape] {
    let endToEnd = self.endToEnd()
    if let endToEnd, export?.isEndToEnd == true || export?.hasSuppression == true { return [endToEnd] }
    for strides in YOLOShape.strides {
      let cells = YOLOShape.cells(width: width, height: height, strides: strides)
      var found = grid(cells, strides)
      if let endToEnd, export?.isEndToEnd != false { found.append(endToEnd) }
      if !found.isEmpty { return found }
    }
    return byNames()
  }

  private func grid(_ cells: Int, _ strides: [Int]) -> [YOLOShape] {
    var found: [YOLOShape] = []
    let text = strides.map(String.init).joined(separator: ", ")
    for isTransposed in [true, false] where rows(isTransposed) == cells {
      if let shape = eight(isTransposed, "as many candidates as cells of strides \(text)") {
        found.append(shape)
      }
    }
    for isTransposed in [false, true] where rows(isTransposed) == 3 * cells {
      if let shape = five(isTransposed, "three candidates for each cell of strides \(text)") {
        found.append(shape)
      }
    }
    return found
  }

  /// If no grid fits, the number of names may decide.
  private func byNames() -> [YOLOShape] {
    guard knownClasses != nil else { return [] }
    let reason = "as many columns as the metadata's names ask for"
    return [eight(true, reason), eight(false, reason), five(false, reason), five(true, reason)].compactMap {
      $0
    }
  }

  /// Shapes alone make a guess; names of as many classes confirm it.
  private func source(isSaid: Bool) -> AssumptionSource { isSaid || knownClasses != nil ? .exporter : .guess }

  private func rows(_ isTransposed: Bool) -> Int { isTransposed ? dimensions.second : dimensions.first }
  private func columns(_ isTransposed: Bool) -> Int { isTransposed ? dimensions.first : dimensions.second }

  private func eight(_ isTransposed: Bool, _ reason: String) -> YOLOShape? {
    let classes = columns(isTransposed) - 4 - extra
    guard rows(isTransposed) > 0, classes > 0, knownClasses == nil || knownClasses == classes else {
      return nil
    }
    // A head that needs no suppression, without the selection that makes it end to end, gives corners. Version 10 has no other.
    let isSaid = export?.isEndToEnd == true
    let isOneToOne = isSaid || isCalledVersion10 && export?.isEndToEnd == nil
    return YOLOShape(
      layout: isOneToOne ? .yolo10Raw : .yolo8, rows: rows(isTransposed), columns: columns(isTransposed),
      isTransposed: isTransposed, classes: classes,
      source: isOneToOne && !isSaid ? .model : source(isSaid: isOneToOne),
      reason: reason + (isSaid ? ", and end2end in the metadata" : isOneToOne ? ", and the model's name" : "")
    )
  }

  private func five(_ isTransposed: Bool, _ reason: String) -> YOLOShape? {
    let classes = columns(isTransposed) - 5 - extra
    guard rows(isTransposed) > 0, classes > 0, knownClasses == nil || knownClasses == classes else {
      return nil
    }
    return YOLOShape(
      layout: .yolo5, rows: rows(isTransposed), columns: columns(isTransposed), isTransposed: isTransposed,
      classes: classes, source: source(isSaid: false), reason: reason)
  }

  private func endToEnd() -> YOLOShape? {
    let isSaid = export?.isEndToEnd == true || export?.hasSuppression == true
    // A single row is rather a classifier's.
    guard dimensions.second == 6 + extra, dimensions.first > 0,
      isSaid || hasOpenRows || (2...300).contains(dimensions.first)
    else { return nil }
    return YOLOShape(
      layout: .yoloEndToEnd, rows: dimensions.first, columns: dimensions.second, isTransposed: false,
      classes: 0, source: source(isSaid: isSaid),
      reason: isSaid
        ? "the metadata says so"
        : "\(hasOpenRows ? "an open number of" : "up to 300") rows of corners, score and class")
  }

  // MARK: By hand

  /// The dimensions, read as the caller says; where neither fits a grid, more rows than columns are expected.
  private func chosen(_ layout: DetectorLayout) -> YOLOShape? {
    let reason = "the options say so"
    if layout == .yoloEndToEnd {
      guard dimensions.second >= 6 + extra, dimensions.first > 0 else { return nil }
      return YOLOShape(
        layout: layout, rows: dimensions.first, columns: dimensions.second, isTransposed: false, classes: 0,
        source: .given, reason: reason)
    }
    let perCell = layout == .yolo5 ? 3 : 1
    let counts = YOLOShape.strides.map {
      perCell * YOLOShape.cells(width: width, height: height, strides: $0)
    }
    let usual = layout != .yolo5
    let isTransposed: Bool
    if let axis {
      isTransposed = axis == .columns
    } else if counts.contains(rows(usual)) {
      isTransposed = usual
    } else if counts.contains(rows(!usual)) {
      isTransposed = !usual
    } else {
      isTransposed = dimensions.second > dimensions.first
    }
    let classes = columns(isTransposed) - (layout == .yolo5 ? 5 : 4) - extra
    guard rows(isTransposed) > 0, classes > 0 else { return nil }
    return YOLOShape(
      layout: layout, rows: rows(isTransposed), columns: columns(isTransposed), isTransposed: isTransposed,
      classes: classes, source: .given, reason: reason)
  }
}
