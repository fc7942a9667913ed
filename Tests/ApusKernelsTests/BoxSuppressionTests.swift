// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// Boxes are selected as a loop over all pairs selects them.
@Suite struct BoxSuppressionTests {
  /// The first `most` boxes, by descending score, whose intersection over union with every box selected before is below
  /// `overlap`. No two scores may be equal.
  private func expected(_ boxes: [Float], _ scores: [Float], _ overlap: Float, _ most: Int) -> [Int32] {
    func edges(_ box: Int) -> (top: Float, left: Float, bottom: Float, right: Float, area: Float) {
      let (a, b, c, d) = (boxes[4 * box], boxes[4 * box + 1], boxes[4 * box + 2], boxes[4 * box + 3])
      let (top, bottom, left, right) = (min(a, c), max(a, c), min(b, d), max(b, d))
      return (top, left, bottom, right, (bottom - top) * (right - left))
    }
    var selected: [Int32] = []
    for box in scores.indices.sorted(by: { scores[$0] > scores[$1] }) where selected.count < most {
      let own = edges(box)
      let isLeftOut = selected.contains { place in
        let other = edges(Int(place))
        let height = max(min(own.bottom, other.bottom) - max(own.top, other.top), 0)
        let width = max(min(own.right, other.right) - max(own.left, other.left), 0)
        let shared = height * width
        return shared / (own.area + other.area - shared) >= overlap
      }
      if !isLeftOut { selected.append(Int32(box)) }
    }
    return selected
  }

  @Test(
    "any number of boxes, near and far, large and tiny", arguments: [0, 1, 7, 8, 9, 100, 1000],
    [0.1, 0.5, 0.75, 0.9999999, 1] as [Float])
  func matches(count: Int, overlap: Float) {
    for (seed, size) in ([0.01, 0.3, 5, 1e-12, 1e-21, 1e18] as [Float]).enumerated() {
      var random = SeededGenerator(seed: UInt64(seed + count))
      var boxes: [Float] = []
      for _ in 0..<count {
        let place = (0..<2).map { _ in Float.random(in: 0...1, using: &random) * min(size * 4, 1e18) }
        // Few sizes and places, so that overlaps come near the limit and reach it.
        let steps = Int.random(in: 1...4, using: &random)
        boxes += place.map { ($0 / size).rounded() * size }
        boxes += place.map { ($0 / size).rounded() * size + size * Float(steps) / 4 }
      }
      let scores = (0..<count).map { Float($0 + 1) / 2048 }.shuffled(using: &random)
      for most in [count, count / 3] {
        let kernel = BoxSuppression(boxCount: count)
        var indices = [Int32](repeating: -1, count: most)
        var scratch = [UInt8](repeating: 0xA5, count: kernel.scratchByteCount)
        var places = indices.mutableSpan
        var selectedScores = MutableSpan<Float>()
        var span = scratch.mutableSpan
        var memory = span.mutableBytes
        let found = kernel.run(
          boxes: boxes.span, scores: scores.span, limits: .init(overlap: overlap, score: 0, sigma: 0),
          indices: &places, selectedScores: &selectedScores, scratch: &memory,
          threads: ThreadTeam(count: 1))
        let wanted = expected(boxes, scores, overlap, most)
        #expect(found == wanted.count && Array(indices.prefix(found)) == wanted, "\(size), \(most)")
      }
    }
  }
}
