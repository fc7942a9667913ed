// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import TestSupport
import Testing

/// Operators that the one before them does; where every tensor keeps its memory, each is done by itself.
@Suite struct FusionTests {
  private static let channels = 20

  private static func floats(_ count: Int, seed: UInt64) -> [Float] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { _ in .random(in: -1...1, using: &random) }
  }

  /// `prelu(conv(x) + mul(x, x))`, then `relu(that + that)`; the product comes before the convolution or after it. The
  /// sum is an output too where that is asked for.
  private static func model(productFirst: Bool, readsSum: Bool = false) throws -> Model {
    var graph = TestGraph()
    let x = graph.input("x", [1, 9, 7, channels], signature: [1, -1, 7, channels])
    let weights = floats(channels * 9 * channels, seed: 1)
    let filter = graph.constant("w", [channels, 3, 3, channels], floats: weights)
    let bias = graph.constant("b", [channels], floats: floats(channels, seed: 2))
    let alpha = graph.constant("alpha", [1, 1, channels], floats: floats(channels, seed: 3))
    var product = productFirst ? graph.mul(x, x) : .none
    let convolution = graph.conv2D(x, filter: filter, bias: bias)
    if !productFirst { product = graph.mul(x, x) }
    let sum = graph.add(convolution, product)
    let prelu = graph.add(.prelu, inputs: [sum, alpha])
    let y = graph.relu(graph.add(prelu, prelu))
    return try graph.model(outputs: readsSum ? [y, sum] : [y]).model()
  }

  private static func outputs(_ interpreter: Interpreter) throws -> [[Float]] {
    let count = interpreter.inputs[0].shape.elementCount
    try interpreter.copy(floats(count, seed: 4), toInputAt: 0)
    try interpreter.invoke()
    return try interpreter.outputs.indices.map { try interpreter.output(at: $0) }
  }

  @Test(
    "answers are those of the operators by themselves, whatever the order, the threads and the shape",
    arguments: [true, false], [true, false])
  func answers(productFirst: Bool, readsSum: Bool) throws {
    let model = try Self.model(productFirst: productFirst, readsSum: readsSum)
    for kernels in Runtime.kernelSets where kernels.isSupported {
      var options = Interpreter.Options()
      options.kernels = kernels.name
      options.preservesAllTensors = true
      let plain = try Interpreter(model: model, options: options)
      options.preservesAllTensors = false
      for threads in 1...3 {
        options.threadCount = threads
        let fused = try Interpreter(model: model, options: options)
        for height in [9, 40, 9] {
          for interpreter in [plain, fused] {
            try interpreter.resizeInput(at: 0, to: [1, height, 7, Self.channels])
          }
          #expect(try Self.outputs(fused) == Self.outputs(plain), "\(kernels.name), \(threads) threads")
        }
      }
    }
  }

  /// `y = x · σ(x)` after a clamp, or a convolution; in which order the factors come, and whether σ(x) is an output too.
  private static func gate(_ type: TensorType, gateFirst: Bool, readsGate: Bool = false) throws -> Model {
    func quantized(_ scale: Float) -> TestGraph.Result { .init(scale: type == .float32 ? nil : scale) }
    var graph = TestGraph()
    let input = graph.input(
      "input", [1, 9, 7, channels], signature: [1, -1, 7, channels], type: type, scale: quantized(0.04).scale)
    let x: TestGraph.Tensor
    if type == .float32 {
      let weights = floats(channels * channels, seed: 1)
      let filter = graph.constant("w", [channels, 1, 1, channels], floats: weights)
      x = graph.conv2D(
        input, filter: filter, bias: graph.constant("b", [channels], floats: floats(channels, seed: 2)))
    } else {
      x = graph.relu(input, as: quantized(0.05))
    }
    let gate = graph.logistic(x, as: quantized(1 / 256))
    let y = graph.mul(gateFirst ? gate : x, gateFirst ? x : gate, as: quantized(0.031))
    return try graph.model(outputs: readsGate ? [y, gate] : [y]).model()
  }

  @Test(
    "a tensor times a function of it is one function, with the same answers",
    arguments: [TensorType.float32, .uint8], [true, false])
  func gates(type: TensorType, gateFirst: Bool) throws {
    for readsGate in [false, true] {
      let model = try Self.gate(type, gateFirst: gateFirst, readsGate: readsGate)
      for kernels in Runtime.kernelSets where kernels.isSupported {
        var options = Interpreter.Options()
        options.kernels = kernels.name
        options.profiles = true
        let fused = try Interpreter(model: model, options: options)
        options.preservesAllTensors = true
        let plain = try Interpreter(model: model, options: options)
        for height in [9, 40, 9] {
          var answers: [[UInt8]] = []
          for interpreter in [plain, fused] {
            try interpreter.resizeInput(at: 0, to: [1, height, 7, Self.channels])
            let count = interpreter.inputs[0].shape.elementCount
            if type == .float32 {
              try interpreter.copy(Self.floats(count, seed: 4), toInputAt: 0)
            } else {
              try interpreter.copy((0..<count).map { UInt8(truncatingIfNeeded: $0) }, toInputAt: 0)
            }
            try interpreter.invoke()
            answers.append(
              try interpreter.outputs.indices.flatMap { position in
                try interpreter.withOutputBytes(at: position) { span in span.withUnsafeBytes { Array($0) } }
              })
          }
          #expect(answers[0] == answers[1], "\(kernels.name), \(height), \(readsGate)")
        }
        #expect(fused.profile.contains { $0.name == "LOGISTIC" } == readsGate)
        #expect(plain.profile.contains { $0.name == "LOGISTIC" })
      }
    }
  }

  @Test("a sum and what follows it take no step of their own, unless something else reads it")
  func steps() throws {
    var options = Interpreter.Options()
    options.profiles = true
    options.kernels = "portable"
    options.passes = .all.without([.chains])
    func names(_ model: Model) throws -> [String] {
      let interpreter = try Interpreter(model: model, options: options)
      _ = try Self.outputs(interpreter)
      return interpreter.profile.map(\.name)
    }
    // The portable convolution adds nothing; sums apply functions.
    #expect(try names(Self.model(productFirst: true)) == ["MUL", "CONV_2D", "ADD", "ADD"])
    #expect(
      try names(Self.model(productFirst: true, readsSum: true)) == ["MUL", "CONV_2D", "ADD", "PRELU", "ADD"])
    options.kernels = nil
    guard Runtime.kernelSets.contains(where: { $0.name == "x86-avx2" && $0.isSupported }) else { return }
    #expect(try names(Self.model(productFirst: true)) == ["MUL", "CONV_2D", "ADD"])
    #expect(try names(Self.model(productFirst: false)) == ["MUL", "CONV_2D", "ADD"])
  }
}
