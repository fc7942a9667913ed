// SPDX-License-Identifier: Apache-2.0
import ApusSystem

/// How far a part of a body may move from one frame to the next to be looked for where it was, rather than where the body's points hint.
struct RegionContinuity: Sendable {
  /// The maximum turn, in radians.
  let rotation: Float
  /// The maximum way along each side of the new region, in sides.
  let translation: Float
  /// The maximum change of each side, in sides of the new region.
  let scale: Float
  /// How much smaller than the new region the square is that must have all former points inside.
  let margin: Float

  /// MediaPipe's limits for hands.
  static let hands = RegionContinuity(rotation: 40 * .pi / 180, translation: 0.2, scale: 0.4, margin: 0.1)
  /// MediaPipe's limits for faces.
  static let faces = RegionContinuity(rotation: 15 * .pi / 180, translation: 0.1, scale: 0.3, margin: 0.2)

  /// The region to look at.
  ///
  /// - Parameters:
  ///   - former: What was found in the frame before.
  ///   - hinted: The region that this frame hints at.
  func region(after former: (some LandmarkSubject)?, hinted: Region) -> Region {
    guard let former, former.nextRegion.isUsable else { return hinted }
    let expected = former.nextRegion
    let turn = abs(Region.normalized(expected.rotation - hinted.rotation))
    let (cosine, sine) = (cos(hinted.rotation), sin(hinted.rotation))
    /// A point along the axes of the hinted region, from its middle.
    func place(_ x: Float, _ y: Float) -> (x: Float, y: Float) {
      let (dx, dy) = (x - hinted.center.x, y - hinted.center.y)
      return (cosine * dx + sine * dy, cosine * dy - sine * dx)
    }
    let way = place(expected.center.x, expected.center.y)
    let isNear =
      turn <= rotation && abs(way.x) <= hinted.width * translation
      && abs(way.y) <= hinted.height * translation
      && abs(expected.width - hinted.width) <= hinted.width * scale
      && abs(expected.height - hinted.height) <= hinted.height * scale
    let (reachX, reachY) = (hinted.width * (1 - margin) / 2, hinted.height * (1 - margin) / 2)
    let isInside = former.landmarks.allSatisfy { landmark in
      let point = place(landmark.x, landmark.y)
      return abs(point.x) < reachX && abs(point.y) < reachY
    }
    return isNear && isInside ? expected : hinted
  }
}
