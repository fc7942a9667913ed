// SPDX-License-Identifier: Apache-2.0
import Apus

/// From where a model with suppression inside counts its classes, which its outputs do not show.
struct ClassNumbering: Sendable {
  /// The meaning of class 0.
  enum Start: String, Sendable {
    case object = "from the first object"
    case background = "from a background"
  }

  /// The start that the model says; nil if it says nothing.
  let known: Start?
  /// The usual start beside names whose first row is a background; nil without evidence.
  let usual: Start?
  /// The usual start beside other names; nil without evidence.
  let usualOtherwise: Start?
  /// Whether models with such outputs count in both ways.
  let isDoubtful: Bool
  /// The evidence.
  let reason: String
  /// How many classes have a score, the background included; nil if no output shows it.
  let columns: Int?

  /// Reads names and types of outputs; nil for the operator, which counts objects by its definition.
  init?(_ prepared: PreparedModel, _ rows: DetectionLayout) {
    guard !rows.isOfOperator else { return nil }
    let outputs = rows.outputs
    // Outputs of TensorFlow's detection API beside the results: scores of all classes, before suppression too.
    let beside =
      prepared.outputs.indices.first { output in
        let names = prepared.names(of: output)
        return ["multiclass_scores", "raw_detection_scores"].contains { word in
          names.contains { $0.contains(word) }
        }
      } ?? rows.allScores
    if let beside {
      (known, usual, usualOtherwise, isDoubtful) = (.background, nil, nil, false)
      reason = "TensorFlow's detection API, which has scores of all classes beside, counts them so"
      columns = prepared.outputs[beside].shape.dimensions.last
      return
    }
    columns = nil
    known = nil
    let names = prepared.names(of: outputs.classes)
    let areLabels = names.contains { $0.contains("label") }
    // TensorFlow's detection API counts a background; TensorFlow Lite's operator, whose results are called so, too, does not.
    let areDetections = names.contains { $0.contains("detection_class") }
    if areLabels, prepared.outputs[outputs.classes].type == .int64, !rows.hasScoresInBoxes {
      // Transformers, which have a row for each query, have such labels, too.
      let rows = prepared.outputs[outputs.classes].shape.elementCount
      let areQueries = BoxScoreRecognition.queryCounts.contains(rows) && rows != 100
      (usual, usualOtherwise, isDoubtful) = (.background, areQueries ? .object : .background, true)
      reason = "usual for labels in 64 bits, as torchvision has them"
    } else {
      (usual, usualOtherwise, isDoubtful) = (nil, nil, areDetections)
      reason = "usual for models with suppression inside"
    }
  }
}
