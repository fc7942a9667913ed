// SPDX-License-Identifier: Apache-2.0

import XCTest

@testable import TensorFlowLite

/// Tests with the habits of TensorFlowLiteSwift's own: XCTest, Swift 5, internal initializers, tensors as constants.
class FormerClientTests: XCTestCase {
  var interpreter: Interpreter!

  override func setUp() {
    super.setUp()
    interpreter = try! Interpreter(modelPath: Tripling.path)
  }

  override func tearDown() {
    interpreter = nil
    super.tearDown()
  }

  func testInit() {
    XCTAssertNoThrow(try Interpreter(modelPath: Tripling.path))
    XCTAssertThrowsError(try Interpreter(modelPath: "/invalid/path")) { error in
      self.assertEqualErrors(actual: error, expected: .failedToLoadModel)
    }
    XCTAssertNil(interpreter.options)
    XCTAssertNil(interpreter.delegates)
    XCTAssertEqual(interpreter.inputTensorCount, 1)
    XCTAssertEqual(interpreter.outputTensorCount, 1)
  }

  func testOptions() throws {
    var options = Interpreter.Options()
    XCTAssertNil(options.threadCount)
    XCTAssertFalse(options.isXNNPackEnabled)
    options.threadCount = 2
    XCTAssertNotEqual(options, Interpreter.Options())
    XCTAssertEqual(try Interpreter(modelPath: Tripling.path, options: options).options, options)
    XCTAssertEqual(try Interpreter(modelData: Tripling.data, options: options).options, options)
  }

  func testInvoke() throws {
    XCTAssertThrowsError(try interpreter.invoke()) { error in
      self.assertEqualErrors(actual: error, expected: .allocateTensorsRequired)
    }
    XCTAssertThrowsError(try interpreter.output(at: 0)) { error in
      self.assertEqualErrors(actual: error, expected: .invokeInterpreterRequired)
    }
    try interpreter.allocateTensors()
    XCTAssertThrowsError(try interpreter.copy(Tripling.inputData.dropLast(), toInputAt: 0)) { error in
      self.assertEqualErrors(
        actual: error,
        expected: .invalidTensorDataCount(
          provided: Tripling.inputData.count - 1, required: Tripling.inputData.count))
    }
    XCTAssertThrowsError(try interpreter.copy(Tripling.inputData, toInputAt: 1)) { error in
      self.assertEqualErrors(actual: error, expected: .invalidTensorIndex(index: 1, maxIndex: 0))
    }
    XCTAssertEqual(try interpreter.copy(Tripling.inputData, toInputAt: 0), Tripling.inputTensor)
    XCTAssertEqual(try interpreter.input(at: 0), Tripling.inputTensor)
    try interpreter.invoke()
    let outputTensor = try interpreter.output(at: 0)
    XCTAssertEqual(outputTensor, Tripling.outputTensor)
    XCTAssertEqual([Float32](unsafeData: outputTensor.data), Tripling.results)
  }

  func testResize() throws {
    XCTAssertThrowsError(try interpreter.resizeInput(at: 3, to: [1])) { error in
      self.assertEqualErrors(actual: error, expected: .invalidTensorIndex(index: 3, maxIndex: 0))
    }
    XCTAssertNoThrow(try interpreter.resizeInput(at: 0, to: Tensor.Shape(2, 8, 8, 3)))
    XCTAssertNoThrow(try interpreter.allocateTensors())
    XCTAssertEqual(try interpreter.input(at: 0).shape, Tensor.Shape([2, 8, 8, 3]))
  }

  func testSignatures() throws {
    let interpreter = try Interpreter(modelPath: path(of: "multi_signatures"))
    XCTAssertEqual(interpreter.signatureKeys, ["add", "sub"])
    XCTAssertThrowsError(try interpreter.signatureRunner(with: "none")) { error in
      XCTAssertEqual(
        error as? SignatureRunnerError, .failedToCreateSignatureRunner(signatureKey: "none"))
    }
    let runner = try interpreter.signatureRunner(with: "add")
    XCTAssertEqual(runner.inputs, ["x"])
    try runner.resizeInput(named: "x", toShape: [2])
    try runner.allocateTensors()
    try runner.invoke(with: ["x": Data(copyingBufferOf: [Float32(2.0), Float32(4.0)])])
    let output = try runner.output(named: runner.outputs[0])
    XCTAssertEqual([Float32](unsafeData: output.data), [4.0, 6.0])
  }

