// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusConsole
import ApusImages
import ApusVision

/// The objects that were found in a picture, as results are kept.
struct ObjectAnswer: Codable, Sendable {
  /// The picture's width and height in pixels.
  let size: [Int]
  /// The class of each, as the model counts it.
  let classes: [Int]
  /// The score of each.
  let scores: [Float]
  /// The left edge, the top edge, the width and the height of each in pixels, one after the other.
  let boxes: [Float]

  init(_ result: DetectionResult) {
    size = [result.imageWidth, result.imageHeight]
    classes = result.detections.map(\.index)
    scores = result.detections.map(\.score)
    boxes = result.detections.flatMap { [$0.rect.x, $0.rect.y, $0.rect.width, $0.rect.height] }
  }

  /// The findings of classes that have a category; nil for lists whose lengths do not fit.
  func findings(_ categories: [Int: Int]) -> [DetectionAccuracy.Finding]? {
    guard scores.count == classes.count, boxes.count == 4 * classes.count else { return nil }
    return classes.indices.compactMap { place in
      guard let category = categories[classes[place]] else { return nil }
      let rect = PixelRect(
        x: boxes[4 * place], y: boxes[4 * place + 1], width: boxes[4 * place + 2],
        height: boxes[4 * place + 3])
      return .init(category: category, box: .init(rect), score: Double(scores[place]))
    }
  }
}

extension EvaluateCommand {
  /// A picture with its number in the truth.
  private typealias Picture = (item: EvaluationItem, image: COCOTruth.Image)

  private struct Report: Encodable {
    struct Counts: Encodable {
      let scoreThreshold: Float
      let found: Int
      let confused: Int
      let missed: Int
      let extra: Int
    }
    struct CategoryEntry: Encodable {
      let id: Int
      let name: String
      let objects: Int
      let ap: EvaluationReport.Share
      let ap50: EvaluationReport.Share
    }
    struct File: Encodable {
      let file: String
      let confused: Int
      let missed: Int
      let extra: Int
    }
    let task: EvaluationTask
    let data: String
    let model: String
    let files: Int
    let objects: Int
    let ap, ap50, ap75, apSmall, apMedium, apLarge: EvaluationReport.Share
    let ar1, ar10, ar100, arSmall, arMedium, arLarge: EvaluationReport.Share
    let counts: Counts
    let categories: [CategoryEntry]
    let confusions: [EvaluationReport.Confusion]
    let worst: [File]
    let guesses: [Assumption]
    let failures: [EvaluationFailure]
  }

  /// The least score of boxes that count for average precision.
  private static let minimumScore: Float = 0.001
  /// The most boxes of a picture.
  private static let maximumBoxes = 300

  /// Measures average precision and recall.
  func evaluateObjects() throws {
    guard let truthFile = truth else { throw ApusError(.invalidArgument, "--truth is missing") }
    let truth = try COCOTruth(contentsOfFile: truthFile)
    if truth.hasObjectZero {
      Output.writeError(
        "warning: an annotation of '\(oneLine(truthFile))' has the id 0, which pycocotools never counts as found, and so neither is it here; number them from 1"
      )
    }
    if truth.strayCount > 0 {
      Output.writeError(
        "warning: \(truth.strayCount) of the annotations of '\(oneLine(truthFile))' are left out: their pictures are not among the images"
      )
    }
    var files = EvaluationFiles(onlyCommon: common)
    let pictures = try matched(files.pictures(data), with: truth, truthFile, files)
    var options = detector
    options.scoreThreshold = detector.scoreThreshold ?? Self.minimumScore
    options.maxResults = detector.maxResults ?? Self.maximumBoxes
    let objects = try options.detector(model, input, pictures: pictures.count)
    let categories = try categories(of: objects, truth, truthFile)
    if let warning = truth.boxWarning { Output.writeError("warning: \(warning)") }
    let (read, reduction) = (pictureReader(), input.reduction(for: objects))
    let turned = TurnedPictures()
    let images = Dictionary(pictures.map { ($0.item.name, $0.image) }) { first, _ in first }
    let outcomes = try outcomes(
      for: pictures.map(\.item), isUndecided: { objects.isUndecided },
      warnings: { objects.assumptions.warnings + read.warnings + turned.warnings },
      answer: { item throws(ApusError) in
        try read(item.path, reduction) { image throws(ApusError) in
          let result = try objects.detect(image)
          let answer = ObjectAnswer(result)
          if let stated = images[item.name], let difference = Self.difference(of: answer.size, from: stated) {
            throw ApusError(.invalidData, difference + TurnedPictures.hint(image.orientation))
          }
          turned.add(image, item.name, isSizeKnown: images[item.name]?.width != nil)
          return answer
        }
      })
    try report(
      outcomes, of: pictures, files, truth, categories,
      threshold: max(objects.usualScoreThreshold, detector.scoreThreshold ?? -.infinity),
      isExclusive: objects.isThresholdExclusive, guesses: objects.assumptions.readings.guesses)
  }

