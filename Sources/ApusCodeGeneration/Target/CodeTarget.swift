// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// A processor that code is generated for: the facts that planning, packing and running need, and its
/// generators.
///
/// Preparation queries a target; runs never do. Optional members are abilities that only some targets have.
protocol CodeTarget: Sendable {
  /// The target's name; part of the key of its packed weights.
  var name: String { get }

  // MARK: Panels

  /// The number of 32-bit lanes in a vector.
  var lanes: Int { get }
  /// The maximum width of a panel, in vectors.
  var maximumVectors: Int { get }
  /// The maximum width of a panel of a product, in vectors.
  func maximumVectors(_ product: ProductKind) -> Int
  /// The width of a depthwise block of channels, in vectors.
  func depthwiseVectors(_ product: ProductKind) -> Int
  /// The maximum height of a block, in rows of M, that registers and addressing modes allow.
  func maximumRows(_ product: ProductKind, vectorCount: Int) -> Int
  /// The column of each lane in a panel of bytes, vector by vector.
  func byteColumns(vectorCount: Int) -> LaneOrder
  /// Whether the generator can prefetch the next panel's weights.
  var fetchesAhead: Bool { get }
  /// Whether there are functions for blocks of a few rows: with weights stored as bytes, with several
  /// accumulators per output, or with consecutive panels in one call.
  var hasFunctionsForFewRows: Bool { get }

  // MARK: Time

  /// Estimated multiply-accumulates per nanosecond of one core.
  func rate(_ product: ProductKind) -> Double
  /// The vector units of the machine.
  var pipes: VectorPipes { get }

  // MARK: Numbers

  /// The weights, minus their zero point, that one K-step of bytes can multiply.
  var weightBounds: ClosedRange<Int32> { get }
  /// How much smaller a byte of activations is when it is multiplied than as an unsigned byte: 128 if the
  /// target multiplies signed bytes, otherwise 0.
  var activationOffset: Int32 { get }
  /// The product for gathered activations. Gathering can flip the signs of bytes, so that the inner loop need
  /// not.
  func gathered(_ product: ProductKind) -> ProductKind

  // MARK: Matrices as they lie

  /// Code for a product of a few rows of floats with a matrix that is not packed; throws if the target has
  /// none.
  func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode

  // MARK: Epilogues

  /// The largest magnitude of a sum for which an epilogue's code is exact; nil if there is no limit.
  ///
  /// A target with a limit also has code for ``LoweredEpilogue/anySum(_:zeroPoint:minimum:maximum:)``.
  func sumLimit(_ epilogue: LoweredEpilogue) -> Int?
  /// The smallest shift of a factor that the fastest epilogue supports; nil if it supports all.
  var minimumShift: Int32? { get }
  /// A faster epilogue with the same outputs; nil if the target has no faster kind.
  ///
  /// Throws if a factor has no such form, or if the search for it would take too long.
  ///
  /// - Parameters:
  ///   - outputsPerChannel: how many outputs each factor makes per run; a search costs more than few outputs
  ///     save.
  ///   - depth: K, which bounds the sums.
  func simplified(
    _ epilogue: Epilogue, faint: FaintChannels?, outputsPerChannel: Int, depth: Int
  ) throws(Decline) -> LoweredEpilogue?
  /// Throws if there is no generated code for an epilogue. ``sumLimit(_:)`` is a separate condition.
  func requireCode(for epilogue: LoweredEpilogue) throws(Decline)
  /// The epilogue's form in the output of `apus inspect --plan`.
  func epilogueText(_ operands: MatrixOperands, _ epilogue: LoweredEpilogue) -> String
  /// The size of one panel's factors, in bytes.
  var factorByteCount: Int { get }
  /// Writes the factors of `blockCount` panels; `lanes` maps the lanes of each to channels.
  func fillFactors(
    _ blocks: UnsafeMutableRawPointer, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue,
    blockCount: Int, lanes: (_ block: Int) -> ChannelLanes)

  // MARK: Code

  /// The generator of a block's product: some rows times one panel. Without an epilogue, the function stores
  /// raw sums.
  func generator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue?, _ shape: BlockShape
  ) -> any CodeGenerator
  /// The generator of a depthwise block: pixels (rows) times a block of channels (columns).
  func depthwiseGenerator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue?, _ shape: BlockShape
  ) -> any CodeGenerator

  // MARK: What some targets can do

  /// The maximum height of a block of ``InnerProduct`` with that many columns; nil if the target has no such
  /// code.
  func maximumInnerRows(columnCount: Int) -> Int?
  /// The maximum heights of blocks of ``OverlappingBlocks``, for panels of 1, 2, … vectors; throws if the target
  /// has no such code.
  func maximumOverlappingRows(
    _ steps: ProductSteps, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue
  ) throws(Decline) -> [Int]
  /// Code for depthwise convolutions by rows of the output; nil if the target has none.
  var depthwiseRows: (any DepthwiseRowCode)? { get }
  /// Code for Winograd's method; nil if the target has none.
  var winograd: (any WinogradCode)? { get }
  /// Whether accumulators of bytes can start from a value per row; see ``RowTerms``.
  var hasRowTerms: Bool { get }
  /// Code that quantizes float activations at run time, to bytes or to `int16`; throws if there is none.
  func quantization(makesBytes: Bool) throws(Decline) -> QuantizationCode
  /// Code that widens bytes to `int16`; throws if there is none.
  func widening(isSigned: Bool) throws(Decline) -> WideningCode
  /// The order in which the target adds products of bfloat16 fastest, if it is another than ``BFloat16Order/pairs``; throws
  /// if it is that one.
  func bfloat16Order(_ convolution: Convolution, _ pipes: VectorPipes) throws(Decline) -> BFloat16Order
  /// How products of bfloat16 are multiplied, and why a faster way is not taken; throws if there is no code for them, or for
  /// their order.
  func bfloat16(
    _ order: BFloat16Order, _ pipes: VectorPipes
  ) throws(Decline) -> (product: ProductKind, declined: Decline?)
  /// Code that rounds floats to bfloat16, kept as floats or not; throws if there is none.
  func rounding(toFloats isWide: Bool) throws(Decline) -> RoundingCode
  /// Code that flips the highest bit of bytes; throws if there is none.
  func flipping() throws(Decline) -> FlippingCode
}

extension CodeTarget {
  var hasRowTerms: Bool { false }

  func quantization(makesBytes: Bool) throws(Decline) -> QuantizationCode {
    let name = name
    throw Decline("float activations have no code for \(name)")
  }
  func widening(isSigned: Bool) throws(Decline) -> WideningCode {
    throw Decline("the target has no such code")
  }
  func maximumVectors(_ product: ProductKind) -> Int { maximumVectors }
  func bfloat16Order(_ convolution: Convolution, _ pipes: VectorPipes) throws(Decline) -> BFloat16Order {
    throw Decline("the target adds one product after the other")
  }
  func bfloat16(
    _ order: BFloat16Order, _ pipes: VectorPipes
  ) throws(Decline) -> (product: ProductKind, declined: Decline?) {
    let name = name
    throw Decline("there is no code for products of bfloat16 on \(name) yet")
  }
  func rounding(toFloats isWide: Bool) throws(Decline) -> RoundingCode {
    throw Decline("the target has no such code")
  }
  func flipping() throws(Decline) -> FlippingCode { throw Decline("the target has no such code") }

  func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode {
    throw Decline("the target packs each matrix")
  }
}
