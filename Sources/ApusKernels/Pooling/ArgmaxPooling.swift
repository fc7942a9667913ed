// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// MediaPipe's max pooling with the index of each maximum, and its inverse; floats in NHWC.
package struct ArgmaxPooling: Sendable {
  /// The number of images.
  package var batches: Int
  /// Rows of the large image: the input of pooling, the output of unpooling.
  package var largeHeight: Int
  /// Columns of the large image.
  package var largeWidth: Int
  /// Rows of the small image.
  package var smallHeight: Int
  /// Columns of the small image.
  package var smallWidth: Int
  /// Channels of both images.
  package var channels: Int
  /// Rows of the window.
  package var filterHeight: Int
  /// Columns of the window.
  package var filterWidth: Int
  /// Rows between windows.
  package var strideHeight: Int
  /// Columns between windows.
  package var strideWidth: Int
  /// Rows of padding above the large image.
  package var paddingTop: Int
  /// Columns of padding left of the large image.
  package var paddingLeft: Int

  /// Describes a pooling; the caller has checked that sizes do not overflow.
  package init(
    batches: Int, large: (height: Int, width: Int), small: (height: Int, width: Int), channels: Int,
    filter: (height: Int, width: Int), stride: (height: Int, width: Int), padding: (top: Int, left: Int)
  ) {
    self.batches = batches
    (largeHeight, largeWidth) = large
    (smallHeight, smallWidth) = small
    self.channels = channels
    (filterHeight, filterWidth) = filter
    (strideHeight, strideWidth) = stride
    (paddingTop, paddingLeft) = padding
  }

  private var largeCount: Int { batches * largeHeight * largeWidth * channels }
  private var smallCount: Int { batches * smallHeight * smallWidth * channels }

  /// Writes each window's maximum, clamped, and the index of its tap, counted row by row, plus 0.1.
  package func pool(
    _ input: Span<Float>, to output: inout MutableSpan<Float>, indices: inout MutableSpan<Float>,
    minimum: Float, maximum: Float, threads: ThreadTeam
  ) {
    precondition(input.count >= largeCount && output.count >= smallCount && indices.count >= smallCount)
    var target = 0
    var poll = StopPoll(threads)
    let taps = min(filterHeight, largeHeight) * min(filterWidth, largeWidth)
    for batch in 0..<batches {
      for row in 0..<smallHeight {
        let y0 = row &* strideHeight &- paddingTop
        for column in 0..<smallWidth {
          let x0 = column &* strideWidth &- paddingLeft
          for channel in 0..<channels {
            if poll.mustStop(before: taps) { return }
            var best = -Float.greatestFiniteMagnitude
            var tap = 0
            var tapY = max(0, 0 &- y0)
            while tapY < min(filterHeight, largeHeight &- y0) {
              var tapX = max(0, 0 &- x0)
              while tapX < min(filterWidth, largeWidth &- x0) {
                let line = (batch &* largeHeight &+ y0 &+ tapY) &* largeWidth
                let value = input[(line &+ x0 &+ tapX) &* channels &+ channel]
                if value > best { (best, tap) = (value, tapY &* filterWidth &+ tapX) }
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
      for row in 0..<smallHeight {
        for column in 0..<smallWidth {
          if poll.mustStop(before: 8 &* channels) { return }
          for channel in 0..<channels {
            let index = indices[source]
            let tap = index.isFinite && abs(index) < 0x1p31 ? Int(index) : -1
            let y = row &* strideHeight &- paddingTop &+ tap / filterWidth
            let x = column &* strideWidth &- paddingLeft &+ tap % filterWidth
            if y >= 0, y < largeHeight, x >= 0, x < largeWidth, index.isFinite {
              output[((batch &* largeHeight &+ y) &* largeWidth &+ x) &* channels &+ channel] = input[source]
            }
            source &+= 1
          }
        }
      }
    }
  }
}
