// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusSystem

/// A pose in fractions of the model's input.
struct ModelPose {
  var score: Float
  var keypoints: [ModelKeypoint]
}

/// Turns the outputs of one kind of model into poses.
protocol KeypointHead: Sendable {
  /// The kind of model, for people.
  var kind: String { get }
  /// Why the model was taken for that kind.
  var reason: String { get }
  /// How the outputs are read, each with its source: `layout`, `box units`, `scores`, and what else the kind needs.
  var readings: [Assumption] { get }
  /// How its pictures are prepared.
  var pictureDefaults: PictureDefaults { get }
  /// The content of each output, in words.
  var roles: [Int: String] { get }
  /// Whether poses below the threshold are left out; false for a model that always gives one.
  var filtersPoses: Bool { get }
  /// The postprocessing steps, in words.
  var steps: [String] { get }
  /// Warnings about the model, including those from its answers.
  var warnings: [String] { get }
  /// Whether the next answer may decide how all later ones are read.
  var isUndecided: Bool { get }

  /// The poses, in any order.
  func poses(in run: ModelRun, threshold: Float) throws(ApusError) -> [ModelPose]
}

extension KeypointHead {
  var filtersPoses: Bool { true }
  var warnings: [String] { [] }
  var isUndecided: Bool { false }
}

/// MoveNet for one person: y, x and score of seventeen points.
struct MoveNetHead: KeypointHead {
  private static let pointCount = 17

  /// How many people the output has room for: one or six.
  private let people: Int
  private let columns: Int
  /// The form of the scores: probabilities, unless the options say otherwise.
  private let scores: Assumption
  /// A warning if the model contradicts the given form of its scores; empty otherwise.
  let warnings: [String]

  /// Recognizes `1×1×17×3` and `1×6×56`; nil for other outputs.
  init?(_ prepared: PreparedModel) {
    guard prepared.outputs.count == 1 else { return nil }
    let given = prepared.options.scores
    scores = Assumption(
      "scores", (given ?? .probability).rawValue, given == nil ? .guess : .given,
      reason: given == nil ? "so MoveNet has them" : "the options", option: "--scores")
    warnings = [prepared.scores(of: 0, given: given, usual: .probability).warning].compactMap(\.self)
    let shape = prepared.outputs[0].shape.dimensions
    if shape == [1, 1, Self.pointCount, 3] || shape == [1, Self.pointCount, 3] {
      (people, columns) = (1, 3 * Self.pointCount)
    } else if shape.count == 3, shape[0] == 1, (1...64).contains(shape[1]),
      shape[2] == 3 * Self.pointCount + 5
    {
      (people, columns) = (shape[1], shape[2])
    } else {
      return nil
    }
  }

  private var isSingle: Bool { columns == 3 * Self.pointCount }

  var kind: String { isSingle ? "MoveNet" : "MoveNet for several people" }
  var reason: String {
    isSingle ? "the output has y, x and score of 17 points" : "the output has rows of 17 points and a box"
  }
  var filtersPoses: Bool { !isSingle }

  var readings: [Assumption] {
    [
      Assumption("layout", kind, .guess, reason: reason),
      Assumption("box units", BoxUnits.fraction.rawValue, .guess, reason: "so MoveNet has them"),
      scores,
    ]
  }

  var pictureDefaults: PictureDefaults {
    // Floats are pixels as they are.
    PictureDefaults(
      fit: .letterbox(fill: .black), normalization: .raw, heedsMetadata: false, reason: "usual for MoveNet")
  }

  var roles: [Int: String] {
    [
      0: "\(people) rows of y, x, score of 17 points, in fractions of the input"
        + (isSingle ? "" : ", then a box and the pose's score")
    ]
  }

  var steps: [String] {
    [
      isSingle
        ? "the pose's score is the mean of its points'" : "the pose's score is the last number of its row"
    ]
  }

