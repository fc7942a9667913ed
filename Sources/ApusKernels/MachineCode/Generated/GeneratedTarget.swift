// SPDX-License-Identifier: Apache-2.0

/// A machine that code is generated for: what plans, packing and runs must know of it, and its generators.
///
/// It is asked while a convolution is prepared, never while one runs.
protocol GeneratedTarget: Sendable {
  /// What tells its layouts of weights from those of others.
  var name: String { get }

  // MARK: Panels

  /// 32-bit lanes of a vector.
  var lanes: Int { get }
  /// The most vectors of a panel's columns.
  var mostVectors: Int { get }
  /// The vectors of a block of channels of a depthwise convolution.
  var depthwiseVectors: Int { get }
  /// The most rows of a block that registers and addressing allow.
  func mostRows(_ product: GeneratedProduct, vectorCount: Int) -> Int
  /// The most rows of a block of ``GeneratedInner``, zero where there is no such code.
  func mostInnerRows(columnCount: Int) -> Int
  /// The column, within a panel of bytes, that each lane stands for, vector by vector.
  func byteColumns(vectorCount: Int) -> LaneOrder
  /// The most rows of a block whose products go on while the block before is finished, by the vectors of a panel less one;
  /// empty where there is no such code.
  func mostOverlappingRows(
    _ product: GeneratedProduct, _ steps: GeneratedSteps, _ operands: MatrixOperands, _ epilogue: Epilogue
  ) -> [Int]
  /// Whether code can fetch weights ahead of their use.
  var fetchesAhead: Bool { get }
  /// Whether blocks of a few rows have functions of their own: with narrow weights, several sets of sums, or panels that
  /// follow each other.
  var hasFunctionsForFewRows: Bool { get }

  // MARK: Time

  /// About how many products of terms one processor does in a nanosecond.
  func rate(_ product: GeneratedProduct) -> Double

  // MARK: Numbers

  /// The weights that a step of bytes can multiply.
  var weightBounds: ClosedRange<Int32> { get }
  /// What bytes of activations, as unsigned ones, lose before they are multiplied.
  var activationOffset: Int32 { get }
  /// The product for activations that are gathered: of bytes that suit, where others' signs are turned meanwhile.
  func gathered(_ product: GeneratedProduct) -> GeneratedProduct
  /// The greatest magnitude of sums that the code for such an epilogue takes; nil where any will do. Where there is a limit,
  /// the target has code for ``Epilogue/fixedPointOfAnySum(_:zeroPoint:minimum:maximum:)`` as well.
  func sumLimit(_ epilogue: Epilogue) -> Int?
  /// The least shift of a factor that the fastest code takes; nil where any will do.
  var leastShift: Int32? { get }
  /// An epilogue that makes the same outputs in less time, of so many for each channel, each of `depth` products; nil where
  /// the target knows no faster kind. Throws where there is none of these factors, or to find it would take too long.
  func simplified(
    _ epilogue: Epilogue, faint: FaintChannels?, outputsPerChannel: Int, depth: Int
  ) throws(Decline) -> Epilogue?
  /// Throws unless the generated code can make outputs with such an epilogue, apart from ``sumLimit(_:)``.
  func requireFinish(_ epilogue: Epilogue) throws(Decline)
  /// How the generated code makes outputs, for people to read.
  func form(_ operands: MatrixOperands, _ epilogue: Epilogue) -> String

  // MARK: Rows of depthwise convolutions

  /// The most columns of a block, of which a row of taps is taken at a time, or up to four rows of bytes; zero where there
  /// is no such code.
  func mostRowColumns(
    _ product: GeneratedProduct, columnStep: Int, tapStep: Int, tapRows: Int, tapColumns: Int
  ) -> Int
  /// Whether rows of so many channels of floats, which are no whole vectors, are read where they lie.
  func readsRows(channels: Int) -> Bool
  /// Whether such blocks of bytes can be read where they lie.
  var readsBytesInPlace: Bool { get }
  /// What writes such a block.
  func rowGenerator(
    _ product: GeneratedProduct, _ operands: MatrixOperands, _ epilogue: Epilogue?, _ shape: GeneratedRowShape
  ) -> (any CodeGenerator)?

  // MARK: Pipes

  /// Whether the pipes of products are all that there are on this machine, so that whatever is done beside products
  /// takes time from them.
  var sharesPipes: Bool { get }

  // MARK: Words

  /// Whether floats can be multiplied that are quantized when they come.
  var runsHybrid: Bool { get }
  /// The target whose depthwise convolutions serve these operands.
  func depthwiseTarget(_ operands: MatrixOperands) -> Self
  /// What quantizes floats to bytes or words; nil where plain Swift does.
  func quantization(makesBytes: Bool) -> QuantizationCode?
  /// What makes words of bytes; nil where plain Swift does.
  func widening(isSigned: Bool) -> WideningCode?
  /// What turns the highest bits of bytes; nil where plain Swift does, if it is to be done.
  var flipping: FlippingCode? { get }

  // MARK: Winograd

  /// What Winograd's way takes where the direct one multiplies so; nil where there is none, or it never pays.
  func winogradCost(_ product: GeneratedProduct) -> WinogradCost?
  /// What writes a step of it.
  func winogradGenerator(_ step: WinogradStep) -> (any CodeGenerator)?

  // MARK: Code

