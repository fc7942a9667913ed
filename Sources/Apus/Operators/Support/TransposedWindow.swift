// SPDX-License-Identifier: Apache-2.0

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

  init(input: Int, output: Int, filter: Int, stride: Int, padding: Int) {
    self.input = input
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
}

/// A filter of some of the taps of an OHWI filter.
struct PhaseFilter: FilterArrangement {
  /// Output channels, rows, columns and input channels of the whole filter.
  let shape: [Int]
  /// The selected rows and columns; −1 for taps of zeros.
  let rows: [Int]
  let columns: [Int]
  /// The size of an element.
  let width: Int
  /// The byte that fills zeros.
  let zero: UInt8

  var byteCount: Int { shape[0] * rows.count * columns.count * shape[3] * width }
  var name: String { "rows \(rows) columns \(columns)" }

  func arrange(_ filter: RawSpan, into arranged: inout MutableRawSpan) {
    let run = shape[3] * width
    var target = 0
    for channel in 0..<shape[0] {
      for row in rows {
        for column in columns {
          let source = ((channel * shape[1] + row) * shape[2] + column) * run
          for byte in 0..<run {
            let value =
              row < 0 || column < 0 ? zero : filter.unsafeLoad(fromByteOffset: source + byte, as: UInt8.self)
            arranged.storeBytes(of: value, toByteOffset: target + byte, as: UInt8.self)
          }
          target += run
        }
      }
    }
  }
}
