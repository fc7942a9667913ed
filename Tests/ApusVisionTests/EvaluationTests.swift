// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision
import TestSupport
import Testing

/// Generated truths and findings, scored by pycocotools and scikit-learn; from `Tools/evaluation/goldens.py`.
struct EvaluationCase: Decodable, Sendable, CustomTestStringConvertible {
  let kind: String
  let name: String
  var images: [Int]?
  var categories: [Int]?
  /// Each object: image, number, category, x, y, width, height, area, crowd.
  var objects: [[Double]]?
  /// Each finding: image, category, x, y, width, height, score.
  var findings: [[Double]]?
  var stats: [Double]?
  var each: [[Double]]?
  var scores: [Double]?
  var labels: [Int]?
  var area: Double?
  var classes: Int?
  var truth: [UInt16]?
  var found: [UInt16]?
  var present: [Int]?
  var overlaps: [Double]?
  var mean: Double?
  var accuracy: Double?
  var rows: [[Float]]?
  var top1: Double?
  var top5: Double?

  var testDescription: String { name }

  static func all(_ kind: String) -> [EvaluationCase] {
    let cases: [EvaluationCase] = goldens("evaluation")
    return cases.filter { $0.kind == kind }
  }
}

/// Accuracy beside that of pycocotools and scikit-learn.
@Suite struct EvaluationTests {
  /// Both add doubles, in other orders.
  private static let tolerance = 1e-9

  private func isNear(_ value: Double?, _ expected: Double) -> Bool {
    guard let value else { return expected == -1 }
    return abs(value - expected) <= Self.tolerance
  }

  @Test("there are cases of every kind")
  func hasCases() {
    for kind in ["detection", "anomaly", "mask", "classes"] { #expect(EvaluationCase.all(kind).count >= 3) }
  }

  private func accuracy(of golden: EvaluationCase) throws -> DetectionAccuracy {
    var accuracy = DetectionAccuracy(categories: try #require(golden.categories))
    let objects = try #require(golden.objects)
    let findings = try #require(golden.findings)
    for image in try #require(golden.images) {
      try accuracy.add(
        image: image,
        truths: objects.filter { Int($0[0]) == image }.map { row in
          .init(
            id: Int(row[1]), category: Int(row[2]),
            box: .init(x: row[3], y: row[4], width: row[5], height: row[6]), area: row[7],
            isCrowd: row[8] != 0)
        },
        findings: findings.filter { Int($0[0]) == image }.map { row in
          .init(
            category: Int(row[1]), box: .init(x: row[2], y: row[3], width: row[4], height: row[5]),
            score: row[6])
        })
    }
    return accuracy
  }

  @Test("the twelve numbers are those of pycocotools", arguments: EvaluationCase.all("detection"))
  func matchesCOCO(golden: EvaluationCase) throws {
    let accuracy = try accuracy(of: golden)
    let stats = try #require(golden.stats)
    for (place, (value, expected)) in zip(accuracy.summary.values, stats).enumerated() {
      #expect(isNear(value, expected), "number \(place): \(String(describing: value)), not \(expected)")
    }
    // pycocotools sorts categories.
    for (category, expected) in zip(try #require(golden.categories).sorted(), try #require(golden.each)) {
      let own = accuracy.summary(ofCategory: category)
      #expect(isNear(own.ap, expected[0]) && isNear(own.ap50, expected[1]), "category \(category)")
    }
  }

  @Test("the area under the curve is scikit-learn's", arguments: EvaluationCase.all("anomaly"))
  func matchesArea(golden: EvaluationCase) throws {
    var accuracy = AnomalyAccuracy()
    for (score, label) in zip(try #require(golden.scores), try #require(golden.labels)) {
      try accuracy.add(score: score, isAnomaly: label != 0)
    }
    #expect(isNear(accuracy.areaUnderCurve, try #require(golden.area)))
  }

  @Test("intersections over unions are scikit-learn's", arguments: EvaluationCase.all("mask"))
  func matchesMasks(golden: EvaluationCase) throws {
    var accuracy = SegmentationAccuracy(classCount: try #require(golden.classes))
    // Two halves count as the whole does.
    let (truth, found) = (try #require(golden.truth), try #require(golden.found))
    let middle = truth.count / 3
    try accuracy.add(truth: Array(truth[..<middle]), prediction: Array(found[..<middle]))
    try accuracy.add(truth: Array(truth[middle...]), prediction: Array(found[middle...]))
    #expect(accuracy.classes == golden.present)
    for (index, expected) in zip(accuracy.classes, try #require(golden.overlaps)) {
      #expect(isNear(accuracy.intersectionOverUnion(of: index), expected), "class \(index)")
    }
    #expect(isNear(accuracy.meanIntersectionOverUnion, try #require(golden.mean)))
    #expect(isNear(accuracy.pixelAccuracy, try #require(golden.accuracy)))
  }

  @Test("top-1 and top-5 are scikit-learn's", arguments: EvaluationCase.all("classes"))
  func matchesClasses(golden: EvaluationCase) throws {
    var accuracy = ClassificationAccuracy()
    for (scores, label) in zip(try #require(golden.rows), try #require(golden.labels)) {
      try accuracy.add(scores: scores, truth: label)
    }
    #expect(isNear(accuracy.top1, try #require(golden.top1)))
    #expect(isNear(accuracy.top5, try #require(golden.top5)))
    #expect(accuracy.itemCount == 50)
    #expect(accuracy.confusions.mistakes.reduce(0) { $0 + $1.count } == 50 - accuracy.firstCount)
  }

  @Test("pictures may be counted in any order")
  func ordersPictures() throws {
    let golden = try #require(EvaluationCase.all("detection").first { $0.name == "equal scores" })
    var turned = golden
    turned.images = try #require(golden.images).reversed()
    #expect(try accuracy(of: golden).summary == accuracy(of: turned).summary)
  }

  // MARK: Errors

  private func message(_ body: () throws -> Void) -> String {
    do { try body() } catch { return (error as? ApusError)?.message ?? "\(error)" }
    return ""
  }

  @Test("numbers that are none are errors")
  func refusesOddNumbers() {
    let box = DetectionAccuracy.Box(x: 0, y: 0, width: 10, height: 10)
    for odd in [Double.nan, .infinity] {
      var anomalies = AnomalyAccuracy()
      #expect(message { try anomalies.add(score: odd, isAnomaly: true) }.contains("not a finite number"))
      #expect(anomalies.anomalyCount == 0)
      var accuracy = DetectionAccuracy(categories: [1])
      #expect(
        message {
          try accuracy.add(image: 1, truths: [], findings: [.init(category: 1, box: box, score: odd)])
        }.contains("not finite"))
      let wide = DetectionAccuracy.Box(x: 0, y: 0, width: odd, height: 10)
      #expect(
        message {
          try accuracy.add(image: 1, truths: [.init(id: 1, category: 1, box: wide)], findings: [])
        }.contains("not finite"))
      #expect(accuracy.imageCount == 0)
    }
    var classes = ClassificationAccuracy()
    #expect(
      message { try classes.add(scores: [0, .nan, 1], truth: 0) } == "the score of class 1 is not a number")
    #expect(classes.itemCount == 0 && classes.top1 == nil)
  }

