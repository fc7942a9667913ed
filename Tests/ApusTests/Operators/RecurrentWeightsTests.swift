// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

@Suite("Weights of recurrent layers")
struct RecurrentWeightsTests {
  /// An LSTM of four cells and two outputs on three values. Weights at the positions `bytes` are int8, not float32; weights at
  /// `diagonals` have the shape [cells].
  private func model(bytes: Set<Int32>, diagonals: Set<Int32>) -> TestModel {
    let (depth, cells, outputs): (Int32, Int32, Int32) = (3, 4, 2)
    var tensors = [TestModel.TensorSpec(name: "x", shape: [1, 1, depth])]
    var inputs: [Int32] = [0]
    for position in 1..<20 as Range<Int32> {
      var spec: TestModel.TensorSpec
      switch position {
      case 1...4: spec = .init(name: "input weights", shape: [cells, depth])
      case 5...8: spec = .init(name: "recurrent weights", shape: [cells, outputs])
      case 12...15: spec = .init(name: "bias", shape: [cells])
      case 16: spec = .init(name: "projection", shape: [outputs, cells])
      case 18: spec = .init(name: "output state", shape: [1, outputs], isVariable: true)
      case 19: spec = .init(name: "cell state", shape: [1, cells], isVariable: true)
      default:
        inputs.append(-1)
        continue
      }
      if diagonals.contains(position) { spec.shape = [cells] }
      let count = Int(spec.shape.reduce(1, *))
      if bytes.contains(position) {
        (spec.type, spec.scale, spec.data) = (9, 0.01, Array(repeating: 7, count: count))
      } else if !spec.isVariable {
        spec.data = TestModel.bytes(Array(repeating: Float(0.25), count: count))
      }
      inputs.append(Int32(tensors.count))
      tensors.append(spec)
    }
    tensors.append(.init(name: "y", shape: [1, 1, outputs]))
    return TestModel(
      tensors: tensors,
      operators: [
        .init(
          code: .unidirectionalSequenceLSTM, inputs: inputs, outputs: [Int32(tensors.count - 1)],
          options: .activation(4))
      ],
      inputs: [0], outputs: [Int32(tensors.count - 1)])
  }

  private static let matrices: Set<Int32> = [1, 2, 3, 4, 5, 6, 7, 8, 16]

  @Test("all of bytes, all of floats", arguments: [[], matrices])
  func accepted(bytes: Set<Int32>) throws {
    let interpreter = try Interpreter(model: model(bytes: bytes, diagonals: []).model())
    try interpreter.copy([1, 2, 3] as [Float], toInputAt: 0)
    try interpreter.invoke()
    let output: [Float] = try interpreter.output(at: 0)
    #expect(output.allSatisfy { $0 > 0 && $0 < 1 })
  }

  @Test("bytes among floats, or the other way around, are refused", arguments: matrices)
  func mixed(position: Int32) throws {
    for bytes in [[position], Self.matrices.subtracting([position])] {
      let model = try model(bytes: bytes, diagonals: []).model()
      let error = #expect(throws: ApusError.self) { try Interpreter(model: model) }
      #expect(error?.message.contains("weights of bytes and of floats") == true, "\(error?.message ?? "")")
    }
  }

  @Test("a diagonal longer than the vector is refused", arguments: [[], matrices])
  func diagonal(bytes: Set<Int32>) throws {
    for position in [1, 5, 6, 7] as [Int32] {
      let model = try model(bytes: bytes, diagonals: [position]).model()
      let error = #expect(throws: ApusError.self) { try Interpreter(model: model) }
      #expect(error?.message.contains("a diagonal of 4") == true, "\(error?.message ?? "")")
    }
  }
}
