// SPDX-License-Identifier: Apache-2.0
import Apus

/// The first model of a pipeline: finds boxes with points, such as palms, by anchors.
struct AnchorDetector: Sendable {
  /// What the detector finds, and how its model is built.
  struct Kind: Sendable {
    /// What it finds, for errors: `a palm detector`.
    let name: String
    let anchors: AnchorGenerator
    /// The number of points that each box has.
    let keypointCount: Int
    /// How pixels become numbers, unless the metadata says it.
    let normalization: Normalization
  }

  let model: RegionModel
  private let predictions: Int
  private let scores: Int
  private let columns: Int
  private let centers: [(x: Float, y: Float)]
  private let minimumScore: Float
  private let maximumOverlap: Float

  /// Makes a detector from a model with one picture in, predictions and logits of anchors out, in any order.
  ///
  /// - Parameters:
  ///   - minimumScore: The minimum score of a box, inclusive.
  ///   - maximumOverlap: The overlap (intersection over union) above which boxes are one.
  /// - Throws: `invalidArgument` if the model is not of this kind.
  init(
    _ model: Model, _ kind: Kind, options: BaseOptions, minimumScore: Float, maximumOverlap: Float
  ) throws(ApusError) {
    let prepared = try PreparedModel(model, options: options)
    let (width, height) = (prepared.geometry.width, prepared.geometry.height)
    let columns = 4 + 2 * kind.keypointCount
    let counts = prepared.outputs.map(\.shape.elementCount)
    let count = kind.anchors.count(width: width, height: height)
    guard counts.count == 2, let count, counts.sorted() == [count, count * columns].sorted() else {
      throw ApusError(
        .invalidArgument,
        """
        the model's outputs are not those of \(kind.name) for \(width) × \(height) pixels (predictions \
        1×\(count ?? 0)×\(columns) and scores 1×\(count ?? 0)×1), but: \(prepared.outputDescription)
        """)
    }
    scores = counts[0] == count ? 0 : 1
    predictions = 1 - scores
    self.columns = columns
    centers = kind.anchors.anchors(width: width, height: height).map { ($0.x, $0.y) }
    self.minimumScore = minimumScore
    self.maximumOverlap = maximumOverlap
    self.model = try RegionModel(
      prepared, normalization: kind.normalization, border: .zero, reason: "usual for \(kind.name)")
  }

  /// The boxes of a picture, in its pixels, best first.
  ///
  /// - Throws: `invalidData` if a score or a box that counts is no finite number.
  func boxes(in view: PictureView, cancellation: Cancellation?) throws(ApusError)
    -> (result: [AnchoredBox], timings: StageTimings)
  {
    let (width, height) = model.inputSize
    return try model.run(on: view.whole, of: view, cancellation: cancellation) {
      run, seen throws(ApusError) in
      let logits = try run.finiteValues(of: scores, count: centers.count, "scores")
      let boxes = try run.withValues(of: predictions) { values throws(ApusError) in
        guard values.count == centers.count * columns else {
          throw ApusError(.invalidData, "the outputs have other shapes than when prepared")
        }
        return AnchoredBoxes(
          values, logits, centers: centers, columns: columns, width: Float(width), height: Float(height),
          threshold: minimumScore)
      }
      let merged = boxes.merged(iouThreshold: maximumOverlap)
      for box in merged {
        guard let odd = box.coordinates.first(where: { !$0.isFinite }) else { continue }
        throw ApusError(
          .invalidData, "a box with the score \(box.score) has the coordinate \(odd), not a finite number")
      }
      let map = AffineTransform(unitSquareTo: seen)
      return merged.map { $0.mapped(by: map) }
    }
  }
}
