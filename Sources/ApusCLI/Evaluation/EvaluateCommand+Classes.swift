// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusVision

/// The best classes of a file, as results are kept.
struct ClassAnswer: Codable, Sendable {
  /// The best five, the best first.
  let classes: [Int]
  /// Their scores.
  let scores: [Float]

  init(_ categories: [Category]) {
    classes = categories.map(\.index)
    scores = categories.map(\.score)
  }
}

/// A classifier of any kind of files.
private struct EvaluatedClassifier {
  let labels: LabelMap?
  let classCount: Int
  var isUndecided: @Sendable () -> Bool = { false }
  var guesses: [Assumption] = []
  let warnings: @Sendable () -> [String]
  let answer: @Sendable (EvaluationItem) throws(ApusError) -> ClassAnswer

  /// The warning about a model with several outputs; empty for others.
  static func headWarning(_ count: Int) -> [String] {
    count > 1 ? ["the model has \(count) outputs; the accuracy is that of the first"] : []
  }
}

extension EvaluateCommand {
  private struct Report: Encodable {
    struct ClassEntry: Encodable {
      let index: Int
      let label: String?
      let files: Int
      let top1: EvaluationReport.Share
      let top5: EvaluationReport.Share
    }
    struct Worst: Encodable {
      let file: String
      let truth: EvaluationReport.Class
      let found: EvaluationReport.Class?
      let score: Float?
    }
    let task: EvaluationTask
    let data: String
    let model: String
    let files: Int
    let correct: Int
    let correctAmongFive: Int
    let top1: EvaluationReport.Share
    let top5: EvaluationReport.Share
    let classes: [ClassEntry]
    let confusions: [EvaluationReport.Confusion]
    let worst: [Worst]
    let guesses: [Assumption]
    let failures: [EvaluationFailure]
  }

  /// Measures top-1 and top-5.
  func evaluateClasses() throws {
    var files = EvaluationFiles(onlyCommon: common)
    let items = try files.classified(data, truth: truth)
    if classOffset != 0, !items.contains(where: { Int($0.truth) != nil }) {
      throw ApusError(
        .invalidArgument,
        "--class-offset \(classOffset) is for classes that are numbers, but the truth has names such as '\(items[0].truth)': leave it out"
      )
    }
    var classifier = try classifier(for: items, labels: detector.categories.labelMap)
    var reading: [String: String] = [:]
    if classifier.classCount == 1, classifier.labels == nil, let pair = try pairOfNames(for: items) {
      classifier = try self.classifier(for: items, labels: pair)
      reading["one score as"] = "two classes"
    }
    try detector.categories.check(classifier.labels)
    let names = try ClassNames(
      classNames, labels: classifier.labels, count: classifier.classCount, offset: classOffset)
    var known: [String: Int] = [:]
    var truths: [Int] = []
    for item in items {
      let index = try known[item.truth] ?? names.index(of: item.truth, place: item.place)
      known[item.truth] = index
      truths.append(index)
    }
    if let warning = names.backgroundWarning(ofTruths: known) { Output.writeError("warning: \(warning)") }
    let outcomes = try outcomes(
      for: items, reading: reading, isUndecided: classifier.isUndecided, warnings: classifier.warnings,
      answer: classifier.answer)
    var accuracy = ClassificationAccuracy()
    var failures: [EvaluationFailure] = []
    var wrong: [Report.Worst] = []
    func named(_ index: Int) -> EvaluationReport.Class { .init(index: index, label: names.name(of: index)) }
    for (place, outcome) in outcomes.enumerated() {
      switch outcome {
      case .failure(let message): failures.append(.init(file: items[place].name, error: message))
      case .answer(let answer):
        guard answer.classes.allSatisfy({ (0..<classifier.classCount).contains($0) }) else {
          throw ApusError(
            .invalidArgument,
            "'\(resume ?? "")' has a class of '\(items[place].name)' that the model does not have; name another file with --resume"
          )
        }
        accuracy.add(ranking: answer.classes, truth: truths[place])
        guard answer.classes.first != truths[place] else { continue }
        wrong.append(
          .init(
            file: items[place].name, truth: named(truths[place]), found: answer.classes.first.map(named),
            score: answer.scores.first))
      }
    }
    // The surest first; sorting by place too keeps the order of equal scores.
    let order = wrong.indices.sorted {
      (wrong[$1].score ?? -.infinity, $0) < (wrong[$0].score ?? -.infinity, $1)
    }
    let report = Report(
      task: task, data: data, model: model, files: accuracy.itemCount, correct: accuracy.firstCount,
      correctAmongFive: accuracy.amongFiveCount, top1: .init(accuracy.top1), top5: .init(accuracy.top5),
      classes: accuracy.classes.sorted { $0.key < $1.key }.map { index, counts in
        let total = Double(counts.total)
        return .init(
          index: index, label: names.name(of: index), files: counts.total,
          top1: .init(Double(counts.first) / total), top5: .init(Double(counts.amongFive) / total))
      },
      confusions: accuracy.confusions.mistakes.prefix(EvaluationReport.maximumEntries).map {
        .init(truth: named($0.truth), found: named($0.found), count: $0.count)
      },
      worst: order.prefix(EvaluationReport.maximumEntries).map { wrong[$0] }, guesses: classifier.guesses,
      failures: failures)
    if json { try Output.writeJSON(report) } else { write(report, names) }
    try end(failures: failures, files)
  }

