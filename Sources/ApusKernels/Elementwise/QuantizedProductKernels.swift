// SPDX-License-Identifier: Apache-2.0

/// A product of two quantized tensors.
@usableFromInline package struct QuantizedProduct: Hashable, Sendable {
  /// The first operand's zero point.
  package let lhsZeroPoint: Int32
  /// The second operand's zero point.
  package let rhsZeroPoint: Int32
  /// The rescaling from the product of both operands' scales to the result's scale.
  package let output: QuantizedResult

  /// Describes the operation.
  package init(lhsZeroPoint: Int32, rhsZeroPoint: Int32, output: QuantizedResult) {
    self.lhsZeroPoint = lhsZeroPoint
    self.rhsZeroPoint = rhsZeroPoint
    self.output = output
  }

  /// The product of two elements.
  @usableFromInline @inline(__always)
  package func callAsFunction(_ lhs: Int32, _ rhs: Int32) -> Int32 {
    output((lhs &- lhsZeroPoint) &* (rhs &- rhsZeroPoint))
  }

  /// The kernel for `uint8`, or for `int8` if `isSigned`.
  package func bytes(isSigned: Bool, _ shapes: BroadcastShapes) -> any BinaryKernel {
    BroadcastBinary(ByteProduct(self, isSigned: isSigned), shapes)
  }

  /// The kernel for `int16`.
  package func words(_ shapes: BroadcastShapes) -> any BinaryKernel {
    BroadcastBinary(WordProduct(product: self), shapes)
  }
}

/// Products of bytes, in eight lanes. Flipping the sign bit of a signed byte makes it an unsigned one, greater by 128.
private struct ByteProduct: BinaryFunction {
  private let signFlip: UInt8
  private let lhsZeroPoint: Int16
  private let rhsZeroPoint: Int16
  private let epilogue: QuantizedEpilogue
  private let output: QuantizedResult

  var loopDescription: String { "portable vectors of 8 lanes" }

  init(_ product: QuantizedProduct, isSigned: Bool) {
    signFlip = isSigned ? 0x80 : 0
    // Zero points of unsigned bytes: with 128 added for signed bytes, they are at most 255.
    lhsZeroPoint = Int16(truncatingIfNeeded: product.lhsZeroPoint &+ (isSigned ? 128 : 0))
    rhsZeroPoint = Int16(truncatingIfNeeded: product.rhsZeroPoint &+ (isSigned ? 128 : 0))
    guard let epilogue = QuantizedEpilogue(product.output.epilogue, channels: 1) else {
      preconditionFailure("a fixed-point epilogue is not that of floats")
    }
    self.epilogue = epilogue
    output = product.output
  }

  @inline(__always)
  func callAsFunction(_ lhs: UInt8, _ rhs: UInt8) -> UInt8 {
    let left = Int32(lhs ^ signFlip) &- Int32(lhsZeroPoint)
    let right = Int32(rhs ^ signFlip) &- Int32(rhsZeroPoint)
    return UInt8(truncatingIfNeeded: output(left &* right))
  }

  func fill(
    _ result: UnsafeMutablePointer<UInt8>, count: Int, lhs: UnsafePointer<UInt8>, lhsStep: Int,
    rhs: UnsafePointer<UInt8>, rhsStep: Int
  ) {
    var index = 0
    while index &+ 8 <= count {
      let left = unsafe eight(lhs + index &* lhsStep, lhsStep) &- SIMD8(repeating: lhsZeroPoint)
      let right = unsafe eight(rhs + index &* rhsStep, rhsStep) &- SIMD8(repeating: rhsZeroPoint)
      let products = SIMD8<Int32>(widening: left) &* SIMD8<Int32>(widening: right)
      unsafe storeLanes(
        epilogue.bytes(products.lowHalf, products.highHalf, channel: 0), to: result + index, count: 8)
      index &+= 8
    }
    while index < count {
      unsafe result[index] = self(lhs[index &* lhsStep], rhs[index &* rhsStep])
      index &+= 1
    }
  }

  @inline(__always)
  private func eight(_ bytes: UnsafePointer<UInt8>, _ step: Int) -> SIMD8<Int16> {
    if step == 0 { return SIMD8(repeating: unsafe Int16(bytes[0] ^ signFlip)) }
    let lanes = unsafe UnsafeRawPointer(bytes).loadUnaligned(as: SIMD8<UInt8>.self)
    return SIMD8<Int16>(widening: lanes ^ SIMD8(repeating: signFlip))
  }
}

private struct WordProduct: BinaryFunction {
  let product: QuantizedProduct

  @inline(__always)
  func callAsFunction(_ lhs: Int16, _ rhs: Int16) -> Int16 {
    Int16(truncatingIfNeeded: product(Int32(lhs), Int32(rhs)))
  }
}
