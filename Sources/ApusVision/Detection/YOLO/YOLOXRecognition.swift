// SPDX-License-Identifier: Apache-2.0
import Apus

/// Tells heads with one row for each cell and objectness, YOLOX and YOLO v6, from those without, YOLO v8.
///
/// Both have as many rows as cells, and any number of columns can be either: one more class or the objectness.
struct YOLOXRecognition {
  let prepared: PreparedModel
  let output: Int
  let rows: Int
  let columns: Int
  let isTransposed: Bool
  let grid: CellGrid
  /// Where the candidates of a square output are; nil for others, whose shape says it.
  let orientation: CandidateOrientation?

  /// The classes beside box and objectness.
  private var classes: Int { columns - 5 }

  /// Reads an output as that of such a head; nil if its rows are no cells.
  ///
  /// - Throws: `invalidArgument` if it is square, and nothing says whether its rows or its columns are candidates.
  init?(_ prepared: PreparedModel, output: Int, dimensions: (first: Int, second: Int)) throws(ApusError) {
    let geometry = prepared.geometry
    func grid(_ count: Int) -> CellGrid? {
      CellGrid(count: count, width: geometry.width, height: geometry.height)
    }
    // A square needs more than its shape.
    let square =
      dimensions.first == dimensions.second && dimensions.first > 5 && grid(dimensions.first) != nil
    let orientation =
      square ? try CandidateOrientation(ofSquare: output, side: dimensions.first, prepared) : nil
    self.orientation = orientation
    if orientation?.isTransposed != true, let cells = grid(dimensions.first), dimensions.second > 5 {
      (rows, columns, isTransposed, self.grid) = (dimensions.first, dimensions.second, false, cells)
    } else if let cells = grid(dimensions.second), dimensions.first > 5 {
      (rows, columns, isTransposed, self.grid) = (dimensions.second, dimensions.first, true, cells)
    } else {
      return nil
    }
    self.prepared = prepared
    self.output = output
  }

  /// The layout, and why; nil for a head without objectness.
  ///
  /// - Throws: `invalidArgument` if nothing decides.
  func layout(labels: LabelMap?) throws(ApusError) -> LayoutReading? {
    guard let reason = try objectness(labels) else { return nil }
    let values = probed
    if let values, isCertain(values) {
      return LayoutReading(.yolo6, reason.source, reason.text + ", and the objectness is always 1")
    }
    if prepared.isCalled("yolov6", "yolo_v6", "yolo6") {
      return LayoutReading(.yolo6, .model, "the model calls itself YOLO v6")
    }
    switch values.flatMap(isDecoded) {
    case true?:
      return LayoutReading(.yolox, reason.source, reason.text + ", and boxes lie at their cells, in pixels")
    case false?:
      return LayoutReading(.yoloxRaw, reason.source, reason.text + ", and boxes are offsets from their cells")
    case nil:
      throw prepared.ambiguity(
        of: output,
        [
          (.yolox, "boxes in pixels, objectness, \(classes) classes"),
          (.yoloxRaw, "offsets from cells, objectness, \(classes) classes"),
        ])
    }
  }

