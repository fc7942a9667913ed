// SPDX-License-Identifier: Apache-2.0
import Apus

/// Finds people and 33 points of their bodies: MediaPipe's models for poses.
///
/// ```swift
/// let landmarker = try PoseLandmarker(modelFile: "pose_landmarker_full.task")
/// for pose in try landmarker.detect(picture).poses { print(pose.landmarks[0], pose.worldLandmarks[15]) }
/// ```
///
/// For frames of a video, a ``LandmarkTracker`` follows people from one to the next. Any number of threads can share a landmarker.
public final class PoseLandmarker: LandmarkTask {
  /// How to find people. Names and defaults are MediaPipe's.
  public struct Options: Sendable {
    /// How to run the models: threads, kernels, limits.
    public var interpreter = Interpreter.Options()
    /// The maximum number of people.
    public var maxPoses = 1
    /// The minimum score of a detected person, inclusive.
    public var minDetectionConfidence: Float = 0.5
    /// The minimum score of a person in a region, or where they are tracked.
    public var minPresenceConfidence: Float = 0.5
    /// The overlap (intersection over union) above which detected boxes are one person. MediaPipe's `PoseLandmarker` has 0.5 and no option
    /// for it; its older interface (`mp.solutions.pose`) and its `HolisticLandmarker` have 0.3.
    public var maximumOverlap: Float = 0.5
    /// In frames, the overlap above which a detected person is taken for one who is tracked already, and two tracked ones for one.
    public var minTrackingConfidence: Float = 0.5
    /// Whether each pose has a mask of its person.
    public var outputsMasks = false
    /// How many cells a side the square of a heat map has whose mean a point of the body is moved to; odd, 1 to 63.
    /// MediaPipe's `PoseLandmarker` and `HolisticLandmarker` have 7. Its older interfaces (`mp.solutions.pose` and `mp.solutions.holistic`) have 9.
    public var refinementCells = 7

    /// Makes the default options.
    public init() {}

    func check() throws(ApusError) {
      try LandmarkOptionChecks.checkMaximum("maxPoses", maxPoses)
      try LandmarkOptionChecks.checkThresholds([
        "minDetectionConfidence": minDetectionConfidence,
        "minPresenceConfidence": minPresenceConfidence,
        "minTrackingConfidence": minTrackingConfidence,
        "maximumOverlap": maximumOverlap,
      ])
      guard refinementCells > 0, refinementCells < 64, refinementCells % 2 == 1 else {
        throw ApusError(
          .invalidArgument, "refinementCells is \(refinementCells), not an odd number from 1 to 63")
      }
    }
  }

  /// The options, as given.
  public let options: Options
  /// The task's assumptions about the pose model, with the detector's steps.
  public var assumptions: TaskAssumptions {
    landmarkAssumptions.with(pipeline.detector.scoring, of: "people's")
  }

  /// Whether the next picture may decide how the scores of people are read in all later ones.
  package var isUndecided: Bool { pipeline.detector.scoring.isUndecided }

  /// The assumptions about the model of landmarks.
  private let landmarkAssumptions: TaskAssumptions

  private let pipeline: TaskPipeline<BodyPose>

  /// Makes a landmarker from a bundle.
  ///
  /// - Parameters:
  ///   - modelFile: A `.task` file with `pose_detector.tflite` and `pose_landmarks_detector.tflite`.
  ///   - options: The limits, thresholds and threads of the task.
  /// - Throws: `unreadableFile`, `malformedModel`, or what the other initializers throw.
  public convenience init(modelFile: String, options: Options = Options()) throws(ApusError) {
    try self.init(bundle: TaskBundle(contentsOfFile: modelFile), options: options)
  }

  /// Makes a landmarker from a bundle that is open already.
  ///
  /// - Parameters:
  ///   - bundle: A bundle with `pose_detector.tflite` and `pose_landmarks_detector.tflite`.
  ///   - options: The limits, thresholds and threads of the task.
  /// - Throws: `malformedModel` if an entry is missing or damaged, or what the other initializers throw.
  public convenience init(bundle: TaskBundle, options: Options = Options()) throws(ApusError) {
    let (detector, landmarks) = ("pose_detector.tflite", "pose_landmarks_detector.tflite")
    try self.init(
      bundle.model(named: detector), bundle.model(named: landmarks), options,
      warnings: bundle.warnings(using: detector, landmarks))
  }

  /// Makes a landmarker from two models.
  ///
  /// - Parameters:
  ///   - detector: A person detector: predictions `1×2254×12` and scores `1×2254×1`.
  ///   - landmarks: A pose model: points, presence, mask, heat maps, points in space.
  ///   - options: How to find people.
  /// - Throws: `invalidArgument` if the models are others; errors of `Apus.Interpreter`.
  public convenience init(
    detector: Model, landmarks: Model, options: Options = Options()
  ) throws(ApusError) {
    try self.init(detector, landmarks, options, warnings: [])
  }

