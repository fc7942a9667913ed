// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem

/// The poses found so far.
@safe struct PoseList {
  let points: UnsafeMutablePointer<SIMD2<Float>>
  let pointScores: UnsafeMutablePointer<Float>
  let scores: UnsafeMutablePointer<Float>
  /// The indices of the poses by descending score.
  let numbers: UnsafeMutablePointer<Int32>
  let capacity: Int
  var count = 0

  /// Creates an empty list in memory for `capacity` poses.
  init(_ memory: UnsafeMutableRawPointer, _ capacity: Int) {
    self.capacity = capacity
    let pointCount = capacity * PoseSkeleton.pointCount
    unsafe points = memory.bindMemory(to: SIMD2<Float>.self, capacity: pointCount)
    let rest = unsafe (memory + 8 * pointCount).bindMemory(to: Float.self, capacity: pointCount + capacity)
    unsafe pointScores = rest
    unsafe scores = rest + pointCount
    unsafe numbers = UnsafeMutableRawPointer(rest + (pointCount + capacity))
      .bindMemory(to: Int32.self, capacity: capacity)
  }

  /// Sorts the indices; poses with equal scores stay in the order in which they were found. If the run must end, the
  /// rest stays unsorted.
  func sort(_ poll: inout StopPoll) {
    for place in 0..<count {
      var hole = place
      let ends = poll.mustStop(before: place)
      while !ends, hole > 0, unsafe scores[Int(numbers[hole &- 1])] < scores[place] {
        unsafe numbers[hole] = numbers[hole &- 1]
        hole &-= 1
      }
      unsafe numbers[hole] = Int32(place)
    }
  }
}

/// Decodes poses from their best points outward.
struct PoseFinder {
  let logits: PixelSampling
  let short: PixelSampling
  let middle: PixelSampling
  var queue: ScoreHeap
  var poses: PoseList

  private let pointCount = PoseSkeleton.pointCount

  init(
    logits: PixelSampling, short: PixelSampling, middle: PixelSampling, queue: ScoreHeap, poses: PoseList
  ) {
    self.logits = logits
    self.short = short
    self.middle = middle
    self.queue = queue
    self.poses = poses
  }

  /// Fills the list, in order of the final scores.
  mutating func findPoses(threshold: Float, radius: Float, threads: ThreadTeam) {
    var poll = StopPoll(threads)
    addCandidates(minimumLogit: Float(-log(1 / (Double(threshold) + 1e-6) - 1)), &poll)
    while poses.count < poses.capacity, queue.count > 0, !poll.mustStop(before: poses.count &+ 2048) {
      let index = Int(queue.removeFirst().item)
      let root = point(ofCandidate: index)
      guard !isNearOther(root, index % pointCount, radius) else { continue }
      decode(from: root, index % pointCount)
      var sum: Float = 0
      for index in 0..<pointCount {
        let place = poses.count &* pointCount &+ index
        let score = unsafe 1 / (1 + expf(-poses.pointScores[place]))
        unsafe poses.pointScores[place] = score
        sum += score
      }
      unsafe poses.scores[poses.count] = sum / Float(pointCount)
      if unsafe poses.scores[poses.count] >= threshold { poses.count &+= 1 }
    }
    poses.sort(&poll)
    lowerScores(radius: radius, &poll)
    poses.sort(&poll)
  }

  /// Queues all points whose logit is not below any neighbor's.
  private mutating func addCandidates(minimumLogit: Float, _ poll: inout StopPoll) {
    let (height, width) = (logits.height, logits.width)
    func value(_ row: Int, _ column: Int, _ kind: Int) -> Float {
      unsafe logits.values[(row &* width &+ column) &* pointCount &+ kind]
    }
    for row in 0..<height {
      for column in 0..<width {
        // Each is compared with its neighbors, and many may be queued.
        if poll.mustStop(before: 16 &* pointCount) { return }
        for kind in 0..<pointCount {
          let score = value(row, column, kind)
          guard score >= minimumLogit else { continue }
          var isMaximum = true
          for y in max(row &- 1, 0)...min(row &+ 1, height &- 1) {
            for x in max(column &- 1, 0)...min(column &+ 1, width &- 1) where value(y, x, kind) > score {
              isMaximum = false
            }
          }
          guard isMaximum else { continue }
          queue.insert(.init(score: score, item: Int32((row &* width &+ column) &* pointCount &+ kind)))
        }
      }
    }
  }

