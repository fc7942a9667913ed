// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// For each value, the number of sorted boundaries that are not above it.
package func countBoundaries(
  _ values: Span<Float>, _ boundaries: Span<Float>, to output: inout MutableSpan<Int32>, threads: ThreadTeam
) {
  count(values, boundaries, &output, threads) { $0 < $1 }
}

/// For each value, the number of sorted boundaries that are not above it, compared in double precision.
package func countBoundaries(
  _ values: Span<Double>, _ boundaries: Span<Float>, to output: inout MutableSpan<Int32>, threads: ThreadTeam
) {
  count(values, boundaries, &output, threads) { $0 < Double($1) }
}

/// For each value, rounded to a float, the number of sorted boundaries that are not above it.
package func countBoundaries(
  _ values: Span<Int32>, _ boundaries: Span<Float>, to output: inout MutableSpan<Int32>, threads: ThreadTeam
) {
  count(values, boundaries, &output, threads) { Float($0) < $1 }
}

/// For each value, rounded to a float, the number of sorted boundaries that are not above it.
package func countBoundaries(
  _ values: Span<Int64>, _ boundaries: Span<Float>, to output: inout MutableSpan<Int32>, threads: ThreadTeam
) {
  count(values, boundaries, &output, threads) { Float($0) < $1 }
}

/// For each value, the index of the first boundary that it is below; it is below all later ones.
@inline(__always)
private func count<T>(
  _ values: Span<T>, _ boundaries: Span<Float>, _ output: inout MutableSpan<Int32>, _ threads: ThreadTeam,
  _ isBelow: (T, Float) -> Bool
) {
  var poll = StopPoll(threads)
  for index in values.indices {
    if poll.mustStop(before: 16) { return }
    var (low, high) = (0, boundaries.count)
    while low < high {
      let middle = (low + high) / 2
      if isBelow(values[index], boundaries[middle]) { high = middle } else { low = middle + 1 }
    }
    output[index] = Int32(truncatingIfNeeded: low)
  }
}
