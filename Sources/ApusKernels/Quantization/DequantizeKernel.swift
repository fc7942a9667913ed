// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// Dequantization of integers to floats: `scale · (q − zeroPoint)`, rounded once.
package struct Dequantization: Hashable, Sendable {
  /// The real value of one step.
  package let scale: Float
  /// The integer that represents zero.
  package let zeroPoint: Int32

  /// Describes a dequantization.
  package init(scale: Float, zeroPoint: Int32) {
    self.scale = scale
    self.zeroPoint = zeroPoint
  }

  /// The kernel for bytes, by a kernel set's code if it has any.
  package func chooseBytes(
    isSigned: Bool, count: Int, using set: KernelSet
  ) -> KernelSet.Chosen<any UnaryKernel> {
    set.choose(
      otherwise: UnaryMap(ByteDequantization(self, isSigned: isSigned, code: nil), count: count)
    ) { set throws(Decline) in
      let formula = FloatFormula(self, isSigned: isSigned)
      let function = ByteDequantization(
        self, isSigned: isSigned, code: try set.generatedKernels().formula(formula))
      return UnaryMap(function, count: count, formula: formula)
    }
  }

  /// The kernel for `int16`.
  package func words(count: Int) -> any UnaryKernel {
    UnaryMap(WordDequantization(dequantization: self), count: count)
  }

  /// The kernel for `float16`, which needs no scale.
  package static func halves(count: Int) -> any UnaryKernel { UnaryMap(HalfWidening(), count: count) }

  /// One value.
  @inline(__always)
  fileprivate func callAsFunction(_ value: Int32) -> Float {
    Float(Double(scale) * Double(value &- zeroPoint))
  }
}

/// Bytes as floats, times the scale: a product of 24 and 9 bits, rounded once like that of doubles.
private struct ByteDequantization: UnaryFunction {
  private let signFlip: UInt8
  private let scale: Float
  /// 2²³ plus the zero point, which is subtracted from a float with the byte in its lowest bits.
  private let offset: Float
  private let code: FormulaCode?

  var loopDescription: String { code == nil ? "portable loop" : "generated loop of a vector at a time" }

  init(_ dequantization: Dequantization, isSigned: Bool, code: FormulaCode?) {
    self.code = code
    signFlip = isSigned ? 0x80 : 0
    scale = dequantization.scale
    // The zero point fits in a byte; signed bytes are unsigned ones with the sign flipped, minus 128.
    offset = 0x1p23 + Float(dequantization.zeroPoint &+ (isSigned ? 128 : 0))
  }

  @inline(__always)
  func callAsFunction(_ value: UInt8) -> Float {
    scale * (Float(bitPattern: 0x4B00_0000 | UInt32(value ^ signFlip)) - offset)
  }

  func fill(_ output: UnsafeMutablePointer<Float>, count: Int, input: UnsafePointer<UInt8>) {
    if let code { return code.map(Int(bitPattern: input), to: Int(bitPattern: output), count: count) }
    var index = 0
    while index &+ 8 <= count {
      let bytes = unsafe UnsafeRawPointer(input + index).loadUnaligned(as: SIMD8<UInt8>.self)
      let wide = SIMD8<UInt32>(widening: bytes ^ SIMD8(repeating: signFlip)) | SIMD8(repeating: 0x4B00_0000)
      let values = (SIMD8<Float>(bits: SIMD8<Int32>(bits: wide)) - offset) * scale
      unsafe UnsafeMutableRawPointer(output + index).storeBytes(of: values, as: SIMD8<Float>.self)
      index &+= 8
    }
    while index < count {
      unsafe output[index] = self(input[index])
      index &+= 1
    }
  }
}

private struct WordDequantization: UnaryFunction {
  let dequantization: Dequantization

  @inline(__always)
  func callAsFunction(_ value: Int16) -> Float { dequantization(Int32(value)) }
}

/// A `float16`'s bits as a float of the same value.
struct HalfWidening: UnaryFunction {
  @inline(__always)
  func callAsFunction(_ bits: UInt16) -> Float {
    let magnitude = UInt32(bits & 0x7FFF)
    // Moved to a float's fields, the value is too small by 2¹¹²; the product also normalizes subnormal
    // values.
    let scaled = Float(bitPattern: magnitude &<< 13) * 0x1p112
    let special: UInt32 = magnitude >= 0x7C00 ? 0x7F80_0000 : 0
    return Float(bitPattern: scaled.bitPattern | special | UInt32(bits & 0x8000) &<< 16)
  }
}

/// A dequantization with a scale for each slice along an axis.
package struct ChannelDequantization: UnaryKernel {
  private let slices: [Dequantization]
  private let innerCount: Int
  private let outerCount: Int
  private let isSigned: Bool

  /// Dequantizes `outerCount × slices.count × innerCount` bytes.
  package init(slices: [Dequantization], outerCount: Int, innerCount: Int, isSigned: Bool) {
    self.slices = slices
    self.outerCount = outerCount
    self.innerCount = innerCount
    self.isSigned = isSigned
  }

  package func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    var position = 0
    for _ in 0..<outerCount {
      for slice in slices {
        for _ in 0..<innerCount {
          let byte = unsafe input.unsafeLoad(fromByteOffset: position, as: UInt8.self)
          let value = isSigned ? Int32(Int8(bitPattern: byte)) : Int32(byte)
          // The reference multiplies in single precision here.
          let result = slice.scale * Float(value &- slice.zeroPoint)
          output.storeBytes(of: result, toByteOffset: position &* 4, as: Float.self)
          position &+= 1
        }
      }
    }
  }
}