  func poses(in run: ModelRun, threshold: Float) throws(ApusError) -> [ModelPose] {
    let values = try run.values(of: 0)
    guard values.count == people * columns else {
      throw ApusError(.invalidData, "the output has \(values.count) values, not \(people * columns)")
    }
    let areLogits = scores.value == ScoreForm.logit.rawValue
    func score(_ place: Int) -> Float { areLogits ? 1 / (1 + exp(-values[place])) : values[place] }
    return (0..<people).map { person in
      let start = person * columns
      let points = (0..<Self.pointCount).map { point in
        ModelKeypoint(
          x: values[start + 3 * point + 1], y: values[start + 3 * point], score: score(start + 3 * point + 2)
        )
      }
      let mean = points.reduce(0) { $0 + ($1.score ?? 0) } / Float(points.count)
      return ModelPose(score: isSingle ? mean : score(start + columns - 1), keypoints: points)
    }
  }
}

/// YOLO's poses: a detection with points.
struct YOLOPoseHead: KeypointHead {
  private let head: YOLOHead
  private let maximumOverlap: Float

  /// Recognizes a YOLO model whose metadata or whose caller names its keypoints, or one that has as many columns as a person of COCO
  /// needs; nil for others.
  ///
  /// - Throws: `invalidArgument` if nothing says how many columns are keypoints.
  init?(
    _ prepared: PreparedModel, chosen: DetectorLayout?, keypoints: (count: Int, values: Int)?,
    maximumOverlap: Float
  ) throws(ApusError) {
    let usual = (count: Keypoint.cocoNames.count, values: 3)
    guard
      let head = try YOLOHead(
        prepared, chosen: chosen, keypoints: keypoints ?? usual, isGiven: keypoints != nil),
      head.keypoints != nil
    else { return nil }
    // People are one class. More would be keypoints that are taken for classes.
    if keypoints == nil, prepared.export?.keypoints == nil, let classes = head.classCount, classes != 1 {
      let columns = head.shape.columns
      throw ApusError(
        .invalidArgument,
        """
        the output has \(columns) columns, which are not a box, one class and 17 keypoints of 3 numbers; how many keypoints they \
        have must be said (--keypoints, such as 17x3 or 21x3)
        """)
    }
    self.head = head
    self.maximumOverlap = maximumOverlap
  }

  /// Which keypoints the candidates of an output may have, for an error; empty if it has none.
  static func advice(_ prepared: PreparedModel) -> String {
    guard prepared.outputs.count == 1, let dimensions = YOLOHead.dimensions(prepared.outputs[0].shape),
      let head = try? YOLOXRecognition(prepared, output: 0, dimensions: dimensions)
    else { return "" }
    let count = head.columns - 5
    let sizes = [3, 2].filter { count > 0 && count.isMultiple(of: $0) }.map { "\(count / $0)x\($0)" }
    guard !sizes.isEmpty else { return "" }
    return
      "; \(count) columns behind a box and one class can be keypoints: --keypoints \(sizes.joined(separator: " or "))"
  }

  var kind: String { "YOLO pose, \(head.layout.rawValue)" }
  var reason: String { head.reason }
  var readings: [Assumption] { head.readings }
  var warnings: [String] { head.warnings }
  var isUndecided: Bool { head.isUndecided }
  var pictureDefaults: PictureDefaults { head.pictureDefaults }
  var roles: [Int: String] { head.roles }
  var steps: [String] { head.steps(criteria(threshold: 0.3)) }

  private func criteria(threshold: Float) -> DetectionCriteria {
    DetectionCriteria(
      scoreThreshold: threshold, maxResults: head.layout.defaultMaxResults, maximumOverlap: maximumOverlap,
      isClassAgnostic: false, isMultiLabel: false, categories: .everything)
  }

  func poses(in run: ModelRun, threshold: Float) throws(ApusError) -> [ModelPose] {
    try head.objects(in: run, criteria(threshold: threshold.nextDown)).map {
      ModelPose(score: $0.score, keypoints: $0.keypoints)
    }
  }
}
