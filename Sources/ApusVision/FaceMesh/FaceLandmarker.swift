// SPDX-License-Identifier: Apache-2.0
import Apus

/// Finds faces and the points of a mesh over them: MediaPipe's models for faces, with attention and irises, and for expressions.
///
/// ```swift
/// let landmarker = try FaceLandmarker(modelFile: "face_landmarker.task")
/// for face in try landmarker.detect(picture).faces { print(face.landmarks[1], face.blendshapes) }
/// ```
///
/// For frames of a video, a ``LandmarkTracker`` follows faces from one to the next. Any number of threads can share a landmarker.
public final class FaceLandmarker: LandmarkTask {
  /// How to find faces. Names and defaults are MediaPipe's.
  public struct Options: Sendable {
    /// How to run the models: threads, kernels, limits.
    public var interpreter = Interpreter.Options()
    /// The maximum number of faces.
    public var maxFaces = 1
    /// The minimum score of a detected face, inclusive.
    public var minDetectionConfidence: Float = 0.5
    /// The minimum score of a face in its region, or where it is tracked.
    public var minPresenceConfidence: Float = 0.5
    /// The overlap (intersection over union) above which detected boxes are one face. MediaPipe's `FaceLandmarker` has 0.5 and no option
    /// for it; its older interface (`mp.solutions.face_mesh`) and its `FaceDetector` have 0.3.
    public var maximumOverlap: Float = 0.5
    /// In frames, the overlap above which a detected face is taken for one that is tracked already, and two tracked ones for one.
    public var minTrackingConfidence: Float = 0.5

    /// Makes the default options.
    public init() {}

    func check() throws(ApusError) {
      try LandmarkOptionChecks.checkMaximum("maxFaces", maxFaces)
      try LandmarkOptionChecks.checkThresholds([
        "minDetectionConfidence": minDetectionConfidence,
        "minPresenceConfidence": minPresenceConfidence,
        "minTrackingConfidence": minTrackingConfidence,
        "maximumOverlap": maximumOverlap,
      ])
    }
  }

  /// The options, as given.
  public let options: Options
  /// The task's assumptions about the mesh model, with the detector's steps.
  public var assumptions: TaskAssumptions {
    landmarkAssumptions.with(pipeline.detector.scoring, of: "faces'")
  }

  /// Whether the next picture may decide how the scores of faces are read in all later ones.
  package var isUndecided: Bool { pipeline.detector.scoring.isUndecided }

  /// The assumptions about the model of landmarks.
  private let landmarkAssumptions: TaskAssumptions

  private let pipeline: TaskPipeline<FaceMesh>
  private let meshes: FaceMeshReader

