// SPDX-License-Identifier: Apache-2.0
import Apus

/// The first model of a pipeline: finds boxes with points, such as palms, by anchors.
struct AnchorDetector: Sendable {
  /// The kind of subject that a detector finds, and how its model is built.
  struct Kind: Sendable {
    /// The detector's name in errors: `a palm detector`.
    let name: String
    let anchors: AnchorGenerator
    /// The number of points that each box has.
    let keypointCount: Int
    /// How pixels become numbers, unless the metadata says it.
    let normalization: Normalization

    /// The numbers of a prediction: a box, and the points.
    var columns: Int { 4 + 2 * keypointCount }

    /// MediaPipe's palms: wrist, knuckles and thumb.
    static let palms = Kind(
      name: "a palm detector", anchors: .palms, keypointCount: 7, normalization: .unit)
    /// BlazeFace for short range: eyes, nose, mouth, ears.
    static let faces = Kind(
      name: "a face detector", anchors: .shortRangeFaces, keypointCount: 6, normalization: .signed)
    /// BlazeFace for full range: eyes, nose, mouth, ears.
    static let distantFaces = Kind(
      name: "a face detector for full range", anchors: .fullRangeFaces, keypointCount: 6,
      normalization: .signed)
    /// MediaPipe's people: the middle of the hips and the rim of the body, then those of the upper body.
    static let people = Kind(
      name: "a person detector", anchors: .people, keypointCount: 4, normalization: .signed)
  }

  let model: RegionModel
  private let outputs: AnchorOutputs
  /// How the scores are read.
  let scoring: AnchorScores
  private let columns: Int
  private let centers: [(x: Float, y: Float)]
  private let minimumScore: Float
  private let maximumOverlap: Float

  /// Makes a detector from a model with one picture in, predictions and scores of anchors out, in any order, or those of each grid of cells.
  ///
  /// - Parameters:
  ///   - kinds: What the model may be; the number of its anchors decides.
  ///   - minimumScore: The minimum score of a box, inclusive.
  ///   - maximumOverlap: The overlap (intersection over union) above which boxes are one.
  /// - Throws: `invalidArgument` if the model is of none of these kinds.
  init(
    _ model: Model, _ kinds: Kind..., options: BaseOptions, minimumScore: Float, maximumOverlap: Float
  ) throws(ApusError) {
    let prepared = try PreparedModel(model, options: options)
    let (width, height) = (prepared.geometry.width, prepared.geometry.height)
    let found = kinds.lazy.compactMap { kind -> (Kind, AnchorOutputs)? in
      guard let grids = kind.anchors.grids(width: width, height: height) else { return nil }
      let shapes = prepared.outputs.map(\.shape)
      return AnchorOutputs(shapes, grids: grids, columns: kind.columns).map { (kind, $0) }
    }
    guard let (kind, outputs) = found.first else {
      let expected = kinds.map { kind in
        let count = kind.anchors.count(width: width, height: height) ?? 0
        return "\(kind.name) (predictions 1×\(count)×\(kind.columns) and scores 1×\(count)×1)"
      }
      throw ApusError(
        .invalidArgument,
        """
        the model's outputs are not those of \(expected.joined(separator: " or ")) for \(width) × \(height) pixels, but: \
        \(prepared.outputDescription)
        """)
    }
    self.outputs = outputs
    scoring = AnchorScores(ofOutput: outputs.scores[0], of: prepared)
    columns = kind.columns
    centers = kind.anchors.anchors(width: width, height: height).map { ($0.x, $0.y) }
    self.minimumScore = minimumScore
    self.maximumOverlap = maximumOverlap
    self.model = try RegionModel(
      prepared, normalization: kind.normalization, border: .zero, reason: "usual for \(kind.name)")
  }

  /// The boxes of a picture, in its pixels, best first.
  ///
  /// - Parameter region: The part to look at; nil for the whole. In one that is turned, only keypoints are where they should be.
  /// - Throws: `invalidData` if a score or a box that counts is no finite number.
  func boxes(
    in view: PictureView, region: Region? = nil, cancellation: Cancellation?
  ) throws(ApusError) -> (result: [AnchoredBox], timings: StageTimings) {
    let (width, height) = model.inputSize
    return try model.run(on: region ?? view.whole, of: view, cancellation: cancellation) {
      run, seen throws(ApusError) in
      let scores = try run.finiteValues(of: outputs.scores, count: centers.count, "scores")
      let areLogits = try scoring.areLogits(in: scores)
      let boxes = try run.withValues(of: outputs.predictions) { values throws(ApusError) in
        guard values.count == centers.count * columns else {
          throw ApusError(.invalidData, "the outputs have other shapes than when prepared")
        }
        return AnchoredBoxes(
          values, scores, areLogits: areLogits, centers: centers, columns: columns, width: Float(width),
          height: Float(height), threshold: minimumScore)
      }
      var merged = boxes.merged(maximumOverlap: maximumOverlap)
      let check = AnswerCheck([scoring.assumption])
      for place in merged.indices {
        let box = merged[place]
        merged[place].score = try check.score(box.score)
        guard let odd = box.coordinates.first(where: { !$0.isFinite }) else { continue }
        throw ApusError(
          .invalidData, "a box with the score \(box.score) has the coordinate \(odd), not a finite number")
      }
      let map = AffineTransform(unitSquareTo: seen)
      return merged.map { $0.mapped(by: map) }
    }
  }
}
