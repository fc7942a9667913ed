// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A convolution that can apply post-operations to its float outputs while they are in the cache.
package protocol PostOperatingConvolution: PreparedConvolution {
  /// Convolves, then applies the post-operations to the outputs; `other` is a second tensor of the output's
  /// size.
  func run(
    _ packed: PackedWeights, input: RawSpan, other: RawSpan?, postOperations: PostOperations,
    output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam)
}
