// SPDX-License-Identifier: Apache-2.0
import Apus

/// Finds faces with eyes, nose, mouth and ears: BlazeFace models for short and for full range.
///
/// ```swift
/// let detector = try FaceDetector(modelFile: "face_detection_short_range.tflite")
/// for face in try detector.detect(picture).faces { draw(face.rect, face.keypoints) }
/// ```
///
/// Any number of threads can share a detector.
public final class FaceDetector: VisionTask {
  /// How to detect faces.
  public struct Options: PictureOptions, Sendable {
    /// How pictures reach the model, and how it runs.
    public var baseOptions: BaseOptions
    /// The minimum score of a face, inclusive.
    public var minDetectionConfidence: Float = 0.5
    /// The overlap (intersection over union) above which candidates are one face.
    public var maximumOverlap: Float = 0.3
    /// The maximum number of faces; nil for all.
    public var maxResults: Int?

    /// Makes the default options, or those with the given base options.
    public init(baseOptions: BaseOptions = BaseOptions()) { self.baseOptions = baseOptions }

    func check() throws(ApusError) {
      try baseOptions.checkThreshold(minDetectionConfidence)
      guard maximumOverlap >= 0, maximumOverlap <= 1 else {
        throw ApusError(.invalidArgument, "the IoU threshold is \(maximumOverlap), not 0 to 1")
      }
      if let maxResults, maxResults < 1 {
        throw ApusError(.invalidArgument, "maxResults is \(maxResults), not 1 or more")
      }
    }
  }

  /// The options, as given.
  public let options: Options
  /// The task's assumptions about the model, updated by the answers so far.
  public var assumptions: TaskAssumptions {
    let areLogits = scoring.areLogits
    return TaskAssumptions(
      task: "faces", kind: kind, reason: "\(centers.count) anchors", pictures: pictures,
      roles: roles(areLogits: areLogits),
      readings: readings,
      steps: [
        (areLogits ? "score = 1 / (1 + exp(-clip(logit, -100, 100)))" : "score")
          + " >= \(options.minDetectionConfidence)",
        "box and points = prediction / side of the input + center of the cell",
        """
        candidates with IoU > \(options.maximumOverlap) with the best become one: means weighted by scores, the \
        best score
        """,
      ], warnings: scoring.warnings)
  }

  private func roles(areLogits: Bool) -> [Int: String] {
    let prediction =
      "x, y, width, height and \((columns - 4) / 2) keypoints, in pixels of the input from the center of the anchor's cell"
    var roles: [Int: String] = [:]
    for output in outputs.predictions { roles[output] = prediction }
    for output in outputs.scores { roles[output] = areLogits ? "the logits of the scores" : "the scores" }
    return roles
  }

  private var readings: [Assumption] {
    [
      Assumption("layout", kind, .guess, reason: "\(centers.count) anchors"),
      Assumption("box units", BoxUnits.pixel.rawValue, .guess, reason: "so BlazeFace has them"),
      scoring.assumption,
    ]
  }

  /// Whether the next answer may decide how all later ones are read. Several at once would decide by chance.
  package var isUndecided: Bool { scoring.isUndecided }

  /// The numbers that a palm detector has for each anchor: the box and seven points.
  private static let palmColumns = 4 + 2 * 7

  let pictures: PictureModel
  private let outputs: AnchorOutputs
  private let columns: Int
  private let centers: [(x: Float, y: Float)]
  private let kind: String
  private let scoring: AnchorScores

  /// Makes a detector from a model with one picture in, predictions and scores of anchors out, in any order, or those of each grid of cells.
  ///
  /// - Throws: `invalidArgument` if the model is not a BlazeFace detector; errors of `Apus.Interpreter`.
  public init(model: Model, options: Options = Options()) throws(ApusError) {
    try options.check()
    self.options = options
    let prepared = try PreparedModel(model, options: options.baseOptions)
    try prepared.refuseByteScores()
    try prepared.checkTask([], for: "faces")
    let geometry = prepared.geometry
    let shapes = prepared.outputs.map(\.shape)
    guard let found = FaceAnchors.find(shapes, width: geometry.width, height: geometry.height) else {
      throw ApusError(
        .invalidArgument,
        """
        the model's outputs are not those of BlazeFace (predictions 1×896×16 and scores 1×896×1 for 128 × 128 or \
        256 × 256 pixels, or those of each grid, 1×2304×16 and 1×2304×1 for 192 × 192), but: \(prepared.outputDescription)
        """)
    }
    guard found.columns != Self.palmColumns else {
      throw ApusError(
        .invalidArgument,
        """
        the output \(prepared.outputs[found.outputs.predictions[0]]) has a box and seven points for each anchor, as detectors of palms have, not the six of \
        faces; 'apus hands' (HandLandmarker) takes such a model
        """)
    }
    (outputs, columns, centers, kind) = (found.outputs, found.columns, found.centers, found.name)
    scoring = AnchorScores(
      ofOutput: outputs.scores[0], of: prepared, given: options.baseOptions.scores, hasOption: true)
    pictures = try PictureModel(
      prepared, defaults: PictureDefaults(fit: .letterbox(fill: .black), reason: "usual for BlazeFace"))
    try options.baseOptions.check(readings)
  }

