// SPDX-License-Identifier: Apache-2.0
import Apus

/// Finds the joints of people: MoveNet, PoseNet, and poses of YOLO.
///
/// ```swift
/// let detector = try KeypointDetector(modelFile: "movenet.tflite")
/// for pose in try detector.detect(picture).poses { draw(pose.keypoints) }
/// ```
///
/// Any number of threads can share a detector.
public final class KeypointDetector: VisionTask {
  /// How to detect poses.
  public struct Options: PictureOptions, Sendable {
    /// How pictures reach the model, and how it runs.
    public var baseOptions: BaseOptions
    /// The minimum score of a pose, inclusive. MoveNet's single pose is always reported.
    public var scoreThreshold: Float = 0.3
    /// The intersection over union above which the better of two poses of a YOLO model stays, from 0 to 1; 0.45 by default.
    public var maximumOverlap: Float = 0.45
    /// The maximum number of poses; nil for all.
    public var maxResults: Int?
    /// The kind of a YOLO model; nil to recognize it.
    public var layout: DetectorLayout?
    /// How many keypoints an object of a YOLO model has, and how many numbers each: 2 for x and y, 3 with a score; nil for those of the
    /// metadata, or else the seventeen of COCO's people.
    public var keypoints: (count: Int, values: Int)?

    /// Makes the default options, or those with the given base options.
    public init(baseOptions: BaseOptions = BaseOptions()) { self.baseOptions = baseOptions }
  }

  /// The options, as given.
  public let options: Options
  /// The task's assumptions about the model, updated by the answers so far.
  public var assumptions: TaskAssumptions {
    TaskAssumptions(
      task: "keypoints", kind: head.kind, reason: head.reason, pictures: pictures, roles: head.roles,
      readings: head.readings,
      steps: head.steps
        + (head.filtersPoses ? ["pose score >= \(options.scoreThreshold), best first"] : []),
      warnings: head.warnings + idleWarnings)
  }

  /// Whether the next answer may decide how all later ones are read. Several at once would decide by chance.
  package var isUndecided: Bool { head.isUndecided }

  /// Warnings about options that change no step for this kind of model.
  private var idleWarnings: [String] {
    options.candidates != nil && !(head is YOLOPoseHead)
      ? ["--candidates changes nothing for a model of the kind \(head.kind)"] : []
  }

  let pictures: PictureModel
  private let head: any KeypointHead

  /// Makes a detector from a model.
  ///
  /// - Throws: `invalidArgument` if the model is none of the known kinds; errors of `Apus.Interpreter`.
  public init(model: Model, options: Options = Options()) throws(ApusError) {
    try options.baseOptions.checkThreshold(options.scoreThreshold)
    if let maxResults = options.maxResults, maxResults < 1 {
      throw ApusError(.invalidArgument, "maxResults is \(maxResults), not 1 or more")
    }
    if let keypoints = options.keypoints, keypoints.count < 1 || !(2...3).contains(keypoints.values) {
      throw ApusError(
        .invalidArgument,
        "an object has \(keypoints.count) keypoints of \(keypoints.values) numbers, not 1 or more of 2 or 3")
    }
    guard options.maximumOverlap >= 0, options.maximumOverlap <= 1 else {
      throw ApusError(.invalidArgument, "the IoU threshold is \(options.maximumOverlap), not 0 to 1")
    }
    let layouts: [DetectorLayout?] = [nil, .yolo5, .yolo8, .yolo10Raw, .yoloEndToEnd]
    guard layouts.contains(options.layout) else {
      throw ApusError(
        .invalidArgument,
        "poses have the layout yolo5, yolo8, yolo10-raw or yolo-end-to-end, not \(options.layout?.rawValue ?? "")"
      )
    }
    self.options = options
    let prepared = try PreparedModel(model, options: options.baseOptions)
    try prepared.refuseByteScores()
    try prepared.checkTask(["pose"], for: "keypoints")
    let isYOLO = options.layout != nil || options.keypoints != nil
    if !isYOLO, let found = MoveNetHead(prepared) {
      head = found
    } else if !isYOLO, let found = PoseNetHead(prepared) {
      head = found
    } else if let found = try YOLOPoseHead(
      prepared, chosen: options.layout, keypoints: options.keypoints, maximumOverlap: options.maximumOverlap)
    {
      head = found
    } else {
      throw ApusError(
        .invalidArgument,
        """
        the model's outputs are not those of MoveNet (1×1×17×3 or 1×6×56), PoseNet (maps of 17, 34 and 64 or twice 32 \
        channels) or YOLO pose, but: \(prepared.outputDescription)\(YOLOPoseHead.advice(prepared))
        """)
    }
    try options.baseOptions.check(head.readings)
    pictures = try PictureModel(prepared, defaults: head.pictureDefaults)
  }