  /// A candidate's point, moved by its short displacement.
  private func point(ofCandidate index: Int) -> SIMD2<Float> {
    let (pixel, kind) = (index / pointCount, index % pointCount)
    let offsets = 2 &* pixel &* pointCount &+ kind
    let (row, column) = (Float(pixel / short.width), Float(pixel % short.width))
    return unsafe SIMD2(
      PixelSampling.inside(row + short.values[offsets], short.height),
      PixelSampling.inside(column + short.values[offsets &+ pointCount], short.width), yFirst: ())
  }

  private func isNearOther(_ point: SIMD2<Float>, _ kind: Int, _ radius: Float) -> Bool {
    (0..<poses.count).contains { unsafe isNear(point, poses.points[$0 &* pointCount &+ kind], radius) }
  }

  private func isNear(_ lhs: SIMD2<Float>, _ rhs: SIMD2<Float>, _ radius: Float) -> Bool {
    let difference = rhs - lhs
    return difference.y * difference.y + difference.x * difference.x <= radius * radius
  }

  /// Appends a pose: from one point along the edges to all others, the best first.
  private func decode(from root: SIMD2<Float>, _ kind: Int) {
    let first = poses.count &* pointCount
    for index in first..<first &+ pointCount {
      unsafe poses.points[index] = SIMD2(repeating: -1)
      unsafe poses.pointScores[index] = -1e5
    }
    // Each edge adds at most one entry, and the root is one; an entry's index is its edge's, the root's 32.
    let capacity = 2 * PoseSkeleton.edgeCount + 1
    unsafe withUnsafeTemporaryAllocation(of: ScoreHeap.Entry.self, capacity: capacity) { entries in
      unsafe withUnsafeTemporaryAllocation(of: SIMD2<Float>.self, capacity: capacity) { places in
        guard let memory = UnsafeMutableRawPointer(entries.baseAddress) else { return }
        var open = unsafe ScoreHeap(memory, capacity: capacity)
        var decoded: UInt32 = 0
        unsafe places[capacity - 1] = root
        open.insert(.init(score: logits(root.y, root.x, kind), item: Int32(capacity - 1)))
        while open.count > 0 {
          let entry = open.removeFirst()
          let current = Int(entry.item) == capacity - 1 ? kind : PoseSkeleton.edges[Int(entry.item)].to
          guard decoded & 1 << UInt32(current) == 0 else { continue }
          decoded |= 1 << UInt32(current)
          let point = unsafe places[Int(entry.item)]
          unsafe poses.points[first &+ current] = point
          unsafe poses.pointScores[first &+ current] = entry.score
          for edge in 0..<2 * PoseSkeleton.edgeCount where PoseSkeleton.edges[edge].from == current {
            let target = PoseSkeleton.edges[edge].to
            guard decoded & 1 << UInt32(target) == 0 else { continue }
            let channel = PoseSkeleton.channel(ofEdge: edge)
            var place = middle.displaced(point, channel, channel &+ PoseSkeleton.edgeCount)
            for _ in 0..<5 { place = short.displaced(place, target, target &+ pointCount) }
            unsafe places[edge] = place
            open.insert(.init(score: logits(place.y, place.x, target), item: Int32(edge)))
          }
        }
      }
    }
  }

  /// Sets each pose's score to the mean of its points' scores, without points that are near equal ones of
  /// better poses.
  private func lowerScores(radius: Float, _ poll: inout StopPoll) {
    for place in 0..<poses.count {
      if poll.mustStop(before: place &* pointCount) { return }
      let pose = unsafe Int(poses.numbers[place])
      var sum: Float = 0
      for index in 0..<pointCount {
        let point = unsafe poses.points[pose &* pointCount &+ index]
        let isHidden = (0..<place).contains { better in
          unsafe isNear(point, poses.points[Int(poses.numbers[better]) &* pointCount &+ index], radius)
        }
        if !isHidden { sum += unsafe poses.pointScores[pose &* pointCount &+ index] }
      }
      unsafe poses.scores[pose] = sum / Float(pointCount)
    }
  }
}
