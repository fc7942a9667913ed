// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusVision

/// How unusual a file is, as results are kept.
struct AnomalyAnswer: Codable, Sendable {
  /// The mean of all windows.
  let score: Double
  /// How many windows the file has.
  let windows: Int
}

extension EvaluateCommand {
  private struct Report: Encodable {
    struct File: Encodable {
      let file: String
      let `class`: String
      let isAnomaly: Bool
      let score: Double
      let windows: Int
    }
    let task: EvaluationTask
    let data: String
    let model: String
    let files: Int
    let normal: Int
    let anomalies: Int
    let windows: Int
    let auc: EvaluationReport.Share
    let worst: [File]
    let guesses: [Assumption]
    let failures: [EvaluationFailure]
  }

  /// The answers about all files, and the guesses about the model.
  private typealias Anomalies = (outcomes: [EvaluationRunner<AnomalyAnswer>.Outcome], guesses: [Assumption])

  /// The names for the class of normal files, in lower case.
  private static let normalNames: Set = ["normal", "good", "ok", "0"]

  /// Measures the area under the curve.
  func evaluateAnomalies() throws {
    var files = EvaluationFiles(onlyCommon: common)
    let items = try files.classified(data, truth: truth)
    let isAnomaly = items.map { !Self.normalNames.contains($0.truth.lowercased()) }
    guard isAnomaly.contains(true), isAnomaly.contains(false) else {
      let names = Set(items.map(\.truth)).sorted().prefix(4).map { "'\($0)'" }.joined(separator: ", ")
      throw ApusError(
        .invalidArgument,
        "the classes are \(names), so that all files are \(isAnomaly[0] ? "anomalies" : "normal"); normal ones must be called normal, good, ok "
          + "or 0, and anomalies otherwise")
    }
    let (outcomes, guesses) =
      switch try kind(of: items) {
      case .picture: try pictureAnomalies(items)
      case .tensor: try tensorAnomalies(items)
      case .sound:
        throw ApusError(
          .invalidArgument,
          "'\(items[0].name)' is a sound; anomaly takes pictures and raw tensors (.npy, .bin)")
      }
    var accuracy = AnomalyAccuracy()
    var failures: [EvaluationFailure] = []
    var found: [Report.File] = []
    for (place, outcome) in outcomes.enumerated() {
      let item = items[place]
      switch outcome {
      case .failure(let message): failures.append(.init(file: item.name, error: message))
      case .answer(let answer):
        // Results come from a file.
        guard answer.score.isFinite, (1...1 << 32).contains(answer.windows) else {
          throw ApusError(
            .invalidData, "the results have a damaged answer about '\(item.name)'; remove the file")
        }
        try accuracy.add(score: answer.score, isAnomaly: isAnomaly[place])
        found.append(
          .init(
            file: item.name, class: item.truth, isAnomaly: isAnomaly[place], score: answer.score,
            windows: answer.windows))
      }
    }
    let report = Report(
      task: task, data: data, model: model, files: found.count, normal: accuracy.normalCount,
      anomalies: accuracy.anomalyCount, windows: found.reduce(0) { $0 + $1.windows },
      auc: .init(accuracy.areaUnderCurve), worst: Self.worst(found), guesses: guesses,
      failures: failures)
    if json { try Output.writeJSON(report) } else { write(report) }
    try end(failures: failures, files)
  }

  /// Files whose score is on the wrong side of many others: in turn, the normal file with the highest score and the anomaly with the lowest, as long
  /// as they are in the wrong order.
  private static func worst(_ files: [Report.File]) -> [Report.File] {
    let order = files.indices.sorted { (files[$0].score, $0) < (files[$1].score, $1) }
    let low = order.filter { files[$0].isAnomaly }
    let high = order.reversed().filter { !files[$0].isAnomaly }
    var worst: [Report.File] = []
    for (anomaly, normal) in zip(low, high) where files[anomaly].score <= files[normal].score {
      worst += [files[normal], files[anomaly]]
      if worst.count >= EvaluationReport.maximumEntries { break }
    }
    return worst
  }

  private func write(_ report: Report) {
    EvaluationReport.write(task: task, count: report.files, failures: report.failures.count)
    Output.write("normal: \(report.normal), anomalies: \(report.anomalies), windows: \(report.windows)")
    Output.write("AUC: \(decimal(report.auc.value, 4))")
    EvaluationReport.section(
      "worst files: normal with a high score, anomalies with a low one", ["file", "class", "score"],
      report.worst.map { [$0.file, $0.class, "\(Float($0.score))"] }, right: [2])
    EvaluationReport.write(guesses: report.guesses)
  }

  private func pictureAnomalies(_ items: [EvaluationItem]) throws -> Anomalies {
    let file = try Model(contentsOfFile: model)
    let reconstruction = try PictureReconstruction(
      model: file, options: input.baseOptions(pictures: items.count))
    let (read, reduction) = (pictureReader(), input.reduced ? reconstruction.imageReduction : .none)
    let outcomes = try outcomes(
      for: items, warnings: { reconstruction.warnings + read.warnings },
      answer: { item throws(ApusError) in
        try read(item.path, reduction) { image throws(ApusError) in
          AnomalyAnswer(score: try reconstruction.error(of: image), windows: 1)
        }
      })
    return (outcomes, reconstruction.readings.guesses)
  }

  private func tensorAnomalies(_ items: [EvaluationItem]) throws -> Anomalies {
    let tensors = try tensorModel(Model(contentsOfFile: model), count: items.count)
    let (input, output) = (tensors.input, tensors.outputs[0])
    let (window, resultCount) = (input.shape.elementCount, output.shape.elementCount)
    guard tensors.outputs.count == 1, [1, window].contains(resultCount) else {
      throw ApusError(
        .invalidArgument,
        "the model is neither an autoencoder, whose one output has as many numbers as its input \(input), nor one with a single score; its outputs "
          + "are \(tensors.outputs.map(\.description).joined(separator: ", "))")
    }
    let (type, step) = (TensorFile.RawType(try elementType, for: input), step ?? window)
    let time = self.input.limits.time
    let outcomes = try outcomes(
      for: items, warnings: { type.warnings(items) },
      answer: { item throws(ApusError) in
        let (bytes, reals) = try TensorFile(item.path, type).elements(for: input)
        guard reals.count >= window, !reals.isEmpty else {
          throw ApusError(
            .invalidArgument,
            "the file has \(reals.count) elements, fewer than the \(window) of the input \(input)")
        }
        let width = bytes.count / reals.count
        let checkTime = time.watch("looking at its windows", isShared: items.count > 1)
        var (sum, windows) = (0.0, 0)
        for start in stride(from: 0, through: reals.count - window, by: step) {
          try checkTime()
          let numbers = try tensors.numbers(for: bytes[start * width..<(start + window) * width])
          sum +=
            resultCount == 1 && window > 1
            ? Double(numbers[0])
            : try PictureReconstruction.meanSquaredError(reals[start..<start + window], numbers)
          windows += 1
        }
        guard sum.isFinite else { throw ApusError(.invalidData, "a score is not a finite number") }
        return AnomalyAnswer(score: sum / Double(windows), windows: windows)
      })
    return (outcomes, [])
  }
}
