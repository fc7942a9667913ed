// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// Long loops of plain code ask whether a run has to end: with a signal that is set, each leaves the end of its result alone.
@Suite struct StopPollTests {
  private let signal = StopSignal()
  /// A team that has to stop.
  private var stopped: ThreadTeam { ThreadTeam(count: 1, stoppedBy: signal) }
  /// A result's initial value.
  private static let mark: Float = 7777

  init() {
    signal.begin(nanoseconds: nil, parent: nil)
    signal.set()
  }

  /// Whether work leaves the last of `count` floats alone if its run has to end, and writes it if not.
  private func stops(count: Int, _ work: (inout MutableSpan<Float>, ThreadTeam) -> Void) -> Bool {
    func last(_ team: ThreadTeam) -> Float {
      var result = [Float](repeating: Self.mark, count: count)
      var span = result.mutableSpan
      work(&span, team)
      return result[count - 1]
    }
    return last(stopped) == Self.mark && last(ThreadTeam(count: 1)) != Self.mark
  }

  @Test("questions come after some millions of steps; an answer stays")
  func interval() {
    var poll = StopPoll(stopped)
    let first = (0..<1 << 24).first { _ in poll.mustStop(before: 1) }
    #expect((1 << 16..<1 << 23).contains(first ?? 0) && poll.mustStop(before: 1))
    var other = StopPoll(ThreadTeam(count: 1))
    #expect(!(0..<1 << 10).contains { _ in other.mustStop(before: .max) })
    var large = StopPoll(stopped)
    #expect((0..<4).contains { _ in large.mustStop(before: .max) })
  }

