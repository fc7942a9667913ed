// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision
import Testing

/// `.npy` files as NumPy's format page (NEP 1) and `numpy.lib.format` describe them.
@Suite struct NumPyArrayTests {
  /// A file of one of the three versions.
  private func file(
    _ type: String, _ shape: String, isColumnMajor: Bool = false, version: UInt8 = 1, _ data: [UInt8]
  ) -> [UInt8] {
    var header =
      "{'descr': '\(type)', 'fortran_order': \(isColumnMajor ? "True" : "False"), 'shape': \(shape), }"
    while (header.utf8.count + 1 + (version == 1 ? 10 : 12)) % 64 != 0 { header += " " }
    header += "\n"
    let count = header.utf8.count
    let length = [UInt8(count & 255), UInt8(count >> 8)] + (version == 1 ? [] : [0, 0])
    return [0x93] + Array("NUMPY".utf8) + [version, 0] + length + Array(header.utf8) + data
  }

  @Test("every version and both orders of bytes", arguments: [1, 2, 3] as [UInt8])
  func readsVersions(version: UInt8) throws {
    // 1, 2 and -1.
    let little: [UInt8] = [1, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255]
    let big: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 2, 255, 255, 255, 255]
    for (type, data) in [("<i4", little), (">i4", big), ("=i4", little), ("|i4", little)] {
      let array = try NumPyArray(file: file(type, "(3,)", version: version, data))
      #expect(array.type == "<i4" && array.shape == [3] && array.bytes == little && array.fits(.int32))
    }
  }

  @Test(
    "numbers of each size are turned around by themselves",
    arguments: [
      (">f2", [1, 2, 3, 4], [2, 1, 4, 3], ElementType.float16), (">u1", [1, 2], [1, 2], .uint8),
      ("|b1", [1, 0], [1, 0], .bool),
      (">i8", [1, 2, 3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3, 2, 1], .int64),
      // The parts of a complex number stay in their order.
      (">c8", [1, 2, 3, 4, 5, 6, 7, 8], [4, 3, 2, 1, 8, 7, 6, 5], .complex64),
      (">V2", [1, 2], [2, 1], .bfloat16),
    ] as [(String, [UInt8], [UInt8], ElementType)])
  func swapsBytes(type: String, data: [UInt8], expected: [UInt8], element: ElementType) throws {
    let size = element.byteCount ?? 1
    let array = try NumPyArray(file: file(type, "(\(data.count / size),)", data))
    #expect(array.bytes == expected && array.fits(element))
  }

  @Test("Fortran's order becomes the order of rows")
  func reordersColumns() throws {
    // [[1, 2, 3], [4, 5, 6]] column by column.
    #expect(
      try NumPyArray(file: file("|u1", "(2, 3)", isColumnMajor: true, [1, 4, 2, 5, 3, 6])).bytes == [
        1, 2, 3, 4, 5, 6,
      ])
    let wide = try NumPyArray(
      file: file(">u2", "(2, 3)", isColumnMajor: true, [0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6]))
    #expect(wide.bytes == [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0])
    // Element (i, j, k) of 2×2×3 is 6i + 3j + k.
    let cube: [UInt8] = [0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11]
    #expect(try NumPyArray(file: file("|i1", "(2, 2, 3)", isColumnMajor: true, cube)).bytes == Array(0..<12))
    #expect(try NumPyArray(file: file("|i1", "()", isColumnMajor: true, [7])).bytes == [7])
    #expect(try NumPyArray(file: file("|i1", "(2, 0)", isColumnMajor: true, [])).shape == [2, 0])
  }

  @Test(
    "what cannot be an array is refused",
    arguments: [
      ("<f4", "(2, 2)", 12), ("<f4", "(9223372036854775807, 9223372036854775807)", 8), ("|O", "(1,)", 8),
      ("<f0", "(3,)", 4),
    ])
  func refuses(type: String, shape: String, count: Int) {
    let error = #expect(throws: ApusError.self) {
      try NumPyArray(file: file(type, shape, isColumnMajor: true, [UInt8](repeating: 0, count: count)))
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test("an array has at most 64 dimensions, as in NumPy")
  func limitsDimensions() throws {
    let shape = { (count: Int) in "(" + String(repeating: "1,", count: count) + ")" }
    #expect(try NumPyArray(file: file("|u1", shape(64), isColumnMajor: true, [7])).shape.count == 64)
    let error = #expect(throws: ApusError.self) {
      try NumPyArray(file: file("|u1", shape(65), isColumnMajor: true, [7]))
    }
    #expect(error?.message.contains("65 dimensions") == true)
  }

  @Test("types have the names that people use")
  func namesTypes() throws {
    for (type, name) in [
      ("<f8", "float64"), (">i8", "int64"), ("|u1", "uint8"), ("|b1", "bool"), ("<c16", "complex128"),
      ("<U5", "<U5"),
    ] {
      #expect(try NumPyArray(file: file(type, "(0,)", [])).typeName == name)
    }
  }

  @Test(
    "headers are read in every spelling that NumPy reads",
    arguments: [
      "{\"descr\": \"<f4\", \"fortran_order\": false, \"shape\": (1, 2)}".replacing("false", with: "False"),
      "{'descr':\t'<f4',\t'fortran_order':\tFalse,\t'shape':\t(1, 2, ),\t}",
      "{'shape': (1L, 2L), 'descr': 'float32', 'fortran_order': False}",
      " { 'fortran_order' : False , 'descr' : '<f4' , 'shape' : ( 1 , 2 ) , } ",
    ])
  func readsSpellings(header: String) throws {
    let head = [0x93] + Array("NUMPY".utf8) + [1, 0, UInt8(header.utf8.count), 0] + Array(header.utf8)
    let array = try NumPyArray(file: head + [0, 0, 128, 63, 0, 0, 0, 64])
    #expect(array.shape == [1, 2] && array.fits(.float32))
    #expect(array.bytes == [0, 0, 128, 63, 0, 0, 0, 64])
  }

  @Test(
    "what a header lacks is named",
    arguments: [
      ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "structured type"),
      ("{'fortran_order': False, 'shape': (1,)}", "type of its elements (descr)"),
      ("{'descr': '<f4', 'shape': (1,)}", "fortran_order"),
      ("{'descr': '<f4', 'fortran_order': False}", "no shape"),
      ("{'descr': '<f4', 'fortran_order': False, 'shape': (1, , 2)}", "the dimension ''"),
      ("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "the dimension '-1'"),
    ])
  func namesWhatIsMissing(header: String, reason: String) {
    let head = [0x93] + Array("NUMPY".utf8) + [1, 0, UInt8(header.utf8.count), 0] + Array(header.utf8)
    let error = #expect(throws: ApusError.self) { try NumPyArray(file: head) }
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }

  @Test("a ZIP archive of arrays is named")
  func namesArchives() {
    let error = #expect(throws: ApusError.self) {
      try NumPyArray(file: [0x50, 0x4B, 3, 4] + [UInt8](repeating: 0, count: 20))
    }
    #expect(error?.message.contains(".npz") == true)
  }

  @Test("16-bit numbers are written as NumPy reads them")
  func writesWords() throws {
    let array = try NumPyArray(file: NumPyArray(uint16: [1, 290, 65_535], shape: [1, 3]).file)
    #expect(array.type == "<u2" && array.shape == [1, 3] && array.bytes == [1, 0, 34, 1, 255, 255])
  }
}
