// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import TestSupport
import Testing

/// Overflow in products: LiteRT's reference clamps convolutions and FULLY_CONNECTED of floats to finite
/// numbers, but neither BATCH_MATMUL nor FULLY_CONNECTED with quantized weights.
@Suite struct OverflowTests {
  private static let large: Float = 3e38

  private static func results(_ model: TestModel) throws -> [[Float]] {
    try Runtime.kernelSets.filter(\.isSupported).map { kernels in
      var options = Interpreter.Options()
      options.kernels = kernels.name
      let interpreter = try Interpreter(model: model.model(), options: options)
      let count = interpreter.inputs[0].shape.elementCount
      try interpreter.copy(Array(repeating: large, count: count), toInputAt: 0)
      try interpreter.invoke()
      return try interpreter.output(at: 0)
    }
  }

  /// Two equal numbers times a matrix that adds them, and one that adds what is opposite.
  private static func product(
    _ code: OperatorCode, weights: [Float], isQuantized: Bool, activation: UInt8 = 0, shape: [Int32] = [2, 2]
  ) -> TestModel {
    let bytes =
      isQuantized ? weights.map { UInt8(bitPattern: Int8($0 * 100)) } : TestModel.bytes(weights)
    return TestModel(
      tensors: [
        .init(name: "x", shape: Array(repeating: 1, count: shape.count - 1) + [2]),
        .init(
          name: "w", type: isQuantized ? TestModel.int8 : TestModel.float32, shape: shape, data: bytes,
          scale: isQuantized ? 1 : nil),
        .init(name: "y", shape: Array(repeating: 1, count: shape.count - 1) + [2]),
      ],
      operators: [
        .init(
          code: code, inputs: [0, 1], outputs: [2], options: .activation(activation))
      ],
      inputs: [0], outputs: [2])
  }

  @Test("products of floats with constant weights are clamped")
  func clamped() throws {
    for result in try Self.results(
      Self.product(.fullyConnected, weights: [1, 1, -1, -1], isQuantized: false))
    {
      #expect(result == [.greatestFiniteMagnitude, -.greatestFiniteMagnitude])
    }
  }

  @Test("products with quantized weights are not; RELU of infinity is infinite")
  func quantized() throws {
    for result in try Self.results(Self.product(.fullyConnected, weights: [1, 1, -1, -1], isQuantized: true))
    {
      #expect(result == [.infinity, -.infinity])
    }
    for result in try Self.results(
      Self.product(.fullyConnected, weights: [1, 1, -1, -1], isQuantized: true, activation: 1))
    {
      #expect(result == [.infinity, 0])
    }
    for result in try Self.results(
      Self.product(.fullyConnected, weights: [1, 1, -1, -1], isQuantized: true, activation: 3))
    {
      #expect(result == [6, 0])
    }
  }

  @Test("products of batches of matrices are not", arguments: [false, true])
  func batches(isQuantized: Bool) throws {
    let model = Self.product(
      .batchMatMul, weights: [1, -1, 1, -1], isQuantized: isQuantized, shape: [1, 2, 2])
    for result in try Self.results(model) { #expect(result == [.infinity, -.infinity]) }
  }
}