  /// Says that a picture has another width and height than the truth; nil if it has the same, or the truth has none.
  private static func difference(of size: [Int], from image: COCOTruth.Image) -> String? {
    guard let width = image.width, let height = image.height, size != [width, height] else { return nil }
    let own = size.map { "\($0)" }.joined(separator: " × ")
    return "the picture has \(own) pixels, but the truth's boxes are for \(width) × \(height)"
  }

  /// The pictures with what the truth says of them, by their names, or else the last parts of their names.
  private func matched(
    _ items: [EvaluationItem], with truth: COCOTruth, _ truthFile: String, _ files: EvaluationFiles
  ) throws(ApusError) -> [Picture] {
    // Truths that were made with Windows have its separators.
    func last(_ name: String) -> String {
      name.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? name
    }
    let byName = Dictionary(truth.images.map { ($0.fileName, $0) }) { first, _ in first }
    // Names that are equal belong together, and last parts stand only for what is left on both sides.
    let exact = Set(items.map(\.name))
    let byLast = Dictionary(grouping: truth.images.filter { !exact.contains($0.fileName) }) {
      last($0.fileName)
    }
    var places: [Int: String] = [:]
    var pictures: [Picture] = []
    var without: [String] = []
    for item in items {
      let alike = byLast[last(item.name)] ?? []
      guard let image = byName[item.name] ?? (alike.count == 1 ? alike[0] : nil) else {
        without.append(item.name)
        continue
      }
      if let other = places.updateValue(item.name, forKey: image.id) {
        throw ApusError(
          .invalidArgument,
          "'\(other)' and '\(item.name)' are both '\(image.fileName)', the image \(image.id) of '\(truthFile)'"
        )
      }
      pictures.append((item, image))
    }
    try files.report(without, "picture", "no image in '\(truthFile)'")
    try files.report(
      truth.images.filter { places[$0.id] == nil }.map(\.fileName), "image",
      "no picture in '\(data)'")
    guard !pictures.isEmpty else {
      throw ApusError(.invalidArgument, "no picture in '\(data)' is an image of '\(truthFile)'")
    }
    return pictures
  }

  /// The category of each class of the model, by their names.
  private func categories(
    of objects: ObjectDetector, _ truth: COCOTruth, _ truthFile: String
  ) throws -> [Int: Int] {
    let given = try classNames.map { path throws(ApusError) in
      var names = try LabelMap(contentsOfFile: path)
      if let offset = detector.categories.labelOffset {
        names.offset = offset
        return names
      }
      // As labels are: a row for the background has a class where there are as many rows as classes.
      if let count = objects.classCount {
        return ClassNames.checked(names.aligned(toClassCount: count), count: count)
      }
      if names.offset == 1, let first = names.name(inRow: 1) {
        Output.writeError(
          "warning: class 0 is taken for '\(oneLine(first))', a guess: nothing in the model says whether its classes count the background of "
            + "'\(path)'; --label-offset 0 takes class 1 for it")
      }
      return names
    }
    guard let names = given ?? objects.labels else {
      throw ApusError(
        .invalidArgument,
        "the model has no labels, so that its classes are none of the categories of '\(truthFile)'; give --labels"
      )
    }
    var byName: [String: Int] = [:]
    for category in truth.categories { byName[ClassNames.plain(category.name)] = category.id }
    for category in truth.categories { byName[category.name] = category.id }
    var categories: [Int: Int] = [:]
    for index in 0..<names.rowCount {
      guard let name = names[index] else { continue }
      categories[index] = byName[name] ?? byName[ClassNames.plain(name)]
    }
    guard !categories.isEmpty else {
      let labels = (0..<names.rowCount).lazy.compactMap { names[$0] }.prefix(3).map { "'\($0)'" }
      throw ApusError(
        .invalidArgument,
        "no label of the model is a category of '\(truthFile)': labels are \(labels.joined(separator: ", ")), …, categories "
          + truth.categories.prefix(3).map { "'\($0.name)'" }.joined(separator: ", ")
          + ", …; --class-names names a file with the categories' names in the model's order")
    }
    let known = Set(categories.values)
    let used = truth.usedCategories
    let missing = truth.categories.filter { !known.contains($0.id) && used.contains($0.id) }
    if !missing.isEmpty {
      let listed = missing.prefix(5).map { "'\(oneLine($0.name))'" }.joined(separator: ", ")
      Output.writeError(
        "warning: the model has no class for \(missing.count) of \(truth.categories.count) categories, whose objects count as missed: "
          + listed + (missing.count > 5 ? ", …" : ""))
    }
    return categories
  }

