// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem
import Synchronization

/// The outputs of a classifier: each has one score for each class.
struct ClassificationHeads: Sendable {
  /// One output.
  private struct Head: Sendable {
    let output: Int
    let name: String
    /// One number for two classes: the probability of the second.
    let isPair: Bool
    let classes: Int
    let labels: LabelSource?
    let selection: CategorySelection
    let calibration: ScoreCalibration?
    let scores: ScoreReading

    /// Whether every answer has the model's own numbers, which are no probabilities.
    var hasRawScores: Bool { scores.form == .raw && calibration == nil }
  }

  /// The most outputs, scores of all of them, and classes that an answer names.
  private static let mostHeads = 64
  private static let mostScores = 1 << 25
  private static let mostCategories = 1 << 22

  private let heads: [Head]
  private let options: ResultOptions
  /// Whether an answer had numbers that cannot be probabilities; it warns, and changes no answer.
  private let hadRawScores = Flag()
  /// Whether a layer gave numbers that are too large for logits.
  private let hadFeatures = Flag()

  /// A flag that copies share.
  private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
  }

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
      guard let columns = prepared.rowLength(of: output) else {
        throw ApusError(
          .invalidArgument,
          """
          the model's outputs are not those of a classifier (one score for each class, 1×classes), but: \
          \(prepared.outputDescription)
          """)
      }
      let tensor = prepared.outputs[output]
      guard columns > 1 || ![.int32, .int64].contains(tensor.type) || tensor.quantization != nil else {
        throw ApusError(
          .invalidArgument,
          "output \(output) (\(tensor.name)) is one whole number, which is the class itself, not a score for each class; "
            + "'apus run' or an interpreter gives the number")
      }
      total += min(columns, Self.mostScores)
      guard total <= Self.mostScores else {
        throw ApusError(.resourceLimit, "the model has more than \(Self.mostScores) scores")
      }
      var source = try files.labels(of: prepared, output)
      let isPair = columns == 1 && source?.map.rowCount == 2
      let classes = isPair ? 2 : columns
      source?.align(toScores: classes, offset: options.labelOffset)
      heads.append(
        Head(
          output: output, name: prepared.name(of: output), isPair: isPair, classes: classes, labels: source,
          selection: try CategorySelection(
            allowlist: options.categoryAllowlist, denylist: options.categoryDenylist, labels: source?.map),
          calibration: try files.calibration(of: prepared, output),
          scores: Self.scores(of: prepared, output, given: scores, isPair: isPair)))
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
  private var labelWarnings: [String] {
    heads.dropFirst().flatMap { head in (head.labels?.warnings ?? []).map { "\(head.name): \($0)" } }
  }
  /// What each output holds.
  var roles: [Int: String] {
    Dictionary(
      heads.map {
        ($0.output, $0.isPair ? "the score of the second class" : "the scores of \($0.classes) classes")
      }
    ) { first, _ in first }
  }
  /// How the outputs are read.
  var readings: [Assumption] {
    [Assumption("layout", "a score for each class", .guess, reason: "each output is a row of numbers")]
      + heads.map(\.scores.assumption)
  }

  /// What is suspicious: scores that are no probabilities, and labels of the outputs after the first.
  var warnings: [String] {
    scoreWarnings + featureWarnings + heads.compactMap(\.scores.warning) + labelWarnings
  }

  private var featureWarnings: [String] {
    hadFeatures.isSet
      ? [
        "numbers beyond \(Int(Self.largestLogit)) are more likely coordinates or features than scores; 'apus embed' and "
          + "'apus run' give them as they are"
      ] : []
  }

  private var scoreWarnings: [String] {
    func warning(_ reason: String) -> [String] {
      [
        "the scores are the model's own numbers, not probabilities (\(reason)); --scores logit makes "
          + "probabilities of them, --scores raw says that they are meant so"
      ]
    }
    for head in heads where head.hasRawScores && head.scores.assumption.source != .given {
      return warning(head.scores.assumption.reason)
    }
    return hadRawScores.isSet ? warning("answers have numbers outside 0 to 1") : []
  }

  /// What is done to scores, for people.
  var steps: [String] {
    var steps: [String] = []
    if heads.contains(where: { $0.scores.form == .logit }) {
      steps.append("probabilities = softmax of the logits, or 1 / (1 + exp(-value)) of a single one")
    }
    if heads.contains(where: { $0.scores.form == .byte }) { steps.append("probabilities = numbers / 255") }
    if heads.contains(where: \.isPair) {
      steps.append("the score of the first class is 1 - that of the second")
    }
    return steps + heads.compactMap { $0.calibration?.description } + options.classificationSteps
  }

  // MARK: Answers

  /// The scores of each output: as the model gives them, or as probabilities where it gives logits.
  ///
  /// Where nothing says what they are, numbers that cannot be probabilities are reported as they are: see ``form(of:)``. Each
  /// answer is judged by itself, so that no picture changes the answer for another.
  func scores(of run: ModelRun) throws(ApusError) -> [[Float]] {
    var scores: [[Float]] = []
    for head in heads { scores.append(try self.scores(try run.values(of: head.output), of: head)) }
    return scores
  }

  private func scores(_ values: [Float], of head: Head) throws(ApusError) -> [Float] {
    let reading = head.scores.assumption
    if let odd = values.first(where: { !$0.isFinite }) {
      throw AnswerCheck([reading]).refusal("an answer has a score of \(odd)", "scores")
    }
    if head.scores.form == .logit || head.scores.form == .raw && reading.source == .model,
      values.contains(where: { abs($0) > Self.largestLogit })
    {
      hadFeatures.set()
    }
    var scores = head.scores.form == .byte ? values.map { $0 / 255 } : values
    if head.scores.form == .byte, let odd = scores.first(where: { !(0...1).contains($0) }) {
      throw AnswerCheck([reading]).refusal("an answer has a score of \(odd * 255), not 0 to 255", "scores")
    }
    if head.scores.form == .logit {
      scores = values.count == 1 ? values.map { 1 / (1 + exp(-$0)) } : Self.softmax(values)
    } else if head.scores.form == .probability {
      if let odd = values.first(where: { $0 < -Self.tolerance || $0 > 1 + Self.tolerance }) {
        guard !head.isPair, [.guess, .exporter].contains(reading.source) else {
          throw AnswerCheck([reading]).refusal("an answer has a score of \(odd), not 0 to 1", "scores")
        }
        hadRawScores.set()
        return values
      }
      scores = values.map { max(0, min($0, 1)) }
    }
    guard head.isPair, scores.count == 1 else { return scores }
    // The first class has no number of its own.
    return head.scores.form == .raw ? [.nan, scores[0]] : [1 - scores[0], scores[0]]
  }

  /// What the scores of an answer are: probabilities, or the model's own numbers.
  func form(of scores: [[Float]]) -> ScoreForm {
    let areRaw = zip(heads, scores).contains { head, scores in
      head.hasRawScores || head.calibration == nil && scores.contains { $0 < 0 || $0 > 1 }
    }
    return areRaw ? .raw : .probability
  }

  /// Refuses to decide by numbers that are no probabilities, unless the caller says that they are meant.
  func checkDecision(of scores: [[Float]]) throws(ApusError) {
    guard form(of: scores) == .raw,
      let reading = heads.first(where: { $0.scores.assumption.source != .given })?.scores.assumption
    else { return }
    throw ApusError(
      .invalidData,
      "a decision needs probabilities, but the scores are the model's own numbers (\(reading.reason)); --scores logit makes "
        + "probabilities of them, --scores raw compares them as they are")
  }

  /// Logits of more are no longer told apart in single precision: their softmax is 0 or 1.
  private static let largestLogit: Float = 88
  /// What rounding may add to a probability.
  private static let tolerance: Float = 0.01

  private static func softmax(_ logits: [Float]) -> [Float] {
    let greatest = logits.reduce(-Float.infinity) { max($0, $1) }
    let powers = logits.map { exp($0 - greatest) }
    let sum = powers.reduce(0, +)
    return powers.map { $0 / sum }
  }

  /// What an output's numbers are: a layer's own numbers stay what they are, unless there are two labels for one of them,
  /// which then is the logit of the second.
  private static func scores(
    of prepared: some DescribedModel, _ output: Int, given: ScoreForm?, isPair: Bool
  ) -> ScoreReading {
    let reading = prepared.scores(of: output, given: given, usual: .probability)
    guard reading.form == .logit, given == nil, !isPair else { return reading }
    return ScoreReading(
      form: .raw,
      assumption: Assumption(
        "scores", ScoreForm.raw.rawValue, reading.assumption.source, reason: reading.assumption.reason,
        option: reading.assumption.option))
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
    // NaN stands for no score.
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
