// SPDX-License-Identifier: Apache-2.0
import Apus

/// Finds hands and their 21 points: MediaPipe's models for palms and hands.
///
/// ```swift
/// let landmarker = try HandLandmarker(modelFile: "hand_landmarker.task")
/// for hand in try landmarker.detect(picture).hands { print(hand.handedness, hand.landmarks[8]) }
/// ```
///
/// For frames of a video, a ``LandmarkTracker`` follows hands from one to the next. Any number of threads can share a landmarker.
public final class HandLandmarker: LandmarkTask {
  /// How to find hands. Names and defaults are MediaPipe's, but for ``maxHands`` and ``palmAngle``.
  public struct Options: Sendable {
    /// How to run the models: threads, kernels, limits.
    public var interpreter = Interpreter.Options()
    /// The maximum number of hands; MediaPipe's `HandLandmarker` has 1, its older interface (`mp.solutions.hands`) 2.
    public var maxHands = 2
    /// The minimum score of a palm, inclusive.
    public var minDetectionConfidence: Float = 0.5
    /// The minimum score of a hand in the region of a palm, or where it is tracked.
    public var minPresenceConfidence: Float = 0.5
    /// In frames, the overlap above which a palm is taken for a hand that is tracked already.
    public var minTrackingConfidence: Float = 0.5
    /// The direction from the wrist to the middle finger in the region of a palm, in degrees counterclockwise from the right: 90 is up.
    ///
    /// MediaPipe's older interface (`mp.solutions.hands`) has 90 degrees. Its newer one (`HandLandmarker`) states 90 in a field for
    /// radians, that is 116.6 degrees: regions of palms are turned by 26.6 degrees too much. Set it to 5156.62 for the newer one's results.
    public var palmAngle: Float = 90
    /// The classifier that names the gesture of each hand; nil for no gestures.
    public var gestures: LandmarkClassifier?

    /// Makes the default options.
    public init() {}

    func check() throws(ApusError) {
      try LandmarkOptionChecks.checkMaximum("maxHands", maxHands)
      try LandmarkOptionChecks.checkThresholds([
        "minDetectionConfidence": minDetectionConfidence,
        "minPresenceConfidence": minPresenceConfidence,
        "minTrackingConfidence": minTrackingConfidence,
      ])
      guard palmAngle.isFinite else {
        throw ApusError(.invalidArgument, "palmAngle is \(palmAngle), not a finite number of degrees")
      }
    }
  }

  /// The options, as given.
  public let options: Options
  /// The task's assumptions about the model of hands, with the detector's steps.
  public var assumptions: TaskAssumptions {
    landmarkAssumptions.with(pipeline.detector.scoring, of: "palms'")
  }

  /// Whether the next picture may decide how the scores of palms are read in all later ones.
  package var isUndecided: Bool { pipeline.detector.scoring.isUndecided }

  /// The assumptions about the model of landmarks.
  private let landmarkAssumptions: TaskAssumptions

  private let pipeline: TaskPipeline<Hand>

  /// Makes a landmarker from a bundle.
  ///
  /// - Parameters:
  ///   - modelFile: A `.task` file with `hand_detector.tflite` and `hand_landmarks_detector.tflite`, or with a bundle
  ///     `hand_landmarker.task` that has them, as gesture recognizers do. Their models of gestures are not used, which
  ///     ``assumptions`` warns about: ``Options/gestures`` names gestures by example.
  ///   - options: The limits, thresholds and threads of the task.
  /// - Throws: `unreadableFile`, `malformedModel`, or what the other initializers throw.
  public convenience init(modelFile: String, options: Options = Options()) throws(ApusError) {
    try self.init(bundle: TaskBundle(contentsOfFile: modelFile), options: options)
  }

  /// Makes a landmarker from a bundle that is open already.
  ///
  /// - Parameters:
  ///   - bundle: A bundle with the entries that ``init(modelFile:options:)`` reads.
  ///   - options: The limits, thresholds and threads of the task.
  /// - Throws: `malformedModel` if an entry is missing or damaged, or what the other initializers throw.
  public convenience init(bundle: TaskBundle, options: Options = Options()) throws(ApusError) {
    var bundle = bundle
    let inner = "hand_landmarker.task"
    var warnings: [String] = []
    if bundle.entryNames.contains(inner) {
      warnings = bundle.warnings(using: inner)
      bundle = try bundle.bundle(named: inner)
    }
    let (detector, landmarks) = ("hand_detector.tflite", "hand_landmarks_detector.tflite")
    warnings += bundle.warnings(using: detector, landmarks)
    try self.init(
      bundle.model(named: detector), bundle.model(named: landmarks), options, warnings: warnings)
  }