  private func report(
    _ outcomes: [EvaluationRunner<ObjectAnswer>.Outcome], of pictures: [Picture],
    _ files: EvaluationFiles, _ truth: COCOTruth,
    _ categories: [Int: Int], threshold: Float, isExclusive: Bool, guesses: [Assumption]
  ) throws {
    let least = Double(isExclusive ? threshold.nextUp : threshold)
    var accuracy = DetectionAccuracy(categories: truth.categories.map(\.id))
    var counts = DetectionCounts()
    var failures: [EvaluationFailure] = []
    var worst: [Report.File] = []
    for (outcome, picture) in zip(outcomes, pictures) {
      switch outcome {
      case .failure(let message): failures.append(.init(file: picture.item.name, error: message))
      case .answer(let answer):
        guard let findings = answer.findings(categories) else {
          throw ApusError(
            .invalidData, "the results have a damaged answer about '\(picture.item.name)'; remove the file")
        }
        // An answer that was kept is of a truth that may have had other sizes.
        if let difference = Self.difference(of: answer.size, from: picture.image) {
          // Nothing has said so yet: the picture was not read again.
          Output.writeError("error: \(oneLine(picture.item.name)): \(difference)")
          failures.append(.init(file: picture.item.name, error: difference))
          continue
        }
        let truths = truth.truths(ofImage: picture.image.id)
        try accuracy.add(image: picture.image.id, truths: truths, findings: findings)
        let own = DetectionCounts(truths: truths, findings: findings, threshold: least)
        counts = counts + own
        guard own.mistakeCount > 0 else { continue }
        worst.append(
          .init(file: picture.item.name, confused: own.confused, missed: own.missed, extra: own.extra))
      }
    }
    func mistakes(_ file: Report.File) -> Int { file.confused + file.missed + file.extra }
    let order = worst.indices.sorted { (mistakes(worst[$1]), $0) < (mistakes(worst[$0]), $1) }
    let names = Dictionary(truth.categories.map { ($0.id, $0.name) }) { first, _ in first }
    func named(_ id: Int) -> EvaluationReport.Class { .init(index: id, label: names[id]) }
    let summary = accuracy.summary
    let report = Report(
      task: task, data: data, model: model, files: accuracy.imageCount,
      objects: accuracy.categories.reduce(0) { $0 + accuracy.truthCount(ofCategory: $1) },
      ap: .init(summary.ap), ap50: .init(summary.ap50), ap75: .init(summary.ap75),
      apSmall: .init(summary.apSmall),
      apMedium: .init(summary.apMedium), apLarge: .init(summary.apLarge), ar1: .init(summary.ar1),
      ar10: .init(summary.ar10), ar100: .init(summary.ar100), arSmall: .init(summary.arSmall),
      arMedium: .init(summary.arMedium), arLarge: .init(summary.arLarge),
      counts: .init(
        scoreThreshold: threshold, found: counts.found, confused: counts.confused,
        missed: counts.missed,
        extra: counts.extra),
      categories: accuracy.categories.compactMap { id in
        let objects = accuracy.truthCount(ofCategory: id)
        guard objects > 0 else { return nil }
        let own = accuracy.summary(ofCategory: id)
        return .init(
          id: id, name: names[id] ?? "", objects: objects, ap: .init(own.ap), ap50: .init(own.ap50))
      },
      confusions: counts.confusions.mistakes.prefix(EvaluationReport.maximumEntries).map {
        .init(truth: named($0.truth), found: named($0.found), count: $0.count)
      },
      worst: order.prefix(EvaluationReport.maximumEntries).map { worst[$0] }, guesses: guesses,
      failures: failures)
    if json { try Output.writeJSON(report) } else { write(report, summary, isExclusive) }
    try end(failures: failures, files)
  }

  private func write(_ report: Report, _ summary: DetectionSummary, _ isExclusive: Bool) {
    EvaluationReport.write(task: task, count: report.files, failures: report.failures.count)
    let texts = [
      "mAP@[.5:.95]", "mAP@.5", "mAP@.75", "mAP small", "mAP medium", "mAP large", "AR, 1 box",
      "AR, 10 boxes",
      "AR, 100 boxes", "AR small", "AR medium", "AR large",
    ]
    Output.write(table(zip(texts, summary.values).map { [$0, decimal($1, 4)] }, rightAligned: [1]))
    let counts = report.counts
    let threshold = decimal(Double(counts.scoreThreshold), 2)
    let scores = isExclusive ? "above a score of \(threshold)" : "from a score of \(threshold) on"
    Output.write(
      "\(scores): \(counts.found) of \(report.objects) objects found, \(counts.confused) taken for another, "
        + "\(counts.missed) missed, \(counts.extra) boxes without an object")
    let categories = report.categories.sorted { ($0.ap.value ?? 0, $0.id) < ($1.ap.value ?? 0, $1.id) }
    EvaluationReport.section(
      "categories, the worst first", ["category", "objects", "AP", "AP@.5"],
      categories.map { [$0.name, "\($0.objects)", decimal($0.ap.value, 4), decimal($0.ap50.value, 4)] },
      right: [1, 2, 3])
    EvaluationReport.section(
      "confusions", ["truth", "found", "objects"],
      report.confusions.map { [$0.truth.label ?? "", $0.found.label ?? "", "\($0.count)"] }, right: [2])
    EvaluationReport.section(
      "files, the worst first", ["file", "confused", "missed", "extra"],
      report.worst.map { [$0.file, "\($0.confused)", "\($0.missed)", "\($0.extra)"] }, right: [1, 2, 3])
    EvaluationReport.write(guesses: report.guesses)
  }
}
