// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

private typealias Answer = DetectorModel.Answer

/// Gestures by example, with hands whose fingers are stretched or bent.
@Suite struct LandmarkClassifierTests {
  /// Which fingers are stretched, from the thumb.
  private static let gestures: [(name: String, fingers: [Bool])] = [
    ("fist", [false, false, false, false, false]), ("palm", [true, true, true, true, true]),
    ("point", [false, true, false, false, false]), ("victory", [false, true, true, false, false]),
    ("thumb", [true, false, false, false, false]),
  ]

  /// The numbers of a right hand in 224 × 224 pixels, x, y and z of each point, with noise.
  private func points(_ fingers: [Bool], _ random: inout SeededGenerator, noise: Float = 4) -> [Float] {
    var values: [(Float, Float, Float)] = [(112, 200, 0)]
    for (finger, isStretched) in fingers.enumerated() {
      let angle = Float(-0.9 + 0.42 * Double(finger))
      let (dx, dy) = (Float(sin(Double(angle))), Float(-cos(Double(angle))))
      let base: Float = finger == 0 ? 40 : 75
      for joint in 0..<4 {
        let bent: Float = [0, 18, 6, -10][joint]
        let reach = base + (isStretched ? Float(joint) * 22 : bent)
        values.append((112 + dx * reach, 200 + dy * reach, isStretched ? -4 : -16 * Float(joint)))
      }
    }
    return values.flatMap { value in
      [value.0, value.1, value.2].map { $0 + Float.random(in: -noise...noise, using: &random) }
    }
  }

  /// A landmarker whose hand model sees these points in every region.
  private func landmarker(
    _ points: [Float], handedness: Float = 0.9, gestures: LandmarkClassifier? = nil
  ) throws -> HandLandmarker {
    let golden = try #require(LandmarkGolden.of("hands").first)
    var options = HandLandmarker.Options()
    options.maxHands = 1
    options.gestures = gestures
    return try HandLandmarker(
      detector: DetectorModel.anchored(
        count: 2016, columns: 18, side: 192, rows: #require(golden.rows), #require(golden.predictions),
        #require(golden.logits)
      ).model(),
      landmarks: DetectorModel.answering(
        [
          .rows(points), Answer(shape: [1, 1], values: [0.9]), Answer(shape: [1, 1], values: [handedness]),
          .rows([Float](repeating: 0, count: 63)),
        ], shape: [1, 224, 224, 3], type: DetectorModel.float32
      ).model(), options: options)
  }

  private func hand(_ points: [Float], handedness: Float = 0.9) throws -> Hand {
    let golden = try #require(LandmarkGolden.of("hands").first)
    return try #require(landmarker(points, handedness: handedness).detect(golden.image()).hands.first)
  }

  @Test("five gestures with five examples each are recognized, of left hands, too")
  func recognizes() throws {
    var random = SeededGenerator(seed: 11)
    var classifier = try LandmarkClassifier()
    for gesture in Self.gestures {
      for _ in 0..<5 { try classifier.add(gesture.name, hand(points(gesture.fingers, &random))) }
    }
    classifier.maximumDistance = 0.5
    for neighbors in [1, 3, 5] {
      classifier.neighbors = neighbors
      for gesture in Self.gestures {
        let values = points(gesture.fingers, &random)
        #expect(try classifier.classify(hand(values))?.name == gesture.name)
        var left = try hand(values)
        for index in left.landmarks.indices { left.landmarks[index].x = 300 - left.landmarks[index].x }
        left.handedness = .left
        #expect(try classifier.classify(left)?.name == gesture.name)
        let golden = try #require(LandmarkGolden.of("hands").first)
        let found = try landmarker(values, gestures: classifier).detect(golden.image()).hands
        #expect(found.first?.gesture?.name == gesture.name)
      }
    }
    // A hand that shows none of them.
    let other = try hand(points([true, false, false, false, true], &random))
    classifier.maximumDistance = 0.01
    let match = try #require(try classifier.classify(other))
    #expect(match.name == nil && match.distance > 0.01)
  }

