/// A machine that products are generated for, as far as plans, packing and runs have to know it.
///
/// A panel of columns is made of vectors of 32-bit lanes. One step of a product multiplies four bytes of a row, or one
/// float, with as many of each column.
package protocol GeneratedTarget: Sendable {
  /// What tells this target's packed weights from another's.
  var name: String { get }

  /// 32-bit lanes of a vector.
  var lanes: Int { get }

  /// The most vectors that a panel has.
  var mostVectors: Int { get }

  /// Vectors of a block of channels in depthwise convolutions.
  var depthwiseVectors: Int { get }

  /// The weights that products of bytes take; others are split.
  var weightBounds: ClosedRange<Int32> { get }

  /// What products of bytes take off unsigned activations, all the same.
  var activationOffset: Int32 { get }

  /// Whether outputs can be finished only where sums are known to stay below 2³⁰.
  var needsBoundedSums: Bool { get }

  /// The most rows of a block that registers and addressing allow.
  func mostRows(_ product: GeneratedProduct, vectorCount: Int) -> Int

  /// The output column, within the panel, that a lane of a vector stands for.
  func column(isBytes: Bool, vectorCount: Int, vector: Int, lane: Int) -> Int

  /// Whether generated code can make outputs by this rule.
  func canFinish(_ epilogue: Epilogue) -> Bool

  /// The size of a panel's factors.
  var factorByteCount: Int { get }

  /// Writes a panel's factors; `channel` names the output channel of each of its columns.
  func fillFactors(
    _ block: UnsafeMutableRawPointer, _ operands: MatrixOperands, _ epilogue: Epilogue, vectorCount: Int,
    channel: (Int) -> Int?)

  /// What writes the code of a product, for the first columns of the vectors; without an epilogue, it leaves sums.
  func generator(
    _ product: GeneratedProduct, _ operands: MatrixOperands, _ epilogue: Epilogue?, rowCount: Int,
    vectorCount: Int, columnCount: Int
  ) -> any CodeGenerator

  /// What writes the code of a depthwise convolution, for the first channels of a block; without an epilogue, it leaves
  /// sums.
  func depthwiseGenerator(
    _ product: GeneratedProduct, _ operands: MatrixOperands, _ epilogue: Epilogue?, pixelCount: Int,
    channelCount: Int
  ) -> any CodeGenerator
}

/// What writes the code of one function; equal generators write the same.
package protocol CodeGenerator: Hashable, Sendable {
  /// The code of `void f(const Arguments *)`; nil only if the generator is wrong.
  func generate() -> [UInt8]?
}

/// Makes a generator's code executable, and answers its address; nil where that is refused.
package typealias CodePlacement = @Sendable (any CodeGenerator) -> UnsafeRawPointer?

/// What one step of a generated product computes.
package enum GeneratedProduct: String, Hashable, Sendable {
  /// Unsigned bytes of rows with signed bytes of columns.
  case unsignedBytes
  /// Signed bytes of both.
  case signedBytes
  /// Pairs of `int16`.
  case words
  /// Floats.
  case floats

  /// Taps that one step of a depthwise convolution takes.
  package var tapsPerGroup: Int {
    switch self {
    case .unsignedBytes, .signedBytes: 4
    case .words: 2
    case .floats: 1
    }
  }

  /// The product for operands and an epilogue, where there is one; `bytes` says how bytes are multiplied.
  init?(_ operands: MatrixOperands, _ epilogue: Epilogue, bytes: GeneratedProduct) {
    switch (operands, epilogue) {
    case (.float32, .float32): self = .floats
    case (.uint8, .fixedPoint), (.uint8, .float64): self = bytes
    case (.int8, .fixedPoint), (.int8, .float64): self = bytes == .unsignedBytes ? .signedBytes : bytes
    default: return nil
    }
  }
}

/// The arguments of a generated function: addresses and counts, all of 64 bits.
package struct GeneratedArguments: BitwiseCopyable {
  /// The first row's first byte.
  package var rows: Int
  /// Bytes between rows.
  package var rowStride: Int
  /// Pairs of a byte offset and a count of steps, one for each tap.
  package var taps: Int
  package var tapCount: Int
  /// The panel's weights.
  package var weights: Int
  /// What is added to the panel's sums: biases with the zero points' share, in the panel's order.
  package var offsets: Int
  /// The panel's factors, as the target laid them out.
  package var factors: Int
  /// The first output's first byte.
  package var output: Int
  /// Bytes between rows of the output.
  package var outputStride: Int
  /// How many blocks of rows, one after the other.
  package var blocks: Int

  static func offset(_ field: PartialKeyPath<GeneratedArguments>) -> Int {
    MemoryLayout<GeneratedArguments>.offset(of: field) ?? 0
  }
}

extension MatrixOperands {
  /// The size of an element of the operands that generated products take.
  var generatedByteCount: Int { self == .float32 ? 4 : 1 }
}
