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
    let scores: ScoreReading
  }

  /// The most outputs, scores of all of them, and classes that an answer names.
  private static let mostHeads = 64
  private static let mostScores = 1 << 25
  private static let mostCategories = 1 << 22

  private let heads: [Head]
  private let options: ResultOptions

  /// Looks at a model's outputs.
  ///
  /// - Throws: `resourceLimit` for too many outputs or labels; `invalidArgument` if one is no list of scores, or the options contradict
  ///   each other or name unknown labels.
  init(
    of prepared: some DescribedModel, labels: LabelMap?, scores: ScoreForm? = nil, options: ResultOptions
  ) throws(ApusError) {
    self.options = options
    guard prepared.outputs.count <= Self.mostHeads else {
      throw ApusError(
        .resourceLimit,
        "the model has \(prepared.outputs.count) outputs, a classifier at most \(Self.mostHeads)")
    }
    var heads: [Head] = []
    var files = HeadFiles(labels, options)
    var total = 0
    for output in prepared.outputs.indices {
      guard let classes = prepared.rowLength(of: output) else {
        throw ApusError(
          .invalidArgument,
          """
          the model's outputs are not those of a classifier (one score for each class, 1×classes), but: \
          \(prepared.outputDescription)
          """)
      }
      total += min(classes, Self.mostScores)
      guard total <= Self.mostScores else {
        throw ApusError(.resourceLimit, "the model has more than \(Self.mostScores) scores")
      }
      var source = try files.labels(of: prepared, output)
      source?.align(toScores: classes, offset: options.labelOffset)
      heads.append(
        Head(
          output: output, name: prepared.name(of: output), classes: classes, labels: source,
          selection: try CategorySelection(
            allowlist: options.categoryAllowlist, denylist: options.categoryDenylist, labels: source?.map),
          calibration: try files.calibration(of: prepared, output),
          scores: prepared.scores(of: output, given: scores, usual: .raw)))
    }
    self.heads = heads
    guard categoryCount <= Self.mostCategories else {
      throw ApusError(
        .resourceLimit,
        "an answer would name \(categoryCount) classes, more than \(Self.mostCategories); choose maxResults")
    }
  }

  // MARK: Facts

  /// How many outputs there are.
  var count: Int { heads.count }
  /// How many classes the first output has.
  var classCount: Int { heads.first?.classes ?? 0 }
  /// How many classes an answer names at most.
  var categoryCount: Int { heads.reduce(0) { $0 + min($1.classes, options.maxResults ?? .max) } }
  /// The names of the first output's classes.
  var labels: LabelSource? { heads.first?.labels }
  /// What is suspicious about the labels of the outputs after the first.
  var warnings: [String] {
    var seen = Set(labels?.warnings ?? [])
    return heads.dropFirst().flatMap { $0.labels?.warnings ?? [] }.filter { seen.insert($0).inserted }
  }
  /// What each output holds.
  var roles: [Int: String] {
    Dictionary(heads.map { ($0.output, "the scores of \($0.classes) classes") }) { first, _ in first }
  }
  /// How the outputs are read.
  var readings: [Assumption] {
    [Assumption("layout", "a score for each class", .guess, reason: "each output is a row of numbers")]
      + heads.map(\.scores.assumption)
  }
  /// What is done to scores, for people.
  var steps: [String] { heads.compactMap { $0.calibration?.description } + options.classificationSteps }

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
    let threshold = options.scoreThreshold ?? -.infinity
    // NaN is not a score.
    var best = BestValues<Int>(limit: options.maxResults ?? .max)
    for index in scores.indices where scores[index] >= threshold && head.selection.contains(index) {
      best.add(index, score: scores[index])
    }
    return Classifications(
      headIndex: position, headName: head.name,
      categories: best.sorted().map {
        head.labels?.category(index: $0, score: scores[$0]) ?? Category(index: $0, score: scores[$0])
      })
  }
}
