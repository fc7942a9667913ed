// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// A generated convolution that applies post-operations to its float outputs while they are in the cache.
protocol PostOperatingKernel: PostOperatingConvolution {
  var convolution: Convolution { get }

  /// Runs the convolution and then the post-operations, which may read `other`, a second tensor of the
  /// output's size.
  func run(
    _ packed: PackedWeights, input: RawSpan, postOperations: PostOperations?, other: UnsafePointer<Float>?,
    output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam)
}

extension PostOperatingKernel {
  func run(
    _ packed: PackedWeights, input: RawSpan, other: RawSpan?, postOperations: PostOperations,
    output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    precondition(postOperating != nil)
    guard let other else {
      precondition(!postOperations.addsOther)
      return unsafe run(
        packed, input: input, postOperations: postOperations, other: nil, output: &output, scratch: &scratch,
        threads: threads
      )
    }
    precondition(other.byteCount >= convolution.outputCount * 4)
    unsafe other.withUnsafeBytes { other in
      unsafe run(
        packed, input: input, postOperations: postOperations,
        other: other.baseAddress?.assumingMemoryBound(to: Float.self),
        output: &output, scratch: &scratch, threads: threads)
    }
  }
}

extension ProductKernel: PostOperatingKernel {
  /// The kernel itself if its outputs are floats, otherwise nil.
  var postOperating: (any PostOperatingConvolution)? {
    switch convolution.epilogue {
    case .float32, .hybrid: self
    default: nil
    }
  }
}

extension PostOperations {
  /// Applies the post-operations to a range of channels, out of `count`, of a range of pixels.
  func apply(
    to output: UnsafeMutablePointer<Float>, other: UnsafePointer<Float>?, pixels: Range<Int>,
    channels: Range<Int>, of count: Int
  ) {
    guard channels.count < count else {
      return unsafe apply(
        to: output, other: other, first: pixels.lowerBound &* count, count: pixels.count &* count)
    }
    for pixel in pixels {
      unsafe apply(
        to: output, other: other, first: pixel &* count &+ channels.lowerBound, count: channels.count)
    }
  }
}