  /// Makes a landmarker from a bundle.
  ///
  /// - Parameters:
  ///   - modelFile: A `.task` file with `face_detector.tflite`, `face_landmarks_detector.tflite` and, if expressions are wanted,
  ///     `face_blendshapes.tflite`; for the face's matrix, `geometry_pipeline_metadata_landmarks.binarypb`.
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
    let (detector, landmarks) = ("face_detector.tflite", "face_landmarks_detector.tflite")
    let (blendshapes, geometry) = ("face_blendshapes.tflite", "geometry_pipeline_metadata_landmarks.binarypb")
    try self.init(
      bundle.model(named: detector), bundle.model(named: landmarks),
      bundle.entryNames.contains(blendshapes) ? bundle.model(named: blendshapes) : nil,
      bundle.entryNames.contains(geometry) ? bundle.faceGeometry(named: geometry) : nil, options,
      warnings: bundle.warnings(using: detector, landmarks, blendshapes))
  }

  /// Makes a landmarker from two or three models.
  ///
  /// - Parameters:
  ///   - detector: BlazeFace for short or full range: predictions `1×896×16` or `1×2304×16`, and as many scores.
  ///   - landmarks: A face mesh: 468 points, with attention, or 478 points.
  ///   - blendshapes: The model of expressions, for a mesh with irises; nil for none.
  ///   - geometry: The shape of a usual face, for the face's matrix; nil for none.
  ///   - options: How to find faces.
  /// - Throws: `invalidArgument` if the models are others; errors of `Apus.Interpreter`.
  public convenience init(
    detector: Model, landmarks: Model, blendshapes: Model? = nil, geometry: FaceGeometry? = nil,
    options: Options = Options()
  ) throws(ApusError) {
    try self.init(detector, landmarks, blendshapes, geometry, options, warnings: [])
  }

  private init(
    _ detector: Model, _ landmarks: Model, _ blendshapes: Model?, _ geometry: FaceGeometry?,
    _ options: Options, warnings: [String]
  ) throws(ApusError) {
    try options.check()
    self.options = options
    var base = BaseOptions()
    base.interpreter = options.interpreter
    let faces = try AnchorDetector(
      detector, .faces, .distantFaces, options: base, minimumScore: options.minDetectionConfidence,
      maximumOverlap: options.maximumOverlap)
    let meshes = try FaceMeshReader(
      landmarks, blendshapes: blendshapes, geometry: geometry, options: base,
      minimumScore: options.minPresenceConfidence)
    self.meshes = meshes
    pipeline = TaskPipeline(
      detector: faces, reader: meshes.reader, limit: options.maxFaces,
      trackingOverlap: options.minTrackingConfidence
    ) { face in
      var region = Region(face)
      region.rotation = Region.rotation(from: face.keypoint(0), to: face.keypoint(1), target: 0)
      return region.squared(shiftedDown: 0, scaledBy: 1.5)
    } read: { run, _, region, _ throws(ApusError) in
      try meshes.face(run, in: region)
    }
    landmarkAssumptions = TaskAssumptions(
      task: "face mesh", kind: "MediaPipe's face mesh",
      reason: "outputs of \(meshes.mesh.outputCounts.map { "\($0)" }.joined(separator: ", ")) numbers",
      pictures: meshes.reader.pictures, roles: meshes.mesh.roles(isLogit: meshes.isLogit), readings: [],
      steps: [
        "faces: score >= \(options.minDetectionConfidence), IoU > \(options.maximumOverlap) become one, weighted by scores",
        "a face's region: the line between the eyes level, square, 1.5 times as large",
        "a face: score\(meshes.isLogit ? " = 1 / (1 + exp(-logit))" : "") >= \(options.minPresenceConfidence), points moved from the region to the picture",
      ], warnings: warnings)
  }

  /// Finds faces in a picture or a region of it.
  ///
  /// - Parameters:
  ///   - image: The picture, of any size.
  ///   - region: The part of the picture to look at, in pixels after orientation; nil for the whole picture.
  ///   - cancellation: A flag that stops the run, even in the middle of a long operator.
  /// - Throws: `cancelled`; `invalidArgument` for a region without pixels; `invalidData` if a model's numbers are not those of faces;
  ///   `resourceLimit` if a run takes more than the options of `interpreter` allow.
  public func detect(
    _ image: ImageBuffer, in region: PixelRect? = nil, cancellation: Cancellation? = nil
  ) throws(ApusError) -> FaceMeshResult {
    try result(image, nil, region, cancellation) { _ in }
  }

  /// Finds faces in a picture away from the caller's actor. Cancelling the caller's task stops the run,
  /// which then throws `CancellationError`.
  public func detect(_ image: ImageBuffer, in region: PixelRect? = nil) async throws
    -> FaceMeshResult
  {
    try await answer(image, in: region)
  }

  /// The result under the name that all tasks share.
  public func answer(_ image: ImageBuffer, in region: PixelRect?, cancellation: Cancellation?)
    throws(ApusError) -> FaceMeshResult
  {
    try result(image, nil, region, cancellation) { _ in }
  }

  /// Finds faces in a frame, first where those of the frame before are expected.
  public func follow(
    _ frame: ImageBuffer, after regions: [Region], in area: PixelRect?, cancellation: Cancellation?
  ) throws(ApusError) -> FaceMeshResult {
    try result(frame, regions, area, cancellation) { _ in }
  }

  /// Finds faces in a frame, and measures expressions and matrices from their changed points.
  public func follow(
    _ frame: ImageBuffer, after regions: [Region], in area: PixelRect?, cancellation: Cancellation?,
    adjusting adjust: (inout FaceMeshResult) -> Void
  ) throws(ApusError) -> FaceMeshResult {
    try result(frame, regions, area, cancellation, adjust)
  }

  private func result(
    _ image: ImageBuffer, _ tracked: [Region]?, _ area: PixelRect?, _ cancellation: Cancellation?,
    _ adjust: (inout FaceMeshResult) -> Void
  ) throws(ApusError) -> FaceMeshResult {
    let view = try PictureView(image, in: area)
    let (faces, timings) = try pipeline.subjects(in: view, after: tracked, cancellation: cancellation)
    var result = FaceMeshResult(
      imageWidth: view.imageWidth, imageHeight: view.imageHeight, faces: faces, timings: timings)
    adjust(&result)
    for index in result.faces.indices {
      result.timings.postprocess += try meshes.measure(
        &result.faces[index], of: view, cancellation: cancellation)
    }
    return result
  }
}
