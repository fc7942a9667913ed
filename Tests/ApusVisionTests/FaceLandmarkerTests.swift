// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import TestSupport
import Testing

private typealias Answer = DetectorModel.Answer

/// Face meshes found by models with given outputs, against the rules in NumPy.
@Suite struct FaceLandmarkerTests {
  private let golden: LandmarkGolden

  init() throws { golden = try #require(LandmarkGolden.of("faces").first) }

  private func detector() throws -> Model {
    try DetectorModel.anchored(
      count: 896, columns: 16, side: 128, rows: #require(golden.rows), #require(golden.predictions),
      #require(golden.logits)
    ).model()
  }

  private func mesh(_ outputs: [[Float]], side: Int32 = 192) throws(ApusError) -> Model {
    try DetectorModel.answering(
      outputs.map { Answer(shape: [1, 1, 1, Int32($0.count)], values: $0) }, shape: [1, side, side, 3],
      type: DetectorModel.float32
    ).model()
  }

  private func landmarker(
    _ outputs: [[Float]], blendshapes: Model? = nil, geometry: FaceGeometry? = nil, maxFaces: Int = 2,
    trackingConfidence: Float = 0.5
  ) throws -> FaceLandmarker {
    var options = FaceLandmarker.Options()
    options.minTrackingConfidence = trackingConfidence
    options.maxFaces = maxFaces
    return try FaceLandmarker(
      detector: detector(), landmarks: mesh(outputs), blendshapes: blendshapes, geometry: geometry,
      options: options)
  }

  @Test("faces are where the rules say")
  func findsFaces() throws {
    let found = try landmarker([#require(golden.points), [2]]).detect(golden.image()).faces
    let expected = try #require(golden.subjects)
    #expect(found.count == expected.count)
    for (face, expected) in zip(found, expected) {
      #expect(face.landmarks.count == 468 && face.blendshapes.isEmpty)
      #expect(abs(face.score - 1 / (1 + Float(exp(-2.0)))) < 1e-6)
      #expect(agree(face.region.numbers, expected.region))
      let first = face.landmarks.prefix(40).flatMap { [$0.x, $0.y, $0.z] }
      #expect(agree(first, expected.landmarks, within: 1e-3))
      #expect(agree(face.nextRegion.numbers, expected.next, within: 1e-3))
    }
  }

  @Test("of tracked faces that have become one, the last stays, and the detector runs for the next frame")
  func mergesTracked() throws {
    let (picture, points) = (try golden.image(), try #require(golden.points))
    let outputs: [[Float]] = [points, [2]]
    let task = try landmarker(outputs)
    let places = try task.detect(picture).faces.map(\.region)
    try #require(places.count == 2)
    // An overlap of 0.9 / 1.1.
    var near = places[0]
    near.center.x += near.width / 10
    func found(_ regions: [Region], by task: FaceLandmarker) throws -> [Region] {
      try task.follow(picture, after: regions, in: nil, cancellation: nil).faces.map(\.region)
    }
    #expect(try found([places[0], near], by: task) == [near])
    #expect(try found([near, places[0]], by: task) == [places[0]])
    #expect(try found(places, by: task) == places)
    #expect(try found([near], by: task) == [near, places[1]])
    let strict = try landmarker(outputs, trackingConfidence: 0.9)
    #expect(try found([places[0], near], by: strict) == [places[0], near])
  }

  @Test("boxes become one at the overlap of MediaPipe's graphs of faces and people")
  func hasDefaults() {
    #expect(FaceLandmarker.Options().maximumOverlap == 0.5)
    #expect(PoseLandmarker.Options().maximumOverlap == 0.5)
  }

  @Test("scores that the model has made probabilities of are read as such")
  func readsProbabilities() throws {
    func logistic(_ model: DetectorModel, output: Int) -> DetectorModel {
      var model = model
      let scores = Int(model.outputs[output])
      model.tensors.append(.init(name: "probabilities", shape: model.tensors[scores].shape))
      model.outputs[output] = Int32(model.tensors.count - 1)
      model.operators = [.init(code: 14, inputs: [Int32(scores)], outputs: [model.outputs[output]])]
      return model
    }
    let points = try #require(golden.points)
    let mesh = DetectorModel.answering(
      [Answer(shape: [1, 1, 1, 1404], values: points), Answer(shape: [1, 1, 1, 1], values: [2])],
      shape: [1, 192, 192, 3], type: DetectorModel.float32)
    let detector = try DetectorModel.anchored(
      count: 896, columns: 16, side: 128, rows: #require(golden.rows), #require(golden.predictions),
      #require(golden.logits))
    var options = FaceLandmarker.Options()
    options.maxFaces = 2
    let plain = try FaceLandmarker(detector: detector.model(), landmarks: mesh.model(), options: options)
    let own = try FaceLandmarker(
      detector: logistic(detector, output: 1).model(), landmarks: logistic(mesh, output: 1).model(),
      options: options)
    let (expected, found) = (
      try plain.detect(golden.image()).faces, try own.detect(golden.image()).faces
    )
    try #require(!expected.isEmpty && found.count == expected.count)
    for (face, other) in zip(found, expected) {
      #expect(abs(face.score - other.score) < 1e-6 && agree(face.region.numbers, other.region.numbers))
    }
    let reading = try #require(own.assumptions.readings.first { $0.subject == "faces' scores" })
    #expect(reading.value == "probability" && reading.source == .model && own.assumptions.warnings.isEmpty)
    #expect(plain.assumptions.readings.contains { $0.subject == "faces' scores" && $0.value == "logit" })
  }

  @Test("lips, eyes and irises of the attention model take the place of the mesh's")
  func refines() throws {
    let points = try #require(golden.points)
    func plane(_ count: Int, _ first: Float) -> [Float] { (0..<2 * count).map { first + Float($0) / 8 } }
    let refined = [plane(80, 20), plane(71, 50), plane(71, 80), plane(5, 100), plane(5, 120)]
    let face = try #require(
      landmarker([points] + refined + [[4]]).detect(golden.image()).faces.first)
    let plain = try #require(landmarker([points, [4]]).detect(golden.image()).faces.first)
    #expect(face.landmarks.count == 478 && face.region == plain.region)
    // The first lip point is the mouth's corner, the first points of the eyes their outer corners, the inner lips' corners are 78 and 308.
    let origin = face.region.center
    func place(_ values: [Float], _ index: Int) -> (x: Float, y: Float) {
      // Turned and scaled about the region's middle.
      let (x, y) = (values[2 * index] / 192 - 0.5, values[2 * index + 1] / 192 - 0.5)
      let (cosine, sine) = (
        Float(cos(Double(face.region.rotation))), Float(sin(Double(face.region.rotation)))
      )
      return (
        origin.x + face.region.width * (cosine * x - sine * y),
        origin.y + face.region.width * (sine * x + cosine * y)
      )
    }
    for (point, values, index) in [
      (61, refined[0], 0), (291, refined[0], 10), (78, refined[0], 20), (308, refined[0], 30),
      (33, refined[1], 0), (133, refined[1], 8), (263, refined[2], 0), (362, refined[2], 8),
      (468, refined[3], 0), (472, refined[3], 4), (473, refined[4], 0), (477, refined[4], 4),
    ] {
      let expected = place(values, index)
      #expect(abs(face.landmarks[point].x - expected.x) < 1e-3, "\(point)")
      #expect(abs(face.landmarks[point].y - expected.y) < 1e-3, "\(point)")
      if point < 468 { #expect(face.landmarks[point].z == plain.landmarks[point].z) }
    }
    // An iris is as deep as its eye's contour on average; the nose stays.
    let contour = [33, 7, 163, 144, 145, 153, 154, 155, 133, 246, 161, 160, 159, 158, 157, 173]
    let depth = contour.reduce(0) { $0 + plain.landmarks[$1].z } / Float(contour.count)
    for point in 468...472 { #expect(abs(face.landmarks[point].z - depth) < 1e-3) }
    #expect(face.landmarks[1] == plain.landmarks[1])
  }

  @Test("expressions have names in their order, and only a mesh with irises has them")
  func namesExpressions() throws {
    let scores = (0..<52).map { Float($0) / 64 }
    let model = DetectorModel(
      tensors: [
        .init(name: "points", shape: [1, 146, 2]),
        .init(name: "scores", shape: [52], data: DetectorModel.data(scores)),
      ], outputs: [1])
    let points = try #require(golden.points) + (0..<30).map { Float($0) }
    let task = try landmarker([points, [3], [0]], blendshapes: model.model())
    let face = try #require(task.detect(golden.image()).faces.first)
    #expect(face.blendshapes.map(\.score) == scores)
    #expect(face.blendshapes.first?.name == "_neutral" && face.blendshapes[25].name == "jawOpen")
    #expect(Set(FaceMesh.blendshapeNames).count == 52)
    let error = #expect(throws: ApusError.self) {
      try landmarker([#require(golden.points), [3]], blendshapes: model.model())
    }
    #expect(error?.code == .invalidArgument && error?.message.contains("irises") == true)
    var odd = model
    odd.tensors[1].data = DetectorModel.data(scores.dropLast() + [.nan])
    #expect(throws: ApusError.self) {
      try landmarker([points, [3], [0]], blendshapes: odd.model()).detect(golden.image())
    }
    odd = model
    odd.tensors[0].shape = [1, 145, 2]
    #expect(throws: ApusError.self) { try landmarker([points, [3], [0]], blendshapes: odd.model()) }
  }

  /// A model whose expressions are the places of the first 26 of the points that it gets.
  private func places() throws(ApusError) -> Model {
    func whole(_ values: [UInt8]) -> [UInt8] { values.flatMap { [$0, 0, 0, 0] } }
    return try DetectorModel(
      tensors: [
        .init(name: "points", shape: [1, 146, 2]),
        .init(name: "begin", shape: [3], type: DetectorModel.int32, data: whole([0, 0, 0])),
        .init(name: "size", shape: [3], type: DetectorModel.int32, data: whole([1, 26, 2])),
        .init(name: "scores", shape: [1, 26, 2]),
      ], operators: [.init(code: 65, inputs: [0, 1, 2], outputs: [3])], outputs: [3]
    ).model()
  }

  @Test("in frames, expressions and matrix are those of the smooth points")
  func measuresSmoothPoints() throws {
    let points = try #require(golden.points) + (0..<30).map { Float($0) }
    let head = try #require(LandmarkGolden.of("geometry").first)
    let geometry = try FaceGeometry(bytes: FaceGeometryTests.metadata(head))
    let task = try landmarker([points, [3], [0]], blendshapes: places(), geometry: geometry, maxFaces: 1)
    let (smooth, raw) = (LandmarkTracker(task), LandmarkTracker(task, smoothing: nil))
    // The first of the points that MediaPipe's model of expressions takes.
    let taken = [
      0, 1, 4, 5, 6, 7, 8, 10, 13, 14, 17, 21, 33, 37, 39, 40, 46, 52, 53, 54, 55, 58, 61, 63, 65, 66,
    ]
    for (number, time) in [0, 0.04, 0.08, 0.2].enumerated() {
      let picture = try golden.image()
      let faces = try [smooth, raw].map { try #require($0.track(picture, at: time).faces.first) }
      for face in faces {
        #expect(
          face.blendshapes.map(\.score) == taken.flatMap { [face.landmarks[$0].x, face.landmarks[$0].y] })
        #expect(face.matrix != nil)
        #expect(
          face.matrix
            == geometry.matrix(
              of: face.landmarks, imageWidth: picture.width, imageHeight: picture.height))
      }
      #expect((faces[0] == faces[1]) == (number == 0) && faces[0].region == faces[1].region)
    }
  }

  @Test("models of other shapes, and numbers that no face has, are refused")
  func refuses() throws {
    let points = try #require(golden.points)
    for outputs in [[], [[1]], [points], [[1], points], [points, [1, 2]], [points, [1], [2]]] as [[[Float]]] {
      let error = #expect(throws: ApusError.self) { try landmarker(outputs) }
      #expect(error?.code == .invalidArgument && error?.message.contains("but:") == true)
    }
    for odd in [Float.nan, .infinity] {
      for outputs in [[points, [odd]], [[odd] + points.dropFirst(), [2]]] as [[[Float]]] {
        let error = #expect(throws: ApusError.self) { try landmarker(outputs).detect(golden.image()) }
        #expect(error?.code == .invalidData)
      }
    }
    #expect(try landmarker([points, [-1]]).detect(golden.image()).faces.isEmpty)
    #expect(throws: ApusError.self) { try landmarker([points, [1]], maxFaces: 0) }
  }
}
