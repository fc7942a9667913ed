// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Each row divided by the root of its sum of squares.
package enum L2Normalization {
  /// The kernel for floats; the minimum norm is 10⁻⁶.
  package static func floats(rows: Int, depth: Int) -> any UnaryKernel {
    UnaryMap(FloatL2Normalization(), rows: rows, depth: depth)
  }

  /// The kernel for `uint8`; results are in units of 1/128 from 128.
  package static func unsignedBytes(zeroPoint: Int32, rows: Int, depth: Int) -> any UnaryKernel {
    UnaryMap(ByteL2Normalization<UInt8>(zeroPoint: zeroPoint), rows: rows, depth: depth)
  }

  /// The kernel for `int8`; results are in units of 1/128.
  package static func signedBytes(zeroPoint: Int32, rows: Int, depth: Int) -> any UnaryKernel {
    UnaryMap(ByteL2Normalization<Int8>(zeroPoint: zeroPoint), rows: rows, depth: depth)
  }
}

private struct FloatL2Normalization: RowFunction {
  static var hasLongRows: Bool { true }

  func fill(_ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>) {
    let norm = norm(unsafe squares(input, 0..<count, after: 0))
    for index in 0..<count { unsafe output[index] = input[index] / norm }
  }

  func fillLong(
    _ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>, poll: inout StopPoll
  ) {
    var sum: Float = 0
    forEachPiece(of: count, &poll) { sum = unsafe squares(input, $0, after: sum) }
    let norm = norm(sum)
    forEachPiece(of: count, &poll) { for index in $0 { unsafe output[index] = input[index] / norm } }
  }

  @inline(__always)
  private func squares(_ input: UnsafePointer<Float>, _ range: Range<Int>, after before: Float) -> Float {
    var sum = before
    for index in range {
      let value = unsafe input[index]
      sum += value * value
    }
    return sum
  }

  private func norm(_ squares: Float) -> Float {
    let root = squares.squareRoot()
    return root < 1e-6 ? 1e-6 : root
  }
}

private struct ByteL2Normalization<Byte: FixedWidthInteger & BitwiseCopyable & Sendable>: RowFunction {
  let zeroPoint: Int32
  static var hasLongRows: Bool { true }

  @inline(__always)
  func fill(_ output: UnsafeMutablePointer<Byte>, count: Int, input: UnsafePointer<Byte>) {
    let sum = unsafe squares(input, 0..<count, zeroPoint)
    unsafe divide(output, input, 0..<count, FixedPointFunctions.inverseSquareRoot(sum))
  }

  func fillLong(
    _ output: UnsafeMutablePointer<Byte>, count: Int, input: UnsafePointer<Byte>, poll: inout StopPoll
  ) {
    var sum: Int32 = 0
    forEachPiece(of: count, &poll) { sum &+= unsafe squares(input, $0, zeroPoint) }
    let inverse = FixedPointFunctions.inverseSquareRoot(sum)
    forEachPiece(of: count, &poll) { unsafe divide(output, input, $0, inverse) }
  }

  /// Writes quotients. As in the reference, unsigned differences are multiplied by 128 before the product is rounded.
  @inline(__always)
  private func divide(
    _ output: UnsafeMutablePointer<Byte>, _ input: UnsafePointer<Byte>, _ range: Range<Int>,
    _ norm: (value: Int32, shift: Int32)
  ) {
    for index in range {
      let difference = unsafe Int32(truncatingIfNeeded: input[index]) &- zeroPoint
      let result =
        Byte.isSigned
        ? FixedPointFunctions.multiply(difference, norm.value, shift: norm.shift &+ 7)
        : FixedPointFunctions.multiply(128 &* difference, norm.value, shift: norm.shift) &+ 128
      unsafe output[index] = Byte(clamping: result)
    }
  }
}

/// The sum of squared differences from the zero point.
@inline(__always)
private func squares<T: FixedWidthInteger>(
  _ input: UnsafePointer<T>, _ range: Range<Int>, _ zeroPoint: Int32
) -> Int32 {
  var sum: Int32 = 0
  for index in range {
    let difference = unsafe Int32(truncatingIfNeeded: input[index]) &- zeroPoint
    sum &+= difference &* difference
  }
  return sum
}
