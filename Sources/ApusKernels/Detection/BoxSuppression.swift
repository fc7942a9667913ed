// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem

/// Selects boxes by descending score, skips boxes that overlap a selected one, or lowers their scores.
///
/// Source: Bodla, Singh, Chellappa and Davis, "Soft-NMS – Improving Object Detection With One Line of Code"
/// (2017).
package struct BoxSuppression: Sendable {
  /// The limits of a run.
  package struct Limits: Sendable {
    /// The intersection over union from which on a box is skipped.
    package var overlap: Float
    /// Boxes with scores up to this are skipped.
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

  /// The scratch memory of a run in bytes: for each box a queue entry and the last comparison, and the
  /// selected boxes.
  package var scratchByteCount: Int {
    boxCount * (MemoryLayout<ScoreHeap.Entry>.stride + 4) + SelectedBoxes.byteCount(boxCount)
  }

  /// Writes the indices of selected boxes, as many as fit, and their scores, if there is room; zeros follow.
  ///
  /// - Parameter boxes: two opposite corners each: top, left, bottom, right.
  /// - Returns: how many boxes were selected.
  package func run(
    boxes: Span<Float>, scores: Span<Float>, limits: Limits, indices: inout MutableSpan<Int32>,
    selectedScores: inout MutableSpan<Float>, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) -> Int {
    precondition(
      boxes.count >= 4 * boxCount && scores.count >= boxCount && scratch.byteCount >= scratchByteCount)
    let count = unsafe scratch.withUnsafeMutableBytes { scratch -> Int in
      guard let base = scratch.baseAddress else { return 0 }
      var queue = unsafe ScoreHeap(base, capacity: boxCount)
      let compared = unsafe (base + boxCount * MemoryLayout<ScoreHeap.Entry>.stride)
        .bindMemory(to: Int32.self, capacity: boxCount)
      var selected = unsafe SelectedBoxes(
        base + boxCount * (MemoryLayout<ScoreHeap.Entry>.stride + 4), capacity: boxCount)
      for box in 0..<boxCount where scores[box] > limits.score {
        unsafe compared[box] = 0
        queue.insert(.init(score: scores[box], item: Int32(box)))
      }
      let most = min(queue.count, indices.count)
      var count = 0
      var poll = StopPoll(threads)
      while count < most, queue.count > 0, !poll.mustStop(before: count &+ 64) {
        var candidate = queue.removeFirst()
        let first = candidate.score
        let box = Int(candidate.item)
        let place = DetectionBox(
          corners: boxes[4 &* box], boxes[4 &* box &+ 1], boxes[4 &* box &+ 2], boxes[4 &* box &+ 3])
        let isSuppressed = unsafe suppress(
          &candidate.score, place, by: selected, from: Int(compared[box]), limits)
        unsafe compared[box] = Int32(count)
        guard !isSuppressed else { continue }
        if candidate.score == first {
          indices[count] = candidate.item
          if !selectedScores.isEmpty { selectedScores[count] = first }
          selected.append(place)
          count &+= 1
        }
        // Lowered candidates return to the queue. So do selected boxes, which then suppress themselves unless
        // they have no area.
        if candidate.score > limits.score { queue.insert(candidate) }
      }
      return count
    }
    for index in count..<max(count, indices.count) { indices[index] = 0 }
    for index in min(count, selectedScores.count)..<selectedScores.count { selectedScores[index] = 0 }
    return count
  }

  /// Lowers a candidate's score by each selected box from an index on, the last first; returns true if the
  /// candidate is skipped.
  private func suppress(
    _ score: inout Float, _ candidate: DetectionBox, by selected: SelectedBoxes, from first: Int,
    _ limits: Limits
  ) -> Bool {
    let lowers = limits.sigma > 0
    if !lowers, limits.overlap > 0 {
      return selected.contains(from: first, overlapping: candidate, by: limits.overlap)
    }
    let factor = lowers ? Float(-0.5 / Double(limits.sigma)) : 0
    // Without an overlap the exponential is one, and the score stays.
    let passesApart = limits.overlap > 0 && factor.isFinite
    var place = selected.count
    while place > first {
      place &-= 1
      let other = selected[place]
      if passesApart, candidate.isApart(from: other) { continue }
      let overlap = candidate.overlap(other)
      if overlap >= limits.overlap { return true }
      if lowers { score *= expf(factor * overlap * overlap) }
      if score <= limits.score { return false }
    }
    return false
  }
}
