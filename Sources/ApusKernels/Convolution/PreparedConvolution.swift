// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// A planned convolution: packs weights, then runs any number of times.
///
/// Neither call allocates. Runs of one instance may overlap if each has its own output and scratch.
package protocol PreparedConvolution: AnyObject, Sendable {
  /// The packed layout. Convolutions with equal layouts and equal weights and biases can share
  /// `PackedWeights`, even if batch, height, width or epilogue differ.
  var packing: WeightLayout { get }

  /// The size of `PackedWeights` for this convolution with any weights.
  var packedByteCount: Int { get }

  /// The size of `PackedWeights` for these weights: at most `packedByteCount`.
  func packedByteCount(for weights: RawSpan) -> Int

  /// The size of the scratch memory that `run` needs for a team of `threads` threads.
  func scratchByteCount(threads: Int) -> Int

  /// Packs the weights and the bias (int32, or float with float operands; nil is zeros).
  ///
  /// Call it once for constants, otherwise before each run. Memory with other weights can be packed again if
  /// both times have a bias, or neither. Ends early if ``PackedWeights/stopSignal`` says so.
  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights)

  /// Convolves `input` into `output`; the bytes of the result do not depend on the number of threads.
  func run(
    _ packed: PackedWeights, input: RawSpan, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam)

  /// The implementation in the output of `apus inspect --plan`: strategy, panels and blocks, and epilogue.
  var implementation: String { get }

  /// Why this implementation, or a part of it, is not the fastest; one clause per reason. With weights, the
  /// reasons for these weights.
  func notes(_ packed: PackedWeights?) -> [String]

  /// A text that fixes, with the shapes of one image and of the weights, the order in which the terms of a
  /// float sum are added.
  ///
  /// Kernels with equal values compute the same bytes for an image, whatever else is in its batch. Nil if the order is unknown.
  /// Integer sums have one value in any order, so their kernels are not asked.
  var summation: String? { get }

  /// The convolution with post-operations; nil if it does not support them.
  var postOperating: (any PostOperatingConvolution)? { get }

  /// The convolution with packing of K×N weights; nil if they must be transposed first.
  var packingRows: (any RowPackingConvolution)? { get }
}

/// A product that can pack K×N weights, as matrices are, besides N×K ones.
package protocol RowPackingConvolution: PreparedConvolution {
  /// Packs K×N weights, without a bias, into the layout of ``pack(weights:bias:into:)``.
  func pack(rows: RawSpan, into packed: PackedWeights)
}

/// The identity of a layout of weights.
///
/// Strings and numbers rather than one text, because a model compares them for each layer while it loads.
package struct WeightLayout: Hashable, Sendable {
  private var words: [String]
  private var numbers: [Int]

  /// A layout with these names and sizes.
  package init(_ words: String..., numbers: [Int]) {
    self.words = words
    self.numbers = numbers
  }

  /// This layout for weights that were transformed before packing.
  package func of(_ word: String, numbers: [Int] = []) -> Self {
    var layout = self
    layout.words.append(word)
    layout.numbers += numbers
    return layout
  }
}

extension PreparedConvolution {
  package var summation: String? { nil }
  package var postOperating: (any PostOperatingConvolution)? { nil }
  package var packingRows: (any RowPackingConvolution)? { nil }

  package func notes(_ packed: PackedWeights?) -> [String] { [] }

  package func packedByteCount(for weights: RawSpan) -> Int { packedByteCount }
}
