// SPDX-License-Identifier: Apache-2.0

/// Matches tracks with detections so that the sum of overlaps is maximal.
struct OverlapMatching {
  /// The detection of each track; nil if it has none.
  private(set) var detections: [Int?]
  /// The track of each detection; nil if it has none.
  private(set) var tracks: [Int?]

  /// A box and what it must share with its partner.
  struct Candidate {
    var box: TrackingBox
    /// Only equal groups are matched.
    var group: Int
  }

  /// A pair of boxes that overlap.
  private struct Pair {
    let track: Int
    let detection: Int
    let overlap: Double
  }

  /// Matches boxes.
  ///
  /// Boxes that overlap, directly or through others, form a cluster. The clusters are solved one by one, which gives the same sum as all at
  /// once: a pair without overlap adds nothing.
  ///
  /// - Parameters:
  ///   - predicted: The predicted boxes of tracks.
  ///   - detected: The boxes of detections.
  ///   - minimum: Pairs with less overlap are taken apart again.
  init(_ predicted: [Candidate], _ detected: [Candidate], minimum: Double) {
    detections = [Int?](repeating: nil, count: predicted.count)
    tracks = [Int?](repeating: nil, count: detected.count)
    guard !predicted.isEmpty, !detected.isEmpty else { return }

    var pairs: [Pair] = []
    pairs.reserveCapacity(predicted.count + detected.count)
    var partnersOfTrack = [Int](repeating: 0, count: predicted.count)
    var partnersOfDetection = [Int](repeating: 0, count: detected.count)
    for (track, candidate) in predicted.enumerated() {
      let box = candidate.box
      for detection in detected.indices {
        // Most boxes are beside each other.
        let other = detected[detection]
        guard other.box.minX < box.maxX, box.minX < other.box.maxX, other.group == candidate.group else {
          continue
        }
        let overlap = box.intersectionOverUnion(other.box)
        guard overlap > 0 else { continue }
        pairs.append(Pair(track: track, detection: detection, overlap: overlap))
        partnersOfTrack[track] += 1
        partnersOfDetection[detection] += 1
      }
    }

    // Most clusters are one pair.
    var others: [Pair] = []
    for pair in pairs {
      if partnersOfTrack[pair.track] > 1 || partnersOfDetection[pair.detection] > 1 {
        others.append(pair)
      } else if pair.overlap >= minimum {
        match(pair.track, pair.detection)
      }
    }
    if !others.isEmpty { solve(others, minimum) }
  }

  /// Matches the pairs of clusters of more than one.
  private mutating func solve(_ pairs: [Pair], _ minimum: Double) {
    // Detections follow tracks in the numbering of members.
    let trackCount = detections.count
    var clusters = DisjointSets(trackCount + tracks.count)
    for pair in pairs { clusters.join(pair.track, trackCount + pair.detection) }
    var order: [(root: Int, index: Int)] = []
    order.reserveCapacity(pairs.count)
    for (index, pair) in pairs.enumerated() { order.append((clusters.root(pair.track), index)) }
    order.sort { $0 < $1 }

    // The position of each member within the rows or columns of its cluster.
    var place = [Int](repeating: -1, count: trackCount + tracks.count)
    var first = 0
    while first < order.count {
      var last = first
      while last < order.count, order[last].root == order[first].root { last += 1 }
      let cluster = order[first..<last]
      first = last
      var rows: [Int] = []
      var columns: [Int] = []
      for (_, index) in cluster {
        let pair = pairs[index]
        if place[pair.track] < 0 {
          place[pair.track] = rows.count
          rows.append(pair.track)
        }
        if place[trackCount + pair.detection] < 0 {
          place[trackCount + pair.detection] = 0
          columns.append(pair.detection)
        }
      }
      columns.sort()
      for (position, detection) in columns.enumerated() { place[trackCount + detection] = position }
      var costs = [Double](repeating: 0, count: rows.count * columns.count)
      for (_, index) in cluster {
        let pair = pairs[index]
        costs[place[pair.track] * columns.count + place[trackCount + pair.detection]] = -pair.overlap
      }
      let solution = Assignment.minimum(costs, rows: rows.count, columns: columns.count)
      for (row, column) in solution.enumerated() {
        guard let column else { continue }
        let overlap = -costs[row * columns.count + column]
        if overlap > 0, overlap >= minimum { match(rows[row], columns[column]) }
      }
    }
  }

  private mutating func match(_ track: Int, _ detection: Int) {
    detections[track] = detection
    tracks[detection] = track
  }
}

/// Sets that grow together: union by size, with paths that are halved (R. E. Tarjan, 1975).
private struct DisjointSets {
  private var parents: [Int]
  private var sizes: [Int]

  init(_ count: Int) {
    parents = Array(0..<count)
    sizes = [Int](repeating: 1, count: count)
  }

  mutating func root(_ member: Int) -> Int {
    var member = member
    while parents[member] != member {
      parents[member] = parents[parents[member]]
      member = parents[member]
    }
    return member
  }

  mutating func join(_ first: Int, _ second: Int) {
    let (first, second) = (root(first), root(second))
    guard first != second else { return }
    let (large, small) = sizes[first] >= sizes[second] ? (first, second) : (second, first)
    parents[small] = large
    sizes[large] += sizes[small]
  }
}
