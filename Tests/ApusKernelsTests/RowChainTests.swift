// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// A chain over rows computes what its kernels compute one after the other, bit by bit.
@Suite("Chains over rows")
struct RowChainTests {
  private static let sets = KernelSet.tested.filter { !$0.isEmulated }
  private static let kinds: [FloatOperation.Kind] = [
    .add, .subtract, .multiply, .squaredDifference, .parametricRelu, .maximum, .minimum,
  ]
  private static let alone = ThreadTeam(count: 1)

  /// How a value runs along the rows.
  private enum Shape: CaseIterable {
    case whole
    case row
    case narrow
    case number
    case rows
    case narrowRows
    case groups
  }

  /// A value that stages may read.
  private struct Value {
    let shape: Shape
    let floats: [Float]
    let source: Chain.Source
  }

  /// A chain under construction, and what its kernels compute alone.
  private struct Case {
    let kernels: KernelSet
    let groups: Int
    let height: Int
    let depth: Int
    var random: SeededGenerator
    var tensors: [[Float]] = []
    var values: [Value] = []
    var stages: Chain.Stages = []

    var rows: Int { groups * height }

    init(_ seed: Int, _ kernels: KernelSet) {
      self.kernels = kernels
      random = SeededGenerator(seed: UInt64(seed))
      (groups, height, depth) = [
        (1, 1, 40), (1, 7, 32), (2, 5, 100), (3, 33, 768), (1, 700, 33), (1, 128, 257), (2, 2, 4000),
        (2, 9, 64), (1, 300, 16),
        (40, 31, 4),
        (1, 1, 2), (1, 5, 4097),
      ].pick(using: &random)
    }

    func dimensions(_ shape: Shape) -> [Int] {
      switch shape {
      case .whole: [groups, height, depth]
      case .row: [depth]
      case .narrow: [groups, height, 1]
      case .number: []
      case .rows: [height, depth]
      case .narrowRows: [height, 1]
      case .groups: [groups, 1, 1]
      }
    }

    mutating func tensor(_ shape: Shape) -> Value {
      let count = dimensions(shape).reduce(1, *)
      let floats = (0..<count).map { _ in Float.random(in: -2...2, using: &random) }
      tensors.append(floats)
      let value = Value(shape: shape, floats: floats, source: .tensor(tensors.count - 1))
      values.append(value)
      return value
    }

    mutating func append(_ stage: ChainStage, _ sources: [Value], _ shape: Shape, _ floats: [Float])
      -> Value
    {
      stages.append((stage, sources.map(\.source)))
      let value = Value(shape: shape, floats: floats, source: .stage(stages.count - 1))
      values.append(value)
      return value
    }

    /// The mean, sum or an extreme of each row.
    mutating func reduce(_ value: Value) throws -> Value {
      let kind = [Reduction.Kind.sum, .sum, .maximum, .minimum].pick(using: &random)
      let reduction = Reduction(dimensions: [rows, depth], isFolded: [false, true])
      let divides = Bool.random(using: &random)
      var isSum = false
      if case .sum = kind { isSum = true }
      let divisor = divides && isSum ? depth : nil
      let stage = try #require(reduction.stage(kind, divisor: divisor, startsWithFirst: rows == 1))
      var sums = [Float](repeating: 0, count: rows)
      unsafe sums.withUnsafeMutableBytes { memory in
        var span = unsafe MutableRawSpan(_unsafeBytes: memory)
        reduction.run(
          kind, .float32, value.floats.span.bytes, to: &span, startsWithFirst: rows == 1,
          threads: RowChainTests.alone)
      }
      return append(
        stage, [value], .narrow, divisor.map { count in sums.map { $0 / Float(count) } } ?? sums)
    }

