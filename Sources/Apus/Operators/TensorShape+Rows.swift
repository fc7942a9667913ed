// SPDX-License-Identifier: Apache-2.0

import ApusKernels

extension TensorShape {
  /// The number and length of rows along the last axis; a scalar is one row of one element.
  var rows: (count: Int, depth: Int) {
    guard let depth = dimensions.last else { return (1, 1) }
    return (depth == 0 ? 0 : elementCount / depth, depth)
  }
}