  private func write(_ report: Report, _ names: ClassNames) {
    EvaluationReport.write(task: task, count: report.files, failures: report.failures.count)
    for (name, share, count) in [
      ("top-1", report.top1, report.correct), ("top-5", report.top5, report.correctAmongFive),
    ] {
      Output.write("\(name): \(EvaluationReport.percent(share.value)) (\(count) of \(report.files))")
    }
    EvaluationReport.section(
      "confusions", ["truth", "found", "files"],
      report.confusions.map {
        [names.text(of: $0.truth.index), names.text(of: $0.found.index), "\($0.count)"]
      },
      right: [2])
    EvaluationReport.section(
      "wrong files, the surest first", ["file", "truth", "found", "score"],
      report.worst.map { worst in
        [
          worst.file, names.text(of: worst.truth.index),
          worst.found.map { names.text(of: $0.index) } ?? "nothing",
          decimal(worst.score.map(Double.init), 4),
        ]
      }, right: [3])
    EvaluationReport.write(guesses: report.guesses)
  }

  // MARK: Kinds of files

  private func classifier(for items: [EvaluationItem], labels: LabelMap?) throws -> EvaluatedClassifier {
    switch try kind(of: items) {
    case .picture: try pictureClassifier(count: items.count, labels: labels)
    case .tensor: try tensorClassifier(items, labels: labels)
    case .sound: try soundClassifier(count: items.count, labels: labels)
    }
  }

  /// The minimum score of a class. That of a model's metadata, which decides what people are shown, does not count.
  private var scoreThreshold: Float { detector.scoreThreshold ?? -.infinity }

  /// The two classes of a model with one score, which is that of the second: two names of `--class-names`, or the numbers 0 and 1 if the
  /// truth has no other; nil if nothing says that there are two.
  private func pairOfNames(for items: [EvaluationItem]) throws -> LabelMap? {
    if let classNames {
      let names = try LabelMap(contentsOfFile: classNames)
      return names.rowCount == 2 ? names : nil
    }
    let truths = Set(items.map { item in Int(item.truth).map { "\($0 &+ classOffset)" } ?? item.truth })
    return truths.contains("1") && truths.isSubset(of: ["0", "1"]) ? LabelMap(["0", "1"]) : nil
  }