    mutating func unary(_ value: Value) throws -> Value {
      let kernel = FloatFunction.samples.pick(using: &random).choose(
        count: value.floats.count, using: kernels
      ).kernel
      let floats = RowChainTests.result(value.floats.count) {
        kernel.run(value.floats.span.bytes, to: &$0, threads: RowChainTests.alone)
      }
      return append(try #require(kernel.stage), [value], value.shape, floats)
    }

    mutating func binary(_ first: Value, _ second: Value) throws -> Value {
      let operation = FloatOperation(RowChainTests.kinds.pick(using: &random), minimum: -50, maximum: 50)
      let shapes = try #require(BroadcastShapes(dimensions(first.shape), dimensions(second.shape)))
      let kernel = kernels.prepare(operation, shapes)
      let isWhole = first.shape != .narrow || second.shape == .row
      let floats = RowChainTests.result(shapes.result.reduce(1, *)) {
        kernel.run(first.floats.span.bytes, second.floats.span.bytes, to: &$0, threads: RowChainTests.alone)
      }
      return append(
        try #require(kernel.stage), [first, second], isWhole ? .whole : .narrow, floats)
    }
  }

  private static func result(_ count: Int, _ body: (inout MutableRawSpan) -> Void) -> [Float] {
    var values = [Float](repeating: .nan, count: count)
    unsafe values.withUnsafeMutableBytes { memory in
      var span = unsafe MutableRawSpan(_unsafeBytes: memory)
      body(&span)
    }
    return values
  }

  private static func run(_ chain: Chain, _ tensors: [[Float]], count: Int, threads: Int) -> [Float] {
    var scratch = [UInt8](repeating: 0xA5, count: chain.scratchByteCount(threads: threads))
    return result(count) { output in
      var inputs = ChainInputs()
      var span = scratch.mutableSpan
      var memory = span.mutableBytes
      withExtendedLifetime(tensors) {
        for tensor in tensors { inputs.add(tensor.span.bytes) }
        chain.run(inputs, to: &output, scratch: &memory, threads: ThreadTeam(count: threads))
      }
    }
  }

  private static func isSame(_ first: [Float], _ second: [Float]) -> Bool {
    first.count == second.count
      && zip(first, second).allSatisfy { $0.bitPattern == $1.bitPattern || $0.isNaN && $1.isNaN }
  }

  @Test("random chains match their kernels one by one", arguments: sets)
  func chains(kernels: KernelSet) throws {
    for seed in 0..<400 {
      var made = Case(seed, kernels)
      // Each stage reads the one before it, so that all are needed.
      var last = made.tensor(.whole)
      var folded: Value?
      for _ in 0..<Int.random(in: 2...8, using: &made.random) {
        let choice = Int.random(in: 0..<6, using: &made.random)
        if last.shape == .whole, choice < 2 {
          last = try made.reduce(last)
          folded = last
        } else if choice == 2 {
          last = try made.unary(last)
        } else {
          let shapes: [Shape] = last.shape == .narrow ? [.narrow, .number, .row] : Shape.allCases
          let shape = shapes.pick(using: &made.random)
          let known = made.values.filter { $0.shape == shape }
          let other =
            known.isEmpty || made.tensors.count < 4 && Bool.random(using: &made.random)
            ? made.tensor(shape) : known.pick(using: &made.random)
          last = try made.binary(last, other)
        }
      }
      if folded == nil {
        last = try made.reduce(last.shape == .whole ? last : made.binary(last, made.tensor(.row)))
      }
      func chain() throws(Decline) -> Chain {
        try Chain(
          made.stages, tensorCount: made.tensors.count,
          using: seed.isMultiple(of: 4) ? .portable : kernels)
      }
      guard (4...4096).contains(made.depth) else {
        #expect(throws: Decline.self) { try chain() }
        continue
      }
      let found = try chain()
      for threads in [1, 3] {
        let results = Self.run(found, made.tensors, count: last.floats.count, threads: threads)
        #expect(
          Self.isSame(results, last.floats), "seed \(seed), \(made.rows)×\(made.depth), \(threads) threads")
      }
      // The result may lie where a tensor does, if the chain says so.
      for place in made.tensors.indices where found.mayOverwrite(place) {
        #expect(made.tensors[place].count == last.floats.count)
        var values = made.tensors[place]
        var scratch = [UInt8](repeating: 0, count: found.scratchByteCount(threads: 1))
        unsafe values.withUnsafeMutableBytes { memory in
          var inputs = ChainInputs()
          for (index, tensor) in made.tensors.enumerated() {
            if index == place {
              inputs.add(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(memory)))
            } else {
              inputs.add(tensor.span.bytes)
            }
          }
          var output = unsafe MutableRawSpan(_unsafeBytes: memory)
          var span = scratch.mutableSpan
          var bytes = span.mutableBytes
          withExtendedLifetime(made.tensors) {
            found.run(inputs, to: &output, scratch: &bytes, threads: Self.alone)
          }
        }
        #expect(Self.isSame(values, last.floats), "in place of \(place): seed \(seed)")
      }
    }
  }

