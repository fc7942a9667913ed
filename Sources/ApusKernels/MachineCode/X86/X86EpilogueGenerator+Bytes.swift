/// From rescaled sums to bytes in memory.
extension X86EpilogueGenerator {
  /// What is done to rescaled sums while they are narrowed.
  struct Bytes {
    let isSigned: Bool
    /// Whether the zero point, in every word of `free(0)`, is still to be added.
    let addsZeroPoint: Bool
    let isBounded: Bool

    var pack: X86Assembler.Instruction { isSigned ? .vpacksswb : .vpackuswb }
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

  /// AVX-512, 64 columns of four vectors, which lie so that packing leaves them in order.
  func storeBytesOfFour(_ a: inout X86Assembler, _ bases: [X86Assembler.General], _ bytes: Bytes) {
    loadBounds(&a, bytes)
    for row in 0..<rowCount {
      let (first, second) = (sum(row, 0), sum(row, 2))
      a.vector(.vpackssdw, width, first, first, sum(row, 1))
      a.vector(.vpackssdw, width, second, second, sum(row, 3))
      addZeroPoint(&a, bytes, width, first)
      addZeroPoint(&a, bytes, width, second)
      a.vector(bytes.pack, width, first, first, second)
      bound(&a, bytes, first)
      a.vector(.vmovdqu8Store, width, first, 0, place(bases, row), mask: columnCount < 64 ? .init(2) : nil)
    }
  }

  /// AVX-512, one to three vectors: two make words in order; a single one is narrowed by itself.
  func storeBytesOfPairs(_ a: inout X86Assembler, _ bases: [X86Assembler.General], _ bytes: Bytes) {
    let layout = X86FactorLayout(target)
    let (minimum, maximum) = (free(1), free(2))
    a.vector(.vpbroadcastw, width, minimum, 0, .init(.rdx, layout.minimumWord))
    a.vector(.vpbroadcastw, width, maximum, 0, .init(.rdx, layout.maximumWord))
    for row in 0..<rowCount {
      for vector in stride(from: 0, to: vectorCount, by: 2) where vector * target.lanes < columnCount {
        let isPair = vector + 1 < vectorCount
        let columns = min(columnCount - vector * target.lanes, (isPair ? 2 : 1) * target.lanes)
        let value = sum(row, vector)
        let memory = place(bases, row, vector * 16)
        if isPair {
          a.vector(.vpackssdw, width, value, value, sum(row, vector + 1))
        } else {
          a.vector(.vpmovsdw, width, value, 0, value)
        }
        let words: X86Assembler.Width = isPair ? .zmm : .ymm
        addZeroPoint(&a, bytes, words, value)
        a.vector(.vpmaxsw, words, value, value, minimum)
        a.vector(.vpminsw, words, value, value, maximum)
        if columns < (isPair ? 32 : 16) {
          a.vector(.vpmovwb, words, value, 0, memory, mask: .init(2))
        } else {
          a.vector(.vpmovwb, words, value, 0, value)
          a.vector(.vmovdquStore, isPair ? .ymm : .xmm, value, 0, memory)
        }
      }
    }
  }

  /// AVX2, sixteen columns of two vectors, which lie so that packing leaves them in order, or eight of one.
  func storeBytesOfTwo(_ a: inout X86Assembler, _ bases: [X86Assembler.General], _ bytes: Bytes) {
    loadBounds(&a, bytes)
    for row in 0..<rowCount {
      let value = sum(row, 0)
      a.vector(.vpackssdw, width, value, value, sum(row, vectorCount - 1))
      if vectorCount == 1 { a.vector(.vpermq, width, value, 0, value, immediate: 0x08) }
      addZeroPoint(&a, bytes, width, value)
      a.vector(bytes.pack, width, value, value, value)
      if vectorCount == 2 { a.vector(.vpermq, width, value, 0, value, immediate: 0x08) }
      bound(&a, bytes, value)
      storeLow(&a, value, place(bases, row))
    }
  }

  /// Stores the first bytes of a register, which may be used up.
  private func storeLow(_ a: inout X86Assembler, _ value: Int, _ memory: X86Assembler.Memory) {
    if columnCount == 16 {
      a.vector(.vmovdquStore, .xmm, value, 0, memory)
      return
    }
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