  private func pictureClassifier(count: Int, labels: LabelMap?) throws -> EvaluatedClassifier {
    var options = ImageClassifier.Options(baseOptions: try input.baseOptions(pictures: count))
    options.scores = detector.scores.scores
    options.resultOptions = detector.categories.resultOptions
    options.maxResults = 5
    options.scoreThreshold = scoreThreshold
    let classifier = try ImageClassifier(
      model: Model(contentsOfFile: model), labels: labels, options: options)
    let (read, reduction) = (pictureReader(), input.reduction(for: classifier))
    let heads = EvaluatedClassifier.headWarning(classifier.assumptions.outputs.count)
    return EvaluatedClassifier(
      labels: classifier.labels, classCount: classifier.classCount, isUndecided: { classifier.isUndecided },
      guesses: classifier.assumptions.readings.guesses,
      warnings: { classifier.assumptions.warnings + heads + read.warnings },
      answer: { item throws(ApusError) in
        try read(item.path, reduction) { image throws(ApusError) in
          ClassAnswer(try classifier.classify(image).categories)
        }
      })
  }

  private func soundClassifier(count: Int, labels: LabelMap?) throws -> EvaluatedClassifier {
    var options = AudioClassifier.Options()
    options.resultOptions = detector.categories.resultOptions
    options.maxResults = 5
    options.scoreThreshold = scoreThreshold
    options.scores = detector.scores.scores
    hearing.apply(to: &options)
    options.interpreter = try input.engine.interpreterOptions
    input.limits.apply(to: &options.interpreter, isShared: count > 1)
    let classifier = try AudioClassifier(
      model: Model(contentsOfFile: model), labels: labels, options: options)
    let time = input.limits.time
    var notes = EvaluatedClassifier.headWarning(classifier.headCount)
    if let rate = classifier.readings.first(where: { $0.subject == "sample rate" }), rate.source == .guess {
      notes.append("the model's file does not say its sample rate: \(rate.value) is a guess, --rate decides")
    }
    return EvaluatedClassifier(
      labels: classifier.labels, classCount: classifier.classCount, isUndecided: { classifier.isUndecided },
      guesses: classifier.readings.guesses, warnings: { [notes] in classifier.warnings + notes },
      answer: { item throws(ApusError) in
        let checkTime = time.watch("hearing it", isShared: count > 1)
        return ClassAnswer(
          try classifier.classify(AudioClip(contentsOfFile: item.path), checkTime: checkTime).categories)
      })
  }

  private func tensorClassifier(_ items: [EvaluationItem], labels: LabelMap?) throws -> EvaluatedClassifier {
    let file = try Model(contentsOfFile: model)
    let tensors = try tensorModel(file, count: items.count)
    var options = detector.categories.resultOptions
    options.maxResults = 5
    options.scoreThreshold = scoreThreshold
    let classifier = try TensorClassifier(
      file, output: tensors.outputs[0], labels: labels, scores: detector.scores.scores,
      options: options)
    let type = TensorFile.RawType(try elementType, for: tensors.input)
    let notes = EvaluatedClassifier.headWarning(tensors.outputs.count) + type.warnings(items)
    return EvaluatedClassifier(
      labels: classifier.labels, classCount: classifier.classCount, isUndecided: { classifier.isUndecided },
      guesses: classifier.readings.guesses, warnings: { classifier.warnings + notes },
      answer: { item throws(ApusError) in
        let file = try TensorFile(item.path, type)
        try file.checkShape(for: tensors.input)
        return ClassAnswer(try tensors.run(file.elements(for: tensors.input).bytes[...], classifier.classify))
      })
  }

  /// The model that takes raw tensors.
  func tensorModel(_ file: Model, count: Int) throws -> TensorModel {
    var options = try input.engine.interpreterOptions
    input.limits.apply(to: &options, isShared: count > 1)
    let tensors = try TensorModel(file, options: options, shape: tensorShape)
    guard !tensors.outputs.isEmpty else { throw ApusError(.invalidArgument, "the model has no outputs") }
    return tensors
  }
}

extension EvaluationTask: Encodable {}
