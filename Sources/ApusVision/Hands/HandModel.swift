// SPDX-License-Identifier: Apache-2.0
import Apus

/// The model that finds the points of a hand in its region.
struct HandModel: Sendable {
  let reader: RegionModel
  private let minimumScore: Float

  /// The divisor of z, which then has about the unit of x.
  private static let depthScale: Float = 0.4

  /// Prepares a model: 63 numbers for the points, the scores of presence and handedness, 63 numbers for points in space.
  ///
  /// - Throws: `invalidArgument` for other models.
  init(_ model: Model, options: BaseOptions, minimumScore: Float) throws(ApusError) {
    let prepared = try PreparedModel(model, options: options)
    try prepared.checkOutputs(
      [63, 1, 1, 63],
      of: "a hand model (63 numbers for points, 1 for presence, 1 for handedness, 63 for points in space)")
    reader = try RegionModel(
      prepared, normalization: .unit, border: .replicate, reason: "usual for MediaPipe's hands")
    self.minimumScore = minimumScore
  }

  /// The role of each output.
  static let roles = [
    0: "x, y and z of 21 points, in pixels of the input", 1: "the score that there is a hand",
    2: "the score that it is a right hand", 3: "x, y and z of 21 points in space, in meters",
  ]

  /// The hand that a run found in a region; nil if there is none.
  func hand(_ run: ModelRun, in region: Region) throws(ApusError) -> Hand? {
    let score = try run.probability(of: 1, "score of presence")
    guard score >= minimumScore else { return nil }
    let right = try run.probability(of: 2, "score of handedness")
    let (width, height) = reader.inputSize
    let points = region.landmarks(
      try run.finiteValues(of: 0, count: 63, "landmarks"), names: Hand.landmarkNames, width: width,
      height: height, depthScale: Self.depthScale)
    let world = region.worldLandmarks(try run.finiteValues(of: 3, count: 63, "landmarks in space"))
    return Hand(
      handedness: right >= 0.5 ? .right : .left, handednessScore: max(right, 1 - right), score: score,
      landmarks: points, worldLandmarks: world, region: region, nextRegion: Hand.region(around: points))
  }

  /// Looks for a hand in a region.
  func hand(
    in region: Region, of view: PictureView, cancellation: Cancellation?
  ) throws(ApusError) -> (result: Hand?, timings: StageTimings) {
    try reader.run(on: region, of: view, cancellation: cancellation) { run, seen throws(ApusError) in
      try hand(run, in: seen)
    }
  }
}
