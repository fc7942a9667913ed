// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The taps of a product: runs of K that are contiguous in the input. A tap is a row of the filter; with
/// dilation or groups, a single position of it.
struct TapLayout {
  let rows: Int
  let columns: Int
  /// Values of K per tap.
  let depthPerTap: Int

  init(_ convolution: Convolution) {
    let runsAreRows = convolution.dilationWidth == 1 && convolution.groups == 1
    rows = convolution.filterHeight
    columns = runsAreRows ? 1 : convolution.filterWidth
    depthPerTap = convolution.runDepth
  }

  /// The number of taps.
  var count: Int { rows * columns }
}
