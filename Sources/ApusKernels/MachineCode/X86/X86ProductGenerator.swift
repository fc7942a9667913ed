/// Generates the inner loops of matrix products: a block of rows times a panel of columns, sums kept in registers.
///
/// One step multiplies four bytes of each row (four `uint8` or `int8`, two `int16`, or one `float`) with as many of each
/// column. Rows are read in place: they lie `rowStride` bytes apart, and their terms lie in runs, the *taps*, whose
/// offsets a list gives: the rows of a filter in a padded input, or the single run of a matrix.
struct X86ProductGenerator: Hashable {
  /// What one step computes.
  enum Product: String, Hashable {
    /// Unsigned bytes of rows with signed bytes of columns.
    case unsignedBytes
    /// Signed bytes of rows, made unsigned by flipping their highest bit, with signed bytes of columns.
    case signedBytes
    /// Pairs of `int16`.
    case words
    /// Floats.
    case floats
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
    /// The scales of quantized images: of each row, or of all.
    var scales = 0
    /// Of depthwise rows: the vectors of channels, and where the first one's weights and offsets lie.
    var vectors = 0
    var firstWeights = 0
    var firstOffsets = 0
    /// Room for a count.
    var left = 0

    static func offset(_ field: PartialKeyPath<Arguments>) -> Int {
      MemoryLayout<Arguments>.offset(of: field) ?? 0
    }
  }

  let target: X86Target
  let product: Product
  let epilogue: X86EpilogueGenerator.Kind
  /// Rows of a block.
  let rowCount: Int
  /// Vectors of a panel's columns: 1 to 4, or to 2 with AVX2.
  let vectorCount: Int
  /// The columns that are written.
  let columnCount: Int
  /// Whether weights that are multiplied as `int16` lie as bytes.
  var hasNarrowWeights = false
  /// Sums are kept this many times, for every second step or fourth, and added at the end: a sum need not wait for the
  /// product before it where rows are few.
  var sumSets = 1
  /// Whether blocks are panels side by side, full ones, of the same rows.
  var movesAlongPanels = false

  /// The most rows that registers and addressing allow.
  static func maximumRows(_ target: X86Target, vectorCount: Int) -> Int {
    switch (target, vectorCount) {
    case (.avx512, 4): 6
    case (.avx512, 3): 8
    case (.avx512, 2): 12
    case (.avx512, _): 14
    case (.avx2, 2): 6
    case (.avx2, _): 12
    }
  }

  // MARK: Registers

  private typealias General = X86Assembler.General
  private var width: X86Assembler.Width { target.width }
  private func sum(_ row: Int, _ vector: Int) -> Int { end.sum(row, vector) }
  private func free(_ index: Int) -> Int { end.free(index) + (sumSets - 1) * setCount }
  /// Registers of one set of sums.
  private var setCount: Int { rowCount * vectorCount }
  /// Bytes of a step's weights for one vector of columns.
  private var weightByteCount: Int { hasNarrowWeights ? width.byteCount / 2 : width.byteCount }

