// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import Testing

/// Work that takes long ends soon after its deadline, in the middle of a row, a tile or a column.
@Suite(.serialized) struct DeadlineTests {
  /// The suite keeps it, because teams do not.
  private let signal = StopSignal()

  /// A team whose run has to end a fifth of a millisecond from now.
  private var hurried: ThreadTeam {
    signal.begin(nanoseconds: 200_000, parent: nil)
    signal.watchClock()
    return ThreadTeam(count: 1, stoppedBy: signal)
  }

  /// The bytes that a kernel writes before the deadline, and without one; bytes that it does not write are 0xA5.
  private func results(
    of kernel: any UnaryKernel, _ input: [UInt8], byteCount: Int
  ) -> (late: [UInt8], whole: [UInt8]) {
    func run(isHurried: Bool) -> [UInt8] {
      var output = [UInt8](repeating: 0xA5, count: byteCount)
      var span = output.mutableSpan
      var bytes = span.mutableBytes
      // The time starts when there is memory for the result.
      kernel.run(
        input.span.bytes, to: &bytes, threads: isHurried ? hurried : ThreadTeam(count: 1))
      return output
    }
    return (run(isHurried: true), run(isHurried: false))
  }

  // MARK: Rows

  private static let depth = 1 << 23
  private static let sets = KernelSet.supported

  @Test("a row of millions of floats, of which each result is known", arguments: sets)
  func rowsOfFloats(set: KernelSet) {
    let input = [UInt8](repeating: 0, count: 4 * Self.depth)
    for (kernel, expected) in [
      (Softmax.floats(beta: 1, isHalf: false, rows: 1, depth: Self.depth, using: set), Float(0x1p-23)),
      (LogSoftmax.floats(rows: 1, depth: Self.depth, using: set), -15.942385),
      (L2Normalization.floats(rows: 1, depth: Self.depth), 0),
    ] {
      let (late, whole) = results(of: kernel, input, byteCount: input.count)
      #expect(late.suffix(4) == [0xA5, 0xA5, 0xA5, 0xA5])
      for place in [0, Self.depth / 2, Self.depth - 1] {
        let value = unsafe whole.span.bytes.unsafeLoadUnaligned(fromByteOffset: 4 * place, as: Float.self)
        #expect(abs(value - expected) <= 1e-6 * abs(expected))
      }
    }
  }

  @Test("a row of millions of integers", arguments: sets)
  func rowsOfIntegers(set: KernelSet) {
    for isWord in [false, true] {
      let kernel = Softmax.chooseBytes(
        isSigned: true, factor: 1, isWord: isWord, rows: 1, depth: Self.depth, using: set
      ).kernel
      let input = [UInt8](repeating: 0, count: Self.depth)
      let (late, whole) = results(of: kernel, input, byteCount: isWord ? 2 * Self.depth : Self.depth)
      // Each share is below half a unit: the minimum.
      #expect(late.last == 0xA5 && whole.last == 0x80 && whole[whole.count / 2 - 1] == 0x80)
    }
    let words = Softmax.words(factor: 1, rows: 1, depth: Self.depth)
    let (late, _) = results(
      of: words, [UInt8](repeating: 0, count: 2 * Self.depth), byteCount: 2 * Self.depth)
    #expect(late.last == 0xA5)
  }

  @Test("the largest values of one row")
  func largestValues() {
    let count = 1 << 20
    let input = (0..<count).map { Float($0) }
    func values(_ team: ThreadTeam) -> [Float] {
      var values = [Float](repeating: -1, count: count)
      var places = [Int32](repeating: 0, count: count)
      var heap = [Int32](repeating: 0, count: count)
      var valueSpan = values.mutableSpan
      var placeSpan = places.mutableSpan
      var heapSpan = heap.mutableSpan
      var valueBytes = valueSpan.mutableBytes
      var placeBytes = placeSpan.mutableBytes
      var heapBytes = heapSpan.mutableBytes
      Selection(.float32, rows: 1, length: count, count: count, placeByteCount: 4).run(
        input.span.bytes, values: &valueBytes, places: &placeBytes, heap: &heapBytes, threads: team)
      return values
    }
    #expect(values(hurried).last == -1)
    #expect(values(ThreadTeam(count: 1)) == input.reversed())
  }

