// SPDX-License-Identifier: Apache-2.0
import Apus

/// The points that BlazeFace's predictions refer to: the centers of a grid's cells, several at each.
enum FaceAnchors {
  private static let kinds: [(name: String, generator: AnchorGenerator)] = [
    ("short range", .shortRangeFaces), ("full range", .fullRangeFaces),
    ("back camera", .backCameraFaces),
  ]

  /// The box and at most 64 keypoints; real models have 6. Thousands of faces with thousands of points are gigabytes of JSON.
  private static let maximumColumns = 4 + 2 * 64

  /// The outputs of a model of a kind of BlazeFace, and its anchors.
  struct Found {
    /// The kind: `short range`.
    let name: String
    let outputs: AnchorOutputs
    /// The numbers of a prediction: a box, and the points.
    let columns: Int
    /// In fractions of the input, in the order of the predictions.
    let centers: [(x: Float, y: Float)]
  }

  /// The kind whose anchors have predictions and scores in these outputs; nil if there is none.
  ///
  /// - Parameter shapes: The shapes of all outputs. The last dimension of predictions has their numbers.
  static func find(_ shapes: [TensorShape], width: Int, height: Int) -> Found? {
    let widths = Set(shapes.compactMap(\.dimensions.last))
      .filter { (4...maximumColumns).contains($0) && $0.isMultiple(of: 2) }
    for kind in kinds {
      guard let grids = kind.generator.grids(width: width, height: height) else { continue }
      for columns in widths {
        guard let outputs = AnchorOutputs(shapes, grids: grids, columns: columns),
          outputs.predictions.allSatisfy({ shapes[$0].dimensions.last == columns })
        else { continue }
        let anchors = kind.generator.anchors(width: width, height: height)
        return Found(
          name: kind.name, outputs: outputs, columns: columns, centers: anchors.map { ($0.x, $0.y) })
      }
    }
    return nil
  }
}
