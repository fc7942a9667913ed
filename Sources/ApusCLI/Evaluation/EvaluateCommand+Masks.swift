// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusImages
import ApusTesting
import ApusVision

/// How many pixels of each class of a picture were taken for each class, as results are kept.
struct MaskAnswer: Codable, Sendable {
  /// The class of the truth, the class that was found and the number of pixels, one after the other.
  let counts: [Int]

  init(_ counts: ConfusionCounts) {
    self.counts = counts.entries.flatMap { [$0.truth, $0.found, $0.count] }
  }

  /// The counts; nil for a list of another length.
  var confusions: ConfusionCounts? {
    guard counts.count.isMultiple(of: 3) else { return nil }
    var result = ConfusionCounts()
    for start in stride(from: 0, to: counts.count, by: 3) {
      result.add(truth: counts[start], found: counts[start + 1], count: counts[start + 2])
    }
    return result
  }
}

extension EvaluateCommand {
  private struct Report: Encodable {
    struct ClassEntry: Encodable {
      let index: Int
      let label: String?
      let pixels: Int
      let iou: EvaluationReport.Share
    }
    struct File: Encodable {
      let file: String
      let miou: EvaluationReport.Share
      let accuracy: EvaluationReport.Share
    }
    let task: EvaluationTask
    let data: String
    let model: String
    let files: Int
    let pixels: Int
    let miou: EvaluationReport.Share
    let pixelAccuracy: EvaluationReport.Share
    let classes: [ClassEntry]
    let confusions: [EvaluationReport.Confusion]
    let worst: [File]
    let guesses: [Assumption]
    let failures: [EvaluationFailure]
  }

  /// Measures the mean intersection over union.
  func evaluateMasks() throws {
    var files = EvaluationFiles(onlyCommon: common)
    let items = try files.masked(data, truth: truth)
    if let other = items.first(where: { EvaluationItem.Kind(name: $0.name) != .picture }) {
      throw ApusError(.invalidArgument, "\(other.place): '\(other.name)' is no picture, which segment takes")
    }
    var options = ImageSegmenter.Options(baseOptions: try input.baseOptions(pictures: items.count))
    options.scores = detector.scores.scores
    options.outputIndex = mask.outputIndex
    let segmenter = try ImageSegmenter(
      model: Model(contentsOfFile: model), labels: detector.categories.labelMap, options: options)
    let classCount = segmenter.classCount
    let ignored = ignore < 0 ? nil : ignore
    let (read, reduction, limits) = (pictureReader(), input.reduction(for: segmenter), size.limits)
    let turned = TurnedPictures()
    let outcomes = try outcomes(
      for: items, warnings: { segmenter.assumptions.warnings + read.warnings + turned.warnings },
      answer: { item throws(ApusError) in
        let path = item.mask ?? ""
        let mask = try Self.mask(path, limits, isBinary: classCount == 2 && ignored == nil)
        return try read(item.path, reduction) { image throws(ApusError) in
          let found = try segmenter.segment(image)
          guard (found.imageWidth, found.imageHeight) == (mask.width, mask.height) else {
            throw ApusError(
              .invalidData,
              "the picture has \(found.imageWidth) × \(found.imageHeight) pixels, but the mask '\(path)' has \(mask.width) × \(mask.height)"
                + TurnedPictures.hint(image.orientation))
          }
          turned.add(image, item.name)
          do throws(ApusError) {
            return MaskAnswer(
              try SegmentationAccuracy.counts(
                mask.indices, found.categoryMask, classCount: classCount, ignoredClass: ignored))
          } catch {
            throw ApusError(error.code, "the mask '\(path)': \(error.message)")
          }
        }
      })
    try report(
      outcomes, of: items, files, SegmentationAccuracy(classCount: classCount, ignoredClass: ignored),
      guesses: segmenter.assumptions.readings.guesses
    ) {
      segmenter.labels?[$0]
    }
  }

  /// Reads the class of each pixel.
  ///
  /// - Parameter isBinary: Whether there are two classes and every pixel has one of them, so that black and white, 0 and 255, are theirs.
  private static func mask(
    _ path: String, _ limits: ImageLimits, isBinary: Bool
  ) throws(ApusError) -> ClassMask {
    let mask = try mask(path, limits)
    guard isBinary, mask.indices.allSatisfy({ $0 == 0 || $0 == 255 }) else { return mask }
    return try ClassMask(
      width: mask.width, height: mask.height, indices: mask.indices.map { $0 == 0 ? 0 : 1 })
  }

