// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// One axis of a transposed convolution, split into ordinary ones.
///
/// Output `stride·i + phase` is a sum over inputs near `i`: for each phase a convolution of stride 1 with every
/// `stride`-th tap of the filter, in reverse.
struct TransposedAxis {
  /// The outputs `start, start + stride, …`.
  struct Phase {
    let start: Int
    /// The number of outputs.
    let count: Int
    /// The filter's tap for each tap of the convolution; −1 for zeros. Empty if no input is reached.
    let taps: [Int]
    /// The number of zero inputs before the first.
    let padding: Int
  }

  let input: Int
  let output: Int
  let stride: Int
  let phases: [Phase]

  /// Splits an axis of windows that slide over the output, and whose places are the inputs.
  init(_ window: WindowAxis) {
    let (output, filter, stride, padding) = (window.size, window.taps, window.stride, window.padding)
    input = window.places
    self.output = output
    self.stride = stride
    var phases: [Phase] = []
    for start in 0..<max(0, min(stride, output)) {
      // The tap that reaches input i + base from output stride·i + start, and how many follow it a stride apart.
      let first = (start + padding) % stride
      let base = (start + padding) / stride
      let count = first < filter ? (filter - first + stride - 1) / stride : 0
      // Zero taps come first, so that the convolution never begins behind its first input.
      let length = count == 0 ? 0 : max(count, base + 1)
      let taps = (0..<length).map { tap in
        let step = length - 1 - tap
        return step < count ? first + stride * step : -1
      }
      phases.append(
        Phase(
          start: start, count: (output - start + stride - 1) / stride, taps: taps,
          padding: max(0, length - 1 - base)))
    }
    self.phases = phases
  }

  /// Whether the convolution of a phase reaches past an edge of the input.
  var reachesOutside: Bool {
    phases.contains {
      !$0.taps.isEmpty && ($0.padding > 0 || $0.count - 1 + $0.taps.count - $0.padding > input)
    }
  }
}