  @Test("what is folded by columns is what the reduction makes of the kernels' results", arguments: sets)
  func columns(kernels: KernelSet) throws {
    var random = SeededGenerator(seed: 3)
    for (rows, depth) in [(2, 3), (50, 32), (700, 40), (5000, 31), (4096, 300), (3, 4096)] {
      let x = (0..<rows * depth).map { _ in Float.random(in: -2...2, using: &random) }
      let mean = (0..<depth).map { _ in Float.random(in: -1...1, using: &random) }
      let kernel = kernels.prepare(
        FloatOperation(.squaredDifference), try #require(BroadcastShapes([1, rows, depth], [1, 1, depth])))
      let squares = Self.result(rows * depth) {
        kernel.run(x.span.bytes, mean.span.bytes, to: &$0, threads: Self.alone)
      }
      let reduction = Reduction(dimensions: [1, rows, depth], isFolded: [false, true, false])
      let sums = Self.result(reduction.sumCount) {
        reduction.sum(.float32, squares.span.bytes, to: &$0, threads: Self.alone)
      }
      let stage = try #require(reduction.stage(.sum, divisor: rows))
      let difference = try #require(kernel.stage)
      let chain = try Chain(
        [(difference, [.tensor(0), .tensor(1)]), (stage, [.stage(0)])],
        tensorCount: 2, using: kernels)
      for threads in [1, 3] {
        let found = Self.run(chain, [x, mean], count: depth, threads: threads)
        #expect(Self.isSame(found, sums.prefix(depth).map { $0 / Float(rows) }), "\(rows)×\(depth)")
      }
    }
  }

  @Test("stages that do not fit each other make no chain")
  func misfits() throws {
    let kernels = KernelSet.portable
    func negation(_ count: Int) throws -> ChainStage {
      try #require(FloatFunction.negate.choose(count: count, using: kernels).kernel.stage)
    }
    let reduction = Reduction(dimensions: [6, 8], isFolded: [false, true])
    let mean = try #require(reduction.stage(.sum, divisor: 8))
    func chain(_ stages: Chain.Stages, tensors: Int = 1) -> Bool {
      (try? Chain(stages, tensorCount: tensors)) != nil
    }
    #expect(chain([(try negation(48), [.tensor(0)]), (mean, [.stage(0)])]))
    #expect(chain([(mean, [.tensor(0)]), (try negation(6), [.stage(0)])]))
    // A stage is not read, another matrix, rows read as elements, a tensor too few and one too many.
    #expect(!chain([(try negation(48), [.tensor(0)]), (mean, [.tensor(0)])]))
    #expect(!chain([(try negation(24), [.tensor(0)]), (mean, [.stage(0)])]))
    #expect(!chain([(mean, [.tensor(0)]), (try negation(48), [.stage(0)])]))
    #expect(!chain([(mean, [.tensor(1)]), (try negation(6), [.stage(0)])]))
    #expect(!chain([(mean, [.tensor(0)]), (try negation(6), [.stage(0)])], tensors: 2))
    // Columns are folded last.
    let columns = Reduction(dimensions: [6, 8], isFolded: [true, false])
    let sum = try #require(columns.stage(.sum))
    #expect(chain([(try negation(48), [.tensor(0)]), (sum, [.stage(0)])]))
    #expect(!chain([(sum, [.tensor(0)]), (try negation(6), [.stage(0)])]))
    #expect(columns.stage(.maximum) == nil)
    #expect(Reduction(dimensions: [2, 3, 4], isFolded: [false, true, false]).stage(.sum) == nil)
  }
}
