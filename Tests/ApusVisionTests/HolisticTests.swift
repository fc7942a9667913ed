// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

private typealias Answer = DetectorModel.Answer

/// A person's parts found by models with given outputs, against the rules in NumPy.
@Suite struct HolisticTests {
  private let golden: LandmarkGolden

  init() throws { golden = try #require(LandmarkGolden.of("persons").first) }

  private func model(_ answers: [Answer], side: Int32) throws(ApusError) -> Model {
    try DetectorModel.answering(answers, shape: [1, side, side, 3], type: DetectorModel.float32).model()
  }

  private func one(_ value: Float) -> Answer { Answer(shape: [1, 1], values: [value]) }

  /// A pose with the given visibility logit, a hand that may not be there, and a face that may not be there.
  private func landmarker(
    visibility: Float = 3, hand: Float = 0.9, face: Float = 3, region: [Float]? = nil, faces: Float = 2
  ) throws -> HolisticLandmarker {
    var points = try #require(golden.points)
    for index in 0..<39 { points[5 * index + 3] = visibility }
    let cold = Answer(shape: [1, 2, 2, 39], values: [Float](repeating: -9, count: 156))
    let middle = [Float](repeating: 112, count: 63)
    return try HolisticLandmarker(
      HolisticLandmarker.Models(
        personDetector: DetectorModel.anchored(
          count: 2254, columns: 12, side: 224, rows: #require(golden.rows), #require(golden.predictions),
          #require(golden.logits)
        ).model(),
        pose: model(
          [
            .rows(points), one(0.9), Answer(shape: [1, 2, 2, 1], values: [0, 0, 0, 0]), cold,
            .rows([Float](repeating: 0, count: 117)),
          ], side: 256),
        hand: model([.rows(middle), one(hand), one(0.75), .rows(middle)], side: 224),
        handRegion: model([.rows(region ?? #require(golden.worldPoints))], side: 256),
        faceDetector: DetectorModel.anchored(
          count: 896, columns: 16, side: 128, rows: [300], #require(golden.region), [faces]
        ).model(),
        face: model([.rows([Float](repeating: 96, count: 1404)), one(face)], side: 192)))
  }

  @Test("hands and face are looked for where the rules say")
  func findsParts() throws {
    let regions = try #require(golden.anchors)
    let person = try landmarker().detect(golden.image())
    let found = [
      person.pose?.region, person.leftHand?.region, person.rightHand?.region, person.face?.region,
    ]
    for (index, region) in found.enumerated() {
      #expect(
        agree(try #require(region).numbers, Array(regions[5 * index..<5 * index + 5]), within: 1e-3),
        "\(index)")
    }
    // Sides are the pose's, with the hand model's confidence in them.
    #expect(person.leftHand?.handedness == .left && person.leftHand?.handednessScore == 0.25)
    #expect(person.rightHand?.handedness == .right && person.rightHand?.handednessScore == 0.75)
  }

  @Test("what is not seen is not there")
  func leavesOut() throws {
    let picture = try golden.image()
    let hidden = try landmarker(visibility: -3).detect(picture)
    #expect(hidden.pose != nil && hidden.leftHand == nil && hidden.rightHand == nil && hidden.face != nil)
    let handless = try landmarker(hand: 0.1).detect(picture)
    #expect(handless.leftHand == nil && handless.rightHand == nil && handless.face != nil)
    #expect(try landmarker(face: -3).detect(picture).face == nil)
    #expect(try landmarker(faces: -3).detect(picture).face == nil)
    // A region without an area is none.
    #expect(try landmarker(region: [9, 9, 9, 9]).detect(picture).leftHand == nil)
    let error = #expect(throws: ApusError.self) { try landmarker(region: [.nan, 9, 9, 9]).detect(picture) }
    #expect(error?.code == .invalidData)
  }

  @Test("in frames, the body is looked for where it will be")
  func tracks() throws {
    let (task, picture) = (try landmarker(), try golden.image())
    let tracker = HolisticTracker(task)
    let first = try tracker.answer(picture, in: nil, cancellation: nil)
    let second = try tracker.answer(picture, in: nil, cancellation: nil)
    #expect(first.pose?.region == (try task.detect(picture).pose?.region))
    #expect(second.pose?.region == first.pose?.nextRegion)
    // All points of a part are one point here, so that its next region has no area: the hinted one is taken.
    #expect(second.leftHand != nil && second.leftHand?.region != first.leftHand?.nextRegion)
    tracker.reset()
    #expect(try tracker.answer(picture, in: nil, cancellation: nil).pose == first.pose)
  }

  @Test("in frames of another size, the body is looked for in the same place of the picture")
  func followsSizes() throws {
    let (task, picture) = (try landmarker(), try golden.image())
    let (width, height) = (2 * picture.width, 2 * picture.height)
    let twice = try ImageBuffer(
      bytes: [UInt8](repeating: 0, count: width * height * 3), width: width, height: height, format: .rgb)
    for smoothing in [nil, LandmarkSmoothing.withRegions] {
      let tracker = HolisticTracker(task, smoothing: smoothing)
      let expected = try #require(tracker.track(picture, at: 0).pose?.nextRegion)
      let found = try #require(tracker.track(twice, at: 1).pose)
      #expect(
        agree(
          found.region.numbers,
          [
            2 * expected.center.x, 2 * expected.center.y, 2 * expected.width, 2 * expected.height,
            expected.rotation,
          ], within: 1e-2))
    }
  }

  @Test("in frames, hands and face are looked for where the smooth body hints")
  func smooths() throws {
    let (task, picture) = (try landmarker(), try golden.image())
    let (smooth, raw) = (HolisticTracker(task), HolisticTracker(task, smoothing: nil))
    var region = try #require(task.detect(picture).pose?.region)
    for (time, expected) in zip(try #require(golden.times), try #require(golden.smooth)) {
      let person = try smooth.track(picture, at: time)
      for (index, found) in [
        person.pose?.region, person.leftHand?.region, person.rightHand?.region, person.face?.region,
      ].enumerated() {
        #expect(
          agree(try #require(found).numbers, Array(expected[5 * index..<5 * index + 5]), within: 1e-3),
          "\(time), \(index)")
      }
      // Without smoothing, a frame has what the models see in the region that the last one said.
      let body = try #require(raw.track(picture, at: time).pose)
      #expect(body.region == region)
      region = body.nextRegion
    }
    let error = #expect(throws: ApusError.self) { try smooth.track(picture, at: 0.1) }
    #expect(error?.code == .invalidArgument)
  }

  @Test("a bundle without one of the models names it")
  func namesMissingModels() throws {
    let error = #expect(throws: ApusError.self) {
      try HolisticLandmarker.Models(TaskBundle(bytes: DetectorModel.answering([]).bytes))
    }
    #expect(error?.code == .malformedModel)
  }

  @Test("null is what was not found")
  func encodes() throws {
    let result = try landmarker(hand: 0.1).detect(golden.image())
    let json = try #require(
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(result)) as? [String: Any])
    #expect(Set(json.keys) == ["pose", "leftHand", "rightHand", "face", "milliseconds"])
    #expect(json["leftHand"] is NSNull && json["face"] is [String: Any])
  }
}