  @Test("responses of neighboring channels")
  func responses() {
    let channels = 2048
    let input = [Float](repeating: 1, count: 2 * channels)
    #expect(
      stops(count: input.count) { result, team in
        normalizeResponses(
          input.span, channels: channels, radius: channels, bias: 1, alpha: 1, beta: 1, to: &result,
          threads: team)
      })
  }

  @Test("maxima and where they lay")
  func maxima() {
    let side = 512
    let pooling = ArgmaxPooling(
      batches: 1, vertical: WindowAxis(size: side, places: 8, taps: side),
      horizontal: WindowAxis(size: side, places: 8, taps: side), channels: 1)
    let input = [Float](repeating: 1, count: side * side)
    #expect(
      stops(count: 64) { result, team in
        var places = [Float](repeating: 0, count: 64)
        var placeSpan = places.mutableSpan
        pooling.pool(
          input.span, to: &result, indices: &placeSpan, minimum: -1, maximum: 1, threads: team)
      })
  }

  @Test("windows that fold, whose folds end within")
  func windows() {
    let reduction = WindowReduction(
      [WindowAxis(size: 1 << 21, places: 2, taps: 1 << 20, stride: 1 << 20)], spreads: [1], .add, .float32)
    let input = [Float](repeating: 1, count: 1 << 21)
    let initial: [Float] = [0]
    var sums = [Float](repeating: 0, count: 2)
    var span = sums.mutableSpan
    var bytes = span.mutableBytes
    reduction.run(input.span.bytes, initial: initial.span.bytes, to: &bytes, threads: stopped)
    #expect(sums[1] < 0x1p20)
    span = sums.mutableSpan
    bytes = span.mutableBytes
    reduction.run(input.span.bytes, initial: initial.span.bytes, to: &bytes, threads: ThreadTeam(count: 1))
    #expect(sums == [0x1p20, 0x1p20])
  }

  @Test("windows of many axes, and many small windows, end as a whole")
  func manyWindows() {
    for (window, count) in [((2048, 2048), 8), ((8, 8), 1 << 16)] {
      let axes = [
        WindowAxis(size: 4096, taps: window.0), WindowAxis(size: 2, places: count, taps: window.1),
      ]
      let input = [Float](repeating: 1, count: 8192)
      let initial: [Float] = [0]
      #expect(
        stops(count: count) { result, team in
          var bytes = result.mutableBytes
          WindowReduction(axes, spreads: [1, 1], .add, .float32).run(
            input.span.bytes, initial: initial.span.bytes, to: &bytes, threads: team)
        })
    }
  }

  @Test("all values in order, of many rows")
  func selection() {
    let (rows, length) = (64, 1 << 14)
    let values = (0..<rows * length).map { Float($0 &* 7919 % 65_537) }
    #expect(
      stops(count: rows * length) { result, team in
        var places = [Int32](repeating: 0, count: rows * length)
        var heap = [Int32](repeating: 0, count: length)
        var bytes = result.mutableBytes
        var placeSpan = places.mutableSpan
        var placeBytes = placeSpan.mutableBytes
        var heapSpan = heap.mutableSpan
        var heapBytes = heapSpan.mutableBytes
        Selection(.float32, rows: rows, length: length, count: length, placeByteCount: 4).run(
          values.span.bytes, values: &bytes, places: &placeBytes, heap: &heapBytes, threads: team)
      })
  }

  @Test("sums of a table's rows")
  func lookups() {
    let width = 1 << 12
    let count = 1 << 10
    let sums = EmbeddingSums(sizes: [count], tableRows: 1, width: width, combiner: .sum)
    let ids = [Int32](repeating: 0, count: count)
    let indices = (0..<Int32(count)).flatMap { [$0, 0] as [Int32] }
    let weights = [Float](repeating: 1, count: count)
    let table = [Float](repeating: 1, count: width)
    var result = [Float](repeating: 0, count: count * width)
    var span = result.mutableSpan
    _ = sums.run(
      ids: ids.span, indices: indices.span, weights: weights.span, table: table.span, to: &span,
      threads: stopped)
    #expect(result[0] == 1 && result[count * width - 1] == 0)
  }

  @Test("draws of classes")
  func draws() {
    let logits: [Float] = [0, 0]
    let count = 1 << 20
    #expect(
      stops(count: count) { result, team in
        var stream = PhiloxStream(seed: 1, seed2: 2)
        var scratch = [Double](repeating: 0, count: 2)
        var scratchSpan = scratch.mutableSpan
        var bytes = scratchSpan.mutableBytes
        stream.drawClasses(
          logits.span, rows: 1, classes: 2, count: count, scratch: &bytes, threads: team
        ) { result[$0] = Float($1) }
      })
  }

  @Test("boxes that are many and apart")
  func boxes() {
    let count = 4096
    let kernel = BoxSuppression(boxCount: count)
    let boxes = (0..<count).flatMap { [Float($0) * 2, 0, Float($0) * 2 + 1, 1] as [Float] }
    let scores = [Float](repeating: 1, count: count)
    func found(_ team: ThreadTeam) -> Int {
      var indices = [Int32](repeating: 0, count: count)
      var scratch = [UInt8](repeating: 0, count: kernel.scratchByteCount)
      var places = indices.mutableSpan
      var selectedScores = MutableSpan<Float>()
      var span = scratch.mutableSpan
      var memory = span.mutableBytes
      return kernel.run(
        boxes: boxes.span, scores: scores.span, limits: .init(overlap: 0.5, score: 0, sigma: 0),
        indices: &places, selectedScores: &selectedScores, scratch: &memory, threads: team)
    }
    #expect(found(ThreadTeam(count: 1)) == count && found(stopped) < count)
  }

  // MARK: Long rows of bytes

  @Test("rows of a million bytes and more ask in the middle, and are right if nothing ends them")
  func longRowsOfBytes() {
    let depth = 1 << 22
    var input = [UInt8](repeating: 0, count: depth)
    for place in [0, 5, depth / 2, depth - 1] { input[place] = 64 }
    func results(_ kernel: any UnaryKernel, _ team: ThreadTeam) -> [UInt8] {
      var output = [UInt8](repeating: 0xA5, count: depth)
      var span = output.mutableSpan
      var bytes = span.mutableBytes
      kernel.run(input.span.bytes, to: &bytes, threads: team)
      return output
    }
    // Four of 64 have the norm 128, and results are in units of 1/128; of the logarithm, all but the maximum are out of range.
    let norms = L2Normalization.signedBytes(zeroPoint: 0, rows: 1, depth: depth)
    #expect(zip(results(norms, ThreadTeam(count: 1)), input).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    #expect(results(norms, stopped)[depth - 1] == 0xA5)
    let logarithms = LogSoftmax.bytes(isSigned: false, scale: 1, rows: 1, depth: depth)
    let found = results(logarithms, ThreadTeam(count: 1))
    #expect(found[1] == 0 && found[5] > 200 && found[depth - 1] == found[5])
    #expect(results(logarithms, stopped)[depth - 1] == 0xA5)
  }

  // MARK: Packing

  @Test(
    "packing that ended early can begin anew in the same memory", arguments: KernelSet.supported,
    [false, true])
  func packing(set: KernelSet, isFloat: Bool) throws {
    // Four rows: fewer are not for BLAS.
    let (rows, depth, columns) = (4, 1 << 17, 8)
    var random = SeededGenerator(seed: 3)
    let weights = (0..<depth * columns * (isFloat ? 4 : 1)).map { _ in
      isFloat ? 0x3C : UInt8.random(in: 0...255, using: &random)
    }
    let input = [UInt8](repeating: 0x3C, count: rows * depth * (isFloat ? 4 : 1))
    let kernel = try set.convolution(
      Convolution(
        rows: rows, depth: depth, columns: columns,
        operands: isFloat ? .float32 : .int8(lhsZeroPoint: 3, rhsZeroPoint: 0),
        epilogue: isFloat
          ? .float32(minimum: -.infinity, maximum: .infinity)
          : .fixedPoint(
            [FixedPointMultiplier](repeating: FixedPointMultiplier(0x1p-14), count: columns), zeroPoint: 0,
            minimum: -128, maximum: 127)
      ))
    func output(_ packed: PackedWeights) -> [UInt8] {
      var output = [UInt8](repeating: 0xA5, count: rows * columns * (isFloat ? 4 : 1))
      var scratch = [UInt8](repeating: 0, count: kernel.scratchByteCount(threads: 1))
      var span = output.mutableSpan
      var work = scratch.mutableSpan
      var bytes = span.mutableBytes
      var memory = work.mutableBytes
      kernel.run(
        packed, input: input.span.bytes, output: &bytes, scratch: &memory, threads: ThreadTeam(count: 1))
      return output
    }
    let fresh = PackedWeights(byteCount: kernel.packedByteCount)
    kernel.pack(weights: weights.span.bytes, bias: nil, into: fresh)
    let expected = output(fresh)
    let packed = PackedWeights(byteCount: kernel.packedByteCount)
    packed.stopSignal = signal
    kernel.pack(weights: weights.span.bytes, bias: nil, into: packed)
    // A run of partly packed weights reads nothing that is out of bounds.
    _ = output(packed)
    packed.stopSignal = nil
    kernel.pack(weights: weights.span.bytes, bias: nil, into: packed)
    #expect(output(packed) == expected)
  }
}
