// SPDX-License-Identifier: Apache-2.0

import ApusAssembly

/// The epilogue of bytes, from rescaled sums to memory.
extension X86EpilogueGenerator {
  /// How rescaled sums are narrowed to bytes.
  struct Bytes {
    let isSigned: Bool
    /// Whether the zero point, in all 16-bit lanes of `free(0)`, must still be added.
    let addsZeroPoint: Bool
    /// Whether bytes are packed as unsigned and their highest bit is flipped afterwards, which adds a zero
    /// point of −128 implicitly.
    let turnsSigns: Bool
    let isBounded: Bool

    var pack: X86Assembler.Instruction { isSigned && !turnsSigns ? .vpacksswb : .vpackuswb }
  }

  var bytes: Bytes {
    guard case .bytes(let isSigned, let rescaling, let isBounded) = outputs else {
      return Bytes(isSigned: false, addsZeroPoint: false, turnsSigns: false, isBounded: false)
    }
    let isLeast = if case .single(isRectified: true, zeroPoint: .least, _) = rescaling { true } else { false }
    let turnsSigns = target == .avx512 && isSigned && isLeast
    return Bytes(
      isSigned: isSigned, addsZeroPoint: outputs.addsZeroPoint && !turnsSigns, turnsSigns: turnsSigns,
      isBounded: isBounded)
  }

  /// Loads the zero point if it must still be added.
  func loadZeroPoint(_ a: inout X86Assembler, _ bytes: Bytes) {
    guard bytes.addsZeroPoint else { return }
    a.vector(.vpbroadcastw, width, free(0), 0, .init(.rdx, X86FactorLayout(target).zeroPoint))
  }

  private func addZeroPoint(
    _ a: inout X86Assembler, _ bytes: Bytes, _ width: X86Assembler.Width, _ value: Int
  ) {
    if bytes.addsZeroPoint { a.vector(.vpaddsw, width, value, value, free(0)) }
  }

  private func loadBounds(_ a: inout X86Assembler, _ bytes: Bytes) {
    guard bytes.isBounded else { return }
    a.vector(.vpbroadcastb, width, free(1), 0, .init(.rdx, X86FactorLayout(target).minimum))
    a.vector(.vpbroadcastb, width, free(2), 0, .init(.rdx, X86FactorLayout(target).maximum))
  }

  private func bound(_ a: inout X86Assembler, _ bytes: Bytes, _ value: Int) {
    guard bytes.isBounded else { return }
    a.vector(bytes.isSigned ? .vpmaxsb : .vpmaxub, width, value, value, free(1))
    a.vector(bytes.isSigned ? .vpminsb : .vpminub, width, value, value, free(2))
  }

  /// AVX-512: narrows four vectors, of one or several rows, to one of 64 bytes and stores it. A row of three
  /// vectors repeats one.
  func storeBytesOfFour(_ a: inout X86Assembler, _ bases: [X86Assembler.General], _ bytes: Bytes) {
    loadBytesOfFour(&a, bytes)
    for row in stride(from: 0, to: rowCount, by: rowsTogether) {
      storeBytesOfFour(&a, bases, bytes, row: row)
    }
  }

  /// Rows that are narrowed together.
  var rowsTogether: Int { max(1, 4 / vectorCount) }

  /// Loads the constants that all rows need.
  func loadBytesOfFour(_ a: inout X86Assembler, _ bytes: Bytes) {
    loadBounds(&a, bytes)
    if keptOrder == nil { loadOrder(&a) }
  }

  private var order: Int { keptOrder ?? free(3) }

  /// Loads the permutation that sorts packed bytes, if rows have fewer than four vectors; `rdx` points at the
  /// factors.
  func loadOrder(_ a: inout X86Assembler) {
    guard vectorCount < 4 else { return }
    a.vector(.vpmovzxbd, width, order, 0, .init(.rdx, X86FactorLayout(target).order))
  }

  /// AVX-512: narrows and stores the rows that are narrowed together, from `row` on.
  func storeBytesOfFour(
    _ a: inout X86Assembler, _ bases: [X86Assembler.General], _ bytes: Bytes, row: Int
  ) {
    let rows = min(rowsTogether, rowCount - row)
    // Missing rows repeat the last, and a fourth vector repeats the third.
    func sums(_ index: Int) -> Int {
      vectorCount == 3
        ? sum(row, min(index, 2)) : sum(row + min(index / vectorCount, rows - 1), index % vectorCount)
    }
    let (first, second) = (sums(0), sums(2))
    a.vector(.vpackssdw, width, first, first, sums(1))
    addZeroPoint(&a, bytes, width, first)
    if second != first {
      a.vector(.vpackssdw, width, second, second, sums(3))
      addZeroPoint(&a, bytes, width, second)
    }
    a.vector(bytes.pack, width, first, first, second)
    if bytes.turnsSigns {
      a.vector(.vpxor, width, first, first, .init(.rdx, X86FactorLayout(target).signFlip), broadcasts: true)
    }
    bound(&a, bytes, first)
    if vectorCount < 4 { a.vector(.vpermd, width, first, order, first) }
    for part in 0..<rows { storeRow(&a, first, part, second, place(bases, row + part)) }
  }