  /// What writes the outputs; its addresses serve the rows as well.
  private var end: X86EpilogueGenerator {
    X86EpilogueGenerator(
      target: target, kind: epilogue, rowCount: rowCount, vectorCount: vectorCount, columnCount: columnCount)
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
    end.loadMasks(&a)

    let nextBlock = a.loopHead(alignment: 16)
    end.begin(&a)
    for index in setCount..<sumSets * setCount { a.zeroVector(index, width) }
    end.loadStride(&a, A.offset(\.rowStride))
    a.load(.r12, .init(.rdi, A.offset(\.taps)))
    a.load(.r13, .init(.rdi, A.offset(\.tapCount)))
    a.load(.rsi, .init(.rdi, A.offset(\.weights)))
    if product == .signedBytes { loadSignFlip(&a) }

    let nextTap = a.loopHead(alignment: 16)
    a.load(.rax, .init(.r12))
    a.load(.rcx, .init(.r12, 8))
    a.add(.r12, 16)
    a.add(.rax, .r8)
    end.advance(&a, used)
    steps(&a, used)
    a.decrement(.r13)
    a.jump(.notEqual, nextTap)

    addSets(&a)
    if movesAlongPanels { a.store(.init(.rdi, A.offset(\.weights)), .rsi) }
    a.load(.rdx, .init(.rdi, A.offset(\.factors)))
    a.load(.rsi, .init(.rdi, A.offset(\.offsets)))
    a.move(.rax, .r14)
    end.loadStride(&a, A.offset(\.outputStride))
    end.advance(&a, used)
    end.store(&a, used)

    if movesAlongPanels {
      nextPanel(&a)
    } else {
      // The next block of rows: `rax` and its like still point at the output.
      end.pointAfterLast(&a, used, .r14)
      end.loadStride(&a, A.offset(\.rowStride))
      a.move(.rax, .r8)
      end.advance(&a, used)
      end.pointAfterLast(&a, used, .r8)
      if epilogue == .scaledFloats(isPerRow: true) {
        a.load(.rcx, .init(.rdi, A.offset(\.scales)))
        a.add(.rcx, 4 * rowCount)
        a.store(.init(.rdi, A.offset(\.scales)), .rcx)
      }
    }
    a.decrement(.r15)
    a.jump(.notEqual, nextBlock)

    a.zeroUpper()
    for register in [General.r15, .r14, .r13, .r12, .rbp, .rbx] { a.pop(register) }
    a.return()
    return a.finish()
  }

  /// Weights follow each other, and so do offsets, factors and outputs.
  private func nextPanel(_ a: inout X86Assembler) {
    let columns = vectorCount * target.lanes
    a.add(.r14, columns * (epilogue.isBytes ? 1 : 4))
    a.add(.rsi, columns * 4)
    a.store(.init(.rdi, Arguments.offset(\.offsets)), .rsi)
    a.add(.rdx, X86FactorLayout(target).byteCount)
    a.store(.init(.rdi, Arguments.offset(\.factors)), .rdx)
  }

  /// Adds all sets of sums to the first.
  private func addSets(_ a: inout X86Assembler) {
    var count = sumSets * setCount
    while count > setCount {
      count /= 2
      for index in 0..<count {
        a.vector(product == .floats ? .vaddps : .vpaddd, width, index, index, index + count)
      }
    }
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
    a.add(.rsi, steps * vectorCount * weightByteCount)
  }

  private func step(_ a: inout X86Assembler, _ bases: [General], _ index: Int) {
    for vector in 0..<vectorCount {
      a.vector(
        hasNarrowWeights ? .vpmovsxbw : .vmovdqu, width, free(vector), 0,
        .init(.rsi, (index * vectorCount + vector) * weightByteCount))
    }
    func sum(_ row: Int, _ vector: Int) -> Int { self.sum(row, vector) + index % sumSets * setCount }
    // Two registers in turn, so that a broadcast need not wait for the products before it.
    let spare = vectorRegisterCount - free(vectorCount) - (product == .signedBytes ? 1 : 0)
    let turns = product == .words ? 1 : max(1, min(product == .floats ? 4 : 2, spare))
    for row in 0..<rowCount {
      let lane = free(vectorCount + row % turns)
      let memory = end.place(bases, row, 4 * index)
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
        if target == .avx512, vectorCount == 1 {
          a.vector(.vfmadd231ps, width, sum(row, 0), free(0), memory, broadcasts: true)
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
}

extension X86ProductGenerator {
  /// The output column, within the panel, that a lane of a vector stands for.
  ///
  /// Packing two vectors of 32-bit lanes interleaves them by quarters of 128 bits, and packing four again: lanes are
  /// given out so that the bytes come out in order.
  static func column(_ target: X86Target, isBytes: Bool, vectorCount: Int, vector: Int, lane: Int) -> Int {
    guard isBytes else { return vector * target.lanes + lane }
    let (quarter, place) = (lane / 4, lane % 4)
    if vectorCount == 4 { return 16 * quarter + 4 * vector + place }
    let pair = vector / 2 * 2
    guard pair + 1 < vectorCount else { return vector * target.lanes + lane }
    return pair * target.lanes + 8 * quarter + 4 * (vector - pair) + place
  }
}
