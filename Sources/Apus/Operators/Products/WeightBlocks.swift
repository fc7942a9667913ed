// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The scales of weights whose rows are cut into blocks.
struct WeightBlocks {
  /// The weights of a block.
  let size: Int
  /// For each row, a scale for each block.
  let scales: [Float]
}
