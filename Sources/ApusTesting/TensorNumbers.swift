// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusKernels
import ApusVision

extension NumPyArray {
  /// The number of elements that the shape has.
  package var elementCount: Int { TensorShape(shape).elementCount }

  /// The elements as numbers; the two parts of a complex one follow each other.
  ///
  /// - Throws: `invalidArgument` for other elements than numbers and truth values, or if the count of bytes differs from the shape's.
  package func numbers() throws(ApusError) -> [Double] {
    let kind = type.drop { "<|".contains($0) }
    let size = Int(kind.dropFirst()) ?? 0
    let (byteCount, overflow) = elementCount.multipliedReportingOverflow(by: size)
    guard size > 0, size <= 16, let letter = kind.first, let decode = Self.decoder(letter, size) else {
      throw ApusError(.invalidArgument, "its elements are \(typeName), which are not compared")
    }
    guard !overflow, byteCount == bytes.count else {
      throw ApusError(
        .invalidArgument,
        "its shape \(TensorShape(shape)) takes \(overflow ? "too many" : "\(byteCount)") bytes, but it has \(bytes.count)"
      )
    }
    let width = letter == "c" ? size / 2 : size
    try requireMemory(8 * (bytes.count / width), for: "the numbers of an array of \(TensorShape(shape))")
    var values: [Double] = []
    values.reserveCapacity(bytes.count / width)
    for start in stride(from: 0, to: bytes.count, by: width) {
      var bits: UInt64 = 0
      for byte in 0..<width { bits |= UInt64(bytes[start + byte]) << UInt64(8 * byte) }
      values.append(decode(bits))
    }
    return values
  }

  private static func decoder(_ letter: Character, _ size: Int) -> ((UInt64) -> Double)? {
    switch (letter, size) {
    case ("f", 2): return { Double(Float(halfBits: UInt16(truncatingIfNeeded: $0))) }
    case ("f", 4), ("c", 8): return { Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0))) }
    case ("f", 8), ("c", 16): return { Double(bitPattern: $0) }
    case ("V", 2): return { Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0) << 16)) }
    case ("i", 1): return { Double(Int8(truncatingIfNeeded: $0)) }
    case ("i", 2): return { Double(Int16(truncatingIfNeeded: $0)) }
    case ("i", 4): return { Double(Int32(truncatingIfNeeded: $0)) }
    case ("i", 8): return { Double(Int64(truncatingIfNeeded: $0)) }
    case ("u", 1), ("u", 2), ("u", 4), ("u", 8): return { Double($0) }
    case ("b", 1): return { $0 == 0 ? 0 : 1 }
    default: return nil
    }
  }

  /// Whether the elements are floats.
  package var holdsFloats: Bool {
    typeName.hasPrefix("float") || holdsComplex || type.hasSuffix("V2")
  }

  /// Whether the elements are complex numbers.
  var holdsComplex: Bool { typeName.hasPrefix("complex") }

  /// Whether the elements are floats of 16 bits.
  var holdsHalves: Bool { typeName == "float16" || type.hasSuffix("V2") }
}

extension Tensor {
  /// Whether its elements are real or complex floats.
  var holdsFloats: Bool {
    switch type {
    case .float16, .bfloat16, .float32, .float64, .complex64, .complex128: true
    default: false
    }
  }

  /// Whether its elements are complex numbers.
  var holdsComplex: Bool { type == .complex64 || type == .complex128 }

  /// Whether one scale turns its integers into real numbers.
  package var isScaled: Bool { quantization.map { !$0.isPerChannel && $0.scale != 0 } ?? false }

  /// The real numbers that elements of the tensor's type represent.
  package func reals(_ elements: [Double]) -> [Double] {
    guard isScaled, let quantization else { return elements }
    let (scale, zero) = (Double(quantization.scale), Double(quantization.zeroPoint))
    return elements.map { scale * ($0 - zero) }
  }

  /// The bytes of elements that represent real numbers, rounded to the nearest; nil for types that have no such elements.
  package func bytes(of reals: [Double]) -> [UInt8]? {
    let width: Int
    let range: ClosedRange<Double>
    switch type {
    case .float32:
      return NumPyArray(floats: reals.map { Float($0) }, shape: []).bytes
    case .int8: (width, range) = (1, -128...127)
    case .uint8: (width, range) = (1, 0...255)
    case .int16: (width, range) = (2, -32_768...32_767)
    case .uint16: (width, range) = (2, 0...65_535)
    case .int32: (width, range) = (4, -2_147_483_648...2_147_483_647)
    default: return nil
    }
    let scale = isScaled ? Double(quantization?.scale ?? 1) : 1
    let zero = isScaled ? Double(quantization?.zeroPoint ?? 0) : 0
    var bytes: [UInt8] = []
    bytes.reserveCapacity(width * reals.count)
    for real in reals {
      let element = (real / scale).rounded() + zero
      let bounded = element.isNaN ? zero : element
      let value = Int64(min(max(bounded, range.lowerBound), range.upperBound))
      for byte in 0..<width { bytes.append(UInt8(truncatingIfNeeded: value >> Int64(8 * byte))) }
    }
    return bytes
  }
}
