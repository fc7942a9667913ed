// SPDX-License-Identifier: Apache-2.0
import Apus

/// The model that says where exactly a hand is which a pose's three points only hint at.
struct HandRegionModel: Sendable {
  private let model: RegionModel

  /// Prepares a model with two points out.
  ///
  /// - Throws: `invalidArgument` for other models.
  init(_ model: Model, options: BaseOptions) throws(ApusError) {
    let prepared = try PreparedModel(model, options: options)
    try prepared.checkOutputs([4], of: "a model of hand regions (4 numbers for two points)")
    self.model = try RegionModel(
      prepared, normalization: .unit, border: .replicate, reason: "usual for MediaPipe's hand regions")
  }

  /// Where the pose says that a hand is: around the first joint of the middle finger, which is between index finger and pinky.
  static func region(wrist: Landmark, pinky: Landmark, index: Landmark) -> Region {
    let middle = (x: (2 * index.x + pinky.x) / 3, y: (2 * index.y + pinky.y) / 3)
    let (x, y) = (middle.x - wrist.x, middle.y - wrist.y)
    let side = 2 * (x * x + y * y).squareRoot()
    return Region(
      center: PixelPoint(x: middle.x, y: middle.y), width: side, height: side,
      rotation: Region.rotation(from: (wrist.x, wrist.y), to: middle)
    ).squared(shiftedDown: -0.1, scaledBy: 2.7)
  }

  /// The region of the hand, and what finding it took.
  func refined(
    _ region: Region, of view: PictureView, cancellation: Cancellation?
  ) throws(ApusError) -> (result: Region, timings: StageTimings) {
    let (width, height) = model.inputSize
    return try model.run(on: region, of: view, cancellation: cancellation) { run, seen throws(ApusError) in
      let values = try run.finiteValues(of: 0, count: 4, "points of a hand's region")
      let map = AffineTransform(unitSquareTo: seen)
      let points = [0, 2].map { place in
        map(Double(values[place]) / Double(width), Double(values[place + 1]) / Double(height))
      }.map { (x: Float($0.x), y: Float($0.y)) }
      let (x, y) = (points[1].x - points[0].x, points[1].y - points[0].y)
      let side = 2 * (x * x + y * y).squareRoot()
      // The second point is below the middle.
      return Region(
        center: PixelPoint(x: points[0].x, y: points[0].y), width: side, height: side,
        rotation: Region.rotation(from: points[0], to: points[1], target: -.pi / 2)
      ).squared(shiftedDown: -0.1, scaledBy: 1)
    }
  }
}
