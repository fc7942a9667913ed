// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// The taps of a depthwise filter in pairs, row by row; if a row's last tap has no partner, zero replaces it.
struct TapPairs {
  let perRow: Int
  let count: Int
  private let convolution: Convolution

  init(_ convolution: Convolution) {
    self.convolution = convolution
    perRow = ceilingQuotient(convolution.filterWidth, 2)
    count = convolution.filterHeight * perRow
  }

  /// Packs weights as `[group of eight channels][pair][channel][2]`; `weight` returns the weight at an index
  /// into `[tap][channel]`.
  @inline(__always)
  func pack(to destination: UnsafeMutablePointer<Int16>, weight: (Int) -> Int16) {
    let channels = convolution.outputChannels
    for group in 0..<ceilingQuotient(channels, 8) {
      for tap in 0..<convolution.taps {
        let row = tap / convolution.filterWidth
        let column = tap % convolution.filterWidth
        let pair = (group * count + row * perRow + column / 2) * 16
        for lane in 0..<8 {
          let channel = group * 8 + lane
          unsafe destination[pair + lane * 2 + column % 2] =
            channel < channels ? weight(tap * channels + channel) : 0
          if column % 2 == 0, column + 1 == convolution.filterWidth {
            unsafe destination[pair + lane * 2 + 1] = 0
          }
        }
      }
    }
  }
}