  /// Stores one of the rows that share a register of bytes; clobbers `spare`.
  private func storeRow(
    _ a: inout X86Assembler, _ value: Int, _ part: Int, _ spare: Int, _ memory: X86Assembler.Memory
  ) {
    let isWhole = columnCount == vectorCount * target.lanes
    if isWhole, vectorCount == 3 {
      a.vector(.vmovdquStore, .ymm, value, 0, memory)
      var last = memory
      last.displacement += 32
      return a.vector(.vextracti32x4, width, value, 0, last, immediate: 2)
    }
    let narrow: X86Assembler.Width = vectorCount == 1 ? .xmm : vectorCount == 2 ? .ymm : .zmm
    let mask = isWhole ? nil : X86Assembler.Mask(2)
    guard part > 0 else {
      return a.vector(.vmovdqu8Store, narrow, value, 0, memory, mask: mask)
    }
    let extract: X86Assembler.Instruction = vectorCount == 1 ? .vextracti32x4 : .vextracti64x4
    let immediate = UInt8(truncatingIfNeeded: part)
    if isWhole { return a.vector(extract, width, value, 0, memory, immediate: immediate) }
    a.vector(extract, width, value, 0, spare, immediate: immediate)
    a.vector(.vmovdqu8Store, narrow, spare, 0, memory, mask: mask)
  }

  /// AVX2: narrows two rows of two vectors, or four rows of one, to one register of bytes, with a part of
  /// each row in each half.
  func storeBytesOfTwo(_ a: inout X86Assembler, _ bases: [X86Assembler.General], _ bytes: Bytes) {
    loadBounds(&a, bytes)
    let most = 4 / vectorCount
    for first in stride(from: 0, to: rowCount, by: most) {
      let rows = min(most, rowCount - first)
      // Missing rows repeat the last.
      let sums = (0..<4).map { index in
        sum(first + min(index / vectorCount, rows - 1), index % vectorCount)
      }
      let (low, high, halves) = (sums[0], sums[2], free(3))
      a.vector(.vpackssdw, width, low, low, sums[1])
      addZeroPoint(&a, bytes, width, low)
      let hasHigh = rows > most / 2
      if hasHigh {
        a.vector(.vpackssdw, width, high, high, sums[3])
        addZeroPoint(&a, bytes, width, high)
      }
      a.vector(bytes.pack, width, low, low, hasHigh ? high : low)
      bound(&a, bytes, low)
      a.vector(.vextracti128, width, low, 0, halves, immediate: 1)
      if hasHigh {
        a.vector(vectorCount == 2 ? .vpunpckhqdq : .vpunpckhdq, .xmm, high, low, halves)
      }
      a.vector(vectorCount == 2 ? .vpunpcklqdq : .vpunpckldq, .xmm, low, low, halves)
      for row in 0..<rows {
        let value = row < most / 2 ? low : high
        let memory = place(bases, first + row)
        if vectorCount == 2 || row % 2 == 0 {
          storeLow(&a, value, memory, keepingIn: vectorCount == 1 && row + 1 < rows ? halves : nil)
        } else if columnCount == 8 {
          a.vector(.vmovhpsStore, .xmm, value, 0, memory)
        } else {
          a.shift(.shiftQuads, digit: 3, .xmm, halves, halves, by: 8)
          storeLow(&a, halves, memory)
        }
      }
    }
  }

  /// Stores the first `columnCount` bytes of a register and clobbers it; `other` keeps a copy.
  private func storeLow(
    _ a: inout X86Assembler, _ value: Int, _ memory: X86Assembler.Memory, keepingIn other: Int? = nil
  ) {
    if columnCount == 16 {
      a.vector(.vmovdquStore, .xmm, value, 0, memory)
      return
    }
    if let other, columnCount < 8 { a.vector(.vmovdqu, .xmm, other, 0, value) }
    var memory = memory
    var rest = columnCount
    for (size, instruction) in [
      (8, X86Assembler.Instruction.vmovqStore), (4, .vmovdStore), (2, .vpextrw), (1, .vpextrb),
    ] where rest >= size {
      a.vector(instruction, .xmm, value, 0, memory, immediate: size < 4 ? 0 : nil)
      rest -= size
      memory.displacement += size
      if rest > 0 { a.shift(.shiftQuads, digit: 3, .xmm, value, value, by: UInt8(size)) }
    }
  }
}
