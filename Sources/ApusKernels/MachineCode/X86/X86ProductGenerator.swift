/// Generates the inner loops of matrix products: a block of rows times a panel of columns, sums kept in registers.
///
/// One step multiplies four bytes of each row (four `uint8` or `int8`, two `int16`, or one `float`) with as many of each
/// column. Rows are read in place: they lie `rowStride` bytes apart, and their terms lie in runs, the *taps*, whose
/// offsets a list gives: the rows of a filter in a padded input, or the single run of a matrix.
struct X86ProductGenerator: Hashable {
  /// What one step computes.
  enum Product: Hashable {
    /// Unsigned bytes of rows with signed bytes of columns.
    case unsignedBytes
    /// Signed bytes of rows, made unsigned by flipping their highest bit, with signed bytes of columns.
    case signedBytes
    /// Pairs of `int16`.
    case words
    /// Floats.
    case floats
  }

  /// What becomes of the sums.
  enum Epilogue: Hashable {
    /// 32-bit sums, without bias.
    case sums
    /// Floats: bias, bounds.
    case floats
    /// Bytes: offset, one multiplication with double rounding (right shifts of at least one), zero point, bounds.
    case bytes(isSigned: Bool)
  }

  /// The machine's instructions.
  enum Target: Hashable {
    case avx512
    case avx2

    var width: X86Assembler.Width { self == .avx512 ? .zmm : .ymm }
    /// 32-bit lanes of a vector.
    var lanes: Int { self == .avx512 ? 16 : 8 }
  }

  /// The arguments of a generated function: addresses and counts, all of 64 bits.
  struct Arguments {
    /// The first row's first byte.
    var rows: Int
    /// Bytes between rows.
    var rowStride: Int
    /// Pairs of a byte offset and a count of steps, one for each tap.
    var taps: Int
    var tapCount: Int
    /// The panel's weights.
    var weights: Int
    /// What is added to the panel's sums: biases with the zero points' share, in the panel's order.
    var offsets: Int
    /// The panel's factors: see ``X86FactorLayout``.
    var factors: Int
    /// The first output's first byte.
    var output: Int
    /// Bytes between rows of the output.
    var outputStride: Int
    /// How many blocks of rows, one after the other.
    var blocks: Int
    /// The columns that are written, one bit each; where the panel is not full.
    var mask: Int

    static func offset(_ field: PartialKeyPath<Arguments>) -> Int {
      MemoryLayout<Arguments>.offset(of: field) ?? 0
    }
  }

  let target: Target
  let product: Product
  let epilogue: Epilogue
  /// Rows of a block.
  let rowCount: Int
  /// Vectors of a panel's columns: 1 to 4, or 2 with AVX2.
  let vectorCount: Int
  /// Whether only the masked columns are written.
  let isPartial: Bool

  /// The most rows that registers and addressing allow.
  static func maximumRows(_ target: Target, vectorCount: Int) -> Int {
    switch (target, vectorCount) {
    case (.avx512, 4): 6
    case (.avx512, 3): 8
    case (.avx512, 2): 12
    case (.avx512, _): 14
    case (.avx2, _): 6
    }
  }

  // MARK: Registers

  private typealias General = X86Assembler.General
  private var width: X86Assembler.Width { target.width }
  private func sum(_ row: Int, _ vector: Int) -> Int { row * vectorCount + vector }
  private var sumCount: Int { rowCount * vectorCount }
  /// Registers that hold no sums.
  private func free(_ index: Int) -> Int { sumCount + index }

  /// The address of a row: bases lie six rows apart.
  private func place(_ bases: [General], _ row: Int, _ displacement: Int = 0) -> X86Assembler.Memory {
    let base = bases[row / 6]
    switch row % 6 {
    case 0: return .init(base, displacement)
    case 1: return .init(base, index: .r9, displacement)
    case 2: return .init(base, index: .r9, scale: 2, displacement)
    case 3: return .init(base, index: .r10, displacement)
    case 4: return .init(base, index: .r9, scale: 4, displacement)
    default: return .init(base, index: .r11, displacement)
    }
  }

  // MARK: The function

