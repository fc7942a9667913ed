// SPDX-License-Identifier: Apache-2.0

import ApusRuntime
import ApusSystem

/// Divides each value by `(bias + alpha · s)^beta`. `s` is the sum of squares of the channels from `radius`
/// before the value up to, but excluding, `radius` after it: the reference's window.
package func normalizeResponses(
  _ input: Span<Float>, channels: Int, radius: Int, bias: Float, alpha: Float, beta: Float,
  to output: inout MutableSpan<Float>, threads: ThreadTeam
) {
  precondition(output.count >= input.count)
  guard channels > 0 else { return }
  var poll = StopPoll(threads)
  for row in stride(from: 0, to: input.count, by: channels) {
    for channel in 0..<channels {
      let first = max(0, channel - radius)
      let end = min(channels, channel + radius)
      if poll.mustStop(before: end - first) { return }
      var sum: Float = 0
      var index = first
      while index < end {
        sum += input[row + index] * input[row + index]
        index += 1
      }
      output[row + channel] = input[row + channel] * powf(bias + alpha * sum, -beta)
    }
  }
}
