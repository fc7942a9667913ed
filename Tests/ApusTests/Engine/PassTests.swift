// SPDX-License-Identifier: Apache-2.0
import Apus
import TestSupport
import Testing

/// Each pass does what its rule says, and the model answers the same without it.
@Suite struct PassTests {
  private static let float16: Int32 = 1
  private static let channels: Int32 = 8

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
    let (c, flat) = (channels, Int32(6 * 6) * channels)
    let picture: [Int32] = [1, 6, 6, c]
    let square = Int(c * c)
    return try TestModel(
      tensors: [
        .init(name: "x", shape: picture), .init(name: "padded", shape: [1, 8, 8, c]),
        .init(
          name: "amounts", type: TestModel.int32, shape: [4, 2],
          data: [0, 0, 1, 1, 1, 1, 0, 0].flatMap { [UInt8($0), 0, 0, 0] }),
        .init(name: "halves", type: float16, shape: [c, 3, 3, c], data: halves(9 * square)),
        .init(name: "weights", shape: [c, 3, 3, c]), .init(name: "a", shape: picture),
        .init(name: "sigmoid", shape: picture), .init(name: "swish", shape: picture),
        .init(name: "w", shape: [c, 1, 1, c], data: TestModel.bytes(floats(square, seed: 1))),
        .init(name: "b", shape: [c], data: TestModel.bytes(floats(Int(c), seed: 2))),
        .init(name: "second", shape: picture), .init(name: "sum", shape: picture),
        .init(name: "relu", shape: picture), .init(name: "y", shape: [1, flat]),
        .init(
          name: "shape", type: TestModel.int32, shape: [2],
          data: [1, 0, 0, 0] + [UInt8(flat & 255), UInt8(flat >> 8), 0, 0]),
        .init(name: "twice", shape: [1, flat]),
      ],
      operators: [
        .init(code: .pad, inputs: [0, 2], outputs: [1]),
        .init(code: .dequantize, inputs: [3], outputs: [4]),
        .init(
          code: .conv2D, inputs: [1, 4, 9], outputs: [5], options: .conv2D(isValid: true)),
        .init(code: .logistic, inputs: [5], outputs: [6]),
        .init(code: .mul, inputs: [5, 6], outputs: [7]),
        .init(code: .conv2D, inputs: [7, 8, 9], outputs: [10], options: .conv2D()),
        .init(code: .add, inputs: [10, 0], outputs: [11]),
        .init(code: .relu, inputs: [11], outputs: [12]),
        .init(code: .reshape, inputs: [12, 14], outputs: [13]),
        .init(code: .add, inputs: [13, 13], outputs: [15]),
      ],
      inputs: [0], outputs: [15]
    ).model()
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
    // Who asks for them gets them all the same.
    let index = try #require(interpreter.tensors.first { $0.name == "weights" }).index
    let first = try interpreter.withTensor(at: index, as: Float.self) { span in span[0] }
    #expect(first == -0.5)
  }

  /// `RELU(x) + a · RELU(−x)` behind a convolution, then `DEQUANTIZE(QUANTIZE(…))`'s kin: `(y · b − y)²`.
  private static func chains(factors: [Float]) throws -> Model {
    let c = channels
    let picture: [Int32] = [1, 6, 6, c]
    return try TestModel(
      tensors: [
        .init(name: "x", shape: picture),
        .init(name: "w", shape: [c, 1, 1, c], data: TestModel.bytes(floats(Int(c * c), seed: 1))),
        .init(name: "b", shape: [c], data: TestModel.bytes(floats(Int(c), seed: 2))),
        .init(name: "a", shape: picture), .init(name: "positive", shape: picture),
        .init(name: "negated", shape: picture), .init(name: "negative", shape: picture),
        .init(name: "factors", shape: [c], data: TestModel.bytes(factors)),
        .init(name: "product", shape: picture), .init(name: "prelu", shape: picture),
        .init(name: "twice", shape: picture), .init(name: "difference", shape: picture),
        .init(name: "y", shape: picture),
      ],
      operators: [
        .init(code: .conv2D, inputs: [0, 1, 2], outputs: [3], options: .conv2D()),
        .init(code: .relu, inputs: [3], outputs: [4]),
        .init(code: .neg, inputs: [3], outputs: [5]),
        .init(code: .relu, inputs: [5], outputs: [6]),
        .init(code: .mul, inputs: [6, 7], outputs: [8]),
        .init(code: .add, inputs: [4, 8], outputs: [9]),
        .init(code: .mul, inputs: [9, 2], outputs: [10]),
        .init(code: .mul, inputs: [10, 9], outputs: [11]),
        .init(code: .logistic, inputs: [11], outputs: [12]),
      ],
      inputs: [0], outputs: [12]
    ).model()
  }

  @Test("PRELU of five operators is one, and elementwise operators of one shape are one step")
  func chains() throws {
    let model = try Self.chains(factors: Self.floats(Int(Self.channels), seed: 9))
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
    let model = try Self.chains(factors: Array(repeating: factor, count: Int(Self.channels)))
    let interpreter = try Interpreter(model: model)
    #expect(!interpreter.plan.steps.contains { $0.name.hasPrefix("CONV_2D + ADD") })
  }

  @Test("a result lies where an operand was, unless something else reads that")
  func overwriting() throws {
    let model = try Self.chains(factors: Self.floats(Int(Self.channels), seed: 9))
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
