// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Foundation
import Testing

/// Tasks against the public rules in NumPy.
@Suite struct TaskCaseTests {
  private func picture(_ expected: TaskCase) throws -> ImageBuffer {
    let (width, height) = (expected.picture[0], expected.picture[1])
    return try ImageBuffer(
      bytes: (0..<width * height * 3).map { UInt8(truncatingIfNeeded: $0 * 7) }, width: width, height: height,
      format: .rgb)
  }

  /// Whether numbers agree but for the order of float32 arithmetic.
  private func agree(_ one: Float, _ other: Float, within tolerance: Float = 1e-5) -> Bool {
    abs(one - other) <= tolerance * max(1, abs(other))
  }

  @Test func hasCases() {
    #expect(TaskCase.all.count >= 40)
    #expect(
      Set(TaskCase.all.map(\.task)) == ["classifier", "embedder", "faces", "segmenter", "keypoints"])
  }

  @Test("names the classes that the rules name", arguments: TaskCase.answering("classifier"))
  func classifies(expected: TaskCase) throws {
    let classifier = try ImageClassifier(
      model: Model(bytes: expected.bytes), labels: expected.labels.map { LabelMap($0) })
    let found = try classifier.classify(picture(expected))
    let heads = try expected.heads ?? [.init(name: "", classes: #require(expected.classes))]
    #expect(found.classifications.count == heads.count)
    for (head, expected) in zip(found.classifications, heads) {
      #expect(head.categories.map(\.index) == expected.classes.map(\.index))
      #expect(head.categories.map(\.label) == expected.classes.map(\.label))
      #expect(zip(head.categories, expected.classes).allSatisfy { agree($0.score, $1.score) })
    }
  }

  @Test("the best classes alone, if they are wanted and sure enough")
  func selectsClasses() throws {
    let expected = try #require(TaskCase.all.first { $0.name == "labels in the model" })
    let all = try #require(expected.classes)
    func classify(_ change: (inout ImageClassifier.Options) -> Void) throws -> ClassificationResult {
      var options = ImageClassifier.Options()
      change(&options)
      return try ImageClassifier(model: Model(bytes: expected.bytes), options: options).classify(
        picture(expected))
    }
    #expect(try classify { $0.maxResults = 2 }.categories.map(\.label) == all.prefix(2).map(\.label))
    #expect(try classify { $0.scoreThreshold = 0.1 }.categories.count == all.filter { $0.score >= 0.1 }.count)
    let best = try #require(all.first?.label)
    #expect(try classify { $0.categoryAllowlist = [best] }.categories.map(\.label) == [best])
    #expect(
      try classify { $0.categoryDenylist = [best] }.categories.map(\.label) == all.dropFirst().map(\.label))
    #expect(throws: ApusError.self) { try classify { $0.categoryDenylist = ["nobody"] } }
    #expect(throws: ApusError.self) { try classify { $0.maxResults = 0 } }
  }

  @Test("a decision is the label, not sure below the threshold, or nothing without a class")
  func decides() throws {
    let classes = Classifications(categories: [Category(index: 3, score: 0.5, label: "cat")])
    #expect(classes.decision(threshold: 0.5).text == "cat")
    #expect(classes.decision(threshold: 0.6).text == "not sure")
    #expect(Classifications(categories: []).decision(threshold: 0).text == "nothing")
  }

  @Test("embeddings are those of the rules, at length 1", arguments: TaskCase.answering("embedder"))
  func embeds(expected: TaskCase) throws {
    var options = ImageEmbedder.Options()
    options.normalizesEmbeddings = true
    let embedder = try ImageEmbedder(model: Model(bytes: expected.bytes), options: options)
    let found = try embedder.embed(picture(expected)).embeddings
    let embeddings = try #require(expected.embeddings)
    #expect(
      found.map(\.values.count) == embeddings.map(\.count) && embedder.dimensions == embeddings.map(\.count))
    for (one, other) in zip(found, embeddings) {
      #expect(zip(one.values, other).allSatisfy { agree($0, $1) })
    }
  }

  @Test("distances and angles are those of geometry")
  func comparesEmbeddings() throws {
    let (east, north) = (Embedding([3, 0]), Embedding([0, 4]))
    #expect(east.euclideanDistance(to: north) == 5)
    #expect(east.cosineSimilarity(to: north) == 0 && east.cosineSimilarity(to: east) == 1)
    #expect(east.l2Normalized().values == [1, 0] && Embedding([0, 0]).l2Normalized().values == [0, 0])
    #expect(east.euclideanDistance(to: Embedding([1])) == nil)
    #expect(east.cosineSimilarity(to: Embedding([0, 0])) == nil)
    // Rounding would make more than 1 of some of them.
    for count in 2..<200 {
      let values = (0..<count).map { 0.1 * Float($0 % 7) + 0.013 }
      let cosines = [1, -3].map { (factor: Float) in
        Embedding(values).cosineSimilarity(to: Embedding(values.map { factor * $0 })) ?? 2
      }
      #expect(cosines.allSatisfy { abs($0) <= 1 }, "\(count): \(cosines)")
    }
    #expect(Embedding([1, -1, 0.5, .nan, 9]).quantized() == [127, -128, 64, -128, 127])
  }

  @Test("faces are those that the rules find and merge", arguments: TaskCase.answering("faces"))
  func findsFaces(expected: TaskCase) throws {
    let detector = try FaceDetector(model: Model(bytes: expected.bytes))
    let found = try detector.detect(picture(expected)).faces
    let faces = try #require(expected.faces)
    #expect(found.count == faces.count && faces.count > 2)
    for (one, other) in zip(found, faces) {
      #expect(agree(one.score, other.score))
      for (edge, expected) in zip([one.rect.x, one.rect.y, one.rect.maxX, one.rect.maxY], other.edges) {
        // Weighted means of float32.
        #expect(agree(edge, expected, within: 1e-3))
      }
      #expect(one.keypoints.map(\.name) == Face.keypointNames)
      for (point, position) in zip(one.keypoints, other.keypoints) {
        #expect(agree(point.x, position[0], within: 1e-3) && agree(point.y, position[1], within: 1e-3))
      }
    }
  }

  @Test("every pixel has the class of the rules", arguments: TaskCase.answering("segmenter"))
  func segments(expected: TaskCase) throws {
    let segmenter = try ImageSegmenter(model: Model(bytes: expected.bytes))
    let found = try segmenter.segment(picture(expected))
    let mask = try #require(expected.mask)
    #expect(found.categoryMask.count == mask.count)
    // Where two classes are equal but for the last digit, either may win.
    let differences = zip(found.categoryMask, mask).reduce(0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
    #expect(differences <= mask.count / 500)
    #expect(abs(found.classes.reduce(0) { $0 + $1.share } - 1) < 1e-9)
    #expect(found.classes.map(\.share) == found.classes.map(\.share).sorted(by: >))
  }

  @Test("confidence masks are the scores that decide")
  func givesConfidences() throws {
    let expected = try #require(TaskCase.all.first { $0.name == "scores, 50x21" })
    var options = ImageSegmenter.Options()
    options.outputsConfidenceMasks = true
    let found = try ImageSegmenter(model: Model(bytes: expected.bytes), options: options).segment(
      picture(expected))
    #expect(found.confidenceMasks.count == 5)
    for pixel in found.categoryMask.indices {
      let best = found.confidenceMasks.map { $0[pixel] }.max()
      #expect(found.confidenceMasks[Int(found.categoryMask[pixel])][pixel] == best)
    }
  }

  @Test("poses are those of the rules", arguments: TaskCase.answering("keypoints"))
  func findsPoses(expected: TaskCase) throws {
    var options = KeypointDetector.Options()
    options.keypoints = expected.shape.map { ($0[0], $0[1]) }
    let detector = try KeypointDetector(model: Model(bytes: expected.bytes), options: options)
    let found = try detector.detect(picture(expected)).poses
    let poses = try #require(expected.poses)
    #expect(found.count == poses.count)
    for (one, other) in zip(found, poses) {
      #expect(agree(one.score, other.score))
      let names = other.keypoints.count == 17 ? Keypoint.cocoNames.map(Optional.some) : []
      #expect(one.keypoints.compactMap(\.name) == names.compactMap { $0 })
      #expect(one.keypoints.count == other.keypoints.count)
      for (point, numbers) in zip(one.keypoints, other.keypoints) {
        // PoseNet moves points a dozen times, in single precision.
        #expect(agree(point.x, numbers[0], within: 1e-3) && agree(point.y, numbers[1], within: 1e-3))
        #expect(numbers.count == 3 ? agree(point.score ?? -1, numbers[2]) : point.score == nil)
      }
    }
  }

  @Test(
    "models of another kind are refused, with what was found",
    arguments: TaskCase.all.filter { $0.error != nil })
  func refuses(expected: TaskCase) throws {
    let model = try Model(bytes: expected.bytes)
    let error = #expect(throws: ApusError.self) {
      switch expected.task {
      case "classifier": _ = try ImageClassifier(model: model)
      case "embedder": _ = try ImageEmbedder(model: model)
      case "faces": _ = try FaceDetector(model: model)
      case "segmenter": _ = try ImageSegmenter(model: model)
      default: _ = try KeypointDetector(model: model)
      }
    }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains(expected.error ?? "?") == true, "\(error?.message ?? "")")
  }

  @Test("a model that leaves its batch open answers to several pictures as to each")
  func answersInBatches() throws {
    // The answer is the mean of what each picture shows: it tells pictures of a batch apart.
    var model = DetectorModel(
      tensors: [
        .init(name: "image", shape: [1, 4, 4, 3], signature: [-1, 4, 4, 3]),
        .init(name: "axes", shape: [2], type: DetectorModel.int32, data: [1, 0, 0, 0, 2, 0, 0, 0]),
        .init(name: "scores", shape: [1, 3], signature: [-1, 3]),
      ],
      operators: [.init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2])], outputs: [2])
    model.signature = ["scores"]
    let classifier = try ImageClassifier(model: model.model())
    let pictures = try (0..<5).map { index in
      try ImageBuffer(
        bytes: (0..<48).map { UInt8(truncatingIfNeeded: ($0 % 3 * 60 + index * 40) % 256) }, width: 4,
        height: 4,
        format: .rgb)
    }
    let together = try classifier.answers(pictures, cancellation: nil)
    #expect(together.count == 5)
    for (picture, answer) in zip(pictures, together) {
      #expect(try classifier.classify(picture).classifications == answer.classifications)
    }
    #expect(Set(together.map { $0.categories.map(\.score) }).count == 5)
  }

  @Test("a model that mixes the pictures of a batch answers to each as if it were alone")
  func keepsPicturesApart() throws {
    // Beside what a picture shows, scores have the brightest value of all pictures.
    var model = DetectorModel(
      tensors: [
        .init(name: "image", shape: [1, 4, 4, 3], signature: [-1, 4, 4, 3]),
        .init(name: "axes", shape: [2], type: DetectorModel.int32, data: [1, 0, 0, 0, 2, 0, 0, 0]),
        .init(name: "shown", shape: [1, 3]),
        .init(
          name: "all", shape: [4], type: DetectorModel.int32, data: (0..<4).flatMap { [$0, 0, 0, 0] }),
        .init(name: "brightest", shape: []), .init(name: "scores", shape: [1, 3], signature: [-1, 3]),
      ],
      operators: [
        .init(code: DetectorModel.reduceMax, inputs: [0, 1], outputs: [2]),
        .init(code: DetectorModel.reduceMax, inputs: [0, 3], outputs: [4]),
        .init(code: 0, inputs: [2, 4], outputs: [5]),
      ], outputs: [5])
    model.signature = ["scores"]
    let classifier = try ImageClassifier(model: model.model())
    let pictures = try [10, 90, 250].map { value in
      try ImageBuffer(bytes: [UInt8](repeating: value, count: 48), width: 4, height: 4, format: .rgb)
    }
    for (picture, answer) in zip(pictures, try classifier.answers(pictures, cancellation: nil)) {
      #expect(try classifier.classify(picture).classifications == answer.classifications)
    }
  }

  @Test("a face is turned upright: its eyes come to the same height, where they belong")
  func alignsFaces() throws {
    // A picture that is dark but for the eyes of a face that leans by 30° and is twice as large.
    let size = 300
    let (angle, scale) = (Float.pi / 6, Float(2))
    func placed(_ x: Float, _ y: Float) -> (x: Float, y: Float) {
      let (dx, dy) = ((x - 56) * scale, (y - 56) * scale)
      return (150 + cos(angle) * dx - sin(angle) * dy, 150 + sin(angle) * dx + cos(angle) * dy)
    }
    let template: [(Float, Float)] = [
      (38.2946, 51.6963), (73.5318, 51.5014), (56.0252, 71.7366), (56.1396, 92.2848),
    ]
    let points = template.map { placed($0.0, $0.1) }
    var bytes = [UInt8](repeating: 0, count: size * size * 3)
    for eye in points.prefix(2) {
      for y in Int(eye.y) - 4...Int(eye.y) + 4 {
        for x in Int(eye.x) - 4...Int(eye.x) + 4 { bytes[(y * size + x) * 3] = 255 }
      }
    }
    let picture = try ImageBuffer(bytes: bytes, width: size, height: size, format: .rgb)
    let box = BoundingBox(minX: 0, minY: 0, maxX: 1, maxY: 1)
    let face = Face(
      score: 1, boundingBox: box, rect: box.rect(width: size, height: size),
      keypoints: points.map { Keypoint(x: $0.x, y: $0.y) })
    let aligned = try #require(face.aligned(in: picture))
    #expect(aligned.width == 112 && aligned.height == 112)
    for eye in template.prefix(2) {
      #expect(try #require(aligned.pixel(x: Int(eye.0), y: Int(eye.1))).red > 200)
    }
    #expect(aligned.pixel(x: 56, y: 90)?.red == 0)
    let flat = Face(
      score: 1, boundingBox: box, rect: face.rect, keypoints: Array(repeating: Keypoint(x: 3, y: 3), count: 6)
    )
    #expect(flat.aligned(in: picture) == nil)
  }

  @Test("answers are encoded in the form of the command line")
  func encodes() throws {
    func json(_ value: some Encodable) throws -> String {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys]
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
    let category = Category(index: 1, score: 0.5)
    #expect(try json(category) == #"{"index":1,"label":null,"score":0.5}"#)
    #expect(try json(Keypoint(x: 1, y: 2)) == #"{"name":null,"score":null,"x":1,"y":2}"#)
    let detection = Detection(
      category: Category(index: 2, score: 0.25, label: "cat"),
      boundingBox: .init(minX: 0, minY: 0, maxX: 1, maxY: 1),
      imageWidth: 4, imageHeight: 2)
    #expect(
      try json(detection)
        == #"{"box":{"height":2,"width":4,"x":0,"y":0},"index":2,"label":"cat","score":0.25}"#)
  }
}
