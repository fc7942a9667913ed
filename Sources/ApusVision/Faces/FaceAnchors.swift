// SPDX-License-Identifier: Apache-2.0

/// The points that BlazeFace's predictions refer to: the centers of a grid's cells, several at each.
enum FaceAnchors {
  private static let kinds: [(name: String, generator: AnchorGenerator)] = [
    ("short range", .shortRangeFaces), ("full range", .fullRangeFaces),
    ("back camera", .backCameraFaces),
  ]

  /// The centers in fractions of the input, for the kind with this many; nil if there is none.
  static func centers(count: Int, width: Int, height: Int) -> (name: String, centers: [(x: Float, y: Float)])?
  {
    for kind in kinds where kind.generator.count(width: width, height: height) == count {
      return (kind.name, kind.generator.anchors(width: width, height: height).map { ($0.x, $0.y) })
    }
    return nil
  }
}
