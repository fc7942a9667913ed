// SPDX-License-Identifier: Apache-2.0

/// A `.npy` file: little-endian elements, row by row.
///
/// Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".
struct NumPyFile {
  /// The element type as NumPy writes it, for example `<f4`.
  let type: String
  let shape: [Int]
  let bytes: [UInt8]

  /// Wraps elements.
  init(type: String, shape: [Int], bytes: [UInt8]) {
    self.type = type
    self.shape = shape
    self.bytes = bytes
  }

  /// Parses a file of version 1.0; nil where it is something else.
  init?(_ file: [UInt8]) {
    guard file.count >= 10, file[0] == 0x93, file[1..<6].elementsEqual("NUMPY".utf8), file[6] == 1 else {
      return nil
    }
    let end = 10 + Int(file[8]) + Int(file[9]) << 8
    guard file.count >= end else { return nil }
    let header = String(decoding: file[10..<end], as: UTF8.self)
    guard header.contains("'fortran_order': False"),
      let type = header.firstMatch(of: /'descr': '([^']+)'/)?.1,
      let dimensions = header.firstMatch(of: /'shape': \(([^)]*)\)/)?.1
    else { return nil }
    self.type = String(type)
    shape = dimensions.split(separator: ",").compactMap { Int($0.filter { $0 != " " }) }
    bytes = Array(file[end...])
  }

  /// The bytes of one element.
  var elementByteCount: Int { type.last?.wholeNumberValue ?? 1 }

  /// The elements as real numbers, if they are floating-point ones; a complex number gives two.
  var floats: [Double]? {
    switch type {
    case "<f2": elements(UInt16.self).map(Self.float16)
    // NumPy has no name for bfloat16; our goldens write it as two bytes of no known kind.
    case "|V2": elements(UInt16.self).map { Double(Float(bitPattern: UInt32($0) << 16)) }
    case "<f4", "<c8": elements(UInt32.self).map { Double(Float(bitPattern: $0)) }
    case "<f8", "<c16": elements(UInt64.self).map { Double(bitPattern: $0) }
    default: nil
    }
  }

  private func elements<T: FixedWidthInteger>(_ type: T.Type) -> [T] {
    let width = T.bitWidth / 8
    return (0..<bytes.count / width).map { index in
      (0..<width).reduce(T.zero) { $0 | T(bytes[index * width + $1]) << T(8 * $1) }
    }
  }

  private static func float16(_ bits: UInt16) -> Double {
    let sign = bits >> 15 == 0 ? 1.0 : -1.0
    let (exponent, fraction) = (Int(bits >> 10 & 31), Double(bits & 1023))
    switch exponent {
    case 0: return sign * fraction * 0x1p-24
    case 31: return fraction == 0 ? sign * .infinity : .nan
    default: return sign * Double(sign: .plus, exponent: exponent - 25, significand: fraction + 1024)
    }
  }
}
