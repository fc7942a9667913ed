// SPDX-License-Identifier: Apache-2.0
import Apus

/// Which outputs of a classifier are scores: usually all, but some models give an embedding, their last map or a spectrogram beside
/// them, as YAMNet does.
struct ScoreRows {
  /// The outputs with one score for each class.
  let scores: [Int]
  /// The other outputs, for people.
  let others: [String]

  /// Parts of the names of outputs with scores, and of those with features.
  private static let scoreNames = ["score", "prob", "prediction", "logit", "softmax", "class"]
  private static let featureNames = ["embed", "feature", "bottleneck"]

  /// Looks at the outputs' shapes, and at their names and the labels where the shapes leave it open.
  ///
  /// - Throws: `invalidArgument` if no output is known to have scores.
  init(of prepared: some DescribedModel, labels: LabelMap?) throws(ApusError) {
    let outputs = Array(prepared.outputs.indices)
    func isNamed(_ output: Int, _ words: [String]) -> Bool {
      let name = prepared.name(of: output).lowercased()
      return words.contains { name.contains($0) }
    }
    let rows = outputs.filter { prepared.rowLength(of: $0) != nil && !isNamed($0, Self.featureNames) }
    var scores = rows.isEmpty ? outputs : rows
    if scores.count < outputs.count {
      // A row beside a map may have a number for each of the map's boxes or cells.
      let maps = outputs.filter { prepared.rowLength(of: $0) == nil }
      let likely = rows.filter { row in
        let count = prepared.outputs[row].shape.elementCount
        return count > 1
          && !maps.contains { prepared.outputs[$0].shape.dimensions.dropLast().contains(count) }
          && (isNamed(row, Self.scoreNames) || labels?.rowCount == count)
      }
      if !likely.isEmpty { scores = likely } else if !maps.isEmpty { scores = outputs }
    }
    for output in scores where prepared.rowLength(of: output) == nil {
      throw ApusError(
        .invalidArgument,
        """
        the model's outputs are not those of a classifier (one score for each class, 1×classes), but: \
        \(prepared.outputDescription)
        """)
    }
    self.scores = scores
    others = outputs.filter { !scores.contains($0) }.map { prepared.outputs[$0].description }
  }
}
