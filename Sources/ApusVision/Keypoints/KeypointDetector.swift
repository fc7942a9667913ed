// SPDX-License-Identifier: Apache-2.0
import Apus

/// Finds the joints of people: MoveNet, PoseNet, and poses of YOLO.
///
/// ```swift
/// let detector = try KeypointDetector(modelFile: "movenet.tflite")
/// for pose in try detector.detect(picture).poses { draw(pose.keypoints) }
/// ```
///
/// A detector can be shared by any number of threads.
public final class KeypointDetector: VisionTask {
  /// How to detect poses.
  @dynamicMemberLookup
  public struct Options: Sendable {
    /// How pictures reach the model, and how it runs; its members are members of these options, too.
    public var baseOptions = BaseOptions()
    /// The least score of a pose; equal is enough. MoveNet's single pose is always part of an answer.
    public var scoreThreshold: Float = 0.3
    /// The most poses in an answer, the best ones; nil for all.
    public var maxResults: Int?

    /// Makes the default options.
    public init() {}

    /// The options that all tasks have.
    public subscript<Value>(dynamicMember path: WritableKeyPath<BaseOptions, Value>) -> Value {
      get { baseOptions[keyPath: path] }
      set { baseOptions[keyPath: path] = newValue }
    }
  }

  /// How to detect, as given.
  public let options: Options
  /// What is taken for granted about the model.
  public let assumptions: TaskAssumptions

  private let pictures: PictureModel
  private let head: any KeypointHead

  /// Makes a detector of a model.
  ///
  /// - Throws: `invalidArgument` where the model is none of the known kinds, or what stops `Apus.Interpreter`.
  public init(model: Model, options: Options = Options()) throws(ApusError) {
    guard !options.scoreThreshold.isNaN else {
      throw ApusError(.invalidArgument, "the score threshold is not a number")
    }
    if let maxResults = options.maxResults, maxResults < 1 {
      throw ApusError(.invalidArgument, "at most \(maxResults) results are asked for, not 1 or more")
    }
    self.options = options
    let prepared = try PreparedModel(model, options: options.baseOptions)
    if let found = MoveNetHead(prepared) {
      head = found
    } else if let found = PoseNetHead(prepared) {
      head = found
    } else if let found = try YOLOPoseHead(prepared) {
      head = found
    } else {
      throw ApusError(
        .invalidArgument,
        """
        the model's outputs are not those of MoveNet (1×1×17×3 or 1×6×56), PoseNet (maps of 17, 34 and 64 or twice 32 \
        channels) or YOLO pose, but: \(prepared.outputDescription)
        """)
    }
    pictures = try PictureModel(prepared, defaults: head.pictureDefaults)
    assumptions = TaskAssumptions(
      task: "keypoints", kind: head.kind, reason: head.reason, pictures: pictures, roles: head.roles,
      steps: head.steps
        + (head.filtersPoses ? ["pose score >= \(options.scoreThreshold), best first"] : []))
  }

  /// Makes a detector of a file.
  public convenience init(modelFile: String, options: Options = Options()) throws(ApusError) {
    try self.init(model: Model(contentsOfFile: modelFile), options: options)
  }

  /// Finds poses in a picture, or in a region of it: best first.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture to look at, in pixels as it is seen; nil for all of it.
  ///   - cancellation: A flag that is looked at before each operator.
  /// - Throws: `cancelled`, or what only the data of a run can cause.
  public func detect(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> KeypointResult {
    result(image, try pictures.run(image, in: region, cancellation: cancellation, poses))
  }

  /// Finds poses in a picture, away from the caller's actor; cancelling the caller's task stops the run.
  public func detect(_ image: ImageBuffer, in region: PixelRect? = nil) async throws(ApusError)
    -> KeypointResult
  {
    try await answer(image, in: region)
  }

  /// How far files may be reduced while they are read; see ``VisionTask/imageReduction``.
  public var imageReduction: ImageReduction { .fitting(pictures.processor) }

  /// The same answer under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> KeypointResult
  {
    try detect(image, in: region, cancellation: cancellation)
  }

  /// Answers to several pictures, in one run where the model leaves its batch open.
  public func answers(_ images: [ImageBuffer], cancellation: Cancellation?) throws(ApusError)
    -> [KeypointResult]
  {
    let answers = try pictures.run(images, cancellation: cancellation, poses)
    return zip(images, answers).map(result)
  }

  private func result(
    _ image: ImageBuffer, _ answer: (answer: [Pose], timings: StageTimings)
  ) -> KeypointResult {
    KeypointResult(
      imageWidth: image.originalWidth, imageHeight: image.originalHeight, poses: answer.answer,
      timings: answer.timings)
  }

  private func poses(of run: ModelRun, in placement: Placement) throws(ApusError) -> [Pose] {
    let found = try head.poses(in: run, threshold: options.scoreThreshold).filter { pose in
      !head.filtersPoses || pose.score >= options.scoreThreshold
    }
    let sorted = found.enumerated().sorted { one, other in
      one.element.score > other.element.score
        || one.element.score == other.element.score && one.offset < other.offset
    }
    return sorted.prefix(options.maxResults ?? sorted.count).map { _, pose in
      let names = pose.keypoints.count == Keypoint.cocoNames.count ? Keypoint.cocoNames : nil
      return Pose(
        score: pose.score,
        keypoints: pose.keypoints.enumerated().map { index, point in
          let position = placement.imagePoint(modelX: point.x, modelY: point.y)
          return Keypoint(name: names?[index], x: position.x, y: position.y, score: point.score)
        })
    }
  }
}
