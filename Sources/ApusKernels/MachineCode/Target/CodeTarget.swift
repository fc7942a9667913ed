// SPDX-License-Identifier: Apache-2.0

/// A machine that code is generated for: what plans, packing and runs must know of it, and its generators.
///
/// It is asked while a convolution is prepared, never while one runs. What not every target can do is an optional value: nil where
/// there is no such code.
protocol CodeTarget: Sendable {
  /// What tells its layouts of weights from those of others.
  var name: String { get }

  // MARK: Panels

  /// 32-bit lanes of a vector.
  var lanes: Int { get }
  /// The most vectors of a panel's columns.
  var mostVectors: Int { get }
  /// The vectors of a block of channels of a depthwise convolution.
  func depthwiseVectors(_ product: ProductKind) -> Int
  /// The most rows of a block that registers and addressing allow.
  func mostRows(_ product: ProductKind, vectorCount: Int) -> Int
  /// The column, within a panel of bytes, that each lane stands for, vector by vector.
  func byteColumns(vectorCount: Int) -> LaneOrder
  /// Whether code can fetch weights ahead of their use.
  var fetchesAhead: Bool { get }
  /// Whether blocks of a few rows have functions of their own: with narrow weights, several sets of sums, or panels that
  /// follow each other.
  var hasFunctionsForFewRows: Bool { get }

  // MARK: Time

  /// About how many products of terms one processor does in a nanosecond.
  func rate(_ product: ProductKind) -> Double
  /// What the pipes of this machine are like.
  var pipes: VectorPipes { get }

  // MARK: Numbers

  /// The weights that a step of bytes can multiply.
  var weightBounds: ClosedRange<Int32> { get }
  /// What bytes of activations, as unsigned ones, lose before they are multiplied.
  var activationOffset: Int32 { get }
  /// The product for activations that are gathered: of bytes that suit, where others' signs are turned meanwhile.
  func gathered(_ product: ProductKind) -> ProductKind

  // MARK: Matrices as they lie

  /// Code for products of few rows of floats with a matrix that is not packed; throws where there is none for them.
  func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode

  // MARK: Epilogues

  /// The greatest magnitude of sums that the code for such an epilogue takes; nil where any will do. Where there is a limit,
  /// the target has code for ``LoweredEpilogue/anySum(_:zeroPoint:minimum:maximum:)`` as well.
  func sumLimit(_ epilogue: LoweredEpilogue) -> Int?
  /// The least shift of a factor that the fastest code takes; nil where any will do.
  var leastShift: Int32? { get }
  /// An epilogue that makes the same outputs in less time, of so many for each channel, each of `depth` products; nil where
  /// the target knows no faster kind. Throws where there is none of these factors, or to find it would take too long.
  func simplified(
    _ epilogue: Epilogue, faint: FaintChannels?, outputsPerChannel: Int, depth: Int
  ) throws(Decline) -> LoweredEpilogue?
  /// Throws unless the generated code can make outputs with such an epilogue, apart from ``sumLimit(_:)``.
  func requireCode(for epilogue: LoweredEpilogue) throws(Decline)
  /// How the generated code makes outputs, for people to read.
  func form(_ operands: MatrixOperands, _ epilogue: LoweredEpilogue) -> String
  /// The size of a panel's factors.
  var factorByteCount: Int { get }
  /// Writes the factors of panels; `lanes` says for each which channels it has.
  func fillFactors(
    _ blocks: UnsafeMutableRawPointer, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue,
    blockCount: Int, lanes: (_ block: Int) -> ChannelLanes)

  // MARK: Code

  /// What writes the product of a block of rows and a panel; without an epilogue, its sums as they are.
  func generator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue?, _ shape: BlockShape
  ) -> any CodeGenerator
  /// What writes the products of pixels and a block of channels, as rows and columns.
  func depthwiseGenerator(
    _ product: ProductKind, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue?, _ shape: BlockShape
  ) -> any CodeGenerator

  // MARK: What some targets can do

  /// The most rows of a block of ``InnerProduct`` with so many columns; nil where there is no such code.
  func mostInnerRows(columnCount: Int) -> Int?
  /// The most rows of a block of ``OverlappingBlocks``, by the vectors of a panel less one; nil where there is no such code.
  func mostOverlappingRows(
    _ product: ProductKind, _ steps: ProductSteps, _ operands: MatrixOperands, _ epilogue: LoweredEpilogue
  ) -> [Int]?
  /// Blocks of columns of depthwise convolutions.
  var depthwiseRows: (any DepthwiseRowCode)? { get }
  /// Winograd's way.
  var winograd: (any WinogradCode)? { get }
  /// Floats that are quantized when they come.
  var hybrid: (any HybridCode)? { get }
  /// Whether sums of bytes may begin with a number for each row: see ``RowTerms``.
  var hasRowTerms: Bool { get }
  /// What makes words of bytes.
  func widening(isSigned: Bool) -> WideningCode?
  /// What turns the highest bits of bytes.
  var flipping: FlippingCode? { get }
}

extension CodeTarget {
  var hasRowTerms: Bool { false }

  func thinProduct(rows: Int, depth: Int, columns: Int) throws(Decline) -> ThinProductCode {
    throw Decline("the target packs each matrix")
  }
}