  private static func mask(_ path: String, _ limits: ImageLimits) throws(ApusError) -> ClassMask {
    guard path.lowercased().hasSuffix(".npy") else {
      return try ClassMask(contentsOfFile: path, limits: limits)
    }
    let bytes = try readWholeFile(at: path, limit: limits.maximumFileSize)
    do throws(ApusError) {
      let array = try NumPyArray(file: bytes)
      guard array.shape.count == 2 else {
        throw ApusError(.invalidData, "its shape is \(TensorShape(array.shape)), not rows and columns")
      }
      var indices: [UInt16] = []
      for number in try array.numbers() {
        guard let index = UInt16(exactly: number) else {
          throw ApusError(.invalidData, "it has the number \(number), which is no class of 0 to 65535")
        }
        indices.append(index)
      }
      return try ClassMask(width: array.shape[1], height: array.shape[0], indices: indices)
    } catch {
      throw ApusError(error.code, "the mask '\(path)': \(error.message)")
    }
  }

  private func report(
    _ outcomes: [EvaluationRunner<MaskAnswer>.Outcome], of items: [EvaluationItem],
    _ files: EvaluationFiles, _ empty: SegmentationAccuracy, guesses: [Assumption], name: (Int) -> String?
  ) throws {
    var accuracy = empty
    var failures: [EvaluationFailure] = []
    var found: [Report.File] = []
    for (place, outcome) in outcomes.enumerated() {
      let item = items[place]
      switch outcome {
      case .failure(let message): failures.append(.init(file: item.name, error: message))
      case .answer(let answer):
        guard let counts = answer.confusions else {
          throw ApusError(
            .invalidData, "the results have a damaged answer about '\(item.name)'; remove the file")
        }
        var alone = empty
        try alone.add(counts)
        try accuracy.add(counts)
        found.append(
          .init(
            file: item.name, miou: .init(alone.meanIntersectionOverUnion),
            accuracy: .init(alone.pixelAccuracy)))
      }
    }
    if accuracy.pixelCount > 0, accuracy.truthCount(of: 0) == accuracy.pixelCount {
      Output.writeError(
        "warning: every pixel that counts is of class 0"
          + (ignore == 255 ? "; where 255 stands for class 1, say --ignore -1" : ""))
    }
    func named(_ index: Int) -> EvaluationReport.Class { .init(index: index, label: name(index)) }
    let order = found.indices.sorted { (found[$0].miou.value ?? 2, $0) < (found[$1].miou.value ?? 2, $1) }
    let report = Report(
      task: task, data: data, model: model, files: found.count, pixels: accuracy.pixelCount,
      miou: .init(accuracy.meanIntersectionOverUnion), pixelAccuracy: .init(accuracy.pixelAccuracy),
      classes: accuracy.classes.map {
        .init(
          index: $0, label: name($0), pixels: accuracy.truthCount(of: $0),
          iou: .init(accuracy.intersectionOverUnion(of: $0)))
      },
      confusions: accuracy.confusions.mistakes.prefix(EvaluationReport.maximumEntries).map {
        .init(truth: named($0.truth), found: named($0.found), count: $0.count)
      },
      worst: order.prefix(EvaluationReport.maximumEntries).map { found[$0] }, guesses: guesses,
      failures: failures)
    if json { try Output.writeJSON(report) } else { write(report, name) }
    try end(failures: failures, files)
  }

  private func write(_ report: Report, _ name: (Int) -> String?) {
    func text(_ index: Int) -> String { name(index) ?? "class \(index)" }
    EvaluationReport.write(task: task, count: report.files, failures: report.failures.count)
    Output.write("mIoU: \(EvaluationReport.percent(report.miou.value)) (\(report.classes.count) classes)")
    Output.write("pixels: \(EvaluationReport.percent(report.pixelAccuracy.value)) right of \(report.pixels)")
    let classes = report.classes.sorted { ($0.iou.value ?? 0, $0.index) < ($1.iou.value ?? 0, $1.index) }
    EvaluationReport.section(
      "classes, the worst first", ["class", "pixels", "IoU"],
      classes.map { [text($0.index), "\($0.pixels)", EvaluationReport.percent($0.iou.value)] }, right: [1, 2])
    EvaluationReport.section(
      "confusions", ["truth", "found", "pixels"],
      report.confusions.map { [text($0.truth.index), text($0.found.index), "\($0.count)"] }, right: [2])
    EvaluationReport.section(
      "files, the worst first", ["file", "mIoU", "pixels right"],
      report.worst.map {
        [$0.file, EvaluationReport.percent($0.miou.value), EvaluationReport.percent($0.accuracy.value)]
      }, right: [1, 2])
    EvaluationReport.write(guesses: report.guesses)
  }
}
