// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// MediaPipe's max pooling with the index of each maximum, and its inverse; floats in NHWC.
package struct ArgmaxPooling: Sendable {
  /// The number of images.
  package var batches: Int
  /// How the window slides over the rows of the large image (the input of pooling, the output of unpooling); its places
  /// are the rows of the small one.
  package var vertical: WindowAxis
  /// How the window slides over the columns of the large image.
  package var horizontal: WindowAxis
  /// Channels of both images.
  package var channels: Int

  /// Describes a pooling; the caller has checked that sizes do not overflow.
  package init(batches: Int, vertical: WindowAxis, horizontal: WindowAxis, channels: Int) {
    self.batches = batches
    self.vertical = vertical
    self.horizontal = horizontal
    self.channels = channels
  }

  private var largeCount: Int { batches * vertical.size * horizontal.size * channels }
  private var smallCount: Int { batches * vertical.places * horizontal.places * channels }

  /// Writes each window's maximum, clamped, and the index of its tap, counted row by row, plus 0.1.
  package func pool(
    _ input: Span<Float>, to output: inout MutableSpan<Float>, indices: inout MutableSpan<Float>,
    minimum: Float, maximum: Float, threads: ThreadTeam
  ) {
    precondition(input.count >= largeCount && output.count >= smallCount && indices.count >= smallCount)
    var target = 0
    var poll = StopPoll(threads)
    let taps = min(vertical.taps, vertical.size) * min(horizontal.taps, horizontal.size)
    for batch in 0..<batches {
      for row in 0..<vertical.places {
        let y0 = row &* vertical.stride &- vertical.padding
        for column in 0..<horizontal.places {
          let x0 = column &* horizontal.stride &- horizontal.padding
          for channel in 0..<channels {
            if poll.mustStop(before: taps) { return }
            var best = -Float.greatestFiniteMagnitude
            var tap = 0
            var tapY = max(0, 0 &- y0)
            while tapY < min(vertical.taps, vertical.size &- y0) {
              var tapX = max(0, 0 &- x0)
              while tapX < min(horizontal.taps, horizontal.size &- x0) {
                let line = (batch &* vertical.size &+ y0 &+ tapY) &* horizontal.size
                let value = input[(line &+ x0 &+ tapX) &* channels &+ channel]
                if value > best { (best, tap) = (value, tapY &* horizontal.taps &+ tapX) }
                tapX &+= 1
              }
              tapY &+= 1
            }
            output[target] = min(max(best, minimum), maximum)
            indices[target] = Float(tap) + 0.1
            target &+= 1
          }
        }
      }
    }
  }

  /// Writes each value to the tap with its index, and zeros elsewhere. If several values meet, the last one
  /// stays.
  package func unpool(
    _ input: Span<Float>, indices: Span<Float>, to output: inout MutableSpan<Float>, threads: ThreadTeam
  ) {
    precondition(input.count >= smallCount && indices.count >= smallCount && output.count >= largeCount)
    for index in 0..<largeCount { output[index] = 0 }
    var source = 0
    var poll = StopPoll(threads)
    for batch in 0..<batches {
      for row in 0..<vertical.places {
        for column in 0..<horizontal.places {
          if poll.mustStop(before: 8 &* channels) { return }
          for channel in 0..<channels {
            let index = indices[source]
            let tap = index.isFinite && abs(index) < 0x1p31 ? Int(index) : -1
            let y = row &* vertical.stride &- vertical.padding &+ tap / horizontal.taps
            let x = column &* horizontal.stride &- horizontal.padding &+ tap % horizontal.taps
            if y >= 0, y < vertical.size, x >= 0, x < horizontal.size, index.isFinite {
              output[((batch &* vertical.size &+ y) &* horizontal.size &+ x) &* channels &+ channel] =
                input[source]
            }
            source &+= 1
          }
        }
      }
    }
  }
}