  /// Makes a detector from a file.
  ///
  /// - Throws: `unreadableFile`, `malformedModel`, or what the other initializer throws.
  public convenience init(modelFile: String, options: Options = Options()) throws(ApusError) {
    try self.init(model: Model(contentsOfFile: modelFile), options: options)
  }

  /// Finds poses in a picture or a region of it, best first.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture to look at, in pixels after orientation; nil for the whole picture.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if an operator refuses a value;
  ///   `resourceLimit` if the run takes more than the options of `interpreter` allow.
  public func detect(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> KeypointResult {
    try pictures.run(image, in: region, cancellation: cancellation, result)
  }

  /// Finds poses in a picture away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  public func detect(_ image: ImageBuffer, in region: PixelRect? = nil) async throws
    -> KeypointResult
  {
    try await answer(image, in: region)
  }

  /// How far files may be reduced while they are read, see ``VisionTask/imageReduction``.
  public var imageReduction: ImageReduction { .fitting(pictures.processor) }

  /// The result under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> KeypointResult
  {
    try detect(image, in: region, cancellation: cancellation)
  }

  /// The results for several pictures; they run together if the model's batch is open.
  public func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError)
    -> [KeypointResult]
  {
    try pictures.run(images, cancellation: cancellation, result)
  }

  /// The poses, if the reading of the model can have them.
  private func checked(_ poses: [ModelPose]) throws(ApusError) -> [ModelPose] {
    let check = AnswerCheck(self.head.readings)
    let areRaw = options.baseOptions.scores == .raw
    // A threshold that leaves out more says nothing about the places of points.
    let threshold = min(options.scoreThreshold, Options().scoreThreshold)
    var poses = poses
    for index in poses.indices {
      if !areRaw { poses[index].score = try check.score(poses[index].score) }
      for place in poses[index].keypoints.indices {
        poses[index].keypoints[place] = try check.checked(
          poses[index].keypoints[place], threshold: threshold, areRaw: areRaw)
      }
    }
    return poses
  }

  private func result(of run: ModelRun, in placement: Placement) throws(ApusError) -> KeypointResult {
    let found = try checked(
      head.poses(in: run, threshold: options.scoreThreshold).filter { pose in
        // NaN is refused rather than left out.
        !head.filtersPoses || !(pose.score < options.scoreThreshold)
      })
    let sorted = found.enumerated().sorted { one, other in
      one.element.score > other.element.score
        || one.element.score == other.element.score && one.offset < other.offset
    }
    let poses = sorted.prefix(options.maxResults ?? sorted.count).map { _, pose in
      let names = pose.keypoints.count == Keypoint.cocoNames.count ? Keypoint.cocoNames : nil
      return Pose(
        score: pose.score,
        keypoints: pose.keypoints.enumerated().map { index, point in
          let position = placement.imagePoint(modelX: point.x, modelY: point.y)
          return Keypoint(name: names?[index], x: position.x, y: position.y, score: point.score)
        })
    }
    return KeypointResult(
      imageWidth: placement.imageWidth, imageHeight: placement.imageHeight, poses: poses)
  }
}
