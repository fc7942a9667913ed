// SPDX-License-Identifier: Apache-2.0

import Apus
import TestSupport
import Testing

/// The reasons of Docs/Security.md to refuse large models.
@Suite struct LargeModelTests {
  private static let float16: Int32 = 1

  private func error(_ model: TestModel, memoryLimit: Int? = nil, resizedTo shape: TensorShape? = nil)
    -> ApusError?
  {
    do throws(ApusError) {
      var options = Interpreter.Options()
      if let memoryLimit { options.memoryLimit = memoryLimit }
      let interpreter = try Interpreter(model: Model(bytes: model.bytes), options: options)
      if let shape { try interpreter.resizeInput(at: 0, to: shape) }
      try interpreter.invoke()
      return nil
    } catch {
      return error
    }
  }

  @Test("a matrix of float16 weights counts with the size that it has as floats")
  func halves() {
    let side: Int32 = 512
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [1, side]),
        .init(
          name: "halves", type: Self.float16, shape: [side, side],
          data: Array(repeating: 0x3C, count: Int(2 * side * side))),
        .init(name: "weights", shape: [side, side]), .init(name: "y", shape: [1, side]),
      ],
      operators: [
        .init(code: .dequantize, inputs: [1], outputs: [2]),
        .init(code: .fullyConnected, inputs: [0, 2], outputs: [3]),
      ], inputs: [0], outputs: [3])
    // The file has 512 KiB, packed weights 1 MiB.
    #expect(error(model, memoryLimit: 3 << 18)?.code == .resourceLimit)
    #expect(error(model, memoryLimit: 3 << 20) == nil)
  }

  @Test("a product has no more columns than tables of factors are made for")
  func columns() {
    let columns: Int32 = 1 << 23 + 1
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [1, 1]),
        .init(
          name: "w", type: TestModel.int8, shape: [columns, 1],
          data: Array(repeating: 1, count: Int(columns)), scale: 1),
        .init(name: "y", shape: [1, columns]),
      ], operators: [.init(code: .fullyConnected, inputs: [0, 1], outputs: [2])], inputs: [0],
      outputs: [2])
    let refused = error(model)
    #expect(refused?.code == .resourceLimit)
    #expect(
      refused?.message.contains("8388609 output channels, more than the limit of 8388608") == true,
      "\(refused as Any)")
  }

  @Test("a tensor that keeps its values keeps its shape when an input is resized")
  func variables() {
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [1, 4]), .init(name: "state", shape: [1, 4], isVariable: true),
        .init(name: "y", shape: [1, 4]),
      ],
      operators: [
        .init(code: .relu, inputs: [0], outputs: [1]),
        .init(code: .add, inputs: [1, 0], outputs: [2]),
      ], inputs: [0], outputs: [2])
    #expect(error(model) == nil)
    let refused = error(model, resizedTo: [3, 4])
    #expect(
      refused?.message.contains("variable state, 1×4, would have the shape 3×4") == true, "\(refused as Any)")
  }
}
