// SPDX-License-Identifier: Apache-2.0
import Apus

/// Finds the body, both hands and the face of one person: MediaPipe's models of all three, guided by the pose.
///
/// ```swift
/// let landmarker = try HolisticLandmarker(modelFile: "holistic_landmarker.task")
/// let person = try landmarker.detect(picture)
/// print(person.pose?.landmarks[0], person.leftHand?.landmarks[8], person.face?.landmarks[1])
/// ```
///
/// For frames of a video, a ``HolisticTracker`` follows the person. Any number of threads can share a landmarker.
public final class HolisticLandmarker: VisionTask {
  /// The models of a holistic landmarker.
  public struct Models: Sendable {
    /// Finds people, see ``PoseLandmarker``.
    public var personDetector: Model
    /// Finds the points of a body, see ``PoseLandmarker``.
    public var pose: Model
    /// Finds the points of a hand, see ``HandLandmarker``.
    public var hand: Model
    /// Finds the region of a hand from what the pose hints at: two points.
    public var handRegion: Model
    /// Finds faces, see ``FaceLandmarker``.
    public var faceDetector: Model
    /// Finds the points of a face, see ``FaceLandmarker``.
    public var face: Model
    /// Measures expressions; nil for none.
    public var blendshapes: Model?
    /// The warnings about the bundle from which they come.
    var warnings: [String] = []

    /// Collects models.
    public init(
      personDetector: Model, pose: Model, hand: Model, handRegion: Model, faceDetector: Model, face: Model,
      blendshapes: Model? = nil
    ) {
      (self.personDetector, self.pose) = (personDetector, pose)
      (self.hand, self.handRegion) = (hand, handRegion)
      (self.faceDetector, self.face, self.blendshapes) = (faceDetector, face, blendshapes)
    }

    /// Reads the models of a bundle, by the names that MediaPipe gives them.
    ///
    /// - Throws: `malformedModel` if one is missing or broken.
    public init(_ bundle: TaskBundle) throws(ApusError) {
      let (personDetector, pose) = ("pose_detector.tflite", "pose_landmarks_detector.tflite")
      let (hand, handRegion) = ("hand_landmarks_detector.tflite", "hand_roi_refinement.tflite")
      let (faceDetector, face) = ("face_detector.tflite", "face_landmarks_detector.tflite")
      let blendshapes = "face_blendshapes.tflite"
      self.init(
        personDetector: try bundle.model(named: personDetector), pose: try bundle.model(named: pose),
        hand: try bundle.model(named: hand), handRegion: try bundle.model(named: handRegion),
        faceDetector: try bundle.model(named: faceDetector), face: try bundle.model(named: face),
        blendshapes: bundle.entryNames.contains(blendshapes) ? try bundle.model(named: blendshapes) : nil)
      warnings = bundle.warnings(
        using: personDetector, pose, hand, handRegion, faceDetector, face, blendshapes)
    }
  }

  /// How to find a person.
  public struct Options: Sendable {
    /// How to run the models: threads, kernels, limits.
    public var interpreter = Interpreter.Options()
    /// How to find the body; one person is looked for, whatever it says.
    public var minPoseDetectionConfidence: Float = 0.5
    /// The minimum score of a body in its region.
    public var minPosePresenceConfidence: Float = 0.5
    /// The minimum score of a hand in its region.
    public var minHandConfidence: Float = 0.5
    /// The minimum score of a detected face, inclusive, and of a face in its region.
    public var minFaceConfidence: Float = 0.5
    /// Whether the body has a mask.
    public var outputsMask = false
    /// How many cells a side the square of a heat map has whose mean a point of the body is moved to; odd, 1 to 63.
    /// MediaPipe's `PoseLandmarker` and `HolisticLandmarker` have 7. Its older interfaces (`mp.solutions.pose` and `mp.solutions.holistic`) have 9.
    public var refinementCells = 7

    /// Makes the default options.
    public init() {}

    func check() throws(ApusError) {
      try LandmarkOptionChecks.checkThresholds([
        "minPoseDetectionConfidence": minPoseDetectionConfidence,
        "minPosePresenceConfidence": minPosePresenceConfidence,
        "minHandConfidence": minHandConfidence,
        "minFaceConfidence": minFaceConfidence,
      ])
    }
  }

  /// The options, as given.
  public let options: Options
  private let poses: PoseLandmarker
  private let hands: HandModel
  private let handRegions: HandRegionModel
  private let faceDetector: AnchorDetector
  private let faces: FaceMeshReader
  private let warnings: [String]

