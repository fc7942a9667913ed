// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusTracking

/// A line or a zone of a scene, by its name.
public struct ScenePlace: Hashable, Sendable {
  /// The name: 1 to 40 letters, digits, `-` and `_`.
  public let name: String
  /// The points in fractions of the picture: two of a line, three or more of a zone.
  public let points: [TrackingPoint]

  /// Makes a place from points in fractions of the picture. An ``ObjectScene`` refuses those that ``init(parsing:)`` refuses, such as points
  /// in pixels.
  public init(name: String, points: [TrackingPoint]) {
    self.name = name
    self.points = points
  }

  /// Reads a line, `NAME:X1,Y1,X2,Y2`, or a zone, `NAME:X1,Y1,X2,Y2,X3,Y3` and so on.
  ///
  /// - Throws: `invalidArgument` for a malformed text, a line without length, a place outside of the picture, where no object is ever
  ///   seen, or more corners than a zone counter takes.
  public init(parsing text: String) throws(ApusError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    let numbers =
      parts.count == 2
      ? parts[1].split(separator: ",", omittingEmptySubsequences: false).map { Double($0) ?? .nan } : []
    guard !numbers.isEmpty && numbers.count.isMultiple(of: 2) && numbers.allSatisfy(Self.isPossible) else {
      throw ApusError(
        .invalidArgument, "\(text.prefix(80)) is not NAME:X1,Y1,X2,Y2,… with fractions of the picture")
    }
    self.name = name
    points = stride(from: 0, to: numbers.count, by: 2).map {
      TrackingPoint(x: numbers[$0], y: numbers[$0 + 1])
    }
    try check(calledAs: String(text.prefix(80)))
  }

  /// Whether a number can be a fraction of the picture, or lie beside it.
  private static func isPossible(_ number: Double) -> Bool { abs(number) <= 100 }

  /// Throws `invalidArgument` for a name or points with which nothing can be counted.
  ///
  /// - Parameter text: The place in an error's message.
  func check(calledAs text: String) throws(ApusError) {
    func require(_ holds: Bool, _ problem: String) throws(ApusError) {
      guard holds else { throw ApusError(.invalidArgument, "\(text) \(problem)") }
    }
    try require(
      (1...40).contains(name.count)
        && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" },
      "has a name that is not of 1 to 40 letters, digits, - and _")
    try require(
      (2...ZoneCounter.maximumCorners).contains(points.count),
      "has \(points.count) points, not 2 to \(ZoneCounter.maximumCorners)")
    try require(
      points.allSatisfy { Self.isPossible($0.x) && Self.isPossible($0.y) },
      "has points that are not fractions of the picture, of 0 to 1")
    let isFlat = points.allSatisfy { point in
      let (one, two) = (points[0], points.first { $0 != points[0] } ?? points[0])
      return (two.x - one.x) * (point.y - one.y) == (two.y - one.y) * (point.x - one.x)
    }
    try require(points.count < 3 || !isFlat, "is a zone without an area: its points lie on a line")
    try require(points.count != 2 || points[0] != points[1], "is a line between two equal points")
    try require(
      Self.meetsPicture(points),
      "lies outside of the picture: its points are fractions of 0 to 1, such as \(name):0,0.5,1,0.5")
  }

  /// Whether a line or zone has a point within the picture or on its edge.
  private static func meetsPicture(_ points: [TrackingPoint]) -> Bool {
    for (index, point) in points.enumerated()
    where meetsPicture(points[index > 0 ? index - 1 : points.count - 1], point) {
      return true
    }
    // No side meets the picture: all of it lies inside the zone, or outside.
    return points.count > 2 && ZoneCounter.contains(TrackingPoint(x: 0.5, y: 0.5), in: points)
  }

  /// Whether a segment has a point within the picture or on its edge: it is cut at each edge (Liang and Barsky, 1984).
  private static func meetsPicture(_ start: TrackingPoint, _ end: TrackingPoint) -> Bool {
    var (first, last) = (0.0, 1.0)
    for (from, to) in [(start.x, end.x), (start.y, end.y)] {
      let step = to - from
      if step == 0 {
        if from < 0 || from > 1 { return false }
      } else {
        let (one, other) = (-from / step, (1 - from) / step)
        first = max(first, min(one, other))
        last = min(last, max(one, other))
      }
    }
    return first <= last
  }

  /// The first name that several places have; nil if each has its own.
  package static func repeatedName(in places: [ScenePlace]) -> String? {
    var names: Set<String> = []
    return places.first { !names.insert($0.name).inserted }?.name
  }
}
