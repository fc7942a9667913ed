// SPDX-License-Identifier: Apache-2.0
import Apus

/// Three outputs with the box, the best score and its class of each candidate, before suppression: YOLO models of Qualcomm AI Hub.
struct BestClassOutputs {
  let boxes: Int
  let scores: Int
  let classes: Int
  let rows: Int

  /// The maximum number of objects that a suppression inside a model keeps; more rows, as many as cells, are candidates.
  private static let maximumObjects = 300

  /// Finds the outputs by their names and shapes; nil for others, and for models that count their objects.
  init?(_ prepared: PreparedModel) {
    guard prepared.outputs.count == 3,
      let found = try? PostProcessedHead.rows(of: prepared, chosen: nil), !found.isOfOperator,
      found.outputs.count == nil
    else { return nil }
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

  /// The strides of grids that have as many cells as there are rows, or a third of them; nil if none have.
  static func strides(rows: Int, _ prepared: PreparedModel) -> [Int]? {
    guard rows > maximumObjects else { return nil }
    let (width, height) = (prepared.geometry.width, prepared.geometry.height)
    return YOLOShape.strides.first { strides in
      let cells = YOLOShape.cells(width: width, height: height, strides: strides)
      return rows == cells || rows == 3 * cells
    }
  }

  /// Whether the number of rows says that they are candidates.
  static func areCandidates(_ found: DetectionLayout, _ prepared: PreparedModel) -> Bool {
    guard prepared.outputs.count == 3, !found.isOfOperator, found.outputs.count == nil else { return false }
    return strides(rows: prepared.outputs[found.outputs.boxes].shape.elementCount / 4, prepared) != nil
  }
}
