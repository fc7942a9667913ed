// SPDX-License-Identifier: Apache-2.0

/// A sum or difference of two quantized tensors. Operands are rescaled to a common, finer scale, and their sum to the result's
/// scale; each step rounds.
@usableFromInline package struct QuantizedSum: Hashable, Sendable {
  /// The first operand's zero point and multiplier.
  package let lhs: QuantizedOperand
  /// The second operand's zero point and multiplier.
  package let rhs: QuantizedOperand
  /// Whether the second operand is subtracted.
  package let isDifference: Bool
  /// Whether the sum is squared before it is rescaled to the result's scale.
  package let isSquared: Bool
  /// The bits by which operands are shifted left before they are multiplied: 20 for bytes, 15 for `int16`, 7 for squares.
  package let leftShift: Int32
  /// The rescaling from the common scale to the result's.
  package let output: QuantizedResult

  /// Describes the operation.
  package init(
    lhs: QuantizedOperand, rhs: QuantizedOperand, isDifference: Bool, isSquared: Bool = false,
    leftShift: Int32, output: QuantizedResult
  ) {
    self.lhs = lhs
    self.rhs = rhs
    self.isDifference = isDifference
    self.isSquared = isSquared
    self.leftShift = leftShift
    self.output = output
  }

  /// The kernel for `uint8`, or for `int8` if `isSigned`.
  package func bytes(isSigned: Bool, _ shapes: BroadcastShapes) -> any BinaryKernel {
    BroadcastBinary(QuantizedByteSum(self, isSigned: isSigned), shapes)
  }

  /// The kernel for `int16`.
  package func words(_ shapes: BroadcastShapes) -> any BinaryKernel {
    BroadcastBinary(WordSum(sum: self), shapes)
  }

  /// The sum of two elements.
  @usableFromInline @inline(__always)
  package func callAsFunction(_ lhs: Int32, _ rhs: Int32) -> Int32 {
    result(scaledLeft(lhs) &+ scaledRight(rhs))
  }

  /// The result of a sum on the common scale.
  @inline(__always)
  fileprivate func result(_ sum: Int32) -> Int32 { output(isSquared ? sum &* sum : sum) }

  /// The first operand on the common scale.
  @inline(__always)
  fileprivate func scaledLeft(_ value: Int32) -> Int32 {
    lhs.multiplier.apply((value &- lhs.zeroPoint) &<< leftShift)
  }

  /// The second operand on the common scale, negated for a difference.
  @inline(__always)
  fileprivate func scaledRight(_ value: Int32) -> Int32 {
    let scaled = rhs.multiplier.apply((value &- rhs.zeroPoint) &<< leftShift)
    return isDifference ? 0 &- scaled : scaled
  }
}

/// How a quantized operand enters a computation.
package struct QuantizedOperand: Hashable, Sendable {
  /// The integer that stands for zero.
  package let zeroPoint: Int32
  /// The multiplier of the operand's distance from the zero point.
  package let multiplier: FixedPointMultiplier

  /// Makes an operand.
  package init(zeroPoint: Int32, multiplier: FixedPointMultiplier) {
    self.zeroPoint = zeroPoint
    self.multiplier = multiplier
  }
}

/// How an integer is rescaled to a quantized result.
package struct QuantizedResult: Hashable, Sendable {
  /// The multiplier, applied with two roundings.
  package let multiplier: FixedPointMultiplier
  /// The zero point, added after the multiplication.
  package let zeroPoint: Int32
  /// The minimum result.
  package let minimum: Int32
  /// The maximum result.
  package let maximum: Int32

  /// Makes a result's description.
  package init(multiplier: FixedPointMultiplier, zeroPoint: Int32, minimum: Int32, maximum: Int32) {
    self.multiplier = multiplier
    self.zeroPoint = zeroPoint
    self.minimum = minimum
    self.maximum = maximum
  }

  /// The result for one integer.
  @inline(__always)
  func callAsFunction(_ value: Int32) -> Int32 {
    let scaled = multiplier.apply(value) &+ zeroPoint
    return min(max(scaled, minimum), maximum)
  }

  /// The rescaling as an epilogue for vectors of bytes.
  var epilogue: Epilogue {
    .fixedPoint([multiplier], zeroPoint: zeroPoint, minimum: minimum, maximum: maximum)
  }
}

/// Sums of bytes. Each operand's 256 values on the common scale are tabulated.
private struct QuantizedByteSum: BinaryFunction {
  private let tables: SumTables
  private let epilogue: QuantizedEpilogue
  private let sum: QuantizedSum

  var loopDescription: String { "portable vectors of 8 lanes, operands from tables" }