  /// The code of `void f(const Arguments *)`; nil only if the generator is wrong.
  func generate() -> [UInt8]? {
    var a = X86Assembler(encoding: target == .avx512 ? .evex : .vex)
    typealias A = Arguments
    let bases: [General] = [.rax, .rbx, .rbp]
    let used = Array(bases.prefix((rowCount + 5) / 6))
    for register in [General.rbx, .rbp, .r12, .r13, .r14, .r15] { a.push(register) }
    a.load(.r8, .init(.rdi, A.offset(\.rows)))
    a.load(.r14, .init(.rdi, A.offset(\.output)))
    a.load(.r15, .init(.rdi, A.offset(\.blocks)))
    if isPartial, target == .avx512 {
      a.load(.rax, .init(.rdi, A.offset(\.mask)))
      a.moveMask(2, .rax)
    }
    if target == .avx512 {
      a.move(.rax, 0xAAAA)
      a.moveMask(1, .rax)
    }

    let nextBlock = a.loopHead(alignment: 16)
    for index in 0..<sumCount { a.zeroVector(index, width) }
    loadStride(&a, A.offset(\.rowStride))
    a.load(.r12, .init(.rdi, A.offset(\.taps)))
    a.load(.r13, .init(.rdi, A.offset(\.tapCount)))
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))
    if product == .signedBytes { loadSignFlip(&a) }

    let nextTap = a.loopHead(alignment: 16)
    a.load(.rax, .init(.r12))
    a.load(.rcx, .init(.r12, 8))
    a.add(.r12, 16)
    a.add(.rax, .r8)
    advance(&a, used)
    steps(&a, used)
    a.decrement(.r13)
    a.jump(.notEqual, nextTap)

    a.load(.rdx, .init(.rdi, A.offset(\.factors)))
    a.load(.rsi, .init(.rdi, A.offset(\.offsets)))
    a.move(.rax, .r14)
    loadStride(&a, A.offset(\.outputStride))
    advance(&a, used)
    store(&a, used)

    // The next block of rows: `rax` and its like still point at the output.
    pointAfterLast(&a, used, .r14)
    loadStride(&a, A.offset(\.rowStride))
    a.move(.rax, .r8)
    advance(&a, used)
    pointAfterLast(&a, used, .r8)
    a.decrement(.r15)
    a.jump(.notEqual, nextBlock)

    a.zeroUpper()
    for register in [General.r15, .r14, .r13, .r12, .rbp, .rbx] { a.pop(register) }
    a.return()
    return a.finish()
  }

  /// `r9`, `r10`, `r11`: one, three and five strides.
  private func loadStride(_ a: inout X86Assembler, _ offset: Int) {
    a.load(.r9, .init(.rdi, offset))
    a.address(.r10, .init(.r9, index: .r9, scale: 2))
    a.address(.r11, .init(.r9, index: .r9, scale: 4))
  }

  /// Six strides on from a base.
  private func nextBase(_ a: inout X86Assembler, _ next: General, from base: General) {
    a.address(next, .init(base, index: .r10, scale: 2))
  }

  /// The row after a block's last.
  private func pointAfterLast(_ a: inout X86Assembler, _ bases: [General], _ register: General) {
    if rowCount % 6 == 0 {
      nextBase(&a, register, from: bases[bases.count - 1])
    } else {
      a.address(register, place(bases, rowCount))
    }
  }

  private func advance(_ a: inout X86Assembler, _ bases: [General]) {
    for index in bases.indices.dropFirst() { nextBase(&a, bases[index], from: bases[index - 1]) }
  }

  // MARK: Steps

  /// `rcx` steps of a tap, four at a time; `rsi` moves through the weights.
  private func steps(_ a: inout X86Assembler, _ bases: [General]) {
    let single = a.makeLabel()
    let done = a.makeLabel()
    a.subtract(.rcx, 4)
    a.jump(.less, single)
    let four = a.loopHead()
    for index in 0..<4 { step(&a, bases, index) }
    move(&a, bases, steps: 4)
    a.subtract(.rcx, 4)
    a.jump(.greaterOrEqual, four)
    a.place(single)
    a.add(.rcx, 4)
    a.jump(.equal, done)
    let one = a.loopHead(alignment: 16)
    step(&a, bases, 0)
    move(&a, bases, steps: 1)
    a.decrement(.rcx)
    a.jump(.notEqual, one)
    a.place(done)
  }

  private func move(_ a: inout X86Assembler, _ bases: [General], steps: Int) {
    for base in bases { a.add(base, 4 * steps) }
    a.add(.rsi, steps * vectorCount * width.byteCount)
  }

  private func step(_ a: inout X86Assembler, _ bases: [General], _ index: Int) {
    for vector in 0..<vectorCount {
      a.vector(
        .vmovdqu, width, free(vector), 0, .init(.rsi, (index * vectorCount + vector) * width.byteCount))
    }
    // Two registers in turn, so that a broadcast need not wait for the products before it.
    let spare = vectorRegisterCount - free(vectorCount) - (product == .signedBytes ? 1 : 0)
    let turns = product == .words ? 1 : max(1, min(2, spare))
    for row in 0..<rowCount {
      let lane = free(vectorCount + row % turns)
      let memory = place(bases, row, 4 * index)
      switch product {
      case .unsignedBytes, .words:
        a.vector(.vpbroadcastd, width, lane, 0, memory)
      case .signedBytes:
        if target == .avx512 {
          a.vector(.vpxor, width, lane, signFlip, memory, broadcasts: true)
        } else {
          a.vector(.vpbroadcastd, width, lane, 0, memory)
          a.vector(.vpxor, width, lane, lane, signFlip)
        }
      case .floats:
        if target == .avx512 {
          for vector in 0..<vectorCount {
            a.vector(.vfmadd231ps, width, sum(row, vector), free(vector), memory, broadcasts: true)
          }
          continue
        }
        a.vector(.vbroadcastss, width, lane, 0, memory)
      }
      for vector in 0..<vectorCount {
        switch product {
        case .unsignedBytes, .signedBytes:
          a.vector(.vpdpbusd, width, sum(row, vector), lane, free(vector))
        case .floats:
          a.vector(.vfmadd231ps, width, sum(row, vector), lane, free(vector))
        case .words:
          let pair = free(vectorCount + 1 + vector % max(1, min(2, spare - 1)))
          a.vector(.vpmaddwd, width, pair, lane, free(vector))
          a.vector(.vpaddd, width, sum(row, vector), sum(row, vector), pair)
        }
      }
    }
  }

  private var vectorRegisterCount: Int { target == .avx512 ? 32 : 16 }
  private var signFlip: Int { vectorRegisterCount - 1 }

  private func loadSignFlip(_ a: inout X86Assembler) {
    a.load(.rdx, .init(.rdi, Arguments.offset(\.factors)))
    a.vector(
      .vpbroadcastd, width, signFlip, 0, .init(.rdx, X86FactorLayout(target).signFlip))
  }

  // MARK: Stores

  private func store(_ a: inout X86Assembler, _ bases: [General]) {
    switch epilogue {
    case .sums:
      for row in 0..<rowCount {
        for vector in 0..<vectorCount {
          var memory = place(bases, row)
          memory.displacement = vector * width.byteCount
          a.vector(.vmovdquStore, width, sum(row, vector), 0, memory)
        }
      }
    case .floats: storeFloats(&a, bases)
    case .bytes(let isSigned): storeBytes(&a, bases, isSigned: isSigned)
    }
  }

  private func storeFloats(_ a: inout X86Assembler, _ bases: [General]) {
    let layout = X86FactorLayout(target)
    let (minimum, maximum) = (free(0), free(1))
    a.vector(.vbroadcastss, width, minimum, 0, .init(.rdx, layout.minimum))
    a.vector(.vbroadcastss, width, maximum, 0, .init(.rdx, layout.maximum))
    for vector in 0..<vectorCount {
      for row in 0..<rowCount {
        let value = sum(row, vector)
        a.vector(.vaddps, width, value, value, .init(.rsi, vector * width.byteCount))
        // The value is the second source: what the instructions answer where it is NaN.
        a.vector(.vmaxps, width, value, minimum, value)
        a.vector(.vminps, width, value, maximum, value)
      }
    }
    for row in 0..<rowCount {
      for vector in 0..<vectorCount {
        var memory = place(bases, row)
        memory.displacement = vector * width.byteCount
        let isLast = isPartial && vector == vectorCount - 1
        a.vector(.vmovupsStore, width, sum(row, vector), 0, memory, mask: isLast ? .init(2) : nil)
      }
    }
  }

  /// Multiplies the sums of one vector of columns by their factors, with the reference's two roundings.
  ///
  /// `(x·m + 2³⁰) >> 31` for even and odd lanes apart, then `(y + 2ᵉ⁻¹ − (y < 0)) >> e`. The caller has made sure that
  /// `|x| < 2³⁰` and `e ≥ 1`, so that no addition overflows.
  private func requantize(_ a: inout X86Assembler, vector: Int) {
    let layout = X86FactorLayout(target)
    let offset = vector * width.byteCount
    let (first, second) = (free(0), free(1))
    // AVX-512 has registers for the factors; AVX2 reads them from the cache each time.
    func operand(_ register: Int, _ displacement: Int) -> X86Assembler.Operand {
      let memory = X86Assembler.Memory(.rdx, displacement)
      guard target == .avx512 else { return .memory(memory) }
      a.vector(.vmovdqu, width, free(register), 0, memory)
      return .register(free(register))
    }
    let even = operand(2, layout.multipliers + offset)
    let odd = operand(3, layout.oddMultipliers + offset)
    let rounding = operand(4, layout.roundings + offset)
    let shifts = operand(5, layout.shifts + offset)
    let half = operand(6, layout.half)
    for row in 0..<rowCount {
      let value = sum(row, vector)
      a.vector(.vpaddd, width, value, value, .init(.rsi, offset))
      a.shift(.shiftQuads, digit: 2, width, second, value, by: 32)
      a.vector(.vpmuldq, width, first, value, even)
      a.vector(.vpmuldq, width, second, second, odd)
      a.vector(.vpaddq, width, first, first, half)
      a.vector(.vpaddq, width, second, second, half)
      a.shift(.shiftQuads, digit: 2, width, first, first, by: 31)
      a.vector(.vpaddq, width, second, second, second)
      if target == .avx512 {
        a.vector(.vpblendmd, width, value, first, second, mask: .init(1))
      } else {
        a.vector(.vpblendd, width, value, first, second, immediate: 0xAA)
      }
      a.shift(.shiftDoubles, digit: 4, width, first, value, by: 31)
      a.vector(.vpaddd, width, value, value, rounding)
      a.vector(.vpaddd, width, value, value, first)
      a.vector(.vpsravd, width, value, value, shifts)
    }
  }

  private func storeBytes(_ a: inout X86Assembler, _ bases: [General], isSigned: Bool) {
    for vector in 0..<vectorCount { requantize(&a, vector: vector) }
    let layout = X86FactorLayout(target)
    let (zeroPoint, minimum, maximum) = (free(0), free(1), free(2))
    a.vector(.vpbroadcastw, width, zeroPoint, 0, .init(.rdx, layout.zeroPoint))
    if target == .avx2 {
      storePackedBytes(&a, bases, isSigned: isSigned, layout: layout, zeroPoint: zeroPoint)
      return
    }
    if vectorCount == 4 {
      a.vector(.vpbroadcastb, width, minimum, 0, .init(.rdx, layout.minimum))
      a.vector(.vpbroadcastb, width, maximum, 0, .init(.rdx, layout.maximum))
      for row in 0..<rowCount {
        let (first, second) = (sum(row, 0), sum(row, 2))
        a.vector(.vpackssdw, width, first, first, sum(row, 1))
        a.vector(.vpackssdw, width, second, second, sum(row, 3))
        a.vector(.vpaddsw, width, first, first, zeroPoint)
        a.vector(.vpaddsw, width, second, second, zeroPoint)
        a.vector(isSigned ? .vpacksswb : .vpackuswb, width, first, first, second)
        a.vector(isSigned ? .vpmaxsb : .vpmaxub, width, first, first, minimum)
        a.vector(isSigned ? .vpminsb : .vpminub, width, first, first, maximum)
        a.vector(.vmovdqu8Store, width, first, 0, place(bases, row), mask: isPartial ? .init(2) : nil)
      }
      return
    }
    a.vector(.vpbroadcastw, width, minimum, 0, .init(.rdx, layout.minimumWord))
    a.vector(.vpbroadcastw, width, maximum, 0, .init(.rdx, layout.maximumWord))
    for row in 0..<rowCount {
      var vector = 0
      while vector < vectorCount {
        // Two vectors make words in order; a single one is packed with itself and unpacked by the narrowing move.
        let isPair = vector + 1 < vectorCount
        let isLast = vector + (isPair ? 2 : 1) == vectorCount
        let value = sum(row, vector)
        var memory = place(bases, row)
        memory.displacement = vector * 16
        let mask: X86Assembler.Mask? = isPartial && isLast ? .init(2) : nil
        if isPair {
          a.vector(.vpackssdw, width, value, value, sum(row, vector + 1))
        } else {
          a.vector(.vpmovsdw, width, value, 0, value)
        }
        let words: X86Assembler.Width = isPair ? .zmm : .ymm
        a.vector(.vpaddsw, words, value, value, zeroPoint)
        a.vector(.vpmaxsw, words, value, value, minimum)
        a.vector(.vpminsw, words, value, value, maximum)
        if let mask {
          a.vector(.vpmovwb, words, value, 0, memory, mask: mask)
        } else {
          a.vector(.vpmovwb, words, value, 0, value)
          a.vector(.vmovdquStore, isPair ? .ymm : .xmm, value, 0, memory)
        }
        vector += isPair ? 2 : 1
      }
    }
  }

  /// AVX2: sixteen columns of two vectors, which lie so that packing leaves them in order.
  private func storePackedBytes(
    _ a: inout X86Assembler, _ bases: [General], isSigned: Bool, layout: X86FactorLayout, zeroPoint: Int
  ) {
    let (minimum, maximum) = (free(1), free(2))
    a.vector(.vpbroadcastb, width, minimum, 0, .init(.rdx, layout.minimum))
    a.vector(.vpbroadcastb, width, maximum, 0, .init(.rdx, layout.maximum))
    for row in 0..<rowCount {
      let value = sum(row, 0)
      a.vector(.vpackssdw, width, value, value, sum(row, 1))
      a.vector(.vpaddsw, width, value, value, zeroPoint)
      a.vector(isSigned ? .vpacksswb : .vpackuswb, width, value, value, value)
      a.vector(.vpermq, width, value, 0, value, immediate: 0x08)
      a.vector(isSigned ? .vpmaxsb : .vpmaxub, width, value, value, minimum)
      a.vector(isSigned ? .vpminsb : .vpminub, width, value, value, maximum)
      a.vector(.vmovdquStore, .xmm, value, 0, place(bases, row))
    }
  }
}