  func testValues() {
    let tensor = Tensor(
      name: "Input", dataType: .uInt8, shape: Tensor.Shape([2, 3]), data: Data([1, 2, 3, 4, 5, 6]),
      quantizationParameters: QuantizationParameters(scale: 0.5, zeroPoint: 1))
    XCTAssertEqual(tensor.shape.rank, 2)
    XCTAssertEqual(tensor.shape, [2, 3])
    XCTAssertEqual(tensor.quantizationParameters?.zeroPoint, 1)
    XCTAssertNotNil(Model(filePath: Tripling.path))
    XCTAssertNil(Model(filePath: ""))
    XCTAssertNil(Model(filePath: "invalid/path"))
    XCTAssertEqual(MetalDelegate().options.waitType, .passive)
    XCTAssertFalse(MetalDelegate.Options().isPrecisionLossAllowed)
    XCTAssertEqual(CoreMLDelegate.Options().minNodesPerPartition, 2)
    XCTAssertNotNil(Runtime.version.range(of: "^[0-9]+\\.[0-9]+\\.[0-9]+", options: .regularExpression))
  }

  func testAcceleratorsAreRefused() throws {
    XCTAssertNoThrow(try makeInterpreter(path: Tripling.path, accelerated: false))
    XCTAssertThrowsError(try makeInterpreter(path: Tripling.path, accelerated: true)) { error in
      XCTAssert(error.localizedDescription.contains("MetalDelegate"))
    }
    XCTAssertEqual(ModelSummary.names(of: [MetalDelegate()]), ["MetalDelegate"])
  }

  func testClientCode() throws {
    let reader = try XCTUnwrap(
      ScoreReader(file: (folder: modelFolder, name: "add", extension: "tflite"), threadCount: 2))
    XCTAssertEqual(reader.inputShape, [1, 8, 8, 3])
    let scores = try reader.scores(of: Data(repeating: 255, count: 192))
    XCTAssertEqual(scores, [Float](repeating: 3, count: 192))
    XCTAssertThrowsError(try reader.scores(of: Data(repeating: 255, count: 191))) { error in
      guard case ScoreReaderError.notEnoughBytes(4) = error else { return XCTFail("\(error)") }
    }
    let done = expectation(description: "scores")
    reader.scores(of: Data(repeating: 0, count: 192)) { result in
      if case .success(let scores) = result, scores.allSatisfy({ $0 == 0 }) { done.fulfill() }
    }
    wait(for: [done], timeout: 10)
    XCTAssertNil(ScoreReader(file: (folder: "/", name: "none", extension: "tflite")))
    interpreter = try Interpreter(modelPath: Tripling.path)
    try interpreter.allocateTensors()
    XCTAssertEqual(try ModelSummary(of: interpreter).inputs, [[1, 8, 8, 3]])
    XCTAssertEqual(try interpreter.input(at: 0).dataType.byteCount, 4)
    XCTAssertEqual(try interpreter.input(at: 0).elementCount, 192)
  }
}

private let modelFolder = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  .appendingPathComponent("Models").path

private func path(of name: String) -> String { "\(modelFolder)/\(name).tflite" }

private enum Tripling {
  static let shape: Tensor.Shape = [1, 8, 8, 3]
  static let inputs = (0..<192).map { Float32($0) }
  static let inputData = Data(copyingBufferOf: inputs)
  static let results = inputs.map { 3 * $0 }

  static let inputTensor = Tensor(name: "input", dataType: .float32, shape: shape, data: inputData)
  static let outputTensor = Tensor(
    name: "output", dataType: .float32, shape: shape, data: Data(copyingBufferOf: results))

  static var path: String = modelFolder + "/add.tflite"
  static var data: Data { (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data() }
}

extension XCTestCase {
  fileprivate func assertEqualErrors(actual: Error, expected: InterpreterError) {
    guard let actual = actual as? InterpreterError else {
      XCTFail("Actual error should be of type InterpreterError.")
      return
    }
    XCTAssertEqual(actual, expected)
  }
}