  /// Makes a detector from a file.
  ///
  /// - Throws: `unreadableFile`, `malformedModel`, or what the other initializer throws.
  public convenience init(modelFile: String, options: Options = Options()) throws(ApusError) {
    try self.init(model: Model(contentsOfFile: modelFile), options: options)
  }

  /// Finds faces in a picture or a region of it, best first.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture to look at, in pixels after orientation; nil for the whole picture.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if an operator refuses a value;
  ///   `resourceLimit` if the run takes more than the options of `interpreter` allow.
  public func detect(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> FaceDetectionResult {
    try pictures.run(image, in: region, cancellation: cancellation, result)
  }

  /// Finds faces in a picture away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  public func detect(_ image: ImageBuffer, in region: PixelRect? = nil) async throws
    -> FaceDetectionResult
  {
    try await answer(image, in: region)
  }

  /// How far files may be reduced while they are read, see ``VisionTask/imageReduction``.
  public var imageReduction: ImageReduction { .fitting(pictures.processor) }

  /// The result under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> FaceDetectionResult
  {
    try detect(image, in: region, cancellation: cancellation)
  }

  /// The results for several pictures; they run together if the model's batch is open.
  public func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError)
    -> [FaceDetectionResult]
  {
    try pictures.run(images, cancellation: cancellation, result)
  }

  private func result(of run: ModelRun, in placement: Placement) throws(ApusError) -> FaceDetectionResult {
    let scores = try run.values(of: outputs.scores)
    let check = AnswerCheck(self.readings)
    try check.refuseNaN(in: scores)
    let areLogits = try scoring.areLogits(in: scores)
    let candidates = try run.withValues(of: outputs.predictions) { values throws(ApusError) in
      guard scores.count == centers.count, values.count == centers.count * columns else {
        throw ApusError(.invalidData, "the outputs have other shapes than when prepared")
      }
      return AnchoredBoxes(
        values, scores, areLogits: areLogits, centers: centers, columns: columns,
        width: Float(pictures.processor.width),
        height: Float(pictures.processor.height), threshold: options.minDetectionConfidence)
    }
    var merged = candidates.merged(maximumOverlap: options.maximumOverlap)
    let areRaw = options.baseOptions.scores == .raw
    for candidate in merged {
      if !areRaw { _ = try check.score(candidate.score) }
      let box = candidate.box
      try check.checkEdges(box.minX, box.minY, box.maxX, box.maxY)
    }
    let score = { (candidate: AnchoredBox) in areRaw ? .infinity : candidate.score }
    merged = try check.possible(merged, score: score) {
      candidate throws(ApusError) in
      var candidate = candidate
      let box = try check.checked(candidate.box)
      (candidate.coordinates[2], candidate.coordinates[3]) = (box.maxX, box.maxY)
      for position in candidate.coordinates { try check.check(position: position) }
      return candidate
    }
    let faces = merged.prefix(options.maxResults ?? merged.count).map { candidate in
      let rect = placement.imageRect(ofModelBox: candidate.box)
      let points = stride(from: 4, to: candidate.coordinates.count, by: 2).enumerated().map { index, start in
        let position = placement.imagePoint(
          modelX: candidate.coordinates[start], modelY: candidate.coordinates[start + 1])
        return Keypoint(
          name: Face.keypointNames.indices.contains(index) ? Face.keypointNames[index] : nil, x: position.x,
          y: position.y)
      }
      return Face(
        score: candidate.score, boundingBox: placement.imageBox(of: rect), rect: rect, keypoints: points)
    }
    return FaceDetectionResult(
      imageWidth: placement.imageWidth, imageHeight: placement.imageHeight, faces: faces)
  }
}