  /// The points of a pose at a hand: wrist, pinky, index finger.
  private static let leftHand = (15, 17, 19)
  private static let rightHand = (16, 18, 20)
  /// The minimum visibility of a wrist whose hand is looked for.
  private static let minWristVisibility: Float = 0.1
  /// The points of a pose in the face; the eyes among them.
  private static let facePoints = 0..<11
  private static let eyes = (right: 5, left: 2)

  /// Makes a landmarker from a bundle.
  ///
  /// - Parameters:
  ///   - modelFile: A `.task` file with the models that ``Models/init(_:)`` reads.
  ///   - options: The limits, thresholds and threads of the task.
  /// - Throws: `unreadableFile`, `malformedModel`, or what the other initializers throw.
  public convenience init(modelFile: String, options: Options = Options()) throws(ApusError) {
    try self.init(bundle: TaskBundle(contentsOfFile: modelFile), options: options)
  }

  /// Makes a landmarker from a bundle that is open already.
  ///
  /// - Parameters:
  ///   - bundle: A bundle with the models that ``Models/init(_:)`` reads.
  ///   - options: The limits, thresholds and threads of the task.
  /// - Throws: `malformedModel` if an entry is missing or damaged, or what the other initializers throw.
  public convenience init(bundle: TaskBundle, options: Options = Options()) throws(ApusError) {
    try self.init(Models(bundle), options: options)
  }

  /// Makes a landmarker from six or seven models.
  ///
  /// - Throws: `invalidArgument` if a model is another one; errors of `Apus.Interpreter`.
  public init(_ models: Models, options: Options = Options()) throws(ApusError) {
    try options.check()
    self.options = options
    warnings = models.warnings
    var base = BaseOptions()
    base.interpreter = options.interpreter
    var poseOptions = PoseLandmarker.Options()
    poseOptions.interpreter = options.interpreter
    poseOptions.minDetectionConfidence = options.minPoseDetectionConfidence
    poseOptions.minPresenceConfidence = options.minPosePresenceConfidence
    poseOptions.maximumOverlap = 0.3
    poseOptions.outputsMasks = options.outputsMask
    poseOptions.refinementCells = options.refinementCells
    poses = try PoseLandmarker(
      detector: models.personDetector, landmarks: models.pose, options: poseOptions)
    hands = try HandModel(models.hand, options: base, minimumScore: options.minHandConfidence)
    handRegions = try HandRegionModel(models.handRegion, options: base)
    faceDetector = try AnchorDetector(
      models.faceDetector, .faces, .distantFaces, options: base, minimumScore: options.minFaceConfidence,
      maximumOverlap: 0.3)
    faces = try FaceMeshReader(
      models.face, blendshapes: models.blendshapes, options: base, minimumScore: options.minFaceConfidence)
  }

  /// The task's assumptions about the pose model, which guides the others.
  public var assumptions: TaskAssumptions {
    poses.assumptions.with(faceDetector.scoring, of: "faces'").with(warnings: warnings)
  }

  /// Whether the next picture may decide how the scores of people or faces are read in all later ones.
  package var isUndecided: Bool { poses.isUndecided || faceDetector.scoring.isUndecided }

  /// Files are never reduced while they are read: regions may need every pixel.
  public var imageReduction: ImageReduction { .none }

