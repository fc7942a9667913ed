// SPDX-License-Identifier: Apache-2.0

import ApusShapes
import Testing

@testable import TensorFlowLite

/// A client's `@testable import`: the initializers that tests of TensorFlowLiteSwift use.
struct InternalTests {
  private let bytes = Data(EmbeddedShapes.modelBytes)

  @Test("tensors are equal if all that they hold is")
  func comparesTensors() {
    let parameters = QuantizationParameters(scale: 0.5, zeroPoint: 1)
    func tensor(
      _ name: String = "t", _ type: Tensor.DataType = .uInt8, _ shape: Tensor.Shape = [2],
      _ data: Data = Data([1, 2]), _ quantization: QuantizationParameters? = nil
    ) -> Tensor {
      Tensor(name: name, dataType: type, shape: shape, data: data, quantizationParameters: quantization)
    }
    #expect(tensor() == tensor())
    #expect(Set([tensor(), tensor()]).count == 1)
    for other in [
      tensor("u"), tensor("t", .int8), tensor("t", .uInt8, [1, 2]), tensor("t", .uInt8, [2], Data([1, 3])),
      tensor("t", .uInt8, [2], Data([1, 2]), parameters),
    ] { #expect(tensor() != other) }
    #expect(Tensor(name: "t", dataType: .bool, shape: [1], data: Data([1])).quantizationParameters == nil)
    #expect(parameters != QuantizationParameters(scale: 0.4, zeroPoint: 1))
    #expect(Set([parameters, QuantizationParameters(scale: 0.5, zeroPoint: 1)]).count == 1)
  }

  @Test("the internal model keeps bytes that it was made of, and is nil for what is no model")
  func readsModels() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).tflite")
    try bytes.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let model = try #require(Model(filePath: file.path))
    #expect(model.cModel != nil && model.data == nil)
    #expect(Model(modelData: bytes)?.data == bytes)
    #expect(Model(filePath: "") == nil && Model(filePath: "invalid/path") == nil)
    #expect(Model(modelData: Data()) == nil)
  }

  @Test("bytes may be passed under the label of a path, as a test of TensorFlowLiteSwift does")
  func takesBytesAsPath() throws {
    #expect(
      try Interpreter(modelPath: bytes, options: Interpreter.Options()).options == Interpreter.Options())
  }

  #if !canImport(Metal)
    @Test("a test that asks Metal for a GPU finds none")
    func hasNoGPU() {
      #expect(MTLCreateSystemDefaultDevice() == nil)
    }
  #endif
}
