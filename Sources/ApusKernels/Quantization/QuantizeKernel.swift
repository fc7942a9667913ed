/// From floats to integers: `x / scale`, rounded, halves away from zero, moved by the zero point and clamped.
package struct FloatQuantization: Hashable, Sendable {
  /// What one step stands for.
  package let scale: Float
  /// The integer that stands for zero.
  package let zeroPoint: Int32
  /// The least result.
  package let minimum: Int32
  /// The greatest result.
  package let maximum: Int32

  /// The result where the quotient is NaN or does not fit 32 bits: on x86 the reference's conversion answers −2³¹,
  /// whose sum with the zero point wraps.
  private let outOfRange: Int32

  /// Describes a quantization to a type with this range; at most 16 bits wide.
  package init(scale: Float, zeroPoint: Int32, range: ClosedRange<Int32>) {
    self.scale = scale
    self.zeroPoint = zeroPoint
    minimum = range.lowerBound
    maximum = range.upperBound
    outOfRange = min(max(Int32.min &+ zeroPoint, minimum), maximum)
  }

  /// The kernel to bytes, signed or not.
  package func bytes(count: Int) -> any UnaryKernel {
    UnaryMap(ByteQuantization(quantization: self), count: count)
  }

  /// The kernel to `int16`.
  package func words(count: Int) -> any UnaryKernel {
    UnaryMap(WordQuantization(quantization: self), count: count)
  }

  /// Four results.
  @inline(__always)
  fileprivate func callAsFunction(_ values: SIMD4<Float>) -> SIMD4<Int32> {
    let quotients = values / SIMD4(repeating: scale)
    // Far beyond every result, and still small enough for what follows; NaN becomes the upper bound.
    let bound = SIMD4<Float>(repeating: 0x1p21)
    let above = quotients.replacing(with: -bound, where: quotients .< -bound)
    let bounded = bound.replacing(with: above, where: above .< bound)
    // Adding 1.5·2²³ leaves the nearest integer, of two the even one, as the lowest bits of the mantissa.
    let shifter = SIMD4<Float>(repeating: 0x1.8p23)
    let shifted = bounded + shifter
    let rest = bounded - (shifted - shifter)
    let bits = unsafe unsafeBitCast(shifted, to: SIMD4<Int32>.self)
    var integers = bits &- SIMD4(repeating: 0x4B40_0000)
    // A rest of one half means that the even neighbor was nearer to zero where it has the sign of the value.
    let zero = SIMD4<Float>.zero
    let half = SIMD4<Float>(repeating: 0.5)
    integers.replace(with: integers &+ SIMD4(repeating: 1), where: (rest .== half) .& (bounded .> zero))
    integers.replace(with: integers &- SIMD4(repeating: 1), where: (rest .== -half) .& (bounded .< zero))
    integers &+= SIMD4(repeating: zeroPoint)
    let least = SIMD4<Int32>(repeating: minimum)
    let most = SIMD4<Int32>(repeating: maximum)
    integers.replace(with: least, where: integers .< least)
    integers.replace(with: most, where: integers .> most)
    let limit = SIMD4<Float>(repeating: 0x1p31)
    let fits = (quotients .< limit) .& (quotients .>= -limit)
    return SIMD4<Int32>(repeating: outOfRange).replacing(with: integers, where: fits)
  }
}

private struct ByteQuantization: UnaryFunction {
  let quantization: FloatQuantization

  @inline(__always)
  func callAsFunction(_ value: Float) -> UInt8 {
    UInt8(truncatingIfNeeded: quantization(SIMD4(repeating: value))[0])
  }

  func fill(_ output: UnsafeMutablePointer<UInt8>, count: Int, input: UnsafePointer<Float>) {
    var index = 0
    while index &+ 8 <= count {
      let low = unsafe quantization(load4(input, index))
      let high = unsafe quantization(load4(input, index &+ 4))
      let lanes = SIMD8<UInt32>(bits: SIMD8<Int32>(lowHalf: low, highHalf: high))
      unsafe storeLanes(SIMD8(lowBytes: lanes), to: output + index, count: 8)
      index &+= 8
    }
    while index < count {
      unsafe output[index] = self(input[index])
      index &+= 1
    }
  }
}

private struct WordQuantization: UnaryFunction {
  let quantization: FloatQuantization

  @inline(__always)
  func callAsFunction(_ value: Float) -> Int16 {
    Int16(truncatingIfNeeded: quantization(SIMD4(repeating: value))[0])
  }
}

/// A quantization with a scale for each slice along an axis.
package struct ChannelQuantization: UnaryKernel {
  private let slices: [FloatQuantization]
  private let innerCount: Int
  private let outerCount: Int
  private let isWord: Bool

  /// Quantizes an array of `outerCount × slices.count × innerCount` floats, to `int16` if `isWord`, else to bytes.
  package init(slices: [FloatQuantization], outerCount: Int, innerCount: Int, isWord: Bool) {
    self.slices = slices
    self.outerCount = outerCount
    self.innerCount = innerCount
    self.isWord = isWord
  }

  package func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    var position = 0
    for _ in 0..<outerCount {
      for slice in slices {
        for _ in 0..<innerCount {
          let value = unsafe input.unsafeLoad(fromByteOffset: position &* 4, as: Float.self)
          let result = slice(SIMD4(repeating: value))[0]
          if isWord {
            output.storeBytes(
              of: Int16(truncatingIfNeeded: result), toByteOffset: position &* 2, as: Int16.self)
          } else {
            output.storeBytes(of: UInt8(truncatingIfNeeded: result), toByteOffset: position, as: UInt8.self)
          }
          position &+= 1
        }
      }
    }
  }
}