  // MARK: Copies

  /// The `count` bytes that a copy writes, hurried or not; the rest is 0xA5.
  private func copied(_ copy: StridedCopy, _ source: [UInt8], count: Int, isHurried: Bool) -> [UInt8] {
    var result = [UInt8](repeating: 0xA5, count: count)
    var span = result.mutableSpan
    var bytes = span.mutableBytes
    // The time starts when there is memory for the result.
    copy.run(
      source.span.bytes, to: &bytes, threads: isHurried ? hurried : ThreadTeam(count: 1))
    return result
  }

  @Test("a matrix of millions that is transposed as one tile", arguments: sets, [(4096, 4100), (9, 1 << 21)])
  func transpositions(set: KernelSet, size: (rows: Int, columns: Int)) throws {
    let (rows, columns) = size
    var source = [UInt8](repeating: 0, count: rows * columns)
    for place in source.indices {
      source[place] = UInt8(truncatingIfNeeded: place &* 31 &+ place >> 13) & 0x7F
    }
    let copy = try #require(
      StridedCopy(
        elementByteCount: 1, dimensions: [columns, rows], sourceStrides: [1, columns],
        destinationStrides: [rows, 1], using: set))
    #expect(copied(copy, source, count: source.count, isHurried: true).last == 0xA5)
    let whole = copied(copy, source, count: source.count, isHurried: false)
    for column in [0, 1, columns - 2, columns - 1] + stride(from: 2, to: columns, by: 997) {
      for row in [0, 1, rows / 2, rows - 1] where whole[column * rows + row] != source[row * columns + column]
      {
        Issue.record("another byte at row \(row), column \(column)")
      }
    }
  }

  @Test("a tile of millions of short copies")
  func shortCopies() throws {
    let count = 1 << 22
    let copy = try #require(
      StridedCopy(
        elementByteCount: 1, dimensions: [2, count, 3], sourceStrides: [count * 4 + 4, 4, 1],
        destinationStrides: [count * 5 + 5, 5, 1]))
    let source = [UInt8](repeating: 1, count: count * 8 + 8)
    // The last of the first of two tiles.
    let place = 5 * (count - 1) + 2
    #expect(copied(copy, source, count: count * 10 + 10, isHurried: true)[place] == 0xA5)
    #expect(copied(copy, source, count: count * 10 + 10, isHurried: false)[place] == 1)
  }

  // MARK: Packing

  @Test(
    "packing of floats ends within a column, and fills the whole of it if nothing ends it",
    arguments: KernelSet.supported, [(1 << 23, 1), (1 << 22, 3), (1 << 21, 8)])
  func packing(set: KernelSet, size: (depth: Int, columns: Int)) throws {
    let (depth, columns) = size
    for rows in [1, 4] {
      let convolution = Convolution(
        rows: rows, depth: depth, columns: columns, operands: .float32,
        epilogue: .float32(minimum: -.infinity, maximum: .infinity))
      guard let kernel = try? set.convolution(convolution) else {
        // Fewer than four rows are not for BLAS.
        #expect(rows == 1)
        continue
      }
      let weights = [Float](repeating: 1, count: depth * columns)
      /// How many bytes of packed weights are not zero.
      func written(_ signal: StopSignal?) -> Int {
        let packed = PackedWeights(byteCount: kernel.packedByteCount)
        packed.stopSignal = signal
        kernel.pack(weights: weights.span.bytes, bias: nil, into: packed)
        let bytes = unsafe UnsafeRawBufferPointer(start: packed.address, count: packed.byteCount)
        return unsafe bytes.reduce(0) { $0 + ($1 == 0 ? 0 : 1) }
      }
      _ = hurried
      let (stopped, whole) = (written(signal), written(nil))
      // A float of 1 has two bytes that are not zero.
      #expect(whole >= 2 * depth * columns)
      #expect(stopped < whole * 3 / 5, "\(rows) rows: \(stopped) of \(whole)")
    }
  }
}