  /// Why there is objectness; nil if there is none.
  private func objectness(_ labels: LabelMap?) throws(ApusError) -> (source: AssumptionSource, text: String)?
  {
    let isCells =
      "as many candidates as cells of strides \(grid.strides.map(String.init).joined(separator: ", "))"
    // Only later exporters write these, and their models have no objectness.
    let export = prepared.export
    if export?.task != nil || export?.isEndToEnd != nil || export?.hasSuppression == true { return nil }
    let known = prepared.knownClassCount(labels)
    // Exporters of oriented boxes put candidates last, and so few others do that only angles tell.
    if isTransposed, known == classes || known == nil && columns == OrientedHead.usualColumns {
      switch prepared.hasAngles(output, rows: rows, columns: columns, isTransposed: true) {
      case true?: return nil
      case false?: break
      case nil:
        throw prepared.ambiguity(
          of: output,
          [
            (.yoloOBB, "box, \(classes) classes and an angle"),
            (.yolox, "box, objectness and \(classes) classes"),
          ])
      }
    }
    let isCalledSo = prepared.isCalled("yolox", "yolov6", "yolo_v6", "yolo6")
    let isCalledOtherwise = prepared.isCalled(
      "yolov8", "yolov9", "yolov10", "yolo11", "yolov11", "yolo12", "yolo26")
    let joined = prepared.joinedWidths(columns)
    let (with, without) = (
      joined.contains([4, 1, classes].sorted()), joined.contains([4, classes + 1].sorted())
    )
    if let known, known == classes || known == classes + 1 {
      guard known == classes else { return nil }
      let source = sourceOfNames(known)
      if source == .guess, !isCalledSo, isCalledOtherwise { return nil }
      // Candidates come last in exports without objectness; a name may be missing among those that the caller gives.
      if isTransposed, source == .guess, !isCalledSo, !with || without, !hasObjectnessForEveryPicture {
        throw prepared.ambiguity(
          of: output,
          [
            (.yolo8, "box and \(classes + 1) classes, one of which has no name among the \(known)"),
            (.yolox, "box, objectness and \(classes) classes"),
          ])
      }
      return (source, "\(isCells), and one column more than box and \(known) names")
    }
    if isCalledSo { return (.model, "\(isCells), and the model's name") }
    if isCalledOtherwise { return nil }
    if with != without {
      return with ? (.model, "\(isCells), and the graph joins box, objectness and classes") : nil
    }
    if isTransposed || columns == 84 { return nil }
    if columns == 85 {
      return (.guess, "\(isCells), and 85 columns are box, objectness and the 80 classes of COCO")
    }
    if let known, abs(known - classes) > 1 {
      throw prepared.contradiction(
        of: output, "candidates of \(classes + 1) classes, or of \(classes) with objectness", names: known,
        columns: columns)
    }
    if let values = probed, isCertain(values) { return (.model, isCells) }
    let list = columns == 6 && rows <= 300 ? [(DetectorLayout.yoloEndToEnd, "corners, score, class")] : []
    throw prepared.ambiguity(
      of: output,
      [
        (.yolo8, "box and \(classes + 1) classes"), (.yolox, "box, objectness and \(classes) classes"),
        (.yolo6, "box, 1 and \(classes) classes"),
      ] + list, others: prepared.distributions(columns: columns).map { [$0] } ?? [])
  }

  /// Where names come from whose number decides.
  private func sourceOfNames(_ count: Int) -> AssumptionSource {
    if prepared.export?.names.isEmpty == false { return .exporter }
    let own = LabelMap(of: prepared.model).map { $0.rowCount - $0.detectedOffset }
    return own == count ? .model : .guess
  }

  // MARK: Values that hold for every picture

  /// Whether the values show objectness: 1 in every row, or boxes that only heads with it have.
  private var hasObjectnessForEveryPicture: Bool {
    probed.map { isCertain($0) || isDecoded($0) == false } ?? false
  }

  private var probed: [Float]? {
    prepared.probe(output).flatMap { $0.count == rows * columns ? $0 : nil }
  }

  private func value(_ row: Int, _ column: Int, _ values: [Float]) -> Float {
    values[isTransposed ? column * rows + row : row * columns + column]
  }

  /// Whether the objectness of every row is 1; no class has such scores.
  private func isCertain(_ values: [Float]) -> Bool {
    (0..<rows).allSatisfy { abs(value($0, 4, values) - 1) < 0.005 }
  }

  /// Whether boxes are pixels of the input rather than offsets; nil if it could be both.
  private func isDecoded(_ values: [Float]) -> Bool? {
    var (pixels, offsets, negative) = (0, 0, 0)
    for row in 0..<rows {
      let (x, y) = (value(row, 0, values), value(row, 1, values))
      let cell = grid.cell(row)
      if abs(x / cell.stride - cell.x - 0.5) <= 3, abs(y / cell.stride - cell.y - 0.5) <= 3 { pixels += 1 }
      if abs(x - 0.5) <= 3, abs(y - 0.5) <= 3 { offsets += 1 }
      if value(row, 2, values) < 0 || value(row, 3, values) < 0 { negative += 1 }
    }
    // A pixel's size is never negative, the logarithm of a size often is. Few boxes lie far from their cells.
    if negative > 0 { return 10 * offsets >= 9 * rows ? false : nil }
    if 10 * pixels >= 9 * rows { return true }
    return 2 * offsets < rows ? true : nil
  }
}
