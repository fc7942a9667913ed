// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// A chain computes what its kernels compute one after the other, bit by bit.
@Suite("Elementwise chains")
struct ElementwiseChainTests {
  private static let sets = KernelSet.tested.filter { !$0.isEmulated }
  private static let kinds: [FloatOperation.Kind] = [
    .add, .subtract, .multiply, .squaredDifference, .parametricRelu, .maximum, .minimum,
  ]

  /// The result of a kernel of one tensor or two.
  private func result(_ count: Int, _ body: (inout MutableRawSpan) -> Void) -> [Float] {
    var values = [Float](repeating: .nan, count: count)
    unsafe values.withUnsafeMutableBytes { memory in
      var span = unsafe MutableRawSpan(_unsafeBytes: memory)
      body(&span)
    }
    return values
  }

  @Test("random chains match their kernels one by one", arguments: sets)
  func chains(kernels: KernelSet) throws {
    let alone = ThreadTeam(count: 1)
    for seed in 0..<160 {
      var random = SeededGenerator(seed: UInt64(seed))
      let shape = [
        [1, 5, 7, 16], [2, 3, 1030], [9_000], [1, 40, 40, 24], [3, 1, 1], [70_000], [1, 9, 9, 200],
        [40, 1500],
      ].pick(using: &random)
      let count = shape.reduce(1, *)
      // A chain may read whole tensors, one of the last axis, a number, and one whose last axis is 1.
      let isSpread = shape.count > 1 && shape[shape.count - 1] >= 64
      let shapes =
        [shape, shape, [shape[shape.count - 1]], [1]] + (isSpread ? [shape.dropLast() + [1]] : [])
      let tensors = shapes.map { shape in
        (0..<shape.reduce(1, *)).map { _ in Float.random(in: -2...2, using: &random) }
      }
      var used = [0]
      func tensor(_ index: Int) -> Chain.Source {
        if !used.contains(index) { used.append(index) }
        return .tensor(used.firstIndex(of: index) ?? 0)
      }
      var results: [[Float]] = []
      var stages: Chain.Stages = []
      for index in 0..<Int.random(in: 2...7, using: &random) {
        // Each reads the one before it, so that all are needed.
        let first = index == 0 ? tensor(0) : .stage(index - 1)
        let left = index == 0 ? tensors[0] : results[index - 1]
        if Bool.random(using: &random) {
          let kernel = FloatFunction.samples.pick(using: &random).choose(count: count, using: kernels).kernel
          results.append(result(count) { kernel.run(left.span.bytes, to: &$0, threads: alone) })
          stages.append((try #require(kernel.stage), [first]))
        } else {
          let operation = FloatOperation(Self.kinds.pick(using: &random), minimum: -50, maximum: 50)
          let choice = Int.random(in: 0..<tensors.count + index, using: &random)
          let isTensor = choice < tensors.count
          let (right, rightShape) =
            isTensor ? (tensors[choice], shapes[choice]) : (results[choice - tensors.count], shape)
          let kernel = kernels.prepare(operation, try #require(BroadcastShapes(shape, rightShape)))
          results.append(
            result(count) { kernel.run(left.span.bytes, right.span.bytes, to: &$0, threads: alone) })
          stages.append(
            (try #require(kernel.stage), [first, isTensor ? tensor(choice) : .stage(choice - tensors.count)]))
        }
      }
      let chain = try Chain(
        stages, tensorCount: used.count, using: seed.isMultiple(of: 4) ? .portable : kernels)
      let expected = try #require(results.last)
      for threads in [1, 3] {
        var scratch = [UInt8](repeating: 0xA5, count: chain.scratchByteCount(threads: threads))
        let found = result(count) { output in
          var span = scratch.mutableSpan
          var memory = span.mutableBytes
          run(chain, used.map { tensors[$0] }, to: &output, &memory, threads: threads)
        }
        #expect(
          zip(found, expected).allSatisfy { $0.bitPattern == $1.bitPattern || $0.isNaN && $1.isNaN },
          "seed \(seed), \(shape)")
      }
      // The result may lie where the first tensor does, if the chain says so.
      guard chain.mayOverwrite(0), used.allSatisfy({ $0 != 0 || shapes[$0] == shape }) else { continue }
      var scratch = [UInt8](repeating: 0, count: chain.scratchByteCount(threads: 1))
      var values = tensors[0]
      unsafe values.withUnsafeMutableBytes { memory in
        var inputs = ChainInputs()
        for index in used {
          if index == 0 {
            inputs.add(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(memory)))
          } else {
            let tensor = tensors[index]
            inputs.add(tensor.span.bytes)
          }
        }
        var output = unsafe MutableRawSpan(_unsafeBytes: memory)
        var span = scratch.mutableSpan
        var bytes = span.mutableBytes
        chain.run(inputs, to: &output, scratch: &bytes, threads: alone)
      }
      #expect(
        zip(values, expected).allSatisfy { $0.bitPattern == $1.bitPattern || $0.isNaN && $1.isNaN },
        "in place: seed \(seed), \(shape)")
    }
  }

  @Test("random chains of bytes match their kernels one by one", arguments: sets)
  func chainsOfBytes(kernels: KernelSet) throws {
    let alone = ThreadTeam(count: 1)
    for seed in 0..<160 {
      var random = SeededGenerator(seed: UInt64(seed))
      let isSigned = Bool.random(using: &random)
      let shape = [[1, 6, 6, 64], [1, 28, 28, 96], [3, 1, 70], [40_000], [1, 5, 7, 16]].pick(using: &random)
      let count = shape.reduce(1, *)
      let channels = shape[shape.count - 1]
      // Whole tensors, one of the last axis, a number, and one whose elements follow themselves.
      let isSpread = shape.count > 1 && channels >= 64
      let shapes = [shape, [channels], [1]] + (isSpread ? [shape.dropLast() + [1]] : [])
      let tensors = shapes.map { shape in
        (0..<shape.reduce(1, *)).map { _ in UInt8.random(in: 0...255, using: &random) }
      }
      var used = [0]
      var results: [[UInt8]] = []
      var stages: Chain.Stages = []
      func add(
        _ stage: ChainStage?, _ sources: [Chain.Source],
        _ run: (inout MutableRawSpan) -> Void
      )
        throws
      {
        stages.append((try #require(stage), sources))
        var result = [UInt8](repeating: 0xA5, count: count)
        var span = result.mutableSpan
        var bytes = span.mutableBytes
        run(&bytes)
        results.append(result)
      }
      func zeroPoint() -> Int32 {
        isSigned ? .random(in: -128...127, using: &random) : .random(in: 0...255, using: &random)
      }
      func result(_ factor: Double) -> QuantizedResult {
        QuantizedResult(
          multiplier: FixedPointMultiplier(factor), zeroPoint: zeroPoint(), minimum: isSigned ? -128 : 0,
          maximum: isSigned ? 127 : 255)
      }
      for index in 0..<Int.random(in: 2...5, using: &random) {
        let source: Chain.Source = index == 0 ? .tensor(0) : .stage(index - 1)
        let left = index == 0 ? tensors[0] : results[index - 1]
        let choice = Int.random(in: 0..<shapes.count + 1, using: &random)
        guard choice < shapes.count else {
          let table = ByteTable(isSigned: isSigned) { ($0 &* 77) >> 2 }
          let kernel = table.kernel(count: count, using: kernels)
          try add(kernel.stage, [source]) { kernel.run(left.span.bytes, to: &$0, threads: alone) }
          continue
        }
        if !used.contains(choice) { used.append(choice) }
        let sources = [source, .tensor(used.firstIndex(of: choice) ?? 0)]
        let pair = try #require(BroadcastShapes(shape, shapes[choice]))
        let kernel: any BinaryKernel
        if Bool.random(using: &random) {
          let product = QuantizedProduct(
            lhsZeroPoint: zeroPoint(), rhsZeroPoint: zeroPoint(),
            output: result(.random(in: 0.001...0.05, using: &random)))
          kernel = kernels.prepare(product, isSigned: isSigned, pair)
        } else {
          let operand = QuantizedOperand(zeroPoint: zeroPoint(), multiplier: FixedPointMultiplier(0.5))
          let other = QuantizedOperand(
            zeroPoint: zeroPoint(),
            multiplier: FixedPointMultiplier(.random(in: 0.05...0.5, using: &random)))
          let sum = QuantizedSum(
            lhs: operand, rhs: other, isDifference: Bool.random(using: &random), leftShift: 20,
            output: result(.random(in: 0.6...1.4, using: &random) * 0x1p-20))
          kernel = kernels.prepare(sum, isSigned: isSigned, pair)
        }
        let right = tensors[choice]
        try add(kernel.stage, sources) {
          kernel.run(left.span.bytes, right.span.bytes, to: &$0, threads: alone)
        }
      }
      let chain = try Chain(stages, tensorCount: used.count, using: kernels)
      for threads in [1, 3] {
        var scratch = [UInt8](repeating: 0xA5, count: chain.scratchByteCount(threads: threads))
        var found = [UInt8](repeating: 0xA5, count: count)
        var inputs = ChainInputs()
        for index in used {
          let tensor = tensors[index]
          inputs.add(tensor.span.bytes)
        }
        var span = found.mutableSpan
        var output = span.mutableBytes
        var work = scratch.mutableSpan
        var memory = work.mutableBytes
        chain.run(inputs, to: &output, scratch: &memory, threads: ThreadTeam(count: threads))
        #expect(found == results.last, "seed \(seed), \(shape), \(chain.implementation)")
      }
    }
  }

  @Test("zeros of either sign are constants of their own", arguments: sets)
  func signedZeros(kernels: KernelSet) throws {
    let alone = ThreadTeam(count: 1)
    let values = (0..<40).map { Float($0) - 20.5 }
    for alpha in [0, -0.0] as [Float] {
      var floats = values
      var stages: Chain.Stages = []
      for function in [FloatFunction.leakyRelu(alpha: alpha), .negate] {
        let kernel = function.choose(count: values.count, using: kernels).kernel
        floats = result(values.count) { kernel.run(floats.span.bytes, to: &$0, threads: alone) }
        stages.append((try #require(kernel.stage), [stages.isEmpty ? .tensor(0) : .stage(0)]))
      }
      let chain = try Chain(stages, tensorCount: 1, using: kernels)
      var scratch = [UInt8](repeating: 0xA5, count: chain.scratchByteCount(threads: 1))
      let found = result(values.count) { output in
        var span = scratch.mutableSpan
        var memory = span.mutableBytes
        run(chain, [values], to: &output, &memory, threads: 1)
      }
      #expect(found.map(\.bitPattern) == floats.map(\.bitPattern), "\(alpha)")
    }
  }

  @Test("a chain of bytes is a table of the results of its kernels", arguments: sets, [1, 3, 32])
  func tables(kernels: KernelSet, depth: Int) throws {
    let alone = ThreadTeam(count: 1)
    var random = SeededGenerator(seed: UInt64(depth))
    let shape = [600, depth]
    let count = 600 * depth
    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    let factors = (0..<depth).map { _ in Float.random(in: -1...1, using: &random) }
    let first = Dequantization(scale: 0.07, zeroPoint: -5).bytes(isSigned: true, count: count)
    let second = FloatFunction.tanh.choose(count: count, using: kernels).kernel
    let third = kernels.prepare(FloatOperation(.multiply), try #require(BroadcastShapes(shape, [depth])))
    let last = FloatQuantization(scale: 0.011, zeroPoint: 3, range: -128...127).bytes(count: count)
    let reals = result(count) { first.run(bytes.span.bytes, to: &$0, threads: alone) }
    let bent = result(count) { second.run(reals.span.bytes, to: &$0, threads: alone) }
    let scaled = result(count) { third.run(bent.span.bytes, factors.span.bytes, to: &$0, threads: alone) }
    func bytesOf(_ kernel: any UnaryKernel, _ input: RawSpan) -> [UInt8] {
      var values = [UInt8](repeating: 0xA5, count: count)
      var span = values.mutableSpan
      var output = span.mutableBytes
      kernel.run(input, to: &output, threads: alone)
      return values
    }
    let expected = bytesOf(last, scaled.span.bytes)
    let stages: Chain.Stages = [
      (try #require(first.stage), [.tensor(0)]), (try #require(second.stage), [.stage(0)]),
      (try #require(third.stage), [.stage(1), .tensor(1)]), (try #require(last.stage), [.stage(2)]),
    ]
    let tabulated = unsafe factors.withUnsafeBytes { factors in
      unsafe Chain.tabulated(stages, [nil, factors], depth: depth)
    }
    switch try #require(tabulated) {
    case .table(let table):
      #expect(depth == 1)
      #expect(bytesOf(table.kernel(count: count, using: kernels), bytes.span.bytes) == expected)
    case .channels(let kernel):
      #expect(depth > 1)
      #expect(bytesOf(kernel, bytes.span.bytes) == expected)
    }
    // All four stages as a chain, which is one generated loop if the set has elementwise code.
    let whole = [
      Dequantization(scale: 0.07, zeroPoint: -5).bytes(isSigned: true, count: count, using: kernels).stage,
      second.stage, third.stage,
      FloatQuantization(scale: 0.011, zeroPoint: 3, range: -128...127).bytes(count: count, using: kernels)
        .stage,
    ]
    let parts = zip(whole.compactMap { $0 }, stages).map { (stage: $0, sources: $1.sources) }
    let chain = try Chain(parts, tensorCount: 2, using: kernels)
    #expect(chain.implementation.contains("generated loop of") == (kernels.generated != nil))
    for threads in [1, 3] {
      var scratch = [UInt8](repeating: 0xA5, count: chain.scratchByteCount(threads: threads))
      var found = [UInt8](repeating: 0xA5, count: count)
      var inputs = ChainInputs()
      inputs.add(bytes.span.bytes)
      inputs.add(factors.span.bytes)
      var span = found.mutableSpan
      var output = span.mutableBytes
      var memory = scratch.mutableSpan
      var room = memory.mutableBytes
      chain.run(inputs, to: &output, scratch: &room, threads: ThreadTeam(count: threads))
      #expect(found == expected)
    }
    // A factor for each element is no table's.
    let product = kernels.prepare(FloatOperation(.multiply), try #require(BroadcastShapes(shape, shape)))
    let others = stages.prefix(2) + [(try #require(product.stage), [.stage(1), .tensor(1)]), stages[3]]
    let none = unsafe reals.withUnsafeBytes { reals in
      unsafe Chain.tabulated(Array(others), [nil, reals], depth: depth)
    }
    if none != nil { Issue.record("a chain of whole operands became a table") }
  }

  private func run(
    _ chain: Chain, _ tensors: [[Float]], to output: inout MutableRawSpan,
    _ scratch: inout MutableRawSpan, threads: Int
  ) {
    var inputs = ChainInputs()
    withExtendedLifetime(tensors) {
      for tensor in tensors { inputs.add(tensor.span.bytes) }
      chain.run(inputs, to: &output, scratch: &scratch, threads: ThreadTeam(count: threads))
    }
  }

  @Test("stages that do not fit each other make no chain")
  func misfits() throws {
    let kernels = KernelSet.portable
    let long = try #require(FloatFunction.negate.choose(count: 10, using: kernels).kernel.stage)
    let short = try #require(FloatFunction.negate.choose(count: 9, using: kernels).kernel.stage)
    #expect(throws: Decline.self) {
      try Chain([(long, [.tensor(0)]), (short, [.stage(0)])], tensorCount: 1)
    }
    #expect(throws: Decline.self) { try Chain([(long, [.stage(0)])], tensorCount: 0) }
    #expect(throws: Decline.self) { try Chain([(long, [.tensor(1)])], tensorCount: 1) }
    #expect(throws: Decline.self) {
      try Chain([(long, [.tensor(0)]), (long, [.tensor(0)])], tensorCount: 1)
    }
    _ = try Chain([(long, [.tensor(0)]), (long, [.stage(0)])], tensorCount: 1)
    #expect(throws: Decline.self) {
      try Chain([(long, [.tensor(0)]), (long, [.stage(0)])], tensorCount: 2)
    }
  }
}