  private init(
    _ detector: Model, _ landmarks: Model, _ options: Options, warnings: [String]
  ) throws(ApusError) {
    try options.check()
    self.options = options
    var base = BaseOptions()
    base.interpreter = options.interpreter
    let people = try AnchorDetector(
      detector, .people, options: base, minimumScore: options.minDetectionConfidence,
      maximumOverlap: options.maximumOverlap)
    let prepared = try PreparedModel(landmarks, options: base)
    let outputs = try PoseOutputs(prepared, refinementCells: options.refinementCells)
    let reader = try RegionModel(
      prepared, normalization: .unit, border: .replicate, reason: "usual for MediaPipe's poses")
    let (minimum, masks) = (options.minPresenceConfidence, options.outputsMasks)
    pipeline = TaskPipeline(
      detector: people, reader: reader, limit: options.maxPoses,
      trackingOverlap: options.minTrackingConfidence
    ) { person in
      BodyPose.region(center: person.keypoint(0), rim: person.keypoint(1))
    } read: { run, view, region, _ throws(ApusError) in
      let score = try run.probability(of: 1, "score of presence")
      guard score >= minimum else { return nil }
      let values = try outputs.points(run)
      var points = region.landmarks(
        values, step: 5, names: BodyPose.landmarkNames, width: outputs.inputWidth, height: outputs.inputHeight
      )
      for index in points.indices {
        (points[index].visibility, points[index].presence) = (values[5 * index + 3], values[5 * index + 4])
      }
      let places = points[PoseOutputs.bodyCount..<PoseOutputs.bodyCount + 2]
      let world = region.worldLandmarks(
        try run.finiteValues(of: 4, count: 3 * PoseOutputs.pointCount, "landmarks in space"))
      return BodyPose(
        score: score, landmarks: Array(points.prefix(PoseOutputs.bodyCount)),
        worldLandmarks: Array(world.prefix(PoseOutputs.bodyCount)),
        mask: masks
          ? try outputs.mask(run, of: region, width: view.imageWidth, height: view.imageHeight) : nil,
        region: region, regionPoints: places.map { PixelPoint(x: $0.x, y: $0.y) })
    }
    landmarkAssumptions = TaskAssumptions(
      task: "poses", kind: "MediaPipe's poses",
      reason: "outputs of 195, 1 and 117 numbers, a mask, 39 heat maps",
      pictures: reader.pictures, roles: PoseOutputs.roles, readings: [],
      steps: [
        "people: score >= \(options.minDetectionConfidence), IoU > \(options.maximumOverlap) become one, weighted by scores",
        """
        a person's region: around the first point, the second one above it, 1.25 times as large as the circle through the second
        """,
        """
        a pose: score >= \(options.minPresenceConfidence), points moved to the mean of \(options.refinementCells) × \
        \(options.refinementCells) cells of their heat maps, then from the region to the picture
        """,
      ], warnings: warnings)
  }

  /// Finds people in a picture or a region of it.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture to look at, in pixels after orientation; nil for the whole picture.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if a model's numbers are not those of people;
  ///   `resourceLimit` if a run takes more than the options of `interpreter` allow.
  public func detect(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> PoseLandmarkResult {
    try result(image, nil, region, cancellation)
  }

  /// Finds people in a picture away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  public func detect(_ image: ImageBuffer, in region: PixelRect? = nil) async throws
    -> PoseLandmarkResult
  {
    try await answer(image, in: region)
  }

  /// The result under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> PoseLandmarkResult
  {
    try result(image, nil, region, cancellation)
  }

  /// Finds people in a frame, first where those of the frame before are expected.
  public func follow(
    _ frame: ImageBuffer, after regions: [Region], in area: PixelRect?, cancellation: Cancellation?
  ) throws(ApusError) -> PoseLandmarkResult {
    try result(frame, regions, area, cancellation)
  }

  /// The people of a picture, and what finding them took; first those where people are expected, see ``TaskPipeline``.
  func people(
    in view: PictureView, after tracked: [Region]?, _ cancellation: Cancellation?
  ) throws(ApusError) -> (people: [BodyPose], timings: StageTimings) {
    let (people, timings) = try pipeline.subjects(in: view, after: tracked, cancellation: cancellation)
    return (people, timings)
  }

  private func result(
    _ image: ImageBuffer, _ tracked: [Region]?, _ area: PixelRect?, _ cancellation: Cancellation?
  ) throws(ApusError) -> PoseLandmarkResult {
    let view = try PictureView(image, in: area)
    let (poses, timings) = try people(in: view, after: tracked, cancellation)
    return PoseLandmarkResult(
      imageWidth: view.imageWidth, imageHeight: view.imageHeight, poses: poses, timings: timings)
  }
}
