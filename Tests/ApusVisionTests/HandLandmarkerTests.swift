// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

private typealias Answer = DetectorModel.Answer

/// Hands found by models with given outputs, against the rules in NumPy.
@Suite struct HandLandmarkerTests {
  /// A palm detector with predictions in some rows.
  private func detector(
    rows: [Int], _ predictions: [Float], _ logits: [Float], side: Int32 = 192
  ) throws(ApusError) -> Model {
    try DetectorModel.anchored(
      count: 2016, columns: 18, side: side, rows: rows, predictions, logits
    ).model()
  }

  /// A hand model that sees the same in every region.
  private func reader(
    _ points: [Float], world: [Float], presence: Float = 0.9, handedness: Float = 0.25
  ) throws(ApusError) -> Model {
    try DetectorModel.answering(
      [
        .rows(points), Answer(shape: [1, 1], values: [presence]),
        Answer(shape: [1, 1], values: [handedness]),
        .rows(world),
      ], shape: [1, 224, 224, 3], type: DetectorModel.float32
    ).model()
  }

  private func landmarker(
    _ golden: LandmarkGolden, presence: Float = 0.9,
    _ change: (inout HandLandmarker.Options) -> Void = { _ in }
  ) throws -> HandLandmarker {
    var options = HandLandmarker.Options()
    change(&options)
    return try HandLandmarker(
      detector: detector(
        rows: #require(golden.rows), #require(golden.predictions), #require(golden.logits)),
      landmarks: reader(
        #require(golden.points), world: #require(golden.worldPoints), presence: presence), options: options)
  }

  @Test("hands are where the rules say", arguments: LandmarkGolden.of("hands"))
  func findsHands(golden: LandmarkGolden) throws {
    let found = try landmarker(golden).detect(golden.image())
    let expected = try #require(golden.subjects)
    #expect(found.hands.count == expected.count && found.imageWidth == golden.picture?[0])
    for (hand, expected) in zip(found.hands, expected) {
      #expect(agree(hand.region.numbers, expected.region))
      #expect(agree(hand.landmarks.flatMap { [$0.x, $0.y, $0.z] }, expected.landmarks, within: 1e-3))
      #expect(agree(hand.worldLandmarks.flatMap { [$0.x, $0.y, $0.z] }, expected.world))
      #expect(agree(hand.nextRegion.numbers, expected.next, within: 1e-3))
      #expect(hand.handedness == .left && hand.handednessScore == 0.75 && abs(hand.score - 0.9) < 1e-6)
      #expect(hand.landmarks.map(\.name) == Hand.landmarkNames)
    }
  }

  @Test("limits and thresholds leave hands out")
  func obeysOptions() throws {
    let golden = try #require(LandmarkGolden.of("hands").first)
    let picture = try golden.image()
    #expect(try landmarker(golden) { $0.maxHands = 1 }.detect(picture).hands.count == 1)
    #expect(try landmarker(golden, presence: 0.4).detect(picture).hands.isEmpty)
    #expect(
      try landmarker(golden, presence: 0.4) { $0.minPresenceConfidence = 0.4 }.detect(picture).hands.count
        == 2)
    #expect(try landmarker(golden) { $0.minDetectionConfidence = 0.99 }.detect(picture).hands.isEmpty)
    for change in [
      { $0.maxHands = 0 }, { $0.minDetectionConfidence = .nan }, { $0.minPresenceConfidence = 2 },
      { $0.minTrackingConfidence = -1 }, { $0.palmAngle = .infinity },
    ] as [(inout HandLandmarker.Options) -> Void] {
      let error = #expect(throws: ApusError.self) { try landmarker(golden, change) }
      #expect(error?.code == .invalidArgument)
    }
  }

  @Test("the same hand in two regions is one hand")
  func mergesDuplicates() throws {
    // Two palms whose boxes hardly overlap, with keypoints such that their regions are nearly the same.
    let golden = try #require(LandmarkGolden.of("hands").first)
    var (one, other) = (Array(try #require(golden.predictions).prefix(18)), [Float](repeating: 0, count: 18))
    one.replaceSubrange(0..<4, with: [0, 0, 40, 40])
    other = one
    // The next row is the next anchor of the same cell: the same place, a box with another shape.
    other.replaceSubrange(0..<4, with: [0, 0, 7, 40])
    let models = try (
      detector(rows: [600, 601], one + other, [2, 1]),
      reader(#require(golden.points), world: #require(golden.worldPoints))
    )
    let landmarker = try HandLandmarker(detector: models.0, landmarks: models.1)
    let hands = try landmarker.detect(golden.image()).hands
    #expect(hands.count == 1)
  }

  @Test("tracked hands stay two until most of their points meet, however much their regions overlap")
  func keepsTracked() throws {
    let golden = try #require(LandmarkGolden.of("hands").first)
    let (task, picture) = (try landmarker(golden), try golden.image())
    let place = try #require(try task.detect(picture).hands.first?.region)
    func count(movedBy way: Float) throws -> Int {
      var other = place
      other.center.x += other.width * way
      return try task.follow(picture, after: [place, other], in: nil, cancellation: nil).hands.count
    }
    // Overlaps of 0.7 / 1.3 and 0.99 / 1.01.
    #expect(try count(movedBy: 0.3) == 2)
    #expect(try count(movedBy: 0.01) == 1)
  }

  @Test("models of a bundle that are not used are named")
  func warnsOfUnusedModels() throws {
    let golden = try #require(LandmarkGolden.of("hands").first)
    let palms = try DetectorModel.anchored(
      count: 2016, columns: 18, side: 192, rows: #require(golden.rows), #require(golden.predictions),
      #require(golden.logits)
    ).bytes
    let hand = DetectorModel.answering(
      [
        .rows(try #require(golden.points)), Answer(shape: [1, 1], values: [0.9]),
        Answer(shape: [1, 1], values: [0.25]), .rows(try #require(golden.worldPoints)),
      ], shape: [1, 224, 224, 3], type: DetectorModel.float32
    ).bytes
    let pair: [(name: String, bytes: [UInt8])] = [
      ("hand_detector.tflite", palms), ("hand_landmarks_detector.tflite", hand),
    ]
    func warnings(_ entries: [(name: String, bytes: [UInt8])]) throws -> [String] {
      try HandLandmarker(bundle: TaskBundle(bytes: storedArchive(entries))).assumptions.warnings
    }
    #expect(try warnings(pair).isEmpty)
    #expect(try warnings(pair + [("LICENSE", [65])]).isEmpty)
    #expect(
      try warnings([
        ("hand_landmarker.task", storedArchive(pair)), ("hand_gesture_recognizer.task", storedArchive([])),
      ])
        == ["the bundle's 'hand_gesture_recognizer.task' is not used: its gestures are not recognized"])
    #expect(
      try warnings(pair + [("a.tflite", hand), ("b.tflite", hand)])
        == ["the bundle's 'a.tflite', 'b.tflite' are not used"])
  }

  @Test("frames are looked at where the last one's hands will be")
  func tracks() throws {
    let golden = try #require(LandmarkGolden.of("hands").first)
    let (task, picture) = (try landmarker(golden) { $0.maxHands = 1 }, try golden.image())
    let tracker = LandmarkTracker(task, smoothing: nil)
    let first = try tracker.track(picture, at: 0).hands[0]
    #expect(first.region == (try task.detect(picture).hands[0].region))
    let second = try tracker.track(picture, at: 0.04).hands[0]
    #expect(second.region == first.nextRegion)
    let error = #expect(throws: ApusError.self) { try tracker.track(picture, at: 0.04) }
    #expect(error?.code == .invalidArgument)
    // A refused frame changes nothing.
    #expect(try tracker.track(picture, at: 0.08).hands[0].region == second.nextRegion)
    tracker.reset()
    #expect(try tracker.track(picture, at: 0).hands[0].region == first.region)
  }

  @Test("smoothing begins at a hand's first frame and lags behind its points")
  func smooths() throws {
    let golden = try #require(LandmarkGolden.of("hands").first)
    let (task, picture) = (try landmarker(golden) { $0.maxHands = 1 }, try golden.image())
    let (raw, smooth) = (
      LandmarkTracker(task, smoothing: nil),
      LandmarkTracker(task, smoothing: try LandmarkSmoothing(minimumCutoff: 0.05, beta: 0))
    )
    let before = (try raw.track(picture, at: 0).hands[0], try smooth.track(picture, at: 0).hands[0])
    #expect(before.0 == before.1)
    let after = (try raw.track(picture, at: 0.1).hands[0], try smooth.track(picture, at: 0.1).hands[0])
    #expect(after.0.region == after.1.region)
    // The weight of a new value at the cutoff 0.05 Hz, a tenth of a second later.
    let weight = 1 / (1 + 10 / (2 * Float.pi * 0.05))
    for index in 0..<21 {
      let (old, new) = (before.0.landmarks[index].x, after.0.landmarks[index].x)
      #expect(abs(after.1.landmarks[index].x - (old + weight * (new - old))) < 1e-3)
    }
  }

  @Test("models of other shapes are refused by their shapes")
  func refusesOtherModels() throws {
    let golden = try #require(LandmarkGolden.of("hands").first)
    let good = try (
      detector(rows: [], [], []), reader(#require(golden.points), world: #require(golden.worldPoints))
    )
    for (palms, hands) in [
      (good.1, good.0), (good.0, good.0), (good.1, good.1),
      (try detector(rows: [], [], [], side: 128), good.1),
      (try DetectorModel.answering([]).model(), good.1), (good.0, try DetectorModel.answering([]).model()),
      (good.0, try DetectorModel.answering([.rows([1]), .rows([1]), .rows([1]), .rows([1])]).model()),
    ] {
      let error = #expect(throws: ApusError.self) { try HandLandmarker(detector: palms, landmarks: hands) }
      #expect(error?.code == .invalidArgument && error?.message.contains("but:") == true)
    }
  }

  @Test("numbers that no hand has are refused", arguments: [Float.nan, .infinity, -.infinity, 1e30])
  func refusesOddNumbers(odd: Float) throws {
    let golden = try #require(LandmarkGolden.of("hands").first)
    let (points, world) = (try #require(golden.points), try #require(golden.worldPoints))
    let (rows, predictions, logits) = (
      try #require(golden.rows), try #require(golden.predictions), try #require(golden.logits)
    )
    func expectRefusal(_ palms: Model, _ hands: Model) throws {
      let error = #expect(throws: ApusError.self) {
        try HandLandmarker(detector: palms, landmarks: hands).detect(golden.image())
      }
      #expect(error?.code == .invalidData)
    }
    let palms = try detector(rows: rows, predictions, logits)
    let hands = try reader(points, world: world)
    for column in [0, 2, 4, 9] where odd != 1e30 || column < 4 {
      var wrong = predictions
      wrong[column] = odd
      try expectRefusal(try detector(rows: rows, wrong, logits), hands)
    }
    try expectRefusal(palms, try reader(points, world: world, presence: odd))
    try expectRefusal(palms, try reader(points, world: world, handedness: odd))
    guard odd != 1e30 else {
      // Such points are numbers, but nothing is there to look at in the next frame.
      let tracker = LandmarkTracker(
        try HandLandmarker(
          detector: palms, landmarks: reader([odd] + points.dropFirst(), world: world)))
      _ = try tracker.track(golden.image(), at: 0)
      _ = try tracker.track(golden.image(), at: 1)
      return
    }
    try expectRefusal(detector(rows: rows, predictions, [odd, 1, 1]), hands)
    try expectRefusal(palms, try reader([odd] + points.dropFirst(), world: world))
    try expectRefusal(palms, try reader(points, world: world.dropLast() + [odd]))
  }

  @Test("a palm without an area is refused")
  func refusesEmptyPalms() throws {
    let golden = try #require(LandmarkGolden.of("hands").first)
    var predictions = try #require(golden.predictions)
    for row in 0..<3 { predictions.replaceSubrange(row * 18 + 2..<row * 18 + 4, with: [0, 0]) }
    let landmarker = try HandLandmarker(
      detector: detector(rows: #require(golden.rows), predictions, #require(golden.logits)),
      landmarks: reader(#require(golden.points), world: #require(golden.worldPoints)))
    let error = #expect(throws: ApusError.self) { try landmarker.detect(golden.image()) }
    #expect(error?.code == .invalidData && error?.message.contains("region") == true)
  }

  @Test("a result is encoded by the contract's names")
  func encodes() throws {
    let golden = try #require(LandmarkGolden.of("hands").first)
    let result = try landmarker(golden).detect(golden.image())
    let json = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(result)) as? [String: Any])
    let hand = try #require((json["hands"] as? [[String: Any]])?.first)
    #expect(
      Set(hand.keys) == ["handedness", "handednessScore", "score", "landmarks", "world", "region"])
    #expect(hand["handedness"] as? String == "Left")
    let points = try #require(hand["landmarks"] as? [[String: Any]])
    #expect(points.count == 21 && Set(points[0].keys) == ["name", "x", "y", "z"])
    #expect(points[0]["name"] as? String == "wrist")
    let region = try #require(hand["region"] as? [String: Any])
    #expect(Set(region.keys) == ["x", "y", "width", "height", "rotation"])
  }
}
