// SPDX-License-Identifier: Apache-2.0

/// A convolution with its tiles planned: packs weights, then runs any number of times.
///
/// Neither call allocates. Runs of one instance may overlap if each has its own output and scratch.
package protocol PreparedConvolution: AnyObject, Sendable {
  /// The packed layout: where that is equal and the weights and bias are the same, `PackedWeights` can be shared, whatever
  /// the batch, height, width or epilogue.
  var packing: WeightLayout { get }

  /// The size of `PackedWeights` for this convolution, whatever the weights.
  var packedByteCount: Int { get }

  /// The size of `PackedWeights` for these weights: at most `packedByteCount`.
  func packedByteCount(for weights: RawSpan) -> Int

  /// The size of the scratch memory that `run` needs for a team of so many threads.
  func scratchByteCount(threads: Int) -> Int

  /// Packs the weights and the bias (int32, or float with float operands; nil is zeros).
  ///
  /// Call it once for constants, before each run otherwise: memory that holds other weights can be packed again, if there
  /// was a bias then as now, or none.
  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights)

  /// Convolves `input` into `output`; the bytes of the result do not depend on the number of threads.
  func run(
    _ packed: PackedWeights, input: RawSpan, output: inout MutableRawSpan, scratch: inout MutableRawSpan,
    threads: ThreadTeam)

  /// What does the work, for people to read: its way, the sizes of panels and blocks, and how outputs are made of sums.
  var implementation: String { get }

  /// Why this, or a part of it, is not done in the fastest way that there is, a clause for each reason; with weights, for
  /// these.
  func notes(_ packed: PackedWeights?) -> [String]

  /// What the order depends on in which the terms of a float's sum are added, beside the shapes of an image and of the weights:
  /// kernels that say the same give an image the same bytes, whatever the others of its batch. Nil where nobody knows the order.
  ///
  /// Sums of integers have one value in any order: nobody asks those kernels.
  var summation: String? { get }

  /// The convolution as one that can do something to its floats before they leave the cache; nil where it cannot.
  var postOperating: (any PostOperatingConvolution)? { get }

  /// The convolution as one that packs weights of `depth × outputs`; nil where they have to be transposed first.
  var packingRows: (any RowPackingConvolution)? { get }
}

/// A product whose weights can come as rows, one weight of each output beside the other, as those of matrices do.
package protocol RowPackingConvolution: PreparedConvolution {
  /// Packs weights of `depth × outputs`, without a bias, into the same layout as ``pack(weights:bias:into:)``.
  func pack(rows: RawSpan, into packed: PackedWeights)
}

/// The identity of a layout of weights.
///
/// Words and numbers, not one text of both: a model asks for each of its layers while it loads.
package struct WeightLayout: Hashable, Sendable {
  private var words: [String]
  private var numbers: [Int]

  /// A layout that these words name and these numbers measure.
  package init(_ words: String..., numbers: [Int]) {
    self.words = words
    self.numbers = numbers
  }

  /// This layout, of weights that something was done to before.
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
