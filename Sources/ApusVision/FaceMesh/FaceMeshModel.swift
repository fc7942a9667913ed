// SPDX-License-Identifier: Apache-2.0
import Apus

/// The second model of a face landmarker: how its outputs become points.
enum FaceMeshModel: Sendable {
  /// 468 points.
  case mesh
  /// 468 points, those of lips and eyes once more and better, and irises.
  case attention
  /// 478 points, irises included.
  case meshWithIrises

  /// How many numbers each output has: points, or refined points without depths, then the score of presence.
  private static let counts: [(FaceMeshModel, [Int])] = [
    (.mesh, [1404, 1]), (.attention, [1404, 160, 142, 142, 10, 10, 1]), (.meshWithIrises, [1434, 1, 1]),
  ]

  /// Recognizes a model by its outputs.
  ///
  /// - Throws: `invalidArgument` for other models.
  init(_ prepared: PreparedModel) throws(ApusError) {
    let found = prepared.outputs.map(\.shape.elementCount)
    guard let kind = Self.counts.first(where: { $0.1 == found }) else {
      throw ApusError(
        .invalidArgument,
        """
        the model's outputs are not those of a face mesh (1404 and 1 numbers; 1404, 160, 142, 142, 10, 10 and 1; or 1434, 1 and \
        1), but: \(prepared.outputDescription)
        """)
    }
    self = kind.0
  }

  /// How many numbers each output has.
  var outputCounts: [Int] { Self.counts.first { $0.0 == self }?.1 ?? [] }

  /// The output with the score of presence.
  var presenceOutput: Int { self == .attention ? 6 : 1 }

  /// The role of each output.
  ///
  /// - Parameter isLogit: Whether the score of presence is a logit.
  func roles(isLogit: Bool) -> [Int: String] {
    let points = "x, y and z of \(self == .meshWithIrises ? 478 : 468) points, in pixels of the input"
    var roles = [
      0: points, presenceOutput: "the \(isLogit ? "logit of the " : "")score that there is a face",
    ]
    if self == .attention {
      for (output, part) in ["lips", "right eye", "left eye", "right iris", "left iris"].enumerated() {
        roles[output + 1] = "x and y of the points of the \(part), in pixels of the input"
      }
    }
    return roles
  }

  /// The points of a run, x, y and z each, in pixels of the input.
  func points(_ run: ModelRun) throws(ApusError) -> [Float] {
    var points = try run.finiteValues(of: 0, count: self == .meshWithIrises ? 1434 : 1404, "landmarks")
    guard self == .attention else { return points }
    func refine(_ output: Int, _ indices: [Int], _ what: String) throws(ApusError) {
      let values = try run.finiteValues(of: output, count: 2 * indices.count, what)
      for (place, index) in indices.enumerated() {
        points[3 * index] = values[2 * place]
        points[3 * index + 1] = values[2 * place + 1]
      }
    }
    try refine(1, FaceMeshPoints.lips, "landmarks of the lips")
    try refine(2, FaceMeshPoints.rightEye, "landmarks of the right eye")
    try refine(3, FaceMeshPoints.leftEye, "landmarks of the left eye")
    for (output, eye) in [(4, FaceMeshPoints.rightEye), (5, FaceMeshPoints.leftEye)] {
      let contour = eye.prefix(FaceMeshPoints.eyeContourCount)
      let depth = contour.reduce(0) { $0 + Double(points[3 * $1 + 2]) } / Double(contour.count)
      let iris = try run.finiteValues(of: output, count: 10, "landmarks of an iris")
      for place in 0..<5 { points += [iris[2 * place], iris[2 * place + 1], Float(depth)] }
    }
    return points
  }
}
