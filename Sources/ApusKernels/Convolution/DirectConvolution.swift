// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A convolution of floats in plain Swift, of up to three dimensions, that leaves out taps outside the input.
///
/// Other kernels multiply such taps by zero. That adds nothing as long as weights are finite, but zero times infinity is NaN. Each sum has
/// the order of the reference: by taps, then by channels.
package struct DirectConvolution: Sendable {
  /// The distances between the weights of neighboring output channels, taps and input channels.
  package struct WeightSteps: Sendable {
    let output: Int
    let tap: Int
    let channel: Int

    /// Makes distances.
    package init(output: Int, tap: Int, channel: Int) {
      self.output = output
      self.tap = tap
      self.channel = channel
    }
  }

  private let batches: Int
  /// Depth, height and width; sizes are those of the input, and places those of the output.
  private var axes: [WindowAxis]
  /// Whether inputs are a stride apart in the output, instead of outputs in the input.
  private let isTransposed: Bool
  /// The input channels of one group.
  private let channels: Int
  private let groups: Int
  private let outputChannels: Int
  private let steps: WeightSteps
  private let bounds: FloatBounds

  /// Describes a convolution; nil if its epilogue is not one of floats.
  ///
  /// - Parameter isTransposed: Whether windows slide over the output, and their places are inputs.
  package init?(
    batches: Int, axes: [WindowAxis], isTransposed: Bool = false, channels: Int, groups: Int = 1,
    outputChannels: Int, steps: WeightSteps, epilogue: Epilogue
  ) {
    guard let bounds = FloatBounds(epilogue), axes.count == 3 else { return nil }
    self.batches = batches
    self.axes = axes
    self.isTransposed = isTransposed
    self.channels = channels
    self.groups = groups
    self.outputChannels = outputChannels
    self.steps = steps
    self.bounds = bounds
    guard isTransposed else { return }
    for axis in axes.indices {
      (self.axes[axis].size, self.axes[axis].places) = (axes[axis].places, axes[axis].size)
    }
  }

  /// Describes a convolution of images; nil if it is not one of floats.
  package init?(_ convolution: Convolution) {
    guard convolution.operands == .float32 else { return nil }
    self.init(
      batches: convolution.batches, axes: [WindowAxis(), convolution.vertical, convolution.horizontal],
      channels: convolution.channelsPerGroup, groups: convolution.groups,
      outputChannels: convolution.outputChannels,
      steps: convolution.isDepthwise
        ? WeightSteps(output: 1, tap: convolution.outputChannels, channel: 0)
        : WeightSteps(output: convolution.depth, tap: convolution.channelsPerGroup, channel: 1),
      epilogue: convolution.epilogue)
  }

  /// The multiply-accumulates of one run, those outside the input included.
  package var stepCount: Double {
    axes.reduce(Double(batches) * Double(channels) * Double(outputChannels)) {
      $0 * Double($1.places) * Double($1.taps)
    }
  }

  /// Convolves with a filter of 32-bit floats.
  package func run(
    _ input: Span<Float>, floats: Span<Float>, bias: Span<Float>?, to output: inout MutableSpan<Float>,
    threads: ThreadTeam
  ) {
    run(input, weights: floats, { $0 }, bias: bias, to: &output, threads: threads)
  }

  /// Convolves with a filter of 16-bit floats.
  package func run(
    _ input: Span<Float>, halves: Span<UInt16>, bias: Span<Float>?, to output: inout MutableSpan<Float>,
    threads: ThreadTeam
  ) {
    run(input, weights: halves, { Float(halfBits: $0) }, bias: bias, to: &output, threads: threads)
  }

  /// The taps in the order of their inputs, by a number from 0.
  @inline(__always)
  private func tap(_ number: Int, of axis: WindowAxis) -> Int {
    isTransposed ? axis.taps &- 1 &- number : number
  }

  /// The element of the input under a tap at a place of the output; nil if there is none.
  @inline(__always)
  private func element(of axis: WindowAxis, at place: Int, under tap: Int) -> Int? {
    guard isTransposed else { return axis.element(at: place, under: tap) }
    let reach = place &+ axis.padding &- tap &* axis.dilation
    return reach >= 0 && reach % axis.stride == 0 && reach / axis.stride < axis.size
      ? reach / axis.stride : nil
  }

  private func run<Weight: BitwiseCopyable>(
    _ input: Span<Float>, weights: Span<Weight>, _ number: (Weight) -> Float, bias: Span<Float>?,
    to output: inout MutableSpan<Float>, threads: ThreadTeam
  ) {
    var poll = StopPoll(threads)
    let (depths, rows, columns) = (axes[0], axes[1], axes[2])
    let columnsPerGroup = outputChannels / groups
    let tapSteps = depths.taps &* rows.taps &* columns.taps &* channels &* outputChannels
    var pixel = 0
    for batch in 0..<batches {
      for depth in 0..<depths.places {
        for row in 0..<rows.places {
          for column in 0..<columns.places {
            if poll.mustStop(before: tapSteps) { return }
            for channel in 0..<outputChannels { output[pixel &+ channel] = 0 }
            for depthNumber in 0..<depths.taps {
              let depthTap = tap(depthNumber, of: depths)
              guard let z = element(of: depths, at: depth, under: depthTap) else { continue }
              for rowNumber in 0..<rows.taps {
                let rowTap = tap(rowNumber, of: rows)
                guard let y = element(of: rows, at: row, under: rowTap) else { continue }
                for columnNumber in 0..<columns.taps {
                  let columnTap = tap(columnNumber, of: columns)
                  guard let x = element(of: columns, at: column, under: columnTap) else { continue }
                  let line = (batch &* depths.size &+ z) &* rows.size &+ y
                  let source = (line &* columns.size &+ x) &* channels &* groups
                  let tap = (depthTap &* rows.taps &+ rowTap) &* columns.taps &+ columnTap
                  for channel in 0..<outputChannels {
                    let first = source &+ channel / columnsPerGroup &* channels
                    let weight = channel &* steps.output &+ tap &* steps.tap
                    var sum = output[pixel &+ channel]
                    for term in 0..<channels {
                      sum += input[first &+ term] * number(weights[weight &+ term &* steps.channel])
                    }
                    output[pixel &+ channel] = sum
                  }
                }
              }
            }
            for channel in 0..<outputChannels {
              var sum = output[pixel &+ channel]
              if let bias { sum += bias[channel] }
              output[pixel &+ channel] = bounds.clamp(SIMD4(repeating: sum))[0]
            }
            pixel &+= outputChannels
          }
        }
      }
    }
  }
}
