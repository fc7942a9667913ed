// SPDX-License-Identifier: Apache-2.0

import TensorFlowLite
import Testing

struct SignatureRunnerTests {
  @Test("signatures are listed in the file's order, and made by name")
  func listsSignatures() throws {
    let interpreter = try TestModel.multiSignatures.interpreter()
    #expect(interpreter.signatureKeys == ["add", "sub"])
    for key in interpreter.signatureKeys {
      #expect(try interpreter.signatureRunner(with: key).signatureKey == key)
    }
    #expect(throws: SignatureRunnerError.failedToCreateSignatureRunner(signatureKey: "dummy")) {
      try interpreter.signatureRunner(with: "dummy")
    }
    #expect(try TestModel.add.interpreter().signatureKeys.isEmpty)
  }

  @Test("each signature computes its own function", arguments: [("add", [Float(4), 6]), ("sub", [0, 2])])
  func runsSignatures(key: String, expected: [Float]) throws {
    let interpreter = try TestModel.multiSignatures.interpreter()
    let runner = try interpreter.signatureRunner(with: key)
    #expect(runner.inputs == ["x"])
    #expect(runner.outputs == ["output_0"])
    #expect(try runner.input(named: "x").shape == [1])
    #expect(try runner.output(named: "output_0").shape == [1])
    try runner.resizeInput(named: "x", toShape: [2])
    try runner.invoke(with: ["x": data([Float(2), 4])])
    let output = try runner.output(named: "output_0")
    #expect(values(output) == expected)
    #expect(output.name == "StatefulPartitionedCall:0")
    #expect(try runner.input(named: "x").name == "\(key)_x:0")
    #expect(runner.failureReason == nil)
  }

  @Test("a runner outlives the interpreter that made it")
  func outlivesItsInterpreter() throws {
    let runner = try TestModel.multiSignatures.interpreter().signatureRunner(with: "add")
    try runner.invoke(with: ["x": data([Float(40)])])
    #expect(values(try runner.output(named: "output_0")) == [Float(42)])
  }

  @Test("names are sorted by their bytes, and each finds its tensor")
  func sortsNames() throws {
    let runner = try TestModel.difference.interpreter().signatureRunner(with: "serving_default")
    #expect(runner.inputs == ["b", "é"])
    #expect(runner.outputs == ["minus", "plus"])
    try runner.invoke(with: ["é": data([Float(5), 7]), "b": data([Float(1), 2])])
    #expect(values(try runner.output(named: "minus")) == [Float(4), 5])
    #expect(values(try runner.output(named: "plus")) == [Float(6), 9])
    // An input that is left out keeps its values.
    try runner.invoke(with: ["b": data([Float(0), 0])])
    #expect(values(try runner.output(named: "minus")) == [Float(5), 7])
  }

  @Test("a runner is allocated when it is made, and again after a resize")
  func allocates() throws {
    let runner = try TestModel.multiSignatures.interpreter().signatureRunner(with: "add")
    let two = data([Float(2), 4])
    #expect(throws: SignatureRunnerError.invalidTensorDataCount(provided: 8, required: 4)) {
      try runner.copy(two, toInputNamed: "x")
    }
    try runner.resizeInput(named: "x", toShape: [2])
    #expect(throws: SignatureRunnerError.allocateTensorsRequired) { try runner.copy(two, toInputNamed: "x") }
    #expect(throws: SignatureRunnerError.allocateTensorsRequired) { try runner.input(named: "x") }
    try runner.allocateTensors()
    try runner.copy(two, toInputNamed: "x")
    #expect(try runner.input(named: "x").data == two)
  }

  @Test("names that the signature lacks are errors that name them")
  func namesWhatIsMissing() throws {
    let runner = try TestModel.multiSignatures.interpreter().signatureRunner(with: "add")
    let noInput = SignatureRunnerError.failedToGetTensor(tensorType: "input", nameInSignature: "dummy")
    #expect(throws: noInput) { try runner.input(named: "dummy") }
    #expect(throws: noInput) { try runner.copy(Data(), toInputNamed: "dummy") }
    #expect(throws: noInput) { try runner.invoke(with: ["dummy": Data()]) }
    #expect(throws: SignatureRunnerError.failedToGetTensor(tensorType: "output", nameInSignature: "x")) {
      try runner.output(named: "x")
    }
    #expect(throws: SignatureRunnerError.failedToResizeInputTensor(inputName: "dummy")) {
      try runner.resizeInput(named: "dummy", toShape: [2])
    }
    #expect(throws: SignatureRunnerError.failedToResizeInputTensor(inputName: "x")) {
      try runner.resizeInput(named: "x", toShape: [-2])
    }
  }

  @Test("a run that data stop is an error, whose cause the runner knows until the next one")
  func explainsFailedRuns() throws {
    let runner = try TestModel.lookup.interpreter().signatureRunner(with: "look_up")
    #expect(throws: SignatureRunnerError.failedToInvokeSignature(signatureKey: "look_up")) {
      try runner.invoke(with: ["index": data([Int32(-9)])])
    }
    #expect(runner.failureReason?.contains("operator #0, GATHER") == true)
    try runner.invoke(with: ["index": data([Int32(0)])])
    #expect(runner.failureReason == nil)
    #expect(values(try runner.output(named: "output")) == [Float(1)])
  }

  @Test("a shape that memory does not hold is an error, whose cause the runner knows")
  func explainsRefusedShapes() throws {
    let runner = try TestModel.multiSignatures.interpreter().signatureRunner(with: "add")
    try runner.resizeInput(named: "x", toShape: [1 << 29])
    #expect(throws: SignatureRunnerError.failedToAllocateTensors) { try runner.allocateTensors() }
    #expect(runner.failureReason?.contains("limit") == true)
  }

  @Test("a dimension that the file fixes stays", arguments: [[3], [2, 1], []])
  func keepsFixedDimensions(shape: [Int]) throws {
    let runner = try TestModel.difference.interpreter().signatureRunner(with: "serving_default")
    #expect(throws: SignatureRunnerError.failedToResizeInputTensor(inputName: "b")) {
      try runner.resizeInput(named: "b", toShape: Tensor.Shape(shape))
    }
    try runner.resizeInput(named: "b", toShape: [2])
    try runner.invoke(with: ["b": data([Float(1), 2])])
    #expect(try runner.input(named: "b").shape == [2])
  }

  @Test(
    "the runners of an interpreter share its variables, which are set up once; another interpreter has its own"
  )
  func sharesVariables() throws {
    let interpreter = try TestModel.counter.interpreter()
    let (add, read) = (
      try interpreter.signatureRunner(with: "add"), try interpreter.signatureRunner(with: "read")
    )
    for (amount, total) in [(Float(5), Float(15)), (1, 16)] {
      try add.invoke(with: ["amount": data([amount])])
      #expect(values(try add.output(named: "total")) == [total])
      try read.invoke(with: [:])
      #expect(values(try read.output(named: "count")) == [total])
    }
    // The main subgraph is that of `add`.
    try interpreter.allocateTensors()
    try interpreter.copy(data([Float(4)]), toInputAt: 0)
    try interpreter.invoke()
    #expect(values(try interpreter.output(at: 0)) == [Float(20)])
    let other = try TestModel.counter.interpreter().signatureRunner(with: "read")
    try other.invoke(with: [:])
    #expect(values(try other.output(named: "count")) == [Float(10)])
  }

  @Test("an output whose size is data can be read after a run")
  func readsDynamicOutputs() throws {
    let runner = try TestModel.counting.interpreter().signatureRunner(with: "count")
    #expect(throws: SignatureRunnerError.allocateTensorsRequired) { try runner.output(named: "output") }
    try runner.invoke(with: ["limit": data([Int32(3)])])
    #expect(values(try runner.output(named: "output")) == [Int32(0), 1, 2])
  }
}
