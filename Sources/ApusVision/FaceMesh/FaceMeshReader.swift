// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusRuntime
import ApusSystem

/// The models that find the points of a face in its region, and its expressions.
struct FaceMeshReader: Sendable {
  let reader: RegionModel
  let mesh: FaceMeshModel
  private let blendshapes: BlendshapeModel?
  private let geometry: FaceGeometry?
  private let minimumScore: Float
  /// Whether the score of presence is a logit, as it is unless the file says that it is a probability.
  let isLogit: Bool

  /// Prepares a face mesh, and a model of expressions for one with irises.
  ///
  /// - Throws: `invalidArgument` for other models, and for a geometry of more points than the mesh has.
  init(
    _ model: Model, blendshapes: Model?, geometry: FaceGeometry? = nil, options: BaseOptions,
    minimumScore: Float
  ) throws(ApusError) {
    let prepared = try PreparedModel(model, options: options)
    mesh = try FaceMeshModel(prepared)
    isLogit = prepared.scores(of: mesh.presenceOutput, given: nil, usual: .logit).form == .logit
    reader = try RegionModel(
      prepared, normalization: .unit, border: .replicate, reason: "usual for MediaPipe's face meshes")
    guard blendshapes == nil || mesh != .mesh else {
      throw ApusError(
        .invalidArgument, "blendshapes need a mesh of 478 points, but this model has 468, without irises")
    }
    self.blendshapes =
      if let blendshapes { try BlendshapeModel(blendshapes, options: options.interpreter) } else { nil }
    self.geometry = geometry
    self.minimumScore = minimumScore
    if let geometry, geometry.pointCount > FaceMeshPoints.meshCount {
      throw ApusError(
        .invalidArgument,
        "the face geometry has \(geometry.pointCount) points, more than the \(FaceMeshPoints.meshCount) of a mesh without irises"
      )
    }
  }

  /// The points of the face that a run found in a region; nil if there is none.
  func face(_ run: ModelRun, in region: Region) throws(ApusError) -> FaceMesh? {
    let (output, what) = (mesh.presenceOutput, "score of presence")
    let score =
      isLogit
      ? 1 / (1 + exp(-(try run.finiteValues(of: output, count: 1, what)[0])))
      : try run.probability(of: output, what)
    guard score >= minimumScore else { return nil }
    let (width, height) = reader.inputSize
    let points = region.landmarks(try mesh.points(run), width: width, height: height)
    return FaceMesh(
      score: score, landmarks: points, blendshapes: [], region: region,
      nextRegion: FaceMesh.region(around: points))
  }

  /// Measures a face's expressions and matrix from its points.
  ///
  /// - Returns: The time that it took.
  func measure(
    _ face: inout FaceMesh, of view: PictureView, cancellation: Cancellation?
  ) throws(ApusError) -> Duration {
    guard blendshapes != nil || geometry != nil else { return .zero }
    let start = ContinuousClock.now
    let tracing = Trace.now
    if let blendshapes, face.landmarks.count > BlendshapeModel.maximumPointIndex {
      face.blendshapes = try blendshapes.blendshapes(of: face.landmarks, cancellation: cancellation)
    }
    face.matrix = geometry?.matrix(
      of: face.landmarks, imageWidth: view.imageWidth, imageHeight: view.imageHeight)
    Trace.record(.postprocess, since: tracing)
    return ContinuousClock.now - start
  }

  /// Looks for a face in a region.
  func face(
    in region: Region, of view: PictureView, cancellation: Cancellation?
  ) throws(ApusError) -> (result: FaceMesh?, timings: StageTimings) {
    let (found, times) = try reader.run(on: region, of: view, cancellation: cancellation) {
      run, seen throws(ApusError) in
      try face(run, in: seen)
    }
    guard var face = found else { return (nil, times) }
    var timings = times
    timings.postprocess += try measure(&face, of: view, cancellation: cancellation)
    return (face, timings)
  }
}