  /// Finds a person in a picture or a region of it.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture in which people are searched for, in pixels after orientation; nil for the whole picture.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if a model's numbers are not those of people;
  ///   `resourceLimit` if a run takes more than the options of `interpreter` allow.
  public func detect(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> HolisticResult {
    try result(image, after: nil, isFrame: false, region, cancellation) { _ in }
  }

  /// The result under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> HolisticResult
  {
    try detect(image, in: region, cancellation: cancellation)
  }

  /// The person in a frame, first where the one of the frame before is expected.
  ///
  /// - Parameters:
  ///   - frame: The frame.
  ///   - former: The result for the frame before; nil for the first one.
  ///   - region: The part of the frame in which people are searched for; nil for all of it.
  ///   - cancellation: A flag that stops the run.
  public func follow(
    _ frame: ImageBuffer, after former: HolisticResult?, in region: PixelRect? = nil,
    cancellation: Cancellation? = nil
  ) throws(ApusError) -> HolisticResult {
    try result(frame, after: former, isFrame: true, region, cancellation) { _ in }
  }

  /// The person in a frame, whose hands and face are looked for where the changed body hints.
  ///
  /// - Parameter adjust: Changes the body that was found, such as smooths its points.
  func follow(
    _ frame: ImageBuffer, after former: HolisticResult?, in region: PixelRect?, cancellation: Cancellation?,
    adjusting adjust: (inout BodyPose) -> Void
  ) throws(ApusError) -> HolisticResult {
    try result(frame, after: former, isFrame: true, region, cancellation, adjust)
  }

  private func result(
    _ image: ImageBuffer, after former: HolisticResult?, isFrame: Bool, _ area: PixelRect?,
    _ cancellation: Cancellation?, _ adjust: (inout BodyPose) -> Void
  ) throws(ApusError) -> HolisticResult {
    let view = try PictureView(image, in: area)
    let former = former?.scaled(toWidth: view.imageWidth, height: view.imageHeight)
    var tracked: [Region]?
    if isFrame { tracked = former?.pose.map { [$0.nextRegion] }?.filter(\.isUsable) ?? [] }
    let (people, timings) = try poses.people(in: view, after: tracked, cancellation)
    var result = HolisticResult(
      imageWidth: view.imageWidth, imageHeight: view.imageHeight, timings: timings)
    guard var pose = people.first else { return result }
    adjust(&pose)
    result.pose = pose
    // A hand or face at which the pose hints must be in the picture: a region without an area is not seen.
    result.leftHand = try hand(.left, of: pose, after: former?.leftHand, view, &result.timings, cancellation)
    result.rightHand = try hand(
      .right, of: pose, after: former?.rightHand, view, &result.timings, cancellation)
    result.face = try face(of: pose, after: former?.face, view, &result.timings, cancellation)
    return result
  }

  private func hand(
    _ side: Hand.Side, of pose: BodyPose, after former: Hand?, _ view: PictureView,
    _ timings: inout StageTimings, _ cancellation: Cancellation?
  ) throws(ApusError) -> Hand? {
    let (wrist, pinky, index) = side == .left ? Self.leftHand : Self.rightHand
    let points = pose.landmarks
    guard (points[wrist].visibility ?? 0) > Self.minWristVisibility else { return nil }
    let hint = HandRegionModel.region(wrist: points[wrist], pinky: points[pinky], index: points[index])
    guard hint.isUsable else { return nil }
    let (refined, times) = try handRegions.refined(hint, of: view, cancellation: cancellation)
    timings += times
    let region = RegionContinuity.hands.region(after: former, hinted: refined)
    guard region.isUsable else { return nil }
    let (found, more) = try hands.hand(in: region, of: view, cancellation: cancellation)
    timings += more
    guard var hand = found else { return nil }
    // The pose knows better than the hand whose it is.
    if hand.handedness != side {
      (hand.handedness, hand.handednessScore) = (side, 1 - hand.handednessScore)
    }
    return hand
  }

  private func face(
    of pose: BodyPose, after former: FaceMesh?, _ view: PictureView, _ timings: inout StageTimings,
    _ cancellation: Cancellation?
  ) throws(ApusError) -> FaceMesh? {
    var around = Region(fitting: Array(pose.landmarks[Self.facePoints]), rotation: 0)
    let (right, left) = (pose.landmarks[Self.eyes.right], pose.landmarks[Self.eyes.left])
    around.rotation = Region.rotation(from: (right.x, right.y), to: (left.x, left.y), target: 0)
    around = around.squared(shiftedDown: 0, scaledBy: 3)
    guard around.isUsable else { return nil }
    let (boxes, times) = try faceDetector.boxes(in: view, region: around, cancellation: cancellation)
    timings += times
    guard let box = boxes.first else { return nil }
    let points = (0..<box.keypointCount).map { index in
      Landmark(x: box.keypoint(index).x, y: box.keypoint(index).y, z: 0)
    }
    var detected = Region(fitting: points, rotation: 0)
    detected.rotation = Region.rotation(from: box.keypoint(0), to: box.keypoint(1), target: 0)
    detected = detected.squared(shiftedDown: -0.1, scaledBy: 2)
    let region = RegionContinuity.faces.region(after: former, hinted: detected)
    guard region.isUsable else { return nil }
    let (face, more) = try faces.face(in: region, of: view, cancellation: cancellation)
    timings += more
    return face
  }
}
