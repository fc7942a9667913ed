// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// Generates the two parts of softmax of rows of bytes: maximum and sum of exponentials first, then the results.
///
/// Exponentials are looked up by a byte's difference from its row's maximum. Sums use three tables, one for each byte of an
/// exponential. Results use a table that is computed for each row, for the differences whose results may not be zero. Between
/// both parts, ``X86ByteSoftmaxCode`` finds the inverses of the sums.
struct X86ByteSoftmaxGenerator: CodeGenerator, Hashable {
  enum Part {
    case sums
    case results
  }

  struct Arguments: CodeArguments {
    var source = 0
    var target = 0
    var rows = 0
    /// The bytes of a row.
    var rowByteCount = 0
    /// The bytes of a row's whole vectors.
    var wholeByteCount = 0
    /// The bytes of a row's last, partial vector, as a mask of one bit each.
    var mask = 0
    /// The address of three tables of 256 bytes for sums, or of the exponentials in the order of ``order(_:)`` for results.
    var tables = 0
    /// The address of a ``Row`` for each row.
    var facts = 0
  }

  /// Intermediate values of a row.
  struct Row: BitwiseCopyable {
    /// Partial sums of the exponentials.
    var sums = SIMD16<Int32>()
    /// The maximum byte, in all lanes.
    var greatest = SIMD64<UInt8>()
    /// The inverse of the sum.
    var scale = 0
    /// The bits, less one, by which a product with the inverse is shifted right.
    var shift = 0
  }

  let part: Part
  let isSigned: Bool
  /// Whether a row has at least one whole vector.
  let hasWhole: Bool
  /// Whether a row ends within a vector.
  let hasRest: Bool
  /// The number of vectors of the table of results; results beyond them are zero.
  let tableCount: Int

  private typealias Memory = X86Assembler.Memory
  private typealias A = Arguments
  private let width = X86Assembler.Width.zmm

  // Registers of both parts. The tables of sums begin at `tables`, and the table of results takes the last four registers.
  private let greatest = 19
  /// The type's minimum byte in all lanes, which stands for a result of zero.
  private let least = 18
  private let tables = 20
  private let ones = 17
  private let sums = [14, 15, 16]
  private let results = 28
  private let scale = 27
  private let shift = 26
  private let half = 25
  private let one = 24

