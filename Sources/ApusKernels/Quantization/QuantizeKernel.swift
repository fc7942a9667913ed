// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Quantization of floats to integers: `x / scale`, rounded with halves away from zero, plus the zero point,
/// clamped.
package struct FloatQuantization: Hashable, Sendable {
  /// The real value of one step.
  package let scale: Float
  /// The integer that represents zero.
  package let zeroPoint: Int32
  /// The minimum result.
  package let minimum: Int32
  /// The maximum result.
  package let maximum: Int32

  /// The result if the quotient is NaN or does not fit in 32 bits: on x86 the reference's conversion returns
  /// −2³¹, whose sum with the zero point wraps.
  package let outOfRange: Int32
  /// The reciprocal that may replace the division; nil if only the division is known to be right, or no
  /// search was made.
  package private(set) var reciprocal: ScaleReciprocal?

  /// Describes a quantization to a type with this range; at most 16 bits wide.
  package init(scale: Float, zeroPoint: Int32, range: ClosedRange<Int32>) {
    self.scale = scale
    self.zeroPoint = zeroPoint
    minimum = range.lowerBound
    maximum = range.upperBound
    outOfRange = min(max(Int32.min &+ zeroPoint, minimum), maximum)
  }

  /// The kernel to bytes, signed or not, by a kernel set's code if it has any.
  package func chooseBytes(count: Int, using set: KernelSet) -> KernelSet.Chosen<any UnaryKernel> {
    set.choose(
      otherwise: UnaryMap(ByteQuantization(quantization: self, code: nil), count: count)
    ) { set throws(Decline) in
      let code = try set.generatedKernels()
      guard (minimum...maximum).contains(zeroPoint) else {
        throw Decline("the zero point, \(zeroPoint), is no byte of the type")
      }
      var quantization = self
      if ScaleReciprocal.pays(count: count, vectorByteCount: code.vectorByteCount) {
        quantization.reciprocal = ScaleReciprocal(of: self)
      }
      guard let formula = FloatFormula(quantization) else { throw Decline("the type has more than a byte") }
      let function = ByteQuantization(quantization: quantization, code: try code.formula(formula))
      return UnaryMap(function, count: count, formula: formula)
    }
  }

  /// The kernel to `int16`.
  package func words(count: Int) -> any UnaryKernel {
    UnaryMap(WordQuantization(quantization: self), count: count)
  }

  /// Eight results.
  @inline(__always)
  fileprivate func callAsFunction(_ values: SIMD8<Float>) -> SIMD8<Int32> {
    let quotients = values / scale
    let signs = SIMD8<Int32>(bits: quotients) &>> SIMD8(repeating: 31)
    let magnitudes = SIMD8<Float>(bits: SIMD8<Int32>(bits: quotients) & SIMD8(repeating: .max))
    // Far beyond every result, and still small enough for the steps below. Comparisons with NaN are false.
    let bound = SIMD8<Float>(repeating: 0x1p21)
    guard (.!(magnitudes .< bound)).isSomewhereSet else { return integers(magnitudes, signs) }
    let bounded = bound.replacing(with: magnitudes, where: magnitudes .< bound)
    let fits = magnitudes .< SIMD8<Float>(repeating: 0x1p31)
    return SIMD8<Int32>(repeating: outOfRange).replacing(with: integers(bounded, signs), where: fits)
  }

  /// The results of magnitudes of at most 2²¹ and signs of zero or −1.
  @inline(__always)
  private func integers(_ magnitudes: SIMD8<Float>, _ signs: SIMD8<Int32>) -> SIMD8<Int32> {
    // Adding 2²³ leaves the nearest integer, ties to even, as the lowest bits of the mantissa.
    let shifted = magnitudes + 0x1p23
    let rest = magnitudes - (shifted - 0x1p23)
    // A remainder of one half means that the even neighbor was the smaller one.
    let isHalf = rest .== SIMD8<Float>(repeating: 0.5)
    let steps = SIMD8<Int32>(bits: shifted) &- SIMD8(repeating: 0x4B00_0000) &- SIMD8<Int32>(bits: isHalf)
    return ((steps ^ signs) &- signs) &+ SIMD8(repeating: zeroPoint)
  }

  /// One result, clamped.
  @inline(__always)
  fileprivate func callAsFunction(_ value: Float) -> Int32 {
    min(max(self(SIMD8(repeating: value))[0], minimum), maximum)
  }
}

private struct ByteQuantization: UnaryFunction {
  let quantization: FloatQuantization
  let code: FormulaCode?

  var loopDescription: String { code == nil ? "portable loop" : "generated loop of a vector at a time" }

  @inline(__always)
  func callAsFunction(_ value: Float) -> UInt8 { UInt8(truncatingIfNeeded: quantization(value)) }

  func fill(_ output: UnsafeMutablePointer<UInt8>, count: Int, input: UnsafePointer<Float>) {
    if let code { return code.map(Int(bitPattern: input), to: Int(bitPattern: output), count: count) }
    let least = SIMD8(repeating: Int16(truncatingIfNeeded: quantization.minimum))
    let most = SIMD8(repeating: Int16(truncatingIfNeeded: quantization.maximum))
    var index = 0
    while index &+ 8 <= count {
      let values = unsafe UnsafeRawPointer(input + index).loadUnaligned(as: SIMD8<Float>.self)
      // Saturating to 16 bits first changes nothing, since the bounds are those of a byte.
      let words = SIMD8<Int16>(saturating: quantization(values)).bounded(least, most)
      unsafe storeLanes(SIMD8(lowBytes: words), to: output + index, count: 8)
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
  func callAsFunction(_ value: Float) -> Int16 { Int16(truncatingIfNeeded: quantization(value)) }
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
          let result = slice(value)
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
