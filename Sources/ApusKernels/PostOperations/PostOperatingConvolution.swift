// SPDX-License-Identifier: Apache-2.0

/// A convolution that can do something to its floats before they leave the cache.
package protocol PostOperatingConvolution: PreparedConvolution {
  /// As ``PreparedConvolution/run(_:input:output:scratch:threads:)``, with something done to the outputs; `other` is as large
  /// as they are.
  func run(
    _ packed: PackedWeights, input: RawSpan, other: RawSpan?, postOperations: PostOperations,
    output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam)
}
