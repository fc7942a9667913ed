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
    /// Why scores are not calibrated though the metadata says how; usually nil.
    let calibrationWarning: String?
    /// The minimum score of the metadata; nil if it names none.
    let scoreThreshold: Float?
    /// The form of the numbers. Where nothing in the file gives it, the first answer decides: probabilities,
    /// or the model's own numbers.
    let scores: Decision<ScoreForm>
    /// The model's own objection to scores that are given; nil if there is none.
    let givenWarning: String?

    /// Whether every answer has the model's own numbers, which are no probabilities.
    var hasRawScores: Bool { scores.value == .raw && calibration == nil }
  }

  /// The most outputs, scores of all of them, and classes that an answer names.
  private static let maximumHeads = 64
  private static let maximumScores = 1 << 25
  private static let maximumCategories = 1 << 22

  private let heads: [Head]
  private let options: ResultOptions
  /// The outputs that are no scores, for people.
  private let otherOutputs: [String]
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
    guard prepared.outputs.count <= Self.maximumHeads else {
      throw ApusError(
        .resourceLimit,
        "the model has \(prepared.outputs.count) outputs, a classifier at most \(Self.maximumHeads)")
    }
    guard !prepared.outputs.isEmpty else {
      throw ApusError(.invalidArgument, "the model has no output")
    }
    var heads: [Head] = []
    var files = HeadFiles(labels, options)
    var total = 0
    let rows = try ScoreRows(of: prepared, labels: labels)
    let entries = prepared.model.file.subgraphs[0].tensors
    otherOutputs = rows.others
    for output in rows.scores {
      let tensor = prepared.outputs[output]
      let columns = tensor.shape.elementCount
      guard columns > 1 || ![.int32, .int64].contains(tensor.type) || tensor.quantization != nil else {
        throw ApusError(
          .invalidArgument,
          "output \(output) (\(tensor.name)) is one whole number, which is the class itself, not a score for each class; "
            + "'apus run' or an interpreter gives the number")
      }
      if let numbers = ClassNumbers(ofOutput: output, of: prepared.model) {
        throw ApusError(
          .invalidArgument,
          "output \(output) (\(tensor.name)) has the numbers of classes that \(numbers.origin) finds, not a score for each class; "
            + "'apus run' or an interpreter gives the numbers")
      }
      guard !ClassNumbers.hasRanks(inOutput: output, of: prepared.model) else {
        throw ApusError(
          .invalidArgument,
          "output \(output) (\(tensor.name)) has the largest scores that TOPK_V2 finds, in their order, and not those of classes by "
            + "their numbers; 'apus run' or an interpreter gives them")
      }
      guard tensor.quantization != nil || (entries[tensor.index].quantization?.scaleCount ?? 0) < 2 else {
        throw ApusError(
          .invalidArgument,
          "output \(output) (\(tensor.name)) has a scale for each channel, so that its numbers are no scores")
      }
      total += min(columns, Self.maximumScores)
      guard total <= Self.maximumScores else {
        throw ApusError(.resourceLimit, "the model has more than \(Self.maximumScores) scores")
      }
      var source = try files.labels(of: prepared, output)
      let isPair = columns == 1 && source?.map.rowCount == 2
      let classes = isPair ? 2 : columns
      source?.align(toScores: classes, offset: options.labelOffset)
      let reading = try Self.scores(of: prepared, output, given: scores, isPair: isPair)
      let calibration = try files.calibration(of: prepared, output)
      heads.append(
        Head(
          output: output, name: prepared.name(of: output), isPair: isPair, classes: classes, labels: source,
          selection: try CategorySelection(
            allowlist: options.categoryAllowlist, denylist: options.categoryDenylist, labels: source?.map),
          calibration: calibration.calibration, calibrationWarning: calibration.warning,
          scoreThreshold: prepared.minimumScore(of: output),
          scores: Self.decision(reading), givenWarning: reading.warning))
    }
    self.heads = heads
    guard categoryCount <= Self.maximumCategories else {
      throw ApusError(
        .resourceLimit,
        "an answer would name \(categoryCount) classes, more than \(Self.maximumCategories); choose maxResults"
      )
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
  /// The warnings about the labels of the outputs after the first.
  private var labelWarnings: [String] {
    heads.dropFirst().flatMap { head in (head.labels?.warnings ?? []).map { "\(head.name): \($0)" } }
  }
  /// The contents of each output.
  var roles: [Int: String] {
    Dictionary(
      heads.map {
        ($0.output, $0.isPair ? "the score of the second class" : "the scores of \($0.classes) classes")
      }
    ) { first, _ in first }
  }
  /// How the outputs are read.
  var readings: [Assumption] {
    [
      Assumption(
        "layout", "a score for each class", .guess,
        reason: otherOutputs.isEmpty
          ? "each output is a row of numbers" : "the outputs' names and labels say which are scores")
    ]
      + heads.map(\.scores.assumption)
  }

  /// The warnings: scores that are no probabilities, labels of the outputs after the first, and a language
  /// without labels.
  var warnings: [String] {
    otherWarnings + scoreWarnings + featureWarnings + heads.compactMap(\.givenWarning)
      + heads.compactMap(\.calibrationWarning) + labelWarnings
      + (labels == nil ? LabelSource.warnings(ofLocale: options.displayNamesLocale) : [])
  }

  private var otherWarnings: [String] {
    otherOutputs.isEmpty
      ? [] : ["outputs that are taken for no scores are left out: \(otherOutputs.joined(separator: ", "))"]
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
    return []
  }

  /// Whether the next answer may decide what the scores of all later ones are.
  var isUndecided: Bool { heads.contains(where: \.scores.isOpen) }

  /// The computations on scores, for people.
  var steps: [String] {
    var steps: [String] = []
    if heads.contains(where: { $0.scores.value == .logit }) {
      steps.append("probabilities = softmax of the logits, or 1 / (1 + exp(-value)) of a single one")
    }
    if heads.contains(where: { $0.scores.value == .byte }) { steps.append("probabilities = numbers / 255") }
    if heads.contains(where: \.isPair) {
      steps.append("the score of the first class is 1 - that of the second")
    }
    steps += heads.compactMap { $0.calibration?.description }
    if options.scoreThreshold == nil {
      steps += heads.compactMap { head in
        head.scoreThreshold.map {
          "score >= \($0), the minimum of the metadata" + (heads.count > 1 ? " for \(head.name)" : "")
        }
      }
    }
    return steps + options.classificationSteps
  }

  // MARK: Answers

  /// The scores of each output: as the model gives them, or as probabilities where it gives logits.
  ///
  /// Where nothing in the file says what they are, the first answer decides for the model: numbers of 0 to 1 are probabilities, others
  /// the model's own, which are reported as they are.
  ///
  /// - Throws: `invalidData` for numbers that the reading cannot have.
  func scores(of run: ModelRun) throws(ApusError) -> [[Float]] {
    var scores: [[Float]] = []
    for head in heads { scores.append(try self.scores(try run.values(of: head.output), of: head)) }
    return scores
  }

  /// The classes that each output names after a run, best first.
  ///
  /// - Throws: As ``scores(of:)``.
  func classifications(of run: ModelRun) throws(ApusError) -> [Classifications] {
    var answer: [Classifications] = []
    for (position, head) in heads.enumerated() {
      let values = try run.values(of: head.output)
      let scores = try self.scores(values, of: head)
      // Where probabilities of logits are so small that they round to 0, the logits still say which is the better one.
      let isOrdered = head.scores.value == .logit && head.calibration == nil && scores.count == values.count
      answer.append(best(calibrated(scores, of: head), by: isOrdered ? values : nil, of: head, at: position))
    }
    return answer
  }

  private func scores(_ values: [Float], of head: Head) throws(ApusError) -> [Float] {
    let reading = head.scores.assumption
    let form = try form(of: values, head)
    if let odd = values.first(where: { !$0.isFinite }) {
      throw AnswerCheck([reading]).refusal("an answer has a score of \(odd)", "scores")
    }
    if form == .logit || form == .raw && reading.source == .model,
      values.contains(where: { abs($0) > Self.largestLogit })
    {
      hadFeatures.set()
    }
    var scores = form == .byte ? values.map { $0 / 255 } : values
    if form == .byte, let odd = scores.first(where: { !(0...1).contains($0) }) {
      throw AnswerCheck([reading]).refusal("an answer has a score of \(odd * 255), not 0 to 255", "scores")
    }
    if form == .byte, values.span.hasFraction, !values.contains(where: { $0 > 1 }) {
      throw AnswerCheck([reading]).refusal(
        "an answer has scores with fractions and none above 1, as probabilities have, not 0 to 255", "scores")
    }
    if form == .logit {
      scores = values.count == 1 ? values.map { 1 / (1 + exp(-$0)) } : Self.softmax(values)
    } else if form == .probability {
      if let odd = Self.oddProbability(in: values) {
        throw AnswerCheck([reading]).refusal("an answer has a score of \(odd), not 0 to 1", "scores")
      }
      scores = values.map { max(0, min($0, 1)) }
    }
    guard head.isPair, scores.count == 1 else { return scores }
    // The first class has no number of its own.
    return form == .raw ? [.nan, scores[0]] : [1 - scores[0], scores[0]]
  }

  /// The form of an output's numbers. Where it is open, these decide it; one number with two labels stays the
  /// probability of the second.
  private func form(of values: [Float], _ head: Head) throws(ApusError) -> ScoreForm {
    // Once it is decided, numbers of 0 to 1 do not contradict that a model gives any, and others are refused by their value.
    guard head.scores.isOpen, !head.isPair, values.allSatisfy(\.isFinite) else { return head.scores.value }
    return try head.scores.settle(Self.oddProbability(in: values) == nil ? .probability : .raw)
  }

  /// A number that no probability is, however it is rounded; nil if there is none.
  private static func oddProbability(in values: [Float]) -> Float? {
    values.first { $0 < -tolerance || $0 > 1 + tolerance }
  }

  /// The form of the answers' scores: probabilities, or the model's own numbers.
  var form: ScoreForm { heads.contains(where: \.hasRawScores) ? .raw : .probability }

  /// Refuses to decide by numbers that are no probabilities, unless the caller says that they are meant.
  func checkDecision() throws(ApusError) {
    guard form == .raw,
      let reading = heads.first(where: { $0.scores.assumption.source != .given })?.scores.assumption
    else { return }
    throw ApusError(
      .invalidData,
      "a decision needs probabilities, but the scores are the model's own numbers (\(reading.reason)); --scores logit makes "
        + "probabilities of them, --scores raw compares them as they are")
  }

  /// Logits of more are no longer told apart in single precision: their softmax is 0 or 1.
  private static let largestLogit: Float = 88
  /// The maximum that rounding may add to a probability.
  private static let tolerance: Float = 0.01

  private static func softmax(_ logits: [Float]) -> [Float] {
    let greatest = logits.reduce(-Float.infinity) { max($0, $1) }
    let powers = logits.map { exp($0 - greatest) }
    let sum = powers.reduce(0, +)
    return powers.map { $0 / sum }
  }

  /// The form of an output's numbers: a layer's own numbers stay what they are, unless there are two labels
  /// for one of them, which then is the logit of the second.
  ///
  /// - Throws: `invalidArgument` for one number with two labels that is neither a probability nor a logit.
  private static func scores(
    of prepared: some DescribedModel, _ output: Int, given: ScoreForm?, isPair: Bool
  ) throws(ApusError) -> ScoreReading {
    let reading = prepared.scores(of: output, given: given, usual: .probability)
    guard given == nil else { return reading }
    func raw(_ source: AssumptionSource, _ reason: String) -> ScoreReading {
      ScoreReading(
        form: .raw,
        assumption: Assumption(
          "scores", ScoreForm.raw.rawValue, source, reason: reason, option: reading.assumption.option))
    }
    if reading.form == .logit {
      return isPair ? reading : raw(reading.assumption.source, reading.assumption.reason)
    }
    // A constant that cannot be read is an error elsewhere.
    let bounds = (try? ValueBounds(ofOutput: output, of: prepared.model)) ?? .unknown
    guard reading.assumption.source == .guess, bounds.isBeyondProbabilities else { return reading }
    guard !isPair else {
      throw ApusError(
        .invalidArgument,
        "output \(output) (\(prepared.outputs[output].name)) is one number for two labels, \(bounds), which is no probability of the second: "
          + "--scores logit decides by its sign, --scores probability where 0.5 does")
    }
    return raw(.model, "the last operators and the quantization allow \(bounds)")
  }

  /// A reading that the first answer may decide, unless something says what the numbers are.
  private static func decision(_ reading: ScoreReading) -> Decision<ScoreForm> {
    Decision(reading.form, reading.assumption, shownReason: "answers have numbers outside 0 to 1")
  }

  /// The scores of each output as answers show them: calibrated where the model's file says so.
  func calibrated(_ scores: [[Float]]) -> [[Float]] {
    zip(heads, scores).map { calibrated($1, of: $0) }
  }

  private func calibrated(_ scores: [Float], of head: Head) -> [Float] {
    guard let calibration = head.calibration else { return scores }
    return scores.enumerated().map { calibration.score($0.element, of: $0.offset) }
  }

  /// The classes that calibrated scores of each output name.
  func classifications(ofCalibrated scores: [[Float]]) -> [Classifications] {
    zip(heads, scores).enumerated().map { position, pair in
      best(pair.1, by: nil, of: pair.0, at: position)
    }
  }

  /// - Parameter order: The numbers that say which class is the better one; nil for the scores.
  private func best(_ scores: [Float], by order: [Float]?, of head: Head, at position: Int) -> Classifications
  {
    let threshold = options.scoreThreshold ?? head.scoreThreshold ?? -.infinity
    // NaN stands for no score.
    var best = BestValues<Int>(limit: options.maxResults ?? .max)
    for index in scores.indices where scores[index] >= threshold && head.selection.contains(index) {
      best.add(index, score: order?[index] ?? scores[index])
    }
    return Classifications(
      headIndex: position, headName: head.name,
      categories: best.sorted().map {
        head.labels?.category(index: $0, score: scores[$0]) ?? Category(index: $0, score: scores[$0])
      })
  }
}
