// SPDX-License-Identifier: Apache-2.0

/// Counts the tracks that cross a line, by direction and class.
///
/// ```swift
/// var gate = try LineCounter(from: TrackingPoint(x: 0, y: 360), to: TrackingPoint(x: 1280, y: 360))
/// for crossing in gate.update(tracker.tracks) { print(crossing.trackID, crossing.direction) }
/// print(gate.inCount, gate.outCount)
/// ```
///
/// A track's side is that of its anchors, while all of them lie between the two perpendiculars through the line's ends. The first side is
/// its reference. It has crossed once it was on the other side for ``minimumCrossingFrames`` frames running, which then is its
/// reference: shorter visits count neither way. Frames in which a track is lost, beside the line, or on both sides are left out.
public struct LineCounter: Hashable, Sendable, Codable {
  /// Where the line starts.
  public let start: TrackingPoint
  /// Where the line ends.
  public let end: TrackingPoint
  /// The points of a box that must all be on one side.
  public let anchors: [BoxAnchor]
  /// The frames running on the other side that make a crossing.
  public let minimumCrossingFrames: Int
  /// The frames without a track after which its side is forgotten.
  public let maximumAbsentFrames: Int

  /// The crossings in each direction, by class.
  public private(set) var counts: [LineCrossing.Direction: [Int: Int]] = [:]

  private var sides: [Int: SideHistory] = [:]

  /// Makes a counter.
  ///
  /// - Parameters:
  ///   - start: Where the line starts.
  ///   - end: Where the line ends; another point than its start.
  ///   - anchors: The points of a box that must all be on one side.
  ///   - minimumCrossingFrames: The frames running on the other side that make a crossing, 1 to 10,000.
  ///   - maximumAbsentFrames: The frames without a track after which its side is forgotten; nil for one more than
  ///     `minimumCrossingFrames`, and at least 2. Choose the tracker's time for lost tracks to count those that cross unseen.
  /// - Throws: `invalidArgument`.
  public init(
    from start: TrackingPoint, to end: TrackingPoint, anchors: [BoxAnchor] = [.bottomCenter],
    minimumCrossingFrames: Int = 1, maximumAbsentFrames: Int? = nil
  ) throws(TrackingError) {
    guard start.isUsable, end.isUsable else {
      throw TrackingError(
        .invalidArgument, "a line from (\(start.x), \(start.y)) to (\(end.x), \(end.y)) is not within ±1e9")
    }
    guard start != end else {
      throw TrackingError(
        .invalidArgument, "a line starts and ends at the same point, (\(start.x), \(start.y))")
    }
    guard !anchors.isEmpty else {
      throw TrackingError(.invalidArgument, "a line has no anchors, not 1 or more")
    }
    try checkFrames(minimumCrossingFrames, maximumAbsentFrames)
    self.start = start
    self.end = end
    self.anchors = anchors
    self.minimumCrossingFrames = minimumCrossingFrames
    self.maximumAbsentFrames = maximumAbsentFrames ?? max(2, minimumCrossingFrames + 1)
  }

  /// The crossings to the left of the line.
  public var inCount: Int { total(.in) }

  /// The crossings to the right of the line.
  public var outCount: Int { total(.out) }

  private func total(_ direction: LineCrossing.Direction) -> Int {
    counts[direction, default: [:]].values.reduce(0, +)
  }

  /// Takes the tracks of the next frame, and returns those that crossed with it, in their order.
  ///
  /// Boxes must have the unit of the line. Lost tracks count as absent.
  public mutating func update(_ tracks: [Track]) -> [LineCrossing] {
    update(tracks, areAll: false)
  }

  /// Takes the tracks of the next frame, and returns those that crossed with it, in their order.
  ///
  /// - Parameter areAll: Whether these are all tracks that a tracker remembers, lost ones included. Then a track's side is forgotten when the
  ///   tracker has forgotten the track, whatever ``maximumAbsentFrames`` is.
  package mutating func update(_ tracks: [Track], areAll: Bool) -> [LineCrossing] {
    let present = tracks.filter { $0.state == .tracked }
    if areAll {
      let remembered = Set(tracks.map(\.id))
      sides = sides.filter { remembered.contains($0.key) }
    } else {
      forgetAbsent(Set(present.map(\.id)))
    }
    var crossings: [LineCrossing] = []
    for track in present {
      guard let isLeft = side(of: track.box) else { continue }
      guard sides[track.id, default: SideHistory(isLeft)].moves(to: isLeft, after: minimumCrossingFrames)
      else { continue }
      let direction: LineCrossing.Direction = isLeft ? .in : .out
      counts[direction, default: [:]][track.classIndex, default: 0] += 1
      crossings.append(LineCrossing(trackID: track.id, direction: direction, classIndex: track.classIndex))
    }
    return crossings
  }

