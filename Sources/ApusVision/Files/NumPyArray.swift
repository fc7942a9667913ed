// SPDX-License-Identifier: Apache-2.0

import Apus

/// An array in NumPy's `.npy` format. In memory it is little-endian, row by row; files may have either order.
///
/// Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".
package struct NumPyArray: Sendable {
  /// The element type as NumPy writes it in little-endian files, for example `<f4`.
  package let type: String
  /// The size of each axis.
  package let shape: [Int]
  /// The elements, row by row.
  package private(set) var bytes: [UInt8]
  /// How the file that it is read from orders elements and their bytes.
  package let order: NumPyOrder

  /// Wraps elements.
  package init(type: String, shape: [Int], bytes: [UInt8]) {
    self.type = type
    self.shape = shape
    self.bytes = bytes
    order = NumPyOrder()
  }

  /// Wraps 16-bit numbers.
  package init(uint16 values: [UInt16], shape: [Int]) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 * values.count)
    for value in values { bytes += [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)] }
    self.init(type: "<u2", shape: shape, bytes: bytes)
  }

  /// Wraps floats.
  package init(floats: [Float], shape: [Int]) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(4 * floats.count)
    for value in floats {
      let bits = value.bitPattern
      for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
    }
    self.init(type: "<f4", shape: shape, bytes: bytes)
  }

  /// NumPy's name for a tensor's elements; nil for strings and handles.
  package static func type(of element: ElementType) -> String? {
    switch element {
    case .float32, .bfloat16: "<f4"
    case .float16: "<f2"
    case .float64: "<f8"
    case .int8, .int4, .int2: "|i1"
    case .uint8, .uint4, .float8E4M3FN, .float8E5M2: "|u1"
    case .int16: "<i2"
    case .uint16: "<u2"
    case .int32: "<i4"
    case .uint32: "<u4"
    case .int64: "<i8"
    case .uint64: "<u8"
    case .bool: "|b1"
    case .complex64: "<c8"
    case .complex128: "<c16"
    case .string, .resource, .variant: nil
    }
  }

  /// Whether the elements can become a tensor's; NumPy writes `bfloat16` as pairs of bytes, `V2`.
  package func fits(_ element: ElementType) -> Bool {
    type == Self.type(of: element) || element == .bfloat16 && holdsPairs
  }

  private var holdsPairs: Bool { type == "<V2" || type == "|V2" }

  /// Makes an array from a tensor's memory; `bfloat16` becomes float32, because NumPy has no name for it.
  package init(tensor bytes: [UInt8], of element: ElementType, shape: [Int]) throws(ApusError) {
    guard let type = Self.type(of: element) else {
      throw ApusError(.invalidArgument, "\(element) elements cannot be held by .npy files")
    }
    guard element == .bfloat16 else {
      self.init(type: type, shape: shape, bytes: bytes)
      return
    }
    var floats = [UInt8](repeating: 0, count: 2 * bytes.count)
    for index in 0..<bytes.count / 2 {
      floats[4 * index + 2] = bytes[2 * index]
      floats[4 * index + 3] = bytes[2 * index + 1]
    }
    self.init(type: type, shape: shape, bytes: floats)
  }

  /// The bytes for a tensor's memory; floats become `bfloat16` by rounding to nearest.
  package func tensorBytes(of element: ElementType) -> [UInt8] {
    guard element == .bfloat16, !holdsPairs else { return bytes }
    var halves = [UInt8](repeating: 0, count: bytes.count / 4 * 2)
    for index in 0..<bytes.count / 4 {
      var bits: UInt32 = 0
      for byte in 0..<4 { bits |= UInt32(bytes[4 * index + byte]) << UInt32(8 * byte) }
      let rounded = Float(bitPattern: bits).isNaN ? bits | 0x40_0000 : bits &+ 0x7FFF &+ (bits >> 16 & 1)
      halves[2 * index] = UInt8(truncatingIfNeeded: rounded >> 16)
      halves[2 * index + 1] = UInt8(truncatingIfNeeded: rounded >> 24)
    }
    return halves
  }

  /// The most dimensions of an array in NumPy.
  private static let maximumDimensions = 64

  /// How many bytes of a file say how long its head is.
  package static let minimumHead = 12

  /// The number of bytes in front of the elements, by the first bytes of the file.
  package static func headByteCount(of file: [UInt8]) throws(ApusError) -> Int {
    guard file.count >= minimumHead, file[0] == 0x93, file[1..<6].elementsEqual("NUMPY".utf8) else {
      if file.starts(with: [0x50, 0x4B, 3, 4]) {
        throw malformed("it is a ZIP archive, perhaps .npz; save each array with numpy.save")
      }
      throw malformed("it does not begin with NumPy's signature")
    }
    let length =
      file[6] == 1
      ? Int(file[8]) | Int(file[9]) << 8
      : Int(file[8]) | Int(file[9]) << 8 | Int(file[10]) << 16 | Int(file[11]) << 24
    guard (1...3).contains(file[6]), length <= 1 << 20 else {
      throw malformed("its header is cut off or of an unknown version")
    }
    return (file[6] == 1 ? 10 : 12) + length
  }

  private static func malformed(_ text: String) -> ApusError {
    ApusError(.invalidArgument, "not a usable .npy file: \(text)")
  }

  /// Parses a file; without elements, a file's head.
  package init(file: [UInt8]) throws(ApusError) {
    let end = try Self.headByteCount(of: file)
    guard file.count >= end else { throw Self.malformed("its header is cut off or of an unknown version") }
    let header = String(decoding: file[(file[6] == 1 ? 10 : 12)..<end], as: UTF8.self)
    let values = NumPyHeader(header)
    guard case .text(let written) = values["descr"] else {
      throw Self.malformed(
        values["descr"] == .list
          ? "it has a structured type" : "it does not say the type of its elements (descr)")
    }
    let type = NumPyHeader.type(written)
    guard !type.hasSuffix("O") else { throw Self.malformed("it holds objects of Python, not numbers") }
    guard case .flag(let isColumnMajor) = values["fortran_order"] else {
      throw Self.malformed("it does not say the order of its elements (fortran_order)")
    }
    guard case .tuple(let sizes) = values["shape"] else { throw Self.malformed("it has no shape") }
    var shape: [Int] = []
    for size in sizes {
      guard let dimension = Int(size.filter { $0 != "L" }), dimension >= 0 else {
        throw Self.malformed("its shape has the dimension '\(size)'")
      }
      shape.append(dimension)
    }
    let kind = type.drop { "<>=|".contains($0) }
    guard shape.count <= Self.maximumDimensions else {
      throw Self.malformed(
        "its shape has \(shape.count) dimensions, more than the \(Self.maximumDimensions) of NumPy")
    }
    // As NumPy has it, numbers for whose bytes no order is given have the machine's.
    let isNumber = kind.first.map { "fiuc".contains($0) } ?? false
    let hasNoOrder = kind.hasSuffix("1") && kind.count == 2 || type.hasPrefix("|") && !isNumber
    self.type = (hasNoOrder ? "|" : "<") + kind
    self.shape = shape
    // A complex number is two numbers.
    let byteCount = Int(kind.dropFirst()) ?? 1
    self.order = NumPyOrder(
      isBigEndian: type.hasPrefix(">"), isColumnMajor: isColumnMajor,
      numberByteCount: kind.first == "c" ? byteCount / 2 : byteCount)
    bytes = Array(file[end...])
    self.order.swapBytes(&bytes)
    if isColumnMajor { try reorder(elementByteCount: byteCount) }
  }

  /// Brings elements that are in the order of columns into that of rows; a file's head has none.
  private mutating func reorder(elementByteCount size: Int) throws(ApusError) {
    if bytes.isEmpty { return }
    var count = size
    for dimension in shape {
      let (product, overflow) = count.multipliedReportingOverflow(by: dimension)
      guard !overflow else { throw Self.malformed("its shape is too large") }
      count = product
    }
    guard size > 0, count == bytes.count else {
      throw Self.malformed("its shape takes \(count) bytes, but it has \(bytes.count)")
    }
    var rows = [UInt8](repeating: 0, count: count)
    var positions = NumPyOrder.Positions(shape: shape)
    for start in stride(from: 0, to: count, by: size) {
      let target = positions.next() * size
      for index in 0..<size { rows[target + index] = bytes[start + index] }
    }
    bytes = rows
  }

  /// The element type as people call it, for example `float32`.
  package var typeName: String {
    let kinds: [Character: String] = ["f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool"]
    let kind = type.dropFirst()
    guard let first = kind.first, let name = kinds[first], let size = Int(kind.dropFirst()), size <= 16 else {
      return type
    }
    return first == "b" ? name : "\(name)\(8 * size)"
  }

  /// The file's bytes.
  package var file: [UInt8] { head + bytes }

  /// The file's bytes in front of the elements.
  package var head: [UInt8] {
    let dimensions = shape.map(String.init).joined(separator: ", ") + (shape.count == 1 ? "," : "")
    var header = "{'descr': '\(type)', 'fortran_order': False, 'shape': (\(dimensions)), }"
    while (10 + header.utf8.count + 1) % 64 != 0 { header += " " }
    header += "\n"
    let length = header.utf8.count
    return [0x93] + Array("NUMPY".utf8) + [1, 0, UInt8(length & 255), UInt8(length >> 8)] + Array(header.utf8)
  }
}
