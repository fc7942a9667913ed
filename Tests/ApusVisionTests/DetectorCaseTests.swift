// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusShapes
import ApusVision
import Testing

/// Models of every layout against the public rules in NumPy.
@Suite struct DetectorCaseTests {
  /// The picture that `Tools/vision/cases.py` computes.
  private func picture(_ width: Int, _ height: Int) throws -> ImageBuffer {
    var bytes: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        for value in [7 * x + 3 * y, 5 * x + 11 * y + 40, 13 * x + y + 90] {
          bytes.append(UInt8(truncatingIfNeeded: value))
        }
      }
    }
    return try ImageBuffer(bytes: bytes, width: width, height: height, format: .rgb)
  }

  private func options(_ arguments: [String]) -> ObjectDetector.Options {
    var options = ObjectDetector.Options()
    for (place, name) in arguments.enumerated() where name.hasPrefix("--") {
      let value = arguments.indices.contains(place + 1) ? arguments[place + 1] : ""
      switch name {
      case "--class-agnostic": options.isClassAgnostic = true
      case "--multi-label": options.isMultiLabel = true
      case "--iou-threshold": options.maximumOverlap = Float(value) ?? .nan
      case "--score-threshold": options.scoreThreshold = Float(value) ?? .nan
      case "--max-results": options.maxResults = Int(value) ?? -1
      case "--anchors": options.anchors = value.split(separator: ",").map { Float($0) ?? .nan }
      case "--candidates": options.candidates = CandidateAxis(rawValue: value)
      case "--deny": options.categoryDenylist = [value]
      case "--layout": options.layout = DetectorLayout(rawValue: value)
      default: Issue.record("the option \(name) is not known")
      }
    }
    return options
  }

  @Test func hasCases() {
    #expect(DetectorCase.all.count >= 70)
    #expect(Set(DetectorCase.all.compactMap(\.kind)) == Set(DetectorLayout.allCases.map(\.rawValue)))
  }

  @Test(
    "finds what the public rules find",
    arguments: DetectorCase.all.filter { $0.error == nil && $0.refusal == nil })
  func followsTheRules(expected: DetectorCase) throws {
    let detector = try ObjectDetector(
      model: Model(bytes: expected.bytes), options: options(expected.options))
    if let kind = expected.kind { #expect(detector.layout.rawValue == kind) }
    #expect(
      detector.assumptions.warnings.contains { $0.contains(expected.warning ?? "?") }
        == (expected.warning != nil))
    let found = try detector.detect(picture(expected.picture[0], expected.picture[1])).detections
    guard let objects = expected.objects else { return }
    #expect(found.map(\.index) == objects.map(\.index))
    #expect(found.map(\.label) == objects.map(\.label))
    for (one, other) in zip(found, objects) {
      // Exponentials and products of float32, in another order than NumPy's.
      #expect(abs(one.score - other.score) <= 1e-5)
      for (edge, expected) in zip([one.rect.x, one.rect.y, one.rect.maxX, one.rect.maxY], other.edges) {
        #expect(abs(edge - expected) <= 2e-3)
      }
      if let area = other.area {
        // A pixel whose value is about 0 may fall on either side.
        let mask = try #require(one.mask)
        #expect(abs(mask.pixels().reduce(0) { $0 + Int($1) } - area) <= 2)
      }
      #expect(one.center.map { [$0.x, $0.y].count } == other.center?.count)
      for (value, expected) in zip(one.center.map { [$0.x, $0.y] } ?? [], other.center ?? []) {
        #expect(abs(value - expected) <= 2e-3)
      }
      #expect(one.orientedBox?.corners.count == other.corners?.count)
      for (corner, numbers) in zip(one.orientedBox?.corners ?? [], other.corners ?? []) {
        #expect(abs(corner.x - numbers[0]) <= 5e-3 && abs(corner.y - numbers[1]) <= 5e-3)
      }
      if let angle = other.angle { #expect(abs((one.orientedBox?.angle ?? 9) - angle) <= 1e-4) }
      #expect(one.keypoints.count == other.keypoints?.count ?? 0)
      for (point, numbers) in zip(one.keypoints, other.keypoints ?? []) {
        #expect(abs(point.x - numbers[0]) <= 1e-2 && abs(point.y - numbers[1]) <= 1e-2)
        #expect(abs((point.score ?? -1) - numbers[2]) <= 1e-5)
      }
    }
  }

  @Test(
    "refuses what can be several things, and names them",
    arguments: DetectorCase.all.filter { $0.error != nil })
  func refuses(expected: DetectorCase) throws {
    let error = #expect(throws: ApusError.self) {
      try ObjectDetector(model: Model(bytes: expected.bytes), options: options(expected.options))
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains(expected.error ?? "?") == true)
  }

  @Test(
    "an answer that the model's reading cannot have is refused, with what it can be",
    arguments: DetectorCase.all.filter { $0.refusal != nil })
  func refusesAnswers(expected: DetectorCase) throws {
    let detector = try ObjectDetector(
      model: Model(bytes: expected.bytes), options: options(expected.options))
    let error = #expect(throws: ApusError.self) {
      try detector.detect(picture(expected.picture[0], expected.picture[1]))
    }
    #expect(error?.message.contains(expected.refusal ?? "?") == true)
    #expect(error?.message.contains("--layout") == true)
  }

  @Test(
    "transformers that are trained on ImageNet's colors get them",
    arguments: [
      ("RF-DETR of three classes, boxes first", "RF-DETR"),
      ("a transformer with the numbers of COCO", "COCO"),
      ("DETR for COCO", "detr"), ("RT-DETR of 64x64", nil),
    ] as [(String, String?)])
  func normalizesAsImageNet(name: String, reason: String?) throws {
    let expected = try #require(DetectorCase.all.first { $0.name == name })
    let detector = try ObjectDetector(model: Model(bytes: expected.bytes), options: options(expected.options))
    let pixels = try #require(detector.assumptions.readings.first { $0.subject == "pixels" })
    let imageNet = "123.675,116.28,103.53:58.395,57.12,57.375"
    #expect(pixels.value == (reason == nil ? Normalization.unit.description : imageNet))
    #expect(pixels.reason.contains(reason ?? "rt-detr"))
  }

  @Test("damage behind the model costs the names, never the process")
  func survivesDamagedMetadata() throws {
    for name in ["metadata.json, compressed", "temp_meta.txt", "SSD with anchors of the metadata"] {
      let whole = try #require(DetectorCase.all.first { $0.name == name }).bytes
      for index in stride(from: 1, to: 700, by: 3) where index < whole.count {
        var damaged = whole
        damaged[whole.count - index] ^= 0x55
        // It is found, or refused.
        _ = try? ObjectDetector(model: Model(bytes: damaged)).detect(picture(64, 64))
      }
    }
  }

  @Test(
    "scales of the metadata by which nothing can be divided are refused",
    arguments: [0, -1, .nan, .infinity] as [Float])
  func refusesScales(scale: Float) throws {
    var bytes = try #require(DetectorCase.all.first { $0.name == "SSD with anchors of the metadata" }).bytes
    // The scales are 8, 9, 4 and 6, the last one first.
    func number(_ value: Float) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) }
    }
    let scales = [6, 4, 9, 8].flatMap(number)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: scales) })
    bytes.replaceSubrange(place + 4..<place + 8, with: number(scale))
    let error = #expect(throws: ApusError.self) { try ObjectDetector(model: Model(bytes: bytes)) }
    #expect(error?.code == .malformedModel)
    #expect(
      error?.message.contains("by 8.0, 9.0, \(scale), 6.0, and not by finite numbers") == true,
      "\(error?.message ?? "")")
  }

  @Test("a region is looked at alone, and boxes are those of the picture")
  func looksAtARegion() throws {
    let expected = try #require(DetectorCase.all.first { $0.name == "yolo8" })
    let detector = try ObjectDetector(model: Model(bytes: expected.bytes))
    let whole = try detector.detect(picture(64, 64)).detections
    let part = try detector.detect(
      picture(200, 150), in: PixelRect(x: 30, y: 20, width: 64, height: 64)
    ).detections
    #expect(whole.map(\.score) == part.map(\.score))
    for (one, other) in zip(whole, part) {
      #expect(abs(one.rect.x + 30 - other.rect.x) < 1e-3 && abs(one.rect.y + 20 - other.rect.y) < 1e-3)
      #expect(abs(other.boundingBox.minX - other.rect.x / 200) < 1e-5)
    }
    for rect in [
      PixelRect(x: 300, y: 0, width: 10, height: 10), PixelRect(x: .nan, y: 0, width: 1, height: 1),
      PixelRect(x: 0, y: 0, width: -4, height: 4),
    ] {
      #expect(throws: ApusError.self) { try detector.detect(picture(200, 150), in: rect) }
    }
  }

  @Test("many tasks share a detector, and a cancelled one stops")
  func isShared() async throws {
    let detector = try ObjectDetector.shapes()
    let picture = try picture(200, 150)
    let expected = try detector.detect(picture, in: nil, cancellation: nil).detections
    await withTaskGroup(of: [Detection]?.self) { group in
      for _ in 0..<8 {
        group.addTask { try? await detector.detect(picture).detections }
      }
      for await found in group { #expect(found == expected) }
    }
    let task = Task { try await detector.detect(picture) }
    task.cancel()
    // It may have been done before.
    if case .failure(let error) = await task.result { #expect(error is CancellationError) }
  }
}
