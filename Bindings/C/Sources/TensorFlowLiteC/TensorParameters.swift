// SPDX-License-Identifier: Apache-2.0

import Apus

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The structures that a `TfLiteTensor` points to and that never change: its quantization, its sparsity, the open dimensions of
/// its shape.
///
/// It remembers each piece of memory itself, so that what clients write into the structures does not matter.
struct TensorParameters {
  /// A `TfLiteAffineQuantization`: two arrays and an axis.
  private(set) var quantization: UnsafeMutableRawPointer?
  /// A `TfLiteSparsity`: two arrays, dimensions and their count.
  private(set) var sparsity: UnsafeMutableRawPointer?
  /// The shape with −1 for open dimensions.
  private(set) var signature: UnsafeMutableRawPointer?

  private var pieces: [UnsafeMutableRawPointer] = []

  init(_ tensor: TensorDescription) throws(Refusal) {
    do throws(Refusal) {
      if let parameters = tensor.quantization { quantization = try structure(parameters) }
      if let sparsity = tensor.sparsity { self.sparsity = try structure(sparsity) }
      if tensor.shapeSignature.contains(where: { $0 < 0 }) { signature = try integers(tensor.shapeSignature) }
    } catch {
      release()
      throw error
    }
  }

  /// Gives back the memory.
  func release() { for piece in pieces { free(piece) } }

  private mutating func structure(_ parameters: QuantizationParameters) throws(Refusal)
    -> UnsafeMutableRawPointer
  {
    let memory = try zeros(24)
    memory.storeBytes(of: try kept(CArrays.make(parameters.scales)), as: UnsafeMutableRawPointer.self)
    memory.storeBytes(
      of: try kept(CArrays.make(parameters.zeroPoints.map { Int32(truncatingIfNeeded: $0) })),
      toByteOffset: 8,
      as: UnsafeMutableRawPointer.self)
    memory.storeBytes(of: Int32(clamping: parameters.quantizedDimension), toByteOffset: 16, as: Int32.self)
    return memory
  }

  private mutating func structure(_ sparsity: Sparsity) throws(Refusal) -> UnsafeMutableRawPointer {
    let count = sparsity.dimensions.count
    let size = 24
    let dimensions = try zeros(count * size)
    for (position, dimension) in sparsity.dimensions.enumerated() {
      let memory = dimensions + position * size
      switch dimension {
      case .dense(let size):
        memory.storeBytes(of: Int32(clamping: size), toByteOffset: 4, as: Int32.self)
      case .sparse(let segments, let indices):
        memory.storeBytes(of: 1, as: Int32.self)
        memory.storeBytes(of: try integers(segments), toByteOffset: 8, as: UnsafeMutableRawPointer.self)
        memory.storeBytes(of: try integers(indices), toByteOffset: 16, as: UnsafeMutableRawPointer.self)
      }
    }
    let memory = try zeros(32)
    memory.storeBytes(of: try integers(sparsity.traversalOrder), as: UnsafeMutableRawPointer.self)
    if !sparsity.blockMap.isEmpty {
      memory.storeBytes(
        of: try integers(sparsity.blockMap), toByteOffset: 8, as: UnsafeMutableRawPointer.self)
    }
    memory.storeBytes(of: dimensions, toByteOffset: 16, as: UnsafeMutableRawPointer.self)
    memory.storeBytes(of: Int32(clamping: count), toByteOffset: 24, as: Int32.self)
    return memory
  }

  /// A `TfLiteIntArray`.
  private mutating func integers(_ values: [Int]) throws(Refusal) -> UnsafeMutableRawPointer {
    try kept(CArrays.make(values.map { Int32(clamping: $0) }))
  }

  private mutating func zeros(_ byteCount: Int) throws(Refusal) -> UnsafeMutableRawPointer {
    try kept(calloc(max(byteCount, 1), 1))
  }

  private mutating func kept(_ piece: UnsafeMutableRawPointer?) throws(Refusal) -> UnsafeMutableRawPointer {
    guard let piece else { throw Refusal("the system refuses memory for a tensor's parameters") }
    pieces.append(piece)
    return piece
  }
}
