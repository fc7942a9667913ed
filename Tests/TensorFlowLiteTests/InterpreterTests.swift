// SPDX-License-Identifier: Apache-2.0

import TensorFlowLite
import Testing

/// The order of calls, and what is thrown where it is not kept. TensorFlowLiteSwift's sources and tests are the authority.
struct InterpreterTests {
  @Test("a model runs from a file and from bytes, and its tensors have names, types and shapes")
  func runsFromFileAndBytes() throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: TestModel.add.path))
    for interpreter in [try TestModel.add.interpreter(), try Interpreter(modelData: bytes)] {
      #expect(interpreter.inputTensorCount == 1)
      #expect(interpreter.outputTensorCount == 1)
      try interpreter.resizeInput(at: 0, to: [2])
      try interpreter.allocateTensors()
      let filled = try interpreter.copy(data([Float(1), 3]), toInputAt: 0)
      #expect(filled == (try interpreter.input(at: 0)))
      #expect(filled.name == "input" && filled.dataType == .float32 && filled.shape == [2])
      #expect(filled.quantizationParameters == nil)
      try interpreter.invoke()
      let output = try interpreter.output(at: 0)
      #expect(output.name == "output" && output.shape == [2])
      #expect(values(output) == [Float(3), 9])
    }
  }

  @Test("a quantized tensor has its scale and zero point")
  func describesQuantization() throws {
    let interpreter = try TestModel.addQuantized.interpreter()
    try interpreter.resizeInput(at: 0, to: [2])
    try interpreter.allocateTensors()
    try interpreter.copy(Data([1, 3]), toInputAt: 0)
    try interpreter.invoke()
    let output = try interpreter.output(at: 0)
    #expect(output.dataType == .uInt8)
    #expect(output.quantizationParameters?.scale == 0.003922)
    #expect(output.quantizationParameters?.zeroPoint == 0)
    #expect([UInt8](output.data) == [3, 9])
  }

  @Test("int8, which TensorFlowLiteSwift lacks, is a type like any other")
  func runsInt8() throws {
    let interpreter = try TestModel.weighted.interpreter()
    try interpreter.allocateTensors()
    let input = try interpreter.copy(data([Int8(1), 3, 5, 7]), toInputAt: 0)
    #expect(input.dataType == .int8 && input.quantizationParameters?.zeroPoint == -1)
    try interpreter.invoke()
    #expect(values(try interpreter.output(at: 0)) == [Int8(13)])
  }

  @Test("options and delegates are those that were passed")
  func keepsOptions() throws {
    var options = Interpreter.Options()
    options.threadCount = 2
    let interpreter = try Interpreter(modelPath: TestModel.add.path, options: options)
    #expect(interpreter.options == options)
    #expect(interpreter.delegates == nil)
    #expect(try TestModel.add.interpreter().options == nil)
    let none = try Interpreter(modelPath: TestModel.add.path, options: nil, delegates: [])
    #expect(none.delegates?.isEmpty == true)
  }

  @Test("any thread count runs", arguments: [nil, Int.min, -1, 0, 1, 3, 64, 65, Int.max])
  func takesAnyThreadCount(threadCount: Int?) throws {
    var options = Interpreter.Options()
    options.threadCount = threadCount
    let interpreter = try Interpreter(modelPath: TestModel.add.path, options: options)
    try interpreter.allocateTensors()
    try interpreter.copy(Data(count: 768), toInputAt: 0)
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0).data == Data(count: 768))
  }

  // MARK: The order of calls

  @Test("before allocation there are no tensors to read, fill or run")
  func requiresAllocation() throws {
    let interpreter = try TestModel.add.interpreter()
    #expect(throws: InterpreterError.allocateTensorsRequired) { try interpreter.input(at: 0) }
    #expect(throws: InterpreterError.allocateTensorsRequired) { try interpreter.invoke() }
    #expect(throws: InterpreterError.invokeInterpreterRequired) { try interpreter.output(at: 0) }
    #expect(throws: InterpreterError.allocateTensorsRequired) {
      try interpreter.copy(Data(count: 768), toInputAt: 0)
    }
    #expect(throws: InterpreterError.invalidTensorDataCount(provided: 767, required: 768)) {
      try interpreter.copy(Data(count: 767), toInputAt: 0)
    }
  }

  @Test("after allocation inputs and outputs can be read for their shapes, before any run")
  func readsShapesBeforeARun() throws {
    let interpreter = try TestModel.add.interpreter()
    try interpreter.allocateTensors()
    #expect(try interpreter.input(at: 0).shape == [1, 8, 8, 3])
    #expect(try interpreter.output(at: 0).shape.dimensions == [1, 8, 8, 3])
    #expect(try interpreter.output(at: 0).data.count == 768)
  }

  @Test("a resized input takes effect at the next allocation; until then the last outputs stay")
  func resizesAtAllocation() throws {
    let interpreter = try TestModel.add.interpreter()
    try interpreter.resizeInput(at: 0, to: [1])
    try interpreter.allocateTensors()
    try interpreter.copy(data([Float(5)]), toInputAt: 0)
    try interpreter.invoke()
    try interpreter.resizeInput(at: 0, to: [2])
    #expect(throws: InterpreterError.allocateTensorsRequired) { try interpreter.input(at: 0) }
    #expect(throws: InterpreterError.allocateTensorsRequired) { try interpreter.invoke() }
    #expect(throws: InterpreterError.allocateTensorsRequired) {
      try interpreter.copy(data([Float(1), 2]), toInputAt: 0)
    }
    #expect(values(try interpreter.output(at: 0)) == [Float(15)])
    try interpreter.allocateTensors()
    #expect(try interpreter.output(at: 0).shape == [2])
  }

  @Test("a resize to the shape that an input has is no change, and keeps its values")
  func ignoresTheSameShape() throws {
    let interpreter = try TestModel.add.interpreter()
    try interpreter.resizeInput(at: 0, to: [2])
    try interpreter.allocateTensors()
    for step in [Float(1), 2, 3] {
      try interpreter.resizeInput(at: 0, to: [2])
      if step == 1 { try interpreter.copy(data([step, 4]), toInputAt: 0) }
      try interpreter.invoke()
      #expect(values(try interpreter.output(at: 0)) == [Float(3), 12])
    }
  }

  @Test("a resize back to the former shape needs an allocation all the same")
  func doesNotForgetAResize() throws {
    let interpreter = try TestModel.add.interpreter()
    try interpreter.allocateTensors()
    try interpreter.resizeInput(at: 0, to: [2])
    try interpreter.resizeInput(at: 0, to: [1, 8, 8, 3])
    #expect(throws: InterpreterError.allocateTensorsRequired) { try interpreter.invoke() }
    try interpreter.allocateTensors()
    try interpreter.invoke()
  }

  @Test("allocating twice keeps the values of inputs")
  func allocatesOnce() throws {
    let interpreter = try TestModel.add.interpreter()
    try interpreter.resizeInput(at: 0, to: [1])
    try interpreter.allocateTensors()
    try interpreter.copy(data([Float(7)]), toInputAt: 0)
    try interpreter.allocateTensors()
    try interpreter.invoke()
    #expect(values(try interpreter.output(at: 0)) == [Float(21)])
  }

  @Test("inputs that only fit each other after all are resized are resized together")
  func resizesInputsTogether() throws {
    let interpreter = try TestModel.difference.interpreter()
    try interpreter.allocateTensors()
    try interpreter.resizeInput(at: 0, to: [3])
    try interpreter.resizeInput(at: 1, to: [3])
    try interpreter.allocateTensors()
    try interpreter.copy(data([Float(5), 7, 9]), toInputAt: 0)
    try interpreter.copy(data([Float(1), 2, 3]), toInputAt: 1)
    try interpreter.invoke()
    #expect(values(try interpreter.output(at: 0)) == [Float(4), 5, 6])
    #expect(values(try interpreter.output(at: 1)) == [Float(6), 9, 12])
  }

  @Test("an output whose size is data can be read after a run")
  func readsDynamicOutputs() throws {
    let interpreter = try TestModel.counting.interpreter()
    try interpreter.allocateTensors()
    #expect(throws: InterpreterError.invokeInterpreterRequired) { try interpreter.output(at: 0) }
    for limit in [Int32(4), 2] {
      try interpreter.copy(data([limit]), toInputAt: 0)
      try interpreter.invoke()
      let output = try interpreter.output(at: 0)
      #expect(output.shape == Tensor.Shape(Int(limit)))
      #expect(values(output) == Array(0..<limit))
    }
  }

  @Test("a tensor that was read keeps its bytes when the interpreter goes on")
  func copiesOut() throws {
    let interpreter = try TestModel.add.interpreter()
    try interpreter.resizeInput(at: 0, to: [1])
    try interpreter.allocateTensors()
    try interpreter.copy(data([Float(1)]), toInputAt: 0)
    try interpreter.invoke()
    let first = try interpreter.output(at: 0)
    try interpreter.copy(data([Float(2)]), toInputAt: 0)
    try interpreter.invoke()
    #expect(values(first) == [Float(3)])
  }

  @Test("data may be a slice of other data")
  func takesSlices() throws {
    let interpreter = try TestModel.addQuantized.interpreter()
    try interpreter.resizeInput(at: 0, to: [2])
    try interpreter.allocateTensors()
    let tensor = try interpreter.copy(Data([9, 9, 1, 2, 9])[2..<4], toInputAt: 0)
    #expect(try interpreter.input(at: 0) == tensor)
    try interpreter.invoke()
    #expect([UInt8](try interpreter.output(at: 0).data) == [3, 6])
  }

  // MARK: Errors

  @Test(
    "an index that no tensor has is an error with the highest that one has",
    arguments: [-1, 1, Int.max, Int.min])
  func rejectsIndices(index: Int) throws {
    let interpreter = try TestModel.add.interpreter()
    try interpreter.allocateTensors()
    let expected = InterpreterError.invalidTensorIndex(index: index, maxIndex: 0)
    #expect(throws: expected) { try interpreter.input(at: index) }
    #expect(throws: expected) { try interpreter.output(at: index) }
    #expect(throws: expected) { try interpreter.copy(Data(), toInputAt: index) }
    #expect(throws: expected) { try interpreter.resizeInput(at: index, to: [1]) }
  }

  @Test("a model without inputs has no index, and runs")
  func runsWithoutInputs() throws {
    let interpreter = try TestModel.constant.interpreter()
    #expect(throws: InterpreterError.invalidTensorIndex(index: 0, maxIndex: -1)) {
      try interpreter.input(at: 0)
    }
    try interpreter.allocateTensors()
    try interpreter.invoke()
    #expect(values(try interpreter.output(at: 0)) == [Float(-1), 2])
  }

  @Test("data of another size are an error with both sizes", arguments: [0, 7, 9, 768])
  func rejectsDataCounts(count: Int) throws {
    let interpreter = try TestModel.add.interpreter()
    try interpreter.resizeInput(at: 0, to: [2])
    try interpreter.allocateTensors()
    #expect(throws: InterpreterError.invalidTensorDataCount(provided: count, required: 8)) {
      try interpreter.copy(Data(count: count), toInputAt: 0)
    }
  }

  @Test("a file that is missing, a folder, and bytes that are no model do not load")
  func rejectsFiles() throws {
    for path in ["", "/invalid/path", "/", #filePath] {
      #expect(throws: InterpreterError.failedToLoadModel) { try Interpreter(modelPath: path) }
    }
    let whole = try Data(contentsOf: URL(fileURLWithPath: TestModel.add.path))
    for bytes in [Data(), Data("not a model".utf8), whole.prefix(whole.count / 2)] {
      #expect(throws: InterpreterError.failedToLoadModel) { try Interpreter(modelData: bytes) }
    }
  }

  @Test("an operator that cannot run is named when the interpreter is made")
  func namesUnknownOperators() {
    #expect {
      try TestModel.unknown.interpreter()
    } throws: { error in
      "\(error)".contains("operator #0, NobodyHasThis") && error is InterpreterError
    }
  }

  @Test("a shape that an operator refuses is an error with its reason; another shape works after it")
  func explainsRefusedShapes() throws {
    let interpreter = try TestModel.difference.interpreter()
    try interpreter.resizeInput(at: 0, to: [3])
    #expect {
      try interpreter.allocateTensors()
    } throws: { "\($0)".contains("operator #0, SUB") }
    #expect(throws: InterpreterError.allocateTensorsRequired) { try interpreter.invoke() }
    try interpreter.resizeInput(at: 1, to: [3])
    try interpreter.allocateTensors()
    try interpreter.invoke()
  }

  @Test("a run that data stop says why, and the next one works")
  func explainsFailedRuns() throws {
    let interpreter = try TestModel.lookup.interpreter()
    try interpreter.allocateTensors()
    try interpreter.copy(data([Int32(3)]), toInputAt: 0)
    #expect { try interpreter.invoke() } throws: { "\($0)".contains("operator #0, GATHER") }
    try interpreter.copy(data([Int32(1)]), toInputAt: 0)
    try interpreter.invoke()
    #expect(values(try interpreter.output(at: 0)) == [Float(2)])
  }

  @Test(
    "shapes that cannot be are errors, not traps",
    arguments: [[-1], [Int.max], [Int.min, 1], [1 << 31], [2, -3]])
  func rejectsShapes(dimensions: [Int]) throws {
    let interpreter = try TestModel.add.interpreter()
    #expect(throws: InterpreterError.failedToResizeInputTensor(index: 0)) {
      try interpreter.resizeInput(at: 0, to: Tensor.Shape(dimensions))
    }
    try interpreter.allocateTensors()
    #expect(try interpreter.input(at: 0).shape == [1, 8, 8, 3])
  }

  @Test("a shape that no memory holds is an error at allocation", arguments: [3, 5, 64])
  func rejectsHugeShapes(rank: Int) throws {
    let interpreter = try TestModel.add.interpreter()
    try interpreter.resizeInput(at: 0, to: Tensor.Shape(Array(repeating: Int(Int32.max), count: rank)))
    #expect(throws: InterpreterError.self) { try interpreter.copy(Data(count: 8), toInputAt: 0) }
    #expect(throws: InterpreterError.self) { try interpreter.allocateTensors() }
  }

  @Test("an empty shape and an empty dimension run")
  func runsEmptyShapes() throws {
    let interpreter = try TestModel.add.interpreter()
    try interpreter.resizeInput(at: 0, to: [])
    try interpreter.allocateTensors()
    try interpreter.copy(data([Float(2)]), toInputAt: 0)
    try interpreter.invoke()
    #expect(values(try interpreter.output(at: 0)) == [Float(6)])
    try interpreter.resizeInput(at: 0, to: [0, 2])
    try interpreter.allocateTensors()
    try interpreter.copy(Data(), toInputAt: 0)
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0).data.isEmpty)
  }
}
