// SPDX-License-Identifier: Apache-2.0

import ApusSystem

/// Selects boxes by falling score, without those that overlap one selected before, or with their scores lowered.
///
/// Source: Bodla, Singh, Chellappa and Davis, "Soft-NMS – Improving Object Detection With One Line of Code" (2017).
package struct BoxSuppression: Sendable {
  /// What a run is asked for.
  package struct Limits: Sendable {
    /// Boxes that overlap at least so much, as intersection over union, are left out.
    package var overlap: Float
    /// Only scores above this count.
    package var score: Float
    /// The width of the curve by which overlaps lower scores; zero for none.
    package var sigma: Float

    /// States all limits.
    package init(overlap: Float, score: Float, sigma: Float) {
      self.overlap = overlap
      self.score = score
      self.sigma = sigma
    }
  }

  private let boxCount: Int

  /// Selects among `boxCount` boxes, at most `Int32.max`.
  package init(boxCount: Int) {
    self.boxCount = boxCount
  }

  /// The bytes of memory that a run needs: a queue's entry for each box, and where it was compared last.
  package var scratchByteCount: Int { boxCount * (MemoryLayout<ScoreHeap.Entry>.stride + 4) }

  /// Writes the numbers of selected boxes, as many as there is room for, and their scores, if there is room; zeros follow.
  ///
  /// - Parameter boxes: two opposite corners each: top, left, bottom, right.
  /// - Returns: how many boxes were selected.
  package func run(
    boxes: Span<Float>, scores: Span<Float>, limits: Limits, indices: inout MutableSpan<Int32>,
    selectedScores: inout MutableSpan<Float>, scratch: inout MutableRawSpan
  ) -> Int {
    precondition(
      boxes.count >= 4 * boxCount && scores.count >= boxCount && scratch.byteCount >= scratchByteCount)
    let count = unsafe scratch.withUnsafeMutableBytes { scratch -> Int in
      guard let base = scratch.baseAddress else { return 0 }
      var queue = unsafe ScoreHeap(base, capacity: boxCount)
      let compared = unsafe (base + boxCount * MemoryLayout<ScoreHeap.Entry>.stride)
        .bindMemory(to: Int32.self, capacity: boxCount)
      for box in 0..<boxCount where scores[box] > limits.score {
        unsafe compared[box] = 0
        queue.insert(.init(score: scores[box], item: Int32(box)))
      }
      let most = min(queue.count, indices.count)
      var count = 0
      while count < most, queue.count > 0 {
        var candidate = queue.removeFirst()
        let first = candidate.score
        let box = Int(candidate.item)
        let isSuppressed = unsafe suppress(
          &candidate, boxes, indices, Int(compared[box])..<count, limits)
        unsafe compared[box] = Int32(count)
        guard !isSuppressed else { continue }
        if candidate.score == first {
          indices[count] = candidate.item
          if !selectedScores.isEmpty { selectedScores[count] = first }
          count &+= 1
        }
        // What is selected comes back once more, and is then left out by itself unless it has no area.
        if candidate.score > limits.score { queue.insert(candidate) }
      }
      return count
    }
    for index in count..<max(count, indices.count) { indices[index] = 0 }
    for index in min(count, selectedScores.count)..<selectedScores.count { selectedScores[index] = 0 }
    return count
  }

  /// Lowers a candidate's score by each of some selected boxes, the last first; true if it is to be left out.
  private func suppress(
    _ candidate: inout ScoreHeap.Entry, _ boxes: Span<Float>, _ indices: borrowing MutableSpan<Int32>,
    _ selected: Range<Int>, _ limits: Limits
  ) -> Bool {
    for place in selected.reversed() {
      let overlap = overlap(boxes, Int(candidate.item), Int(indices[place]))
      if overlap >= limits.overlap { return true }
      if limits.sigma > 0 {
        candidate.score *= expf(Float(-0.5 / Double(limits.sigma)) * overlap * overlap)
      }
      if candidate.score <= limits.score { break }
    }
    return false
  }

  /// Intersection over union; zero for a box without area.
  private func overlap(_ boxes: Span<Float>, _ first: Int, _ second: Int) -> Float {
    func corner(_ box: Int, _ edge: Int, _ pick: (Float, Float) -> Float) -> Float {
      pick(boxes[4 &* box &+ edge], boxes[4 &* box &+ edge &+ 2])
    }
    func least(_ lhs: Float, _ rhs: Float) -> Float { rhs < lhs ? rhs : lhs }
    func most(_ lhs: Float, _ rhs: Float) -> Float { lhs < rhs ? rhs : lhs }
    func extent(_ box: Int, _ edge: Int) -> Float { corner(box, edge, most) - corner(box, edge, least) }
    func shared(_ edge: Int) -> Float {
      let end = least(corner(first, edge, most), corner(second, edge, most))
      let start = most(corner(first, edge, least), corner(second, edge, least))
      return most(end - start, 0)
    }
    let firstArea = extent(first, 0) * extent(first, 1)
    let secondArea = extent(second, 0) * extent(second, 1)
    if firstArea <= 0 || secondArea <= 0 { return 0 }
    let intersection = shared(0) * shared(1)
    return intersection / (firstArea + secondArea - intersection)
  }
}
