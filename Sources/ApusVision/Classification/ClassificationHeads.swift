// SPDX-License-Identifier: Apache-2.0
import Apus

/// The outputs of a classifier: each has one score for each class.
struct ClassificationHeads: Sendable {
  /// One output.
  private struct Head: Sendable {
    let output: Int
    let name: String
    let classes: Int
    let labels: LabelSource?
    let selection: CategorySelection
    let calibration: ScoreCalibration?
  }

  private let heads: [Head]
  private let criteria: ClassificationCriteria

  /// Looks at a model's outputs.
  ///
  /// - Throws: `invalidArgument` if one is no list of scores, or the criteria contradict each other or name unknown labels.
  init(
    of prepared: some DescribedModel, labels: LabelMap?, criteria: ClassificationCriteria
  ) throws(ApusError) {
    self.criteria = criteria
    var heads: [Head] = []
    for (output, tensor) in prepared.outputs.enumerated() {
      let classes = tensor.shape.dimensions.last ?? 0
      guard tensor.shape.rank >= 1, classes > 0, tensor.shape.elementCount == classes else {
        throw ApusError(
          .invalidArgument,
          """
          the model's outputs are not those of a classifier (one score for each class, 1×classes), but: \
          \(prepared.outputDescription)
          """)
      }
      let metadata = prepared.metadata?.outputs ?? []
      let described = metadata.indices.contains(output) ? metadata[output] : nil
      var source = LabelSource(
        given: labels, of: prepared, output: output, locale: criteria.locale, offset: criteria.labelOffset)
      if criteria.labelOffset == nil { source?.align(toScores: classes) }
      heads.append(
        Head(
          output: output, name: described.flatMap { $0.name.isEmpty ? nil : $0.name } ?? tensor.name,
          classes: classes, labels: source,
          selection: try CategorySelection(
            allowlist: criteria.allowlist, denylist: criteria.denylist, labels: source?.map),
          calibration: ScoreCalibration(of: prepared, output: output)))
    }
    self.heads = heads
  }

  // MARK: Facts

  /// How many outputs there are.
  var count: Int { heads.count }
  /// How many classes the first output has.
  var classCount: Int { heads.first?.classes ?? 0 }
  /// The names of the first output's classes.
  var labels: LabelSource? { heads.first?.labels }
  /// What each output holds.
  var roles: [Int: String] {
    Dictionary(heads.map { ($0.output, "the scores of \($0.classes) classes") }) { first, _ in first }
  }
  /// What is done to scores, for people.
  var steps: [String] { heads.compactMap { $0.calibration?.description } + criteria.steps }

  // MARK: Answers

  /// The scores of each output as the model gives them.
  func scores(of run: ModelRun) throws(ApusError) -> [[Float]] {
    var scores: [[Float]] = []
    for head in heads { scores.append(try run.values(of: head.output)) }
    return scores
  }

  /// The classes that the scores of each output name.
  func classifications(of scores: [[Float]]) -> [Classifications] {
    zip(heads, scores).enumerated().map { position, pair in
      var (head, scores) = pair
      if let calibration = head.calibration {
        for index in scores.indices { scores[index] = calibration.score(scores[index], of: index) }
      }
      return best(scores, of: head, at: position)
    }
  }

  private func best(_ scores: [Float], of head: Head, at position: Int) -> Classifications {
    let threshold = criteria.scoreThreshold ?? -.infinity
    // NaN is not a score.
    let wanted = scores.indices.filter { scores[$0] >= threshold && head.selection.contains($0) }
    let sorted = wanted.sorted { scores[$0] > scores[$1] || scores[$0] == scores[$1] && $0 < $1 }
    return Classifications(
      headIndex: position, headName: head.name,
      categories: sorted.prefix(criteria.maxResults ?? sorted.count).map {
        head.labels?.category(index: $0, score: scores[$0]) ?? Category(index: $0, score: scores[$0])
      })
  }
}