  @Test("place, size and side do not change an embedding; turning does")
  func normalizes() throws {
    var random = SeededGenerator(seed: 3)
    let values = points([false, true, true, false, false], &random)
    let plain = stride(from: 0, to: 63, by: 3).map {
      Landmark(x: values[$0], y: values[$0 + 1], z: values[$0 + 2])
    }
    let embedding = try LandmarkClassifier.embedding(of: plain)
    #expect(embedding.values.count == 63 && abs(embedding.norm - 1) < 1e-6)
    let moved = plain.map { Landmark(x: $0.x * 3 + 500, y: $0.y * 3 - 80, z: $0.z * 3 + 7) }
    #expect(try #require(embedding.euclideanDistance(to: LandmarkClassifier.embedding(of: moved))) < 1e-5)
    let mirrored = plain.map { Landmark(x: -$0.x, y: $0.y, z: $0.z) }
    let back = try LandmarkClassifier.embedding(of: mirrored, isMirrored: true)
    #expect(try #require(embedding.euclideanDistance(to: back)) < 1e-5)
    #expect(
      try #require(embedding.euclideanDistance(to: LandmarkClassifier.embedding(of: mirrored))) > 0.1)
    let turned = plain.map { Landmark(x: -$0.y, y: $0.x, z: $0.z) }
    #expect(try #require(embedding.euclideanDistance(to: LandmarkClassifier.embedding(of: turned))) > 0.1)
  }

  @Test("points without a shape, and galleries of other things, are refused")
  func refuses() throws {
    let place = [Landmark](repeating: Landmark(x: 4, y: 5, z: 6), count: 21)
    for points in [[], place] {
      #expect(throws: ApusError.self) { try LandmarkClassifier.embedding(of: points) }
    }
    for odd in [Float.nan, .infinity] {
      var points = (0..<21).map { Landmark(x: Float($0), y: 1, z: 2) }
      points[7].z = odd
      let error = #expect(throws: ApusError.self) { try LandmarkClassifier.embedding(of: points) }
      #expect(error?.code == .invalidArgument && error?.message.contains("landmark 7") == true)
    }
    var gallery = EmbeddingGallery()
    try gallery.add("Grace", Embedding([1, 2, 3]))
    for preparation in [nil, "pixels unit", LandmarkClassifier.preparation] {
      gallery.preparation = preparation
      let error = #expect(throws: ApusError.self) { try LandmarkClassifier(gallery: gallery) }
      #expect(error?.code == .invalidArgument && error?.message.contains("gallery") == true)
    }
    var random = SeededGenerator(seed: 1)
    let hand = try self.hand(points([true, true, true, true, true], &random))
    #expect(try LandmarkClassifier().classify(hand) == nil)
    var classifier = try LandmarkClassifier()
    #expect(throws: ApusError.self) { try classifier.add("", hand) }
    // A gallery comes back from its file as it was.
    try classifier.add("palm", hand)
    let read = try LandmarkClassifier(gallery: EmbeddingGallery(bytes: classifier.gallery.bytes))
    #expect(try read.classify(hand)?.distance == 0)
  }

  @Test("a gesture is part of a hand's JSON, by name")
  func encodes() throws {
    var random = SeededGenerator(seed: 5)
    var hand = try self.hand(points([true, true, true, true, true], &random))
    func gesture() throws -> [String: Any]? {
      let document = try JSONSerialization.jsonObject(with: JSONEncoder().encode(hand)) as? [String: Any]
      return document?["gesture"] as? [String: Any]
    }
    #expect(try gesture() == nil)
    hand.gesture = EmbeddingGallery.Match(name: "palm", distance: 0.25)
    let known = try #require(try gesture())
    #expect(known["name"] as? String == "palm")
    #expect(known["distance"] as? Double == 0.25)
    hand.gesture = EmbeddingGallery.Match(name: nil, distance: 1)
    let unknown = try #require(try gesture())
    #expect(unknown["name"] as? String == "unknown")
  }
}
