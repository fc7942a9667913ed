// SPDX-License-Identifier: Apache-2.0
import Apus
import TestSupport
import Testing

/// Each pass does what its rule says, and the model answers the same without it.
@Suite struct PassTests {
  private static let channels = 8

  private static func floats(_ count: Int, seed: UInt64) -> [Float] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in .random(in: -1...1, using: &random) }
  }

  private static func halves(_ count: Int) -> [UInt8] {
    (0..<count).flatMap { index in
      let bits = UInt16(0x3800 + index % 7 * 0x55) | (index % 3 == 0 ? 0x8000 : 0)
      return [UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)]
    }
  }

  /// One place for every pass: `pad`, a convolution with halves for weights, `· σ`, a second convolution with a sum, RELU,
  /// and a RESHAPE.
  private static func model() throws -> Model {
    var graph = TestGraph()
    let x = graph.input("x", [1, 6, 6, channels])
    let halves = graph.tensor(
      "halves", [channels, 3, 3, channels], type: .float16, bytes: Self.halves(9 * channels * channels))
    let filter = graph.constant(
      "w", [channels, 1, 1, channels], floats: floats(channels * channels, seed: 1))
    let bias = graph.constant("b", [channels], floats: floats(channels, seed: 2))
    let padded = graph.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
    let weights = graph.dequantize(halves, as: "weights")
    let first = graph.conv2D(padded, filter: weights, bias: bias, padding: .valid)
    let swish = graph.mul(first, graph.logistic(first))
    let sum = graph.add(graph.conv2D(swish, filter: filter, bias: bias), x)
    let row = graph.reshape(graph.relu(sum), to: [1, 6 * 6 * channels])
    let twice = graph.add(row, row)
    return try graph.model(outputs: [twice]).model()
  }

  private static func options(_ passes: Passes, kernels: KernelSetName) -> Interpreter.Options {
    var options = Interpreter.Options()
    options.kernels = kernels
    options.passes = passes
    return options
  }

  private static func steps(_ passes: Passes, kernels: KernelSetName) throws -> [String] {
    try Interpreter(model: model(), options: options(passes, kernels: kernels)).plan.steps.map(\.name)
  }

  @Test(
    "without a pass, the model answers the same; with it, there is less to do",
    arguments: Passes.optional.map(\.name))
  func answers(name: String) throws {
    let pass = try #require(Passes.optional.first { $0.name == name })
    let model = try Self.model()
    for kernels in Runtime.kernelSets where kernels.isSupported {
      var results: [[Float]] = []
      for passes in [Passes.all, .all.without([pass]), .none] {
        let interpreter = try Interpreter(model: model, options: Self.options(passes, kernels: kernels.name))
        try interpreter.copy(Self.floats(interpreter.inputs[0].shape.elementCount, seed: 3), toInputAt: 0)
        try interpreter.invoke()
        results.append(try interpreter.output(at: 0))
      }
      let largest = results[0].map(abs).max() ?? 0
      for result in results.dropFirst() {
        // A convolution that pads by itself may sum in another order.
        #expect(zip(result, results[0]).allSatisfy { abs($0 - $1) <= 1e-6 * largest }, "\(kernels.name)")
      }
    }
  }

  @Test("each pass leaves the steps that its rule says")
  func steps() throws {
    guard Runtime.kernelSets.contains(where: { $0.name == "x86-avx2" && $0.isSupported }) else { return }
    func steps(without passes: [Pass]) throws -> [String] {
      try Self.steps(.all.without(passes), kernels: "x86-avx2")
    }
    let joined = ["CONV_2D + PAD + MUL + LOGISTIC", "CONV_2D + ADD + RELU", "ADD"]
    #expect(try steps(without: []) == joined)
    #expect(try steps(without: [.folding]).contains("DEQUANTIZE"))
    #expect(
      try steps(without: [.views]) == [
        "CONV_2D + PAD + MUL + LOGISTIC", "CONV_2D + ADD + RELU", "RESHAPE", "ADD",
      ])
    #expect(
      try steps(without: [.padding]) == ["PAD", "CONV_2D + MUL + LOGISTIC", "CONV_2D + ADD + RELU", "ADD"])
    #expect(
      try steps(without: [.gates, .chains]) == [
        "CONV_2D + PAD", "LOGISTIC", "MUL", "CONV_2D + ADD + RELU", "ADD",
      ])
    #expect(
      try steps(without: [.gates]) == ["CONV_2D + PAD", "MUL + LOGISTIC", "CONV_2D + ADD + RELU", "ADD"])
    #expect(
      try steps(without: [.sums]) == ["CONV_2D + PAD + MUL + LOGISTIC", "CONV_2D", "ADD + RELU", "ADD"])
    #expect(
      try steps(without: [.functions]) == ["CONV_2D + PAD", "MUL + LOGISTIC", "CONV_2D + ADD", "RELU", "ADD"])
    #expect(try steps(without: [.reuse]) == joined)
  }

  @Test("without reuse, each tensor has memory of its own")
  func reuse() throws {
    let model = try Self.model()
    func byteCount(_ passes: Passes) throws -> Int {
      try Interpreter(model: model, options: Self.options(passes, kernels: "portable")).memoryPlan
        .arenaByteCount
    }
    #expect(try byteCount(.all) < byteCount(.all.without([.reuse])))
  }

  @Test("halves that a kernel packs as floats never stay as floats")
  func packedHalves() throws {
    let model = try Self.model()
    let interpreter = try Interpreter(model: model, options: Self.options(.all, kernels: "portable"))
    #expect(interpreter.plan.unneeded.contains { $0.operator.name == "DEQUANTIZE" })
    // Callers that ask for them get them anyway.
    let index = try #require(interpreter.tensors.first { $0.name == "weights" }).index
    let first = try interpreter.withTensor(at: index, as: Float.self) { span in span[0] }
    #expect(first == -0.5)
  }

  /// `RELU(x) + a · RELU(−x)` behind a convolution, then `DEQUANTIZE(QUANTIZE(…))`'s kin: `(y · b − y)²`.
  private static func chains(factors: [Float]) throws -> Model {
    var graph = TestGraph()
    let x = graph.input("x", [1, 6, 6, channels])
    let filter = graph.constant(
      "w", [channels, 1, 1, channels], floats: floats(channels * channels, seed: 1))
    let bias = graph.constant("b", [channels], floats: floats(channels, seed: 2))
    let slopes = graph.constant("factors", [channels], floats: factors)
    let a = graph.conv2D(x, filter: filter, bias: bias, as: "a")
    let positive = graph.relu(a, as: "positive")
    let negated = graph.add(.neg, inputs: [a], as: "negated")
    let product = graph.mul(graph.relu(negated, as: "negative"), slopes, as: "product")
    let prelu = graph.add(positive, product, as: "prelu")
    let difference = graph.mul(graph.mul(prelu, bias, as: "twice"), prelu)
    let y = graph.logistic(difference)
    return try graph.model(outputs: [y]).model()
  }

  @Test("PRELU of five operators is one, and elementwise operators of one shape are one step")
  func chains() throws {
    let model = try Self.chains(factors: Self.floats(Self.channels, seed: 9))
    for kernels in Runtime.kernelSets where kernels.isSupported {
      var results: [[Float]] = []
      for passes in [
        Passes.all, .all.without([.rectifiers]), .all.without([.chains]), .all.without([.overwriting]), .none,
      ] {
        let interpreter = try Interpreter(model: model, options: Self.options(passes, kernels: kernels.name))
        try interpreter.copy(Self.floats(interpreter.inputs[0].shape.elementCount, seed: 3), toInputAt: 0)
        try interpreter.invoke()
        results.append(try interpreter.output(at: 0))
        let count = interpreter.plan.steps.count
        #expect(passes == .all ? count == 2 : passes == .none ? count == 9 : count > 1, "\(count)")
      }
      for result in results.dropFirst() { #expect(result == results[0], "\(kernels.name)") }
    }
  }

  @Test("a sum that is no PRELU stays what it is", arguments: [Float.infinity, .nan])
  func noRectifier(factor: Float) throws {
    let model = try Self.chains(factors: Array(repeating: factor, count: Self.channels))
    let interpreter = try Interpreter(model: model)
    #expect(!interpreter.plan.steps.contains { $0.name.hasPrefix("CONV_2D + ADD") })
  }

  @Test("a result lies where an operand was, unless something else reads that")
  func overwriting() throws {
    let model = try Self.chains(factors: Self.floats(Self.channels, seed: 9))
    let passes = Passes.all.without([.chains, .rectifiers])
    let plan = try Interpreter(model: model, options: Self.options(passes, kernels: "portable")).memoryPlan
    func offset(_ name: String) -> Int? { plan.entries.first { $0.name == name }?.offset }
    #expect(offset("product") == offset("negative"))
    // RELU reads it before.
    #expect(offset("negative") != nil && offset("negated") == offset("a"))
    #expect(offset("positive") != offset("a") && offset("twice") != offset("prelu"))
    let apart = try Interpreter(
      model: model, options: Self.options(passes.without([.overwriting]), kernels: "portable")
    ).memoryPlan
    #expect(plan.arenaByteCount <= apart.arenaByteCount)
  }
}