  init(_ sum: QuantizedSum, isSigned: Bool) {
    tables = SumTables(sum, isSigned: isSigned)
    guard let epilogue = QuantizedEpilogue(sum.output.epilogue, channels: 1) else {
      preconditionFailure("a fixed-point epilogue is not that of floats")
    }
    self.epilogue = epilogue
    self.sum = sum
  }

  @inline(__always)
  func callAsFunction(_ lhs: UInt8, _ rhs: UInt8) -> UInt8 {
    UInt8(truncatingIfNeeded: unsafe sum.result(tables.left[Int(lhs)] &+ tables.right[Int(rhs)]))
  }

  func fill(
    _ result: UnsafeMutablePointer<UInt8>, count: Int, lhs: UnsafePointer<UInt8>, lhsStep: Int,
    rhs: UnsafePointer<UInt8>, rhsStep: Int
  ) {
    let left = unsafe tables.left
    let right = unsafe tables.right
    var index = 0
    while index &+ 8 <= count {
      var low =
        unsafe Self.four(left, lhs + index &* lhsStep, lhsStep)
        &+ Self.four(right, rhs + index &* rhsStep, rhsStep)
      let next = index &+ 4
      var high =
        unsafe Self.four(left, lhs + next &* lhsStep, lhsStep)
        &+ Self.four(right, rhs + next &* rhsStep, rhsStep)
      if sum.isSquared { (low, high) = (low &* low, high &* high) }
      unsafe storeLanes(epilogue.bytes(low, high, channel: 0), to: result + index, count: 8)
      index &+= 8
    }
    while index < count {
      unsafe result[index] = self(lhs[index &* lhsStep], rhs[index &* rhsStep])
      index &+= 1
    }
  }

  @inline(__always)
  private static func four(_ table: UnsafePointer<Int32>, _ bytes: UnsafePointer<UInt8>, _ step: Int)
    -> SIMD4<Int32>
  {
    unsafe SIMD4(
      table[Int(bytes[0])], table[Int(bytes[step])], table[Int(bytes[2 &* step])],
      table[Int(bytes[3 &* step])])
  }
}

/// Both operands' values on the common scale, tabulated by byte.
@safe private final class SumTables: @unchecked Sendable {
  // @unchecked: written by `init` alone.
  let left: UnsafePointer<Int32>
  let right: UnsafePointer<Int32>
  private let memory: UnsafeMutablePointer<Int32>

  init(_ sum: QuantizedSum, isSigned: Bool) {
    unsafe memory = .allocate(capacity: 512)
    for byte in 0..<256 {
      let value = Int32(byte: byte, isSigned: isSigned)
      unsafe (memory + byte).initialize(to: sum.scaledLeft(value))
      unsafe (memory + 256 + byte).initialize(to: sum.scaledRight(value))
    }
    unsafe left = UnsafePointer(memory)
    unsafe right = UnsafePointer(memory + 256)
  }

  deinit {
    unsafe memory.deallocate()
  }
}

private struct WordSum: BinaryFunction {
  let sum: QuantizedSum

  @inline(__always)
  func callAsFunction(_ lhs: Int16, _ rhs: Int16) -> Int16 {
    Int16(truncatingIfNeeded: sum(Int32(lhs), Int32(rhs)))
  }
}

/// A sum of `int16` values whose scales are powers of two.
package struct ShiftedSum: Hashable, Sendable {
  /// The bits by which the operand with the smaller scale is shifted right, with rounding.
  package let rightShift: Int32
  /// Whether the first operand is shifted, not the second.
  package let shiftsLeftOperand: Bool
  /// Whether the second operand is subtracted.
  package let isDifference: Bool
  /// The minimum result.
  package let minimum: Int16
  /// The maximum result.
  package let maximum: Int16

  /// Describes the operation.
  package init(rightShift: Int32, shiftsLeftOperand: Bool, isDifference: Bool, minimum: Int16, maximum: Int16)
  {
    self.rightShift = rightShift
    self.shiftsLeftOperand = shiftsLeftOperand
    self.isDifference = isDifference
    self.minimum = minimum
    self.maximum = maximum
  }

  /// The kernel for `int16`.
  package func words(_ shapes: BroadcastShapes) -> any BinaryKernel {
    BroadcastBinary(ShiftedWordSum(sum: self), shapes)
  }
}

private struct ShiftedWordSum: BinaryFunction {
  let sum: ShiftedSum

  @inline(__always)
  func callAsFunction(_ lhs: Int16, _ rhs: Int16) -> Int16 {
    let left = roundingDivideByPowerOfTwo(Int32(lhs), sum.shiftsLeftOperand ? sum.rightShift : 0)
    let right = roundingDivideByPowerOfTwo(Int32(rhs), sum.shiftsLeftOperand ? 0 : sum.rightShift)
    let result = Int16(clamping: sum.isDifference ? left &- right : left &+ right)
    return min(max(result, sum.minimum), sum.maximum)
  }
}