  private mutating func forgetAbsent(_ present: Set<Int>) {
    for id in Array(sides.keys) {
      if present.contains(id) {
        sides[id]?.absentFrames = 0
      } else if var history = sides[id] {
        history.absentFrames += 1
        sides[id] = history.absentFrames >= maximumAbsentFrames ? nil : history
      }
    }
  }

  /// Whether all anchors are to the left of the line (true) or to its right or on it (false); nil if they are on both sides, or one is
  /// beyond an end of the line.
  private func side(of box: TrackingBox) -> Bool? {
    let (dx, dy) = (end.x - start.x, end.y - start.y)
    var result: Bool?
    for anchor in anchors {
      let point = anchor.point(of: box)
      let (x, y) = (point.x - start.x, point.y - start.y)
      guard dx * x + dy * y >= 0, dx * (point.x - end.x) + dy * (point.y - end.y) <= 0 else { return nil }
      let isLeft = dx * y - dy * x < 0
      if let result, result != isLeft { return nil }
      result = isLeft
    }
    return result
  }
}

extension LineCounter {
  private enum CodingKeys: CodingKey {
    case start, end, anchors, minimumCrossingFrames, maximumAbsentFrames, counts, sides
  }

  /// Decodes a counter, and checks it as if its values came from a stranger.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      from: container.decode(TrackingPoint.self, forKey: .start),
      to: container.decode(TrackingPoint.self, forKey: .end),
      anchors: container.decode([BoxAnchor].self, forKey: .anchors),
      minimumCrossingFrames: container.decode(Int.self, forKey: .minimumCrossingFrames),
      maximumAbsentFrames: container.decode(Int.self, forKey: .maximumAbsentFrames))
    counts = try container.decode([LineCrossing.Direction: [Int: Int]].self, forKey: .counts)
    sides = try container.decode([Int: SideHistory].self, forKey: .sides)
    var total = 0
    for count in counts.values.joined().map(\.value) {
      guard isCount(count), isCount(total + count) else {
        throw impossibleState("line's", container.codingPath)
      }
      total += count
    }
    guard sides.values.allSatisfy(\.isUsable) else { throw impossibleState("line's", container.codingPath) }
  }
}

/// Whether a decoded number can have been counted, and counting can go on.
func isCount(_ number: Int) -> Bool { (0...Int.max / 2).contains(number) }

/// The error for decoded numbers that no run of a counter or filter has.
///
/// - Parameter owner: What has them, in the genitive.
func impossibleState(_ owner: String, _ path: [any CodingKey]) -> DecodingError {
  .dataCorrupted(
    DecodingError.Context(codingPath: path, debugDescription: "the \(owner) state is impossible"))
}

/// The side of a line that a track is known on, and how long it has been on the other.
private struct SideHistory: Hashable, Sendable, Codable {
  private var isLeft: Bool
  private var framesOnOtherSide = 0
  var absentFrames = 0

  /// Whether the numbers are possible.
  var isUsable: Bool { isCount(framesOnOtherSide) && isCount(absentFrames) }

  init(_ isLeft: Bool) {
    self.isLeft = isLeft
  }

  /// Notes a side, and returns whether the track has crossed to it with this frame.
  mutating func moves(to isLeft: Bool, after minimum: Int) -> Bool {
    guard isLeft != self.isLeft else {
      framesOnOtherSide = 0
      return false
    }
    framesOnOtherSide += 1
    guard framesOnOtherSide >= minimum else { return false }
    self.isLeft = isLeft
    framesOnOtherSide = 0
    return true
  }
}

/// Checks what lines and zones have in common.
func checkFrames(_ minimumCrossingFrames: Int, _ maximumAbsentFrames: Int?) throws(TrackingError) {
  guard (1...10_000).contains(minimumCrossingFrames) else {
    throw TrackingError(.invalidArgument, "minimumCrossingFrames is \(minimumCrossingFrames), not 1 to 10000")
  }
  guard (1...1_000_000_000).contains(maximumAbsentFrames ?? 1) else {
    throw TrackingError(
      .invalidArgument, "maximumAbsentFrames is \(maximumAbsentFrames ?? 0), not 1 to 1000000000")
  }
}
