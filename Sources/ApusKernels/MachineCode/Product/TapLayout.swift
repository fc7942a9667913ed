// SPDX-License-Identifier: Apache-2.0

/// The taps of a product: runs of terms that lie side by side. A row of the filter is one, or one of its places where dilation or
/// groups part them.
struct TapLayout {
  let rows: Int
  let columns: Int
  /// Terms of a tap.
  let lanesPerTap: Int

  init(_ convolution: Convolution) {
    let runsAreRows = convolution.dilationWidth == 1 && convolution.groups == 1
    rows = convolution.filterHeight
    columns = runsAreRows ? 1 : convolution.filterWidth
    lanesPerTap = (runsAreRows ? convolution.filterWidth : 1) * convolution.channelsPerGroup
  }

  /// How many taps there are.
  var count: Int { rows * columns }
}
