// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

private typealias Answer = DetectorModel.Answer

/// Bodies found by models with given outputs, against the rules in NumPy.
@Suite struct PoseLandmarkerTests {
  private let golden: LandmarkGolden

  init() throws { golden = try #require(LandmarkGolden.of("bodies").first) }

  /// Heat maps that the rules know.
  private func heat(_ size: Int) -> [Float] {
    (0..<size * size * 39).map { Float($0 * 37 % 101) / 10 - 7 }
  }

  private func landmarker(
    points: [Float]? = nil, presence: Float = 0.9, mask: Float = 0, heatSide: Int = 9, world: [Float]? = nil,
    masks: Bool = false, refinementCells: Int = 7, maxPoses: Int = 2, isCold: Bool = false,
    golden: LandmarkGolden? = nil
  ) throws -> PoseLandmarker {
    let golden = golden ?? self.golden
    var options = PoseLandmarker.Options()
    options.refinementCells = refinementCells
    options.maxPoses = maxPoses
    options.outputsMasks = masks
    let body = DetectorModel.answering(
      [
        .rows(try points ?? #require(golden.points)), Answer(shape: [1, 1], values: [presence]),
        Answer(shape: [1, 4, 4, 1], values: [Float](repeating: mask, count: 16)),
        Answer(
          shape: [1, Int32(heatSide), Int32(heatSide), 39],
          values: isCold ? heat(heatSide).map { _ in -9 } : heat(heatSide)),
        .rows(try world ?? #require(golden.worldPoints)),
      ], shape: [1, 256, 256, 3], type: DetectorModel.float32)
    return try PoseLandmarker(
      detector: DetectorModel.anchored(
        count: 2254, columns: 12, side: 224, rows: #require(golden.rows), #require(golden.predictions),
        #require(golden.logits)
      ).model(), landmarks: body.model(), options: options)
  }

  @Test("bodies are where the rules say")
  func findsBodies() throws {
    let found = try landmarker().detect(golden.image()).poses
    let (expected, points) = (try #require(golden.subjects), try #require(golden.points))
    #expect(found.count == expected.count)
    for (body, expected) in zip(found, expected) {
      #expect(agree(body.region.numbers, expected.region))
      #expect(agree(body.landmarks.flatMap { [$0.x, $0.y, $0.z] }, expected.landmarks, within: 1e-3))
      #expect(agree(body.worldLandmarks.flatMap { [$0.x, $0.y, $0.z] }, expected.world))
      #expect(agree(body.nextRegion.numbers, expected.next, within: 1e-3))
      #expect(body.landmarks.map(\.name) == BodyPose.landmarkNames && body.mask == nil)
      for (index, point) in body.landmarks.enumerated() {
        let (visibility, presence) = (Double(points[5 * index + 3]), Double(points[5 * index + 4]))
        #expect(abs(Double(point.visibility ?? -1) - 1 / (1 + exp(-visibility))) < 1e-6)
        #expect(abs(Double(point.presence ?? -1) - 1 / (1 + exp(-presence))) < 1e-6)
      }
    }
    #expect(try landmarker(presence: 0.3).detect(golden.image()).poses.isEmpty)
  }

  @Test("points move to the mean of as many cells as the options say")
  func refines() throws {
    let found = try landmarker(refinementCells: 9).detect(golden.image()).poses
    let expected = try #require(golden.subjects)
    #expect(found.count == expected.count)
    for (body, expected) in zip(found, expected) {
      let points = body.landmarks.flatMap { [$0.x, $0.y, $0.z] }
      #expect(agree(points, try #require(expected.wide), within: 1e-3))
      #expect(!agree(points, expected.landmarks, within: 1e-3))
    }
    for cells in [0, -1, 8, 64, 65, .max] {
      let error = #expect(throws: ApusError.self) { try landmarker(refinementCells: cells) }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message.hasPrefix("refinementCells is \(cells)") == true)
    }
  }

  @Test(
    "in frames, points are smoothed, and the next region comes from its smooth points if it is told so",
    arguments: LandmarkGolden.of("videos"))
  func follows(golden: LandmarkGolden) throws {
    let task = try landmarker(maxPoses: 1, isCold: true, golden: golden)
    let tracker = LandmarkTracker(
      task, smoothing: golden.withRegions == true ? .withRegions : LandmarkSmoothing())
    for (time, expected) in zip(try #require(golden.times), try #require(golden.subjects)) {
      let body = try #require(tracker.track(golden.image(), at: time).poses.first)
      #expect(agree(body.region.numbers, expected.region, within: 1e-3), "\(time)")
      #expect(
        agree(body.landmarks.flatMap { [$0.x, $0.y, $0.z] }, expected.landmarks, within: 1e-3), "\(time)")
      #expect(
        agree(body.worldLandmarks.flatMap { [$0.x, $0.y, $0.z] }, expected.world, within: 1e-3), "\(time)")
      #expect(agree(body.nextRegion.numbers, expected.next, within: 1e-3), "\(time)")
    }
  }

  @Test("of tracked people who have become one, the last stays")
  func mergesTracked() throws {
    let (picture, task) = (try golden.image(), try landmarker())
    let places = try task.detect(picture).poses.map(\.region)
    try #require(places.count == 2)
    var near = places[1]
    near.center.y -= near.height / 10
    func found(_ regions: [Region]) throws -> [Region] {
      try task.follow(picture, after: regions, in: nil, cancellation: nil).poses.map(\.region)
    }
    #expect(try found([places[1], near]) == [near])
    #expect(try found(places) == places)
  }

  @Test("a mask has the picture's size, and is nothing outside the region")
  func masks() throws {
    let found = try landmarker(mask: 100, masks: true).detect(golden.image())
    for body in found.poses {
      let mask = try #require(body.mask)
      #expect(mask.width == found.imageWidth && mask.height == found.imageHeight && mask.format == .gray)
      let region = body.region
      let (cosine, sine) = (cos(Double(region.rotation)), sin(Double(region.rotation)))
      for y in 0..<mask.height {
        for x in 0..<mask.width {
          let (dx, dy) = (Double(x) - Double(region.center.x), Double(y) - Double(region.center.y))
          // In fractions of the region; a cell of the mask is a quarter.
          let (u, v) = (
            (cosine * dx + sine * dy) / Double(region.width) + 0.5,
            (cosine * dy - sine * dx) / Double(region.height) + 0.5
          )
          let value = try #require(mask.pixel(x: x, y: y)).red
          if u > 0.02, v > 0.02, u < 0.73, v < 0.73 { #expect(value == 255) }
          if u < -0.27 || v < -0.27 || u > 1.02 || v > 1.02 { #expect(value == 0) }
        }
      }
    }
    #expect(found.poses.count == 2)
  }

  @Test("models of other shapes, and numbers that no body has, are refused")
  func refuses() throws {
    let (points, world) = (try #require(golden.points), try #require(golden.worldPoints))
    for change in [
      { try landmarker(points: points + [1]) }, { try landmarker(world: world.dropLast()) },
    ] as [() throws -> PoseLandmarker] {
      let error = #expect(throws: ApusError.self) { try change() }
      #expect(error?.code == .invalidArgument && error?.message.contains("but:") == true)
    }
    for odd in [Float.nan, .infinity] {
      for task in [
        try landmarker(points: [odd] + points.dropFirst()), try landmarker(presence: odd),
        try landmarker(world: [odd] + world.dropFirst()),
      ] {
        let error = #expect(throws: ApusError.self) { try task.detect(golden.image()) }
        #expect(error?.code == .invalidData)
      }
    }
    // A logit that is no number makes a mask that is nowhere, not a trap.
    let mask = try landmarker(mask: .nan, masks: true).detect(golden.image()).poses.first?.mask
    #expect(mask?.bytes.allSatisfy { $0 == 0 } == true)
    // Points far outside stay where they are.
    let far = try landmarker(points: points.map { $0 * 1e20 }).detect(golden.image())
    #expect(far.poses.count == 2)
  }
}