  @Test("classes out of range, pictures twice and masks of other sizes are errors")
  func refusesContradictions() throws {
    var accuracy = DetectionAccuracy(categories: [1])
    let box = DetectionAccuracy.Box(x: 0, y: 0, width: 10, height: 10)
    #expect(
      message { try accuracy.add(image: 1, truths: [.init(id: 1, category: 2, box: box)], findings: []) }
        .contains("unknown category 2"))
    try accuracy.add(image: 1, truths: [], findings: [.init(category: 9, box: box, score: 1)])
    #expect(
      message { try accuracy.add(image: 1, truths: [], findings: []) } == "the image 1 was counted already")
    let crowd = [DetectionAccuracy.Truth](
      repeating: .init(id: 1, category: 1, box: box), count: DetectionAccuracy.maximumTruthCount + 1)
    #expect(
      message { try accuracy.add(image: 2, truths: crowd, findings: []) }.contains("more than the limit"))
    var masks = SegmentationAccuracy(classCount: 3)
    #expect(message { try masks.add(truth: [0, 1], prediction: [0]) }.contains("2 pixels"))
    #expect(
      message { try masks.add(truth: [0, 3], prediction: [0, 0]) }.contains(
        "pixel 1 of the truth has the class 3"))
    #expect(
      message { try masks.add(truth: [0, 0], prediction: [0, 7]) }
        .contains("pixel 1 of the prediction has the class 7"))
    #expect(masks.pixelCount == 0 && masks.meanIntersectionOverUnion == nil)
  }

  @Test("one kind of items has no area")
  func needsBothKinds() throws {
    var accuracy = AnomalyAccuracy()
    #expect(accuracy.areaUnderCurve == nil)
    try accuracy.add(score: 1, isAnomaly: true)
    #expect(accuracy.areaUnderCurve == nil)
  }

  @Test("boxes of another category are confusions, boxes in crowds none")
  func countsMistakes() {
    func box(_ x: Double) -> DetectionAccuracy.Box { .init(x: x, y: 0, width: 10, height: 10) }
    let truths: [DetectionAccuracy.Truth] = [
      .init(id: 1, category: 1, box: box(0)), .init(id: 2, category: 2, box: box(20)),
      .init(id: 3, category: 1, box: box(40)), .init(id: 4, category: 1, box: box(60), isCrowd: true),
    ]
    let findings: [DetectionAccuracy.Finding] = [
      .init(category: 1, box: box(0), score: 0.9), .init(category: 1, box: box(1), score: 0.8),
      .init(category: 1, box: box(20), score: 0.7), .init(category: 1, box: box(61), score: 0.9),
      .init(category: 1, box: box(40), score: 0.1),
    ]
    let counts = DetectionCounts(truths: truths, findings: findings, threshold: 0.5)
    #expect(counts.found == 1 && counts.confused == 1 && counts.missed == 1 && counts.extra == 1)
    #expect(counts.confusions.mistakes == counts.confusions.entries.filter { $0.truth == 2 && $0.found == 1 })
    #expect((counts + counts).mistakeCount == 6)
  }
}