  /// The size of a panel's factors.
  var factorByteCount: Int { get }
  /// Writes the factors of panels; `lanes` says for each which channels it has.
  func fillFactors(
    _ blocks: UnsafeMutableRawPointer, _ operands: MatrixOperands, _ epilogue: Epilogue, blockCount: Int,
    lanes: (_ block: Int) -> GeneratedLanes)
  /// What writes the product of a block of rows and a panel; without an epilogue, its sums as they are.
  func generator(
    _ product: GeneratedProduct, _ operands: MatrixOperands, _ epilogue: Epilogue?, _ shape: GeneratedShape
  ) -> any CodeGenerator
  /// What writes the products of pixels and a block of channels, as rows and columns.
  func depthwiseGenerator(
    _ product: GeneratedProduct, _ operands: MatrixOperands, _ epilogue: Epilogue?, _ shape: GeneratedShape
  ) -> any CodeGenerator
}

extension GeneratedTarget {
  var fetchesAhead: Bool { false }
  func mostInnerRows(columnCount: Int) -> Int { 0 }
  func gathered(_ product: GeneratedProduct) -> GeneratedProduct { product }
  var sharesPipes: Bool { false }
  var readsBytesInPlace: Bool { false }
  func simplified(
    _ epilogue: Epilogue, faint: FaintChannels?, outputsPerChannel: Int, depth: Int
  ) throws(Decline) -> Epilogue? { nil }
  func form(_ operands: MatrixOperands, _ epilogue: Epilogue) -> String { epilogue.name }
  var flipping: FlippingCode? { nil }
  func rate(_ product: GeneratedProduct) -> Double { 32 }
  func mostOverlappingRows(
    _ product: GeneratedProduct, _ steps: GeneratedSteps, _ operands: MatrixOperands, _ epilogue: Epilogue
  ) -> [Int] { [] }
  func mostRowColumns(
    _ product: GeneratedProduct, columnStep: Int, tapStep: Int, tapRows: Int, tapColumns: Int
  ) -> Int { 0 }
  func readsRows(channels: Int) -> Bool { false }
  func rowGenerator(
    _ product: GeneratedProduct, _ operands: MatrixOperands, _ epilogue: Epilogue?, _ shape: GeneratedRowShape
  ) -> (any CodeGenerator)? { nil }
  func winogradCost(_ product: GeneratedProduct) -> WinogradCost? { nil }
  func winogradGenerator(_ step: WinogradStep) -> (any CodeGenerator)? { nil }
}

/// The shape of a generated function of depthwise rows: a few columns of a line and a block of channels.
struct GeneratedRowShape: Hashable {
  /// Columns of output of a block.
  var columnCount: Int
  /// Columns of the last block of a line, if that has fewer: bytes are done by whole lines.
  var restCount = 0
  /// The channels of a block that are written.
  let channelCount: Int
  /// Pixels of the input between neighboring columns of the output, and between neighboring taps.
  let columnStep: Int
  let tapStep: Int
  let tapRows: Int
  let tapColumns: Int
  /// Whether bytes are read where they lie, of channels that exist alone.
  var readsInPlace = false
  /// Of bytes, the rows of the filter whose taps are groups by columns, of four rows or three. Taps of the rest follow each
  /// other in groups of four. Of words, all rows, in twos.
  static func rowsInColumns(_ tapRows: Int, perGroup: Int) -> Int {
    perGroup == 2 || tapRows % 4 == 3 ? tapRows : tapRows / 4 * 4
  }

  /// Where the input is read in place: all vectors of channels, of which each has weights of its own, for one block of
  /// columns after the other; perhaps, of floats, of fewer rows of taps.
  var place: Place?

  struct Place: Hashable {
    /// Pixels of a block that lie in the padding, before the first and after the last of the input.
    let missingFirst: Int
    let missingLast: Int
    /// Channels after all whole vectors, of floats.
    var tailCount = 0
  }
}

/// The steps of a product whose number is part of its code, apart from extra ones.
struct GeneratedSteps: Hashable {
  let taps: Int
  let perTap: Int
}

/// The shape of a generated function: a block of rows and a panel.
struct GeneratedShape: Hashable {
  let rowCount: Int
  let vectorCount: Int
  /// The columns that are written: the first ones of the vectors' lanes.
  var columnCount: Int
  /// Whether each row is an image with a scale of its own.
  var isPerRow = false
  /// Whether weights that are multiplied as `int16` lie as bytes.
  var hasNarrowWeights = false
  /// Sums are kept this many times, for every second step or fourth, and added at the end: a sum need not wait for the
  /// product before it where rows are few.
  var sumSets = 1
  /// Whether blocks are panels side by side, full ones, of the same rows.
  var movesAlongPanels = false

  /// Lines of the next panel's weights that four steps fetch ahead.
  var fetches = 0
  /// Where there are so few steps that blocks are summed while those before them are finished: these.
  var overlapping: GeneratedSteps?
  /// For few columns of floats.
  var inner: GeneratedInner?
  /// For floats of which steps are two terms.
  var pairs: GeneratedPairs?

  /// The same block where what finishes it takes its own time.
  var alone: GeneratedShape {
    var shape = self
    shape.overlapping = nil
    return shape
  }
}

/// The output channels of a panel's, or a block's, lanes.
struct GeneratedLanes {
  /// The column that each lane stands for.
  let columns: LaneOrder
  /// How many columns there are; the rest is padding.
  let columnCount: Int
  /// The channel of the first column.
  let firstChannel: Int
  /// The channel after which the first follows.
  let channelCount: Int

  /// A lane's channel, where it has one.
  @inline(__always)
  func channel(_ lane: Int) -> Int? {
    let column = columns[lane]
    guard column < columnCount else { return nil }
    let channel = firstChannel &+ column
    return channel < channelCount ? channel : channel % channelCount
  }
}