  /// Exponentials by difference, in the order in which the code packs results: four vectors for each vector of the table.
  static func order(_ exponentials: [Int32]) -> [Int32] {
    var ordered = exponentials
    for place in 0..<256 {
      let (table, lane, vector, part) = (place / 64, place % 64 / 16, place % 16 / 4, place % 4)
      ordered[table * 64 + vector * 16 + lane * 4 + part] = exponentials[place]
    }
    return ordered
  }

  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: .evex)
    a.load(.rax, .init(.rdi, A.offset(\.source)))
    a.load(.rdx, .init(.rdi, A.offset(\.target)))
    a.load(.r8, .init(.rdi, A.offset(\.rows)))
    a.load(.r9, .init(.rdi, A.offset(\.wholeByteCount)))
    a.load(.rsi, .init(.rdi, A.offset(\.tables)))
    a.load(.r10, .init(.rdi, A.offset(\.facts)))
    a.load(.r11, .init(.rdi, A.offset(\.mask)))
    a.moveMask(2, .r11)
    a.move(.rcx, isSigned ? 0x80 : 0)
    spread(&a, least, .rcx, .vpbroadcastb)
    if part == .sums {
      for table in 0..<12 { a.vector(.vmovdqu, width, tables + table, 0, Memory(.rsi, 64 * table)) }
      a.move(.rcx, 0x0101_0101)
      spread(&a, ones, .rcx, .vpbroadcastd)
    } else {
      a.move(.rcx, 1)
      spread(&a, one, .rcx, .vpbroadcastd)
      a.move(.rcx, 1 << 30)
      spread(&a, half, .rcx, .vpbroadcastq)
      // The odd lanes of 32 bits.
      a.move(.rcx, 0xAAAA)
      a.moveMask(3, .rcx)
    }
    let nextRow = a.loopHead()
    if part == .sums { writeSums(&a) } else { writeResults(&a) }
    a.add(.rax, Memory(.rdi, A.offset(\.rowByteCount)))
    a.add(.rdx, Memory(.rdi, A.offset(\.rowByteCount)))
    a.add(.r10, MemoryLayout<Row>.stride)
    a.decrement(.r8)
    a.jump(.notEqual, nextRow)
    a.zeroUpper()
    a.return()
    return a.finish()
  }

  /// Broadcasts the low lane of a general register. Clobbers the mask in the arguments, which has been read by then.
  private func spread(
    _ a: inout X86Assembler, _ register: Int, _ general: X86Assembler.General,
    _ instruction: X86Assembler.Instruction
  ) {
    a.store(Memory(.rdi, A.offset(\.mask)), general)
    a.vector(instruction, width, register, 0, Memory(.rdi, A.offset(\.mask)))
  }

  /// A loop over the whole vectors of a row, then its partial vector, whose bytes beyond the row are the type's minimum.
  private func forEachVector(
    _ a: inout X86Assembler, _ body: (inout X86Assembler, _ isRest: Bool) -> Void
  ) {
    if hasWhole {
      a.zero(.rcx)
      let next = a.loopHead()
      a.vector(.vmovdqu, width, 0, 0, Memory(.rax, index: .rcx))
      body(&a, false)
      a.add(.rcx, width.byteCount)
      a.compare(.rcx, .r9)
      a.jump(.notEqual, next)
    }
    if hasRest {
      a.vector(.vmovdqu, width, 0, 0, least)
      a.vector(.vmovdqu8, width, 0, 0, Memory(.rax, index: .r9), mask: .init(2))
      body(&a, true)
    }
  }

  // MARK: Sums

  private func writeSums(_ a: inout X86Assembler) {
    let maximum = isSigned ? X86Assembler.Instruction.vpmaxsb : .vpmaxub
    a.vector(.vmovdqu, width, greatest, 0, least)
    forEachVector(&a) { a, _ in a.vector(maximum, width, greatest, greatest, 0) }
    a.foldLanes(greatest, width, maximum, spare: 1)
    for distance: UInt8 in [16, 8] {
      a.shift(.shiftDoubles, digit: 2, .xmm, 1, greatest, by: distance)
      a.vector(maximum, .xmm, greatest, greatest, 1)
    }
    a.vector(.vpbroadcastb, width, greatest, 0, greatest)
    for sum in sums { a.zeroVector(sum, width) }
    forEachVector(&a) { a, isRest in
      a.vector(.vpsubb, width, 0, greatest, 0)
      // Differences from 128 on are looked up in the second half of a table.
      a.vector(.vpmovb2m, width, 1, 0, 0)
      for (byte, sum) in sums.enumerated() {
        let (near, far) = (2 + 2 * byte, 3 + 2 * byte)
        lookUp(&a, near, far, in: tables + 4 * byte)
        if isRest { a.vector(.vmovdqu8, width, near, 0, near, mask: .init(2, zeroes: true)) }
        a.vector(.vpdpbusd, width, sum, near, ones)
      }
    }
    a.shift(.shiftDoubles, digit: 6, width, sums[1], sums[1], by: 8)
    a.shift(.shiftDoubles, digit: 6, width, sums[2], sums[2], by: 16)
    a.vector(.vpaddd, width, sums[0], sums[0], sums[1])
    a.vector(.vpaddd, width, sums[0], sums[0], sums[2])
    a.vector(.vmovdquStore, width, sums[0], 0, Memory(.r10))
    a.vector(.vmovdquStore, width, greatest, 0, Memory(.r10, Self.offset(\.greatest)))
  }

  /// Looks up differences in a table of four registers.
  private func lookUp(_ a: inout X86Assembler, _ near: Int, _ far: Int, in table: Int) {
    a.vector(.vmovdqu, width, near, 0, 0)
    a.vector(.vmovdqu, width, far, 0, 0)
    a.vector(.vpermi2b, width, near, table, table + 1)
    a.vector(.vpermi2b, width, far, table + 2, table + 3)
    a.vector(.vmovdqu8, width, near, 0, far, mask: .init(1))
  }

  // MARK: Results

  private func writeResults(_ a: inout X86Assembler) {
    a.vector(.vmovdqu, width, greatest, 0, Memory(.r10, Self.offset(\.greatest)))
    a.vector(.vpbroadcastq, width, scale, 0, Memory(.r10, Self.offset(\.scale)))
    a.vector(.vpbroadcastd, width, shift, 0, Memory(.r10, Self.offset(\.shift)))
    for table in 0..<4 {
      if table < tableCount {
        writeTable(&a, table)
      } else {
        a.vector(.vmovdqu, width, results + table, 0, least)
      }
    }
    forEachVector(&a) { a, isRest in
      a.vector(.vpsubb, width, 0, greatest, 0)
      a.vector(.vpmovb2m, width, 1, 0, 0)
      if tableCount > 2 {
        lookUp(&a, 1, 2, in: results)
      } else {
        a.vector(.vmovdqu, width, 1, 0, 0)
        a.vector(.vpermi2b, width, 1, results, results + 1)
        a.vector(.vmovdqu8, width, 1, 0, least, mask: .init(1))
      }
      if isRest {
        a.vector(.vmovdqu8Store, width, 1, 0, Memory(.rdx, index: .r9), mask: .init(2))
      } else {
        a.vector(.vmovdquStore, width, 1, 0, Memory(.rdx, index: .rcx))
      }
    }
  }

  /// Computes 64 results of the table: products with the inverse, rounded twice.
  private func writeTable(_ a: inout X86Assembler, _ table: Int) {
    for vector in 0..<4 {
      let even = 4 + vector
      a.vector(.vmovdqu, width, vector, 0, Memory(.rsi, 256 * table + 64 * vector))
      a.vector(.vpmuludq, width, even, vector, scale)
      a.shift(.shiftQuads, digit: 2, width, vector, vector, by: 32)
      a.vector(.vpmuludq, width, vector, vector, scale)
      a.vector(.vpaddq, width, even, even, half)
      a.vector(.vpaddq, width, vector, vector, half)
      // Products are below 2⁶²; those of odd lanes end up in the upper halves.
      a.shift(.shiftQuads, digit: 2, width, even, even, by: 31)
      a.shift(.shiftQuads, digit: 6, width, vector, vector, by: 1)
      a.vector(.vpblendmd, width, vector, even, vector, mask: .init(3))
      // No quotient is negative: adding one to the last bit that is shifted out rounds halves up.
      a.vector(.vpsravd, width, vector, vector, shift)
      a.vector(.vpaddd, width, vector, vector, one)
      a.shift(.shiftDoubles, digit: 2, width, vector, vector, by: 1)
    }
    a.vector(.vpackssdw, width, 0, 0, 1)
    a.vector(.vpackssdw, width, 2, 2, 3)
    a.vector(.vpackuswb, width, 0, 0, 2)
    a.vector(.vpxor, width, results + table, 0, least)
  }

  private static func offset(_ field: PartialKeyPath<Row>) -> Int { MemoryLayout<Row>.offset(of: field) ?? 0 }
}
