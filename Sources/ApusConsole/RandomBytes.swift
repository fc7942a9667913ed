// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusKernels

/// Repeatable random data: the generator SplitMix64 by Steele, Lea and Flood (2014).
package struct RandomBytes {
  private var state: UInt64

  /// Begins a sequence of its own for each seed.
  package init(seed: Int) {
    state = UInt64(truncatingIfNeeded: seed) &* 0xD134_2543_DE82_EF95
  }

  /// The next 64 bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }

  /// The next float from −1 to 1.
  package mutating func nextFloat() -> Float { Float(next() >> 40) / Float(1 << 23) - 1 }

  /// Fills memory with bytes, or with floats from −1 to 1.
  package mutating func fill(_ span: inout MutableRawSpan, asFloats: Bool) {
    var offset = 0
    if asFloats {
      while offset + 4 <= span.byteCount {
        span.storeBytes(of: nextFloat(), toByteOffset: offset, as: Float.self)
        offset += 4
      }
      return
    }
    while offset + 8 <= span.byteCount {
      span.storeBytes(of: next(), toByteOffset: offset, as: UInt64.self)
      offset += 8
    }
    while offset < span.byteCount {
      span.storeBytes(of: UInt8(truncatingIfNeeded: next()), toByteOffset: offset, as: UInt8.self)
      offset += 1
    }
  }

  /// Fills memory with bytes as trained weights have them: most are near the middle, about one in 2¹⁵ is anything.
  ///
  /// Kernels may need more steps for weights that are far from their zero point.
  package mutating func fillWeights(_ span: inout MutableRawSpan, around middle: UInt8) {
    for offset in 0..<span.byteCount {
      let bits = next()
      var sum = 0
      for shift: UInt64 in stride(from: 0, to: 64, by: 8) { sum += Int(bits >> shift & 0xFF) }
      // The mean of eight bytes deviates by some 26 from its middle.
      var value = UInt8(truncatingIfNeeded: sum / 8 + Int(middle) - 128)
      if bits >> 49 == 0 { value = UInt8(truncatingIfNeeded: next()) }
      span.storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
    }
  }

  /// Whether random values are made for elements of a type. Integers of 32 bits and more are often positions in a table, and random ones
  /// would be beyond its end.
  package static func makesValues(of type: ElementType) -> Bool {
    [.float32, .float16, .bool, .uint8, .int8, .int16].contains(type)
  }

  /// Fills memory with the values of a tensor: floats from −1 to 1, booleans, or any small integers; other types keep what is there.
  package mutating func fill(_ span: inout MutableRawSpan, of type: ElementType) {
    switch type {
    case .float16:
      for offset in stride(from: 0, to: span.byteCount - 1, by: 2) {
        span.storeBytes(of: nextFloat().halfBits, toByteOffset: offset, as: UInt16.self)
      }
    case .bool:
      for offset in 0..<span.byteCount {
        span.storeBytes(of: UInt8(next() >> 63), toByteOffset: offset, as: UInt8.self)
      }
    default: if Self.makesValues(of: type) { fill(&span, asFloats: type == .float32) }
    }
  }

  /// What random data leaves at zero; empty if nothing.
  package static func zeroInputs(of tensors: [Tensor]) -> [String] {
    tensors.enumerated().filter { !makesValues(of: $0.element.type) }.map { position, tensor in
      "input \(position) (\(tensor.name)) is \(tensor.type): random data leaves it 0; choose data with --input"
    }
  }

  /// Fills every input of an interpreter with random values, each with a seed of its own; see ``fill(_:of:)``.
  package static func fillInputs(of interpreter: Interpreter) throws(ApusError) {
    for (position, tensor) in interpreter.inputs.enumerated() where makesValues(of: tensor.type) {
      var random = RandomBytes(seed: position + 1)
      try interpreter.withInputBytes(at: position) { span in random.fill(&span, of: tensor.type) }
    }
  }
}
