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
    fill(&span, of: asFloats ? .float32 : .uint8)
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
    guard Self.makesValues(of: type) else { return }
    var offset = 0
    while offset < span.byteCount {
      let (bits, count) = nextPiece(of: type, before: span.byteCount - offset)
      switch count {
      case 8: span.storeBytes(of: bits, toByteOffset: offset, as: UInt64.self)
      case 4: span.storeBytes(of: UInt32(truncatingIfNeeded: bits), toByteOffset: offset, as: UInt32.self)
      case 2: span.storeBytes(of: UInt16(truncatingIfNeeded: bits), toByteOffset: offset, as: UInt16.self)
      default: span.storeBytes(of: UInt8(truncatingIfNeeded: bits), toByteOffset: offset, as: UInt8.self)
      }
      offset += count
    }
  }

  /// The bytes with which ``fill(_:of:)`` fills memory; zeros for types without values.
  package mutating func bytes(of type: ElementType, count: Int) -> [UInt8] {
    guard Self.makesValues(of: type) else { return [UInt8](repeating: 0, count: count) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let (bits, length) = nextPiece(of: type, before: count - bytes.count)
      for place in 0..<UInt64(length) { bytes.append(UInt8(truncatingIfNeeded: bits >> (8 * place))) }
    }
    return bytes
  }

  /// The next bits of a type with values and how many bytes they are: whole elements of floats and booleans, eight bytes of integers.
  ///
  /// - Parameter rest: The bytes that are still to be filled.
  private mutating func nextPiece(of type: ElementType, before rest: Int) -> (bits: UInt64, byteCount: Int) {
    switch type {
    case .float32 where rest >= 4: (UInt64(nextFloat().bitPattern), 4)
    case .float16 where rest >= 2: (UInt64(nextFloat().halfBits), 2)
    case .bool: (next() >> 63, 1)
    default: (next(), rest >= 8 && type != .float32 && type != .float16 ? 8 : 1)
    }
  }

  /// Notes on the inputs that random data leaves at zero; empty if there are none.
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
