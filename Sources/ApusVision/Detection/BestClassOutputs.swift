// SPDX-License-Identifier: Apache-2.0
import Apus

/// Outputs with the box, the best score and its class of each candidate, before suppression: YOLO models of Qualcomm AI Hub. Others may
/// stand beside them, such as masks.
struct BestClassOutputs {
  let boxes: Int
  let scores: Int
  let classes: Int
  let rows: Int

  /// The maximum number of objects that a suppression inside a model keeps; more rows, as many as cells, are candidates.
  static let maximumObjects = 300

  /// Finds the outputs by their names and shapes; nil for others, and for models that count their objects.
  init?(_ prepared: PreparedModel) {
    guard let found = try? PostProcessedHead.rows(of: prepared, chosen: nil), !found.isOfOperator,
      found.outputs.count == nil, !found.hasScoresInBoxes
    else { return nil }
    self.init(prepared, found)
  }

  private init(_ prepared: PreparedModel, _ found: DetectionLayout) {
    let outputs = found.outputs
    boxes = outputs.boxes
    rows = prepared.outputs[outputs.boxes].shape.elementCount / 4
    // Classes are whole numbers for every picture, and the scores of some candidate are not.
    func areWhole(_ output: Int) -> Bool {
      prepared.probe(output)?.allSatisfy { $0 == $0.rounded() } ?? false
    }
    let isSwapped = found.isAmbiguous && !areWhole(outputs.classes) && areWhole(outputs.scores)
    (classes, scores) =
      isSwapped ? (outputs.scores, outputs.classes) : (outputs.classes, outputs.scores)
  }

  /// Why the rows are candidates: grids have as many cells, or a third of them, or boxes of a class overlap as candidates of neighbors do;
  /// nil if nothing says so.
  func reason(_ prepared: PreparedModel) -> String? {
    guard rows > Self.maximumObjects else { return nil }
    let (width, height) = (prepared.geometry.width, prepared.geometry.height)
    let strides = YOLOShape.strides.first { strides in
      let cells = YOLOShape.cells(width: width, height: height, strides: strides)
      return rows == cells || rows == 3 * cells
    }
    if let strides { return "a box, a score and a class for each candidate of strides \(strides)" }
    guard areUnsuppressed(prepared) else { return nil }
    return "for a gray picture, most of \(rows) boxes overlap those of the same class beside them"
  }

  /// Whether half of the boxes that are no filling overlap the next one of their class by more than any suppression allows.
  private func areUnsuppressed(_ prepared: PreparedModel) -> Bool {
    guard let boxes = prepared.probe(boxes), let classes = prepared.probe(classes), boxes.count == 4 * rows,
      classes.count == rows
    else { return false }
    func box(_ row: Int) -> BoundingBox {
      BoundingBox(
        minX: boxes[4 * row], minY: boxes[4 * row + 1], maxX: boxes[4 * row + 2], maxY: boxes[4 * row + 3])
    }
    var (pairs, overlapping) = (0, 0)
    for row in 0..<rows - 1 {
      let (one, other) = (box(row), box(row + 1))
      // Filling repeats a box.
      guard one.area > 0, other.area > 0, one != other, classes[row] == classes[row + 1] else { continue }
      pairs += 1
      if one.overlap(other) > Self.maximumOverlap { overlapping += 1 }
    }
    return pairs > 0 && 2 * overlapping >= pairs
  }

  /// Suppression inside a model hardly keeps boxes that overlap more.
  private static let maximumOverlap: Float = 0.7

  /// Whether the rows are candidates rather than results.
  static func areCandidates(_ found: DetectionLayout, _ prepared: PreparedModel) -> Bool {
    guard !found.isOfOperator, found.outputs.count == nil, !found.hasScoresInBoxes else { return false }
    return BestClassOutputs(prepared, found).reason(prepared) != nil
  }
}
