// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusImages
import ApusVision
import Foundation
import TestSupport
import Testing

/// Results that a program makes itself, for its tests or from a task of its own, or that it changes.
@Suite struct OwnResultTests {
  private func decoded<Value: Codable>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
  }

  private static let region = Region(
    center: PixelPoint(x: 10, y: 20), width: 30, height: 40, rotation: 0.5)

  private func gray(_ width: Int, _ height: Int) throws -> ImageBuffer {
    try ImageBuffer(
      bytes: [UInt8](repeating: 90, count: width * height), width: width, height: height, format: .gray)
  }

  @Test("the values of results are read from what they are encoded as")
  func readsValues() throws {
    func check<Value: Codable & Equatable>(_ values: Value...) throws {
      for value in values { #expect(try decoded(value) == value) }
    }
    try check(BoundingBox(minX: 0.25, minY: -1, maxX: 0.5, maxY: 2))
    try check(PixelRect(x: 1, y: 2.5, width: -3, height: 4))
    try check(OrientedBox(corners: [PixelPoint(x: 1, y: 2), PixelPoint(x: 3, y: 4)]))
    try check(
      Category(index: 3, score: 0.5), Category(index: 3, score: 0.5, label: "cat", displayName: "Katze"))
    try check(Keypoint(x: 1, y: 2), Keypoint(name: "nose", x: 1, y: 2, score: 0.5))
    try check(
      Landmark(x: 1, y: 2, z: 3), Landmark(name: "wrist", x: 1, y: 2, z: 3, visibility: 0.5, presence: 1))
    try check(WorldLandmark(x: 1, y: 2, z: 3))
    try check(Self.region)
    try check(Pose(score: 0.5, keypoints: [Keypoint(x: 1, y: 2)]))
    try check(FaceMesh.Blendshape(name: "jawOpen", score: 0.5))
    try check(Hand.Side.left, .right)
    try check(
      GalleryResult.Match(name: nil),
      GalleryResult.Match(name: "Ada", distance: 0.5, box: PixelRect(x: 1, y: 2, width: 3, height: 4)))
    try check(SegmentationResult.Share(index: 1, share: 0.5))
    try check(Embedding([0.25, -1], headIndex: 1, headName: "feature"))
    try check(
      StageTimings(preprocess: .microseconds(1500), inference: .milliseconds(20), postprocess: .zero))
  }

  @Test("times that no stage can take are refused", arguments: ["1e300", "-1e300"])
  func refusesTimes(_ number: String) {
    let text = #"{"preprocess":0,"inference":\#(number),"postprocess":0}"#
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(StageTimings.self, from: Data(text.utf8))
    }
  }

  @Test("a task of one's own says what it assumes")
  func makesAssumptions() throws {
    let input = TaskAssumptions.Input(
      name: "image", type: "float32", shape: [1, 8, 8, 3], layout: "NHWC", width: 8, height: 8,
      channels: "rgb", fit: "stretch", resampling: "bilinear", value: "v / 255", valueSource: "the program")
    let assumptions = TaskAssumptions(
      task: "count", kind: "counter", reason: "it counts", input: input,
      outputs: [.init(index: 0, name: "count", type: "float32", shape: [1], role: "the number")],
      labels: .init(source: "the program", count: 2, offset: 0), steps: ["rounded"])
    #expect(try decoded(assumptions) == assumptions)
    #expect(assumptions.outputs[0].value == nil && assumptions.warnings.isEmpty)
  }

  @Test("points and masks that are missing, or belong to another picture, are not drawn")
  func drawsWhatIsThere() throws {
    let picture = try gray(40, 30)
    let hand = Hand(
      handedness: .left, handednessScore: 1, score: 1, landmarks: [Landmark(x: 1, y: 2, z: 3)],
      region: Self.region)
    #expect(hand.nextRegion == hand.region && hand.worldLandmarks.isEmpty)
    let face = FaceMesh(score: 1, landmarks: [], region: Self.region)
    let body = BodyPose(score: 1, landmarks: [Landmark(x: 1, y: 2, z: 3)], region: Self.region)
    #expect(body.nextRegion == body.region)
    #expect(try picture.drawing(hands: [hand]).width == 40)
    #expect(try picture.drawing(faceMeshes: [face]).width == 40)
    #expect(try picture.drawing(bodies: [body]).width == 40)

    let classes = SegmentationResult(
      imageWidth: 40, imageHeight: 30, categoryMask: [1, 2], classCount: 3)
    #expect(classes.category(x: 1, y: 0) == nil)
    #expect(throws: ApusError.self) { try picture.drawing(segmentation: classes) }
    #expect(throws: ApusError.self) { try classes.encodedNumPy() }
  }

  @Test("the mask of a larger picture's detection is refused, not drawn beside a smaller one")
  func refusesMasksOfOtherPictures() throws {
    let model = DetectorModel.answering([
      .init(
        shape: [1, 300, 7], values: (0..<300).flatMap { [0, 0, 1, 1, $0 == 0 ? 0.9 : 0, 0, 1] as [Float] }),
      .init(shape: [1, 2, 2, 1], values: [1, 1, 1, 1]),
    ])
    let found = try ObjectDetector(model: model.model()).detect(gray(40, 30)).detections
    #expect(found.count == 1 && found[0].mask?.width == 40)
    #expect(try gray(40, 30).drawing(found).width == 40)
    for (width, height) in [(39, 30), (40, 29), (8, 8)] {
      let error = #expect(throws: ApusError.self) { try gray(width, height).drawing(found) }
      #expect(error?.code == .invalidArgument)
    }
  }
}