extension X86ProductGenerator {
  /// Columns of a full panel of this many vectors.
  var columnCount: Int { vectorCount * target.lanes }

  /// The output column, within the panel, that a lane of a vector stands for.
  ///
  /// Packing two vectors of 32-bit lanes interleaves them by quarters of 128 bits, and packing four again: lanes are
  /// given out so that the bytes come out in order.
  static func column(_ target: Target, isBytes: Bool, vectorCount: Int, vector: Int, lane: Int) -> Int {
    guard isBytes else { return vector * target.lanes + lane }
    let (quarter, place) = (lane / 4, lane % 4)
    if vectorCount == 4 { return 16 * quarter + 4 * vector + place }
    let pair = vector / 2 * 2
    guard pair + 1 < vectorCount else { return vector * target.lanes + lane }
    return pair * target.lanes + 8 * quarter + 4 * (vector - pair) + place
  }
}

/// Where a panel's factors lie, in bytes from its block's start.
struct X86FactorLayout {
  /// Arrays of one 32-bit lane for each column.
  let multipliers = 0
  let oddMultipliers: Int
  let roundings: Int
  let shifts: Int
  /// 2³⁰ in 64-bit lanes.
  let half: Int
  /// 0x80 in every byte.
  let signFlip: Int
  /// A 16-bit value.
  let zeroPoint: Int
  /// A byte four times, or a float.
  let minimum: Int
  let maximum: Int
  /// 16-bit values.
  let minimumWord: Int
  let maximumWord: Int
  /// The size of a block.
  let byteCount: Int

  init(_ target: X86ProductGenerator.Target) {
    let array = (target == .avx512 ? 4 : 2) * target.width.byteCount
    oddMultipliers = array
    roundings = 2 * array
    shifts = 3 * array
    half = 4 * array
    signFlip = half + 64
    zeroPoint = signFlip + 4
    minimum = signFlip + 8
    maximum = signFlip + 12
    minimumWord = signFlip + 16
    maximumWord = signFlip + 20
    byteCount = half + 128
  }
}
