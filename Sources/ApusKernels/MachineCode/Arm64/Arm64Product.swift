/// What writes the code of one function; equal generators write the same.
package protocol CodeGenerator: Hashable, Sendable {
  /// The code of `void f(const Arguments *)`; nil only if the generator is wrong.
  func generate() -> [UInt8]?
}

/// Makes a generator's code executable, and answers its address; nil where that is refused.
package typealias CodePlacement = @Sendable (any CodeGenerator) -> UnsafeRawPointer?

/// What one step of a generated product computes.
package enum Arm64Product: String, Hashable, Sendable {
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
  init?(_ operands: MatrixOperands, _ epilogue: Epilogue, bytes: Arm64Product) {
    switch (operands, epilogue) {
    case (.float32, .float32): self = .floats
    case (.uint8, .fixedPoint), (.uint8, .float64): self = bytes
    case (.int8, .fixedPoint), (.int8, .float64): self = bytes == .unsignedBytes ? .signedBytes : bytes
    default: return nil
    }
  }
}

/// The arguments of a generated function: addresses and counts, all of 64 bits.
package struct Arm64Arguments: BitwiseCopyable {
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
  /// The panel's factors, as `Arm64FactorLayout` laid them out.
  package var factors: Int
  /// The first output's first byte.
  package var output: Int
  /// Bytes between rows of the output.
  package var outputStride: Int
  /// How many blocks of rows, one after the other.
  package var blocks: Int

  static func offset(_ field: PartialKeyPath<Arm64Arguments>) -> Int {
    MemoryLayout<Arm64Arguments>.offset(of: field) ?? 0
  }
}