  /// Makes a landmarker from two models.
  ///
  /// - Parameters:
  ///   - detector: A palm detector: predictions `1×2016×18` and scores `1×2016×1`.
  ///   - landmarks: A hand model: 63 numbers for the points, the scores of presence and handedness, 63 numbers for points in space.
  ///   - options: The limits, thresholds and threads of the task.
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
    let palms = try AnchorDetector(
      detector, .palms, options: base, minimumScore: options.minDetectionConfidence, maximumOverlap: 0.3)
    let hands = try HandModel(landmarks, options: base, minimumScore: options.minPresenceConfidence)
    let target = options.palmAngle * .pi / 180
    pipeline = TaskPipeline(
      detector: palms, reader: hands.reader, limit: options.maxHands,
      trackingOverlap: options.minTrackingConfidence, keepsOverlappingRegions: true
    ) { palm in
      // From the wrist to the first joint of the middle finger.
      var region = Region(palm)
      region.rotation = Region.rotation(from: palm.keypoint(0), to: palm.keypoint(2), target: target)
      return region.squared(shiftedDown: -0.5, scaledBy: 2.6)
    } read: { run, _, region, _ throws(ApusError) in
      try hands.hand(run, in: region)
    }
    landmarkAssumptions = TaskAssumptions(
      task: "hands", kind: "MediaPipe's hands", reason: "outputs of 63, 1, 1 and 63 numbers",
      pictures: hands.reader.pictures, roles: HandModel.roles, readings: [],
      steps: [
        "palms: score >= \(options.minDetectionConfidence), IoU > 0.3 become one, weighted by scores",
        """
        a palm's region: the line from wrist to middle finger upright, moved up by half its height, square, 2.6 times as large
        """,
        "a hand: score >= \(options.minPresenceConfidence), points moved from the region to the picture, z / 0.4",
        "hands with 10 points nearer than 0.2 palms and IoU > 0.2 become one",
      ], warnings: warnings)
  }

  /// Finds hands in a picture or a region of it.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture to look at, in pixels after orientation; nil for the whole picture.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if a model's numbers are not those of hands;
  ///   `resourceLimit` if a run takes more than the options of `interpreter` allow.
  public func detect(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> HandLandmarkResult {
    try result(image, nil, region, cancellation)
  }

  /// Finds hands in a picture away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  public func detect(_ image: ImageBuffer, in region: PixelRect? = nil) async throws
    -> HandLandmarkResult
  {
    try await answer(image, in: region)
  }

  /// The result under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> HandLandmarkResult
  {
    try result(image, nil, region, cancellation)
  }

  /// Finds hands in a frame, first where those of the frame before are expected.
  public func follow(
    _ frame: ImageBuffer, after regions: [Region], in area: PixelRect?, cancellation: Cancellation?
  ) throws(ApusError) -> HandLandmarkResult {
    try result(frame, regions, area, cancellation)
  }

  /// The gesture of a hand; nil if none is known, or the model put all points into one place.
  private static func gesture(
    of hand: Hand, _ gestures: LandmarkClassifier
  ) throws(ApusError) -> EmbeddingGallery.Match? {
    do throws(ApusError) { return try gestures.classify(hand) } catch {
      guard error.code == .invalidArgument else { throw error }
      return nil
    }
  }

  private func result(
    _ image: ImageBuffer, _ tracked: [Region]?, _ area: PixelRect?, _ cancellation: Cancellation?
  ) throws(ApusError) -> HandLandmarkResult {
    let view = try PictureView(image, in: area)
    var (hands, timings) = try pipeline.subjects(in: view, after: tracked, cancellation: cancellation)
    if let gestures = options.gestures {
      for index in hands.indices { hands[index].gesture = try Self.gesture(of: hands[index], gestures) }
    }
    return HandLandmarkResult(
      imageWidth: view.imageWidth, imageHeight: view.imageHeight, hands: hands, timings: timings)
  }
}
