// SPDX-License-Identifier: Apache-2.0

/// The bits of a `float16`.
struct Half: CastElement {
  let bits: UInt16

  @inline(__always)
  init(integer: Int64) { self.init(Float(integer)) }
  @inline(__always)
  init(real: Double) { self.init(Float(real)) }
  @inline(__always)
  func cast<Target: CastElement>(to type: Target.Type) -> Target {
    Target(real: Double(value))
  }

  /// The number as a float.
  @inline(__always)
  var value: Float { HalfWidening()(bits) }

  /// The nearest `float16`, ties to even.
  init(_ value: Float) {
    let sign = UInt16(truncatingIfNeeded: value.bitPattern >> 16) & 0x8000
    let magnitude = value.magnitude
    if magnitude.isNaN {
      bits = sign | 0x7E00
    } else if magnitude >= 65520 {
      bits = sign | 0x7C00
    } else if magnitude < 0x1p-14 {
      // A subnormal number is a multiple of the smallest one, 2⁻²⁴.
      bits = sign | UInt16((magnitude * 0x1p24).rounded(.toNearestOrEven))
    } else {
      let pattern = magnitude.bitPattern
      let rounded = pattern + 0xFFF + (pattern >> 13 & 1)
      bits = sign | UInt16(truncatingIfNeeded: (rounded >> 13) - (112 << 10))
    }
  }
}

/// The bits of a `bfloat16`: the upper half of a float's.
struct BrainFloat: CastElement {
  let bits: UInt16

  @inline(__always)
  init(integer: Int64) { self.init(Float(integer)) }
  @inline(__always)
  init(real: Double) { self.init(Float(real)) }
  @inline(__always)
  func cast<Target: CastElement>(to type: Target.Type) -> Target {
    Target(real: Double(Float(bitPattern: UInt32(bits) &<< 16)))
  }

  /// The nearest `bfloat16`, ties to even.
  init(_ value: Float) {
    let pattern = value.bitPattern
    let rounded = pattern &+ 0x7FFF &+ (pattern &>> 16 & 1)
    bits = UInt16(truncatingIfNeeded: (value.isNaN ? pattern | 0x40_0000 : rounded) &>> 16)
  }
}

extension Float {
  /// The number that the bits of a `float16` stand for.
  package init(halfBits bits: UInt16) { self = HalfWidening()(bits) }

  /// The bits of the nearest `float16`, ties to even.
  package var halfBits: UInt16 { Half(self).bits }

  /// The number that the bits of a `bfloat16` stand for.
  package init(brainBits bits: UInt16) { self.init(bitPattern: UInt32(bits) &<< 16) }

  /// The bits of the nearest `bfloat16`, ties to even.
  package var brainBits: UInt16 { BrainFloat(self).bits }

  /// The nearest float that is representable as `float16`.
  var roundedToHalf: Float { Half(self).value }
}
