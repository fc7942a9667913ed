// SPDX-License-Identifier: Apache-2.0

/// Each row divided by the root of its sum of squares.
package enum L2Normalization {
  /// The kernel for floats; the minimum norm is 10⁻⁶.
  package static func floats(rows: Int, depth: Int) -> any UnaryKernel {
    UnaryMap(FloatL2Normalization(), rows: rows, depth: depth)
  }

  /// The kernel for `uint8`; results are in units of 1/128 from 128.
  package static func unsignedBytes(zeroPoint: Int32, rows: Int, depth: Int) -> any UnaryKernel {
    UnaryMap(UnsignedL2Normalization(zeroPoint: zeroPoint), rows: rows, depth: depth)
  }

  /// The kernel for `int8`; results are in units of 1/128.
  package static func signedBytes(zeroPoint: Int32, rows: Int, depth: Int) -> any UnaryKernel {
    UnaryMap(SignedL2Normalization(zeroPoint: zeroPoint), rows: rows, depth: depth)
  }
}

private struct FloatL2Normalization: RowFunction {
  func fill(_ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<Float>) {
    var sum: Float = 0
    for index in 0..<count {
      let value = unsafe input[index]
      sum += value * value
    }
    let root = sum.squareRoot()
    let norm = root < 1e-6 ? 1e-6 : root
    for index in 0..<count { unsafe output[index] = input[index] / norm }
  }
}

private struct UnsignedL2Normalization: RowFunction {
  let zeroPoint: Int32

  func fill(_ output: UnsafeMutablePointer<UInt8>, count: Int, input: UnsafePointer<UInt8>) {
    let (value, shift) = unsafe inverseNorm(input, count: count, zeroPoint: zeroPoint)
    for index in 0..<count {
      let difference = unsafe Int32(input[index]) &- zeroPoint
      let result = FixedPointFunctions.multiply(128 &* difference, value, shift: shift)
      unsafe output[index] = UInt8(clamping: result &+ 128)
    }
  }
}

private struct SignedL2Normalization: RowFunction {
  let zeroPoint: Int32

  func fill(_ output: UnsafeMutablePointer<Int8>, count: Int, input: UnsafePointer<Int8>) {
    let (value, shift) = unsafe inverseNorm(input, count: count, zeroPoint: zeroPoint)
    for index in 0..<count {
      let difference = unsafe Int32(input[index]) &- zeroPoint
      unsafe output[index] = Int8(
        clamping: FixedPointFunctions.multiply(difference, value, shift: shift &+ 7))
    }
  }
}

/// The inverse root of the sum of squared differences from the zero point, as a multiplier and a shift.
@inline(__always)
private func inverseNorm<T: FixedWidthInteger>(
  _ input: UnsafePointer<T>, count: Int, zeroPoint: Int32
) -> (value: Int32, shift: Int32) {
  var sum: Int32 = 0
  for index in 0..<count {
    let difference = unsafe Int32(truncatingIfNeeded: input[index]) &- zeroPoint
    sum &+= difference &* difference
  }
  return FixedPointFunctions.inverseSquareRoot(sum)
}
