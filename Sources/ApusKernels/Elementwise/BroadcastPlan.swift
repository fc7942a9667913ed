// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// How up to four operands run along a result that they broadcast to: nested loops with a step for each operand. Adjacent axes
/// that every operand traverses as one are merged.
package struct BroadcastPlan: Sendable {
  /// The number of elements of the result.
  package let elementCount: Int

  /// The sizes of the loops around the innermost one, outermost first.
  private let outerCounts: [Int]
  /// The steps that each outer loop adds to the operands' offsets.
  private let outerSteps: [Steps]
  /// The number of elements of the innermost loop.
  private let innerCount: Int
  /// The operands' steps in the innermost loop: one, or zero for an operand that is broadcast along it.
  package let innerSteps: SIMD4<Int>
  /// The operand whose short row the innermost loop reads again and again, if rows were joined.
  let repeated: Repetition?

  /// The operands' strides in a loop around the innermost one. An array of `SIMD4<Int>` would cost as much time as ten other
  /// types when a model is loaded.
  private struct Steps {
    var operands: SIMD4<Int>
  }

  /// The operands' strides from row to row; nil unless exactly one loop surrounds the innermost one.
  var rowSteps: SIMD4<Int>? { outerSteps.count == 1 ? outerSteps[0].operands : nil }

  /// The rows of a tile; nil if rows are split into several tiles.
  func rows(ofTile tile: Int, of tiling: Tiling) -> Range<Int>? {
    guard tiling.segmentsPerRow == 1 else { return nil }
    let first = tile &* tiling.rowsPerTile
    return first..<min(first &+ tiling.rowsPerTile, rowCount)
  }

  /// The number of elements of the innermost loop.
  package var longestStretch: Int { innerCount }

  /// An operand that starts over every `period` elements.
  struct Repetition: Sendable {
    let operand: Int
    let period: Int

    /// The longest period for which rows are joined, in elements.
    static let longest = 128
  }

  /// The operands' steps in the innermost loop, but zero for the repeated operand.
  private let segmentSteps: SIMD4<Int>
  private let rowCount: Int

  /// How the result is divided into tiles: several rows, or a segment of one row.
  struct Tiling: Sendable {
    fileprivate let rowsPerTile: Int
    fileprivate let segmentsPerRow: Int
    fileprivate let segmentCount: Int
    /// The number of tiles.
    let count: Int
  }

  /// Plans at most four operands, each of which broadcasts to `result`.
  ///
  /// A shape broadcasts if each size, aligned at the last axis, is one or equals the result's. With `joiningRows`, short rows
  /// are joined if one of two operands has the same row for all of them; see ``repeated``.
  package init(_ operands: [[Int]], to result: [Int], joiningRows: Bool = false) {
    var counts: [Int] = []
    var steps: [Steps] = []
    var strides = SIMD4<Int>(repeating: 1)
    // From the last axis to the first; an axis merges with the loop inside it if every operand continues where that loop ended.
    for axis in result.indices.reversed() where result[axis] != 1 {
      var step = SIMD4<Int>.zero
      for (index, shape) in operands.enumerated() {
        let own = axis - (result.count - shape.count)
        guard own >= 0, shape[own] != 1 else { continue }
        step[index] = strides[index]
        strides[index] &*= shape[own]
      }
      if let count = counts.last, let inner = steps.last, step == inner.operands &* count {
        counts[counts.count - 1] = count &* result[axis]
      } else {
        counts.append(result[axis])
        steps.append(Steps(operands: step))
      }
    }
    innerSteps = steps.first?.operands ?? .zero
    repeated = joiningRows ? Self.repetition(counts, steps) : nil
    if let repeated {
      steps[1] = steps[0]
      steps[1].operands[repeated.operand] = 0
      counts[1] &*= counts[0]
      counts.removeFirst()
      steps.removeFirst()
    }
    segmentSteps = steps.first?.operands ?? .zero
    innerCount = counts.first ?? 1
    outerCounts = counts.dropFirst().reversed()
    outerSteps = steps.dropFirst().reversed()
    elementCount = result.contains(0) ? 0 : result.reduce(1, &*)
    rowCount = elementCount == 0 ? 0 : elementCount / innerCount
  }

  /// Divides the result into tiles of about 30 µs. To occupy all threads, they may be smaller, down to about `least` elements.
  func tiling(_ threads: ThreadTeam, least: Int = 1 << 12) -> Tiling {
    let grain = threads.tileLength(elementCount, least: least, most: 1 << 15)
    let inner = max(innerCount, 1)
    let rowsPerTile = max(1, (grain &+ inner / 2) / inner)
    let segmentCount = inner > grain &+ grain / 2 ? grain : inner
    let segmentsPerRow = ceilingQuotient(inner, segmentCount)
    return Tiling(
      rowsPerTile: rowsPerTile, segmentsPerRow: segmentsPerRow, segmentCount: segmentCount,
      count: ceilingQuotient(rowCount, rowsPerTile) &* segmentsPerRow)
  }

  /// Which of two operands has the same short row for all rows, while the other's rows are contiguous; nil if there is none.
  private static func repetition(_ counts: [Int], _ steps: [Steps]) -> Repetition? {
    guard counts.count > 1, counts[0] <= Repetition.longest else { return nil }
    let (inner, outer) = (steps[0].operands, steps[1].operands)
    guard inner[0] == 1, inner[1] == 1 else { return nil }
    let operand = outer[0] == 0 ? 0 : 1
    guard outer[operand] == 0, outer[1 - operand] == counts[0] else { return nil }
    return Repetition(operand: operand, period: counts[0])
  }

  /// Calls `body` for each stretch of the innermost loop in a tile, with the operands' offsets, the result's position and the
  /// length. A repeated operand's offset is that of its first element.
  @inline(__always)
  func forEachStretch(inTile tile: Int, of tiling: Tiling, _ body: (SIMD4<Int>, Int, Int) -> Void) {
    let firstRow = tile / tiling.segmentsPerRow &* tiling.rowsPerTile
    let lastRow = min(firstRow &+ tiling.rowsPerTile, rowCount)
    let segment = tile % tiling.segmentsPerRow &* tiling.segmentCount
    let count = min(tiling.segmentCount, innerCount &- segment)
    let loops = outerCounts.count
    unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: max(loops, 1)) { coordinates in
      var offsets = segmentSteps &* segment
      var rest = firstRow
      for loop in stride(from: loops &- 1, through: 0, by: -1) {
        let coordinate = rest % outerCounts[loop]
        rest /= outerCounts[loop]
        unsafe coordinates[loop] = coordinate
        offsets &+= outerSteps[loop].operands &* coordinate
      }
      var row = firstRow
      while row < lastRow {
        body(offsets, row &* innerCount &+ segment, count)
        row &+= 1
        var loop = loops &- 1
        while loop >= 0 {
          offsets &+= outerSteps[loop].operands
          let next = unsafe coordinates[loop] &+ 1
          if next < outerCounts[loop] {
            unsafe coordinates[loop] = next
            break
          }
          unsafe coordinates[loop] = 0
          offsets &-= outerSteps[loop].operands &* outerCounts[loop]
          loop &-= 1
        }
      }
    }
  }
}

extension SIMD4<Int> {
  fileprivate static func &* (vector: Self, factor: Int) -> Self {
    vector &* Self(repeating: factor)
  }
}
