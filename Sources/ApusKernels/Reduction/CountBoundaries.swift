// SPDX-License-Identifier: Apache-2.0

/// For each value, how many of the sorted boundaries are not above it.
package func countBoundaries(
  _ values: Span<Float>, _ boundaries: Span<Float>, to output: inout MutableSpan<Int32>, threads: ThreadTeam
) {
  var poll = StopPoll(threads)
  for index in values.indices {
    if poll.mustStop(before: 16) { return }
    let value = values[index]
    output[index] = partition(boundaries) { value < $0 }
  }
}

/// As for floats, compared in double precision.
package func countBoundaries(
  _ values: Span<Double>, _ boundaries: Span<Float>, to output: inout MutableSpan<Int32>, threads: ThreadTeam
) {
  var poll = StopPoll(threads)
  for index in values.indices {
    if poll.mustStop(before: 16) { return }
    let value = values[index]
    output[index] = partition(boundaries) { value < Double($0) }
  }
}

/// As for floats, to which the values are rounded.
package func countBoundaries(
  _ values: Span<Int32>, _ boundaries: Span<Float>, to output: inout MutableSpan<Int32>, threads: ThreadTeam
) {
  var poll = StopPoll(threads)
  for index in values.indices {
    if poll.mustStop(before: 16) { return }
    let value = Float(values[index])
    output[index] = partition(boundaries) { value < $0 }
  }
}

/// As for floats, to which the values are rounded.
package func countBoundaries(
  _ values: Span<Int64>, _ boundaries: Span<Float>, to output: inout MutableSpan<Int32>, threads: ThreadTeam
) {
  var poll = StopPoll(threads)
  for index in values.indices {
    if poll.mustStop(before: 16) { return }
    let value = Float(values[index])
    output[index] = partition(boundaries) { value < $0 }
  }
}

/// The first place at which `isAbove` holds; it holds for all that follow.
@inline(__always)
private func partition(_ boundaries: Span<Float>, _ isAbove: (Float) -> Bool) -> Int32 {
  var (low, high) = (0, boundaries.count)
  while low < high {
    let middle = (low + high) / 2
    if isAbove(boundaries[middle]) { high = middle } else { low = middle + 1 }
  }
  return Int32(truncatingIfNeeded: low)
}
