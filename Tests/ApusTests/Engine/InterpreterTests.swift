// SPDX-License-Identifier: Apache-2.0

import Apus
import Testing

@Suite struct InterpreterTests {
  private static let values: [Float] = [-1, 2, -3, 4]
  private static let answer: [Float] = [0, 4, 0, 8]

  private static func run(_ interpreter: Interpreter, _ values: [Float] = values) throws -> [Float] {
    try interpreter.copy(values, toInputAt: 0)
    try interpreter.invoke()
    return try interpreter.output(at: 0)
  }

  @Test("computes its outputs from its inputs, run after run")
  func runs() throws {
    let interpreter = try Interpreter(model: TestModel.chain().model())
    #expect(try Self.run(interpreter) == Self.answer)
    #expect(try Self.run(interpreter, [1, 1, 1, 1]) == [2, 2, 2, 2])
    // Inputs keep their values.
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0) == [2, 2, 2, 2] as [Float])
  }

  @Test("memory that a closure has stays where it is, and is not lent twice for writing")
  func lendsOnce() throws {
    let interpreter = try Interpreter(model: TestModel.chain().model())
    _ = try Self.run(interpreter)
    func code(_ body: () throws -> Void) -> ApusError.Code? {
      #expect(throws: ApusError.self) { try body() }?.code
    }
    try interpreter.withOutput(at: 0, as: Float.self) { output throws(any Error) in
      #expect(code { try interpreter.invoke() } == .invalidArgument)
      #expect(code { try interpreter.resizeInput(at: 0, to: [1, 100_000]) } == .invalidArgument)
      // Two readers are no harm.
      #expect(try interpreter.output(at: 0) == Self.answer)
      #expect(output[1] == 4)
    }
    try interpreter.withInput(at: 0, as: Float.self) { span throws(any Error) in
      #expect(code { try interpreter.withInput(at: 0, as: Float.self) { _ in } } == .invalidArgument)
      #expect(code { try interpreter.copy(Self.values, toInputAt: 0) } == .invalidArgument)
      span[0] = 5
    }
    struct Own: Error {}
    #expect(throws: Own.self) { try interpreter.withInputBytes(at: 0) { _ in throw Own() } }
    // The end of the closures ends the loan.
    #expect(try Self.run(interpreter) == Self.answer)
  }

  @Test("answers the same when every tensor keeps its memory, and lends what is inside")
  func preservesAllTensors() throws {
    var options = Interpreter.Options()
    options.preservesAllTensors = true
    let interpreter = try Interpreter(model: TestModel.chain().model(), options: options)
    #expect(try Self.run(interpreter) == Self.answer)
    let inside = try interpreter.withTensor(at: 1, as: Float.self) { span in span.indices.map { span[$0] } }
    #expect(inside == [0, 2, 0, 4])
    let plan = interpreter.memoryPlan.entries.filter { $0.block > 0 }
    #expect(Set(plan.map(\.offset)).count == plan.count)
  }

  @Test("finds tensors by the names of the signature and of the file")
  func names() throws {
    let model = try TestModel.chain().model()
    #expect(model.signatures.map(\.key) == ["serving_default"])
    for interpreter in [
      try Interpreter(model: model), try Interpreter(model: model, signature: "serving_default"),
    ] {
      #expect(try interpreter.inputIndex(named: "pixels") == 0)
      #expect(try interpreter.inputIndex(named: "x") == 0)
      #expect(try interpreter.outputIndex(named: "answer") == 0)
      #expect(try interpreter.outputIndex(named: "y") == 0)
      let error = #expect(throws: ApusError.self) { try interpreter.outputIndex(named: "a") }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message == "there is no tensor a here, only: answer")
    }
    let error = #expect(throws: ApusError.self) { try Interpreter(model: model, signature: "other") }
    #expect(error?.message == "the model has no signature other, only: serving_default")
  }

  @Test("an input can be resized, and back")
  func resizes() throws {
    let interpreter = try Interpreter(model: TestModel.chain(signature: [-1, 4]).model())
    try interpreter.resizeInput(at: 0, to: [2, 4], isStrict: true)
    #expect(interpreter.inputs[0].shape == [2, 4])
    #expect(interpreter.outputs[0].shape == [2, 4])
    #expect(try Self.run(interpreter, Self.values + Self.values) == Self.answer + Self.answer)
    try interpreter.resizeInput(at: 0, to: [1, 4])
    #expect(try Self.run(interpreter) == Self.answer)
    try interpreter.resizeInput(at: 0, to: [0, 4])
    #expect(try Self.run(interpreter, []) == [])
  }

  @Test("a strict resizing changes open dimensions only")
  func resizesStrictly() throws {
    let interpreter = try Interpreter(model: TestModel.chain(signature: [-1, 4]).model())
    for shape in [[1, 5], [4], [1, 4, 1]] as [TensorShape] {
      let error = #expect(throws: ApusError.self) {
        try interpreter.resizeInput(at: 0, to: shape, isStrict: true)
      }
      #expect(error?.code == .invalidArgument)
    }
    #expect(try Self.run(interpreter) == Self.answer)
  }

  @Test("a resizing that fails leaves the interpreter as it was")
  func resizingFails() throws {
    var description = TestModel.chain()
    description.tensors.append(.init(name: "c", shape: [1, 4], data: TestModel.bytes([1, 1, 1, 1])))
    description.operators[1].inputs = [1, 4]
    let interpreter = try Interpreter(model: description.model())
    #expect(try Self.run(interpreter) == [1, 3, 1, 5])
    let error = #expect(throws: ApusError.self) { try interpreter.resizeInput(at: 0, to: [1, 5]) }
    #expect(error?.code == .malformedModel)
    #expect(error?.message.hasPrefix("operator #1, ADD") == true)
    #expect(interpreter.inputs[0].shape == [1, 4])
    #expect(try Self.run(interpreter) == [1, 3, 1, 5])
    let huge = #expect(throws: ApusError.self) { try interpreter.resizeInput(at: 0, to: [1 << 40, 4]) }
    #expect(huge?.code == .resourceLimit)
    let uncountable = #expect(throws: ApusError.self) {
      try interpreter.resizeInput(at: 0, to: [.max, .max])
    }
    #expect(uncountable?.code == .resourceLimit)
    let negative = #expect(throws: ApusError.self) { try interpreter.resizeInput(at: 0, to: [-1, 4]) }
    #expect(negative?.code == .invalidArgument)
    #expect(try Self.run(interpreter) == [1, 3, 1, 5])
  }

  @Test("wrong types, counts and positions are errors that say what is right")
  func wrongArguments() throws {
    let interpreter = try Interpreter(model: TestModel.chain().model())
    func message(_ body: () throws -> Void) -> String? {
      let error = #expect(throws: ApusError.self) { try body() }
      #expect(error?.code == .invalidArgument)
      return error?.message
    }
    #expect(
      message { try interpreter.copy([1 as UInt8], toInputAt: 0) } == "input 0 (x) is float32, not uint8")
    #expect(message { try interpreter.copy([1 as Float], toInputAt: 0) } == "input 0 takes 4 elements, not 1")
    #expect(
      message { try interpreter.copy([1 as Float], toInputAt: 1) } == "there is no input 1: the model has 1")
    #expect(
      message { try interpreter.copy([1 as Float], toInputAt: -1) } == "there is no input -1: the model has 1"
    )
    #expect(
      message { _ = try interpreter.output(at: 0, as: Int8.self) } == "output 0 (y) is float32, not int8")
    #expect(
      message { _ = try interpreter.output(at: 2, as: Float.self) } == "there is no output 2: the model has 1"
    )
    #expect(
      message { _ = try interpreter.dequantizedOutput(at: 1) } == "there is no output 1: the model has 1")
    #expect(message { try interpreter.resizeInput(at: 7, to: [1]) } == "there is no input 7: the model has 1")
    let tensor = message { try interpreter.withTensor(at: 9, as: Float.self) { _ throws(ApusError) in } }
    #expect(tensor == "there is no tensor 9, only 4")
  }

  @Test("wrong options are errors")
  func wrongOptions() throws {
    let model = try TestModel.chain().model()
    var options = Interpreter.Options()
    options.threadCount = 0
    #expect(throws: ApusError(.invalidArgument, "threadCount is 0, not 1 to 64")) {
      try Interpreter(model: model, options: options)
    }
    options = .init()
    options.kernels = "quantum"
    let unknown = #expect(throws: ApusError.self) { try Interpreter(model: model, options: options) }
    #expect(unknown?.code == .invalidArgument)
    #expect(unknown?.message.hasPrefix("there is no kernel set quantum, only: ") == true)
    options = .init()
    options.memoryLimit = 40
    let limit = #expect(throws: ApusError.self) { try Interpreter(model: model, options: options) }
    #expect(limit?.code == .resourceLimit)
  }

  @Test("an output larger than the limit is refused before anything is computed")
  func memoryLimit() throws {
    var options = Interpreter.Options()
    options.memoryLimit = 1 << 20
    let model = try TestModel.chain(shape: [1, 1 << 20]).model()
    let error = #expect(throws: ApusError.self) { try Interpreter(model: model, options: options) }
    #expect(error?.code == .resourceLimit)
  }

  @Test("work beyond the limit is refused, be it products or copies for them")
  func workLimit() throws {
    // 10⁷ products, or 10⁵ and copies of 10⁶ floats, as strides pass by most of them.
    for (stride, limit) in [(Int32(1), 5_000_000), (10, 500_000)] {
      let size = 100 / stride
      let model = try TestModel(
        tensors: [
          .init(name: "x", type: TestModel.float32, shape: [1, 1, 100, 100, 1]),
          .init(name: "w", type: TestModel.float32, shape: [100, 1, 1, 1, 10]),
          .init(name: "y", type: TestModel.float32, shape: [1, 1, size, size, 10]),
        ],
        operators: [
          .init(
            code: .conv3D, inputs: [0, 1], outputs: [2],
            options: .conv3D(strideDepth: 1, strideWidth: stride, strideHeight: stride))
        ], inputs: [0, 1], outputs: [2]
      ).model()
      var options = Interpreter.Options()
      #expect(throws: Never.self) { try Interpreter(model: model, options: options) }
      options.workLimit = limit
      let error = #expect(throws: ApusError.self) { try Interpreter(model: model, options: options) }
      #expect(error?.code == .resourceLimit)
    }
  }

  @Test("a cancelled run stops, and the next goes on")
  func cancellation() throws {
    let interpreter = try Interpreter(model: TestModel.chain().model())
    try interpreter.copy(Self.values, toInputAt: 0)
    let cancellation = Cancellation()
    try interpreter.invoke(cancellation: cancellation)
    cancellation.cancel()
    let error = #expect(throws: ApusError.self) { try interpreter.invoke(cancellation: cancellation) }
    #expect(error?.code == .cancelled)
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0) == Self.answer)
  }

  @Test("a profile names each operator and its output")
  func profile() throws {
    var options = Interpreter.Options()
    options.profiles = true
    let interpreter = try Interpreter(model: TestModel.chain().model(), options: options)
    _ = try Self.run(interpreter)
    // The others are done together with the sum.
    #expect(interpreter.profile.map(\.name) == ["ADD"])
    #expect(interpreter.profile.map(\.operatorIndex) == [1])
    #expect(interpreter.profile.first?.absorbed == ["RELU", "RELU"])
    #expect(interpreter.profile.allSatisfy { $0.output == [1, 4] && $0.duration >= .zero })
    #expect(interpreter.profile.contains { $0.duration > .zero })
    #expect(try Interpreter(model: TestModel.chain().model()).profile.isEmpty)
  }

  @Test("variables keep their values until they are reset")
  func variables() throws {
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [2]), .init(name: "state", shape: [2], isVariable: true),
        .init(name: "y", shape: [2]),
      ],
      operators: [.init(code: .add, inputs: [0, 1], outputs: [2])], inputs: [0], outputs: [2])
    let interpreter = try Interpreter(model: model.model())
    #expect(interpreter.memoryPlan.variableByteCount == 8)
    try interpreter.copy([1, 2] as [Float], toInputAt: 0)
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0) == [1, 2] as [Float])
    #expect(throws: ApusError.self) { try interpreter.resizeInput(at: 0, to: [3]) }
    #expect(interpreter.memoryPlan.variableByteCount == 8)
    interpreter.resetVariables()
    try interpreter.copy([1, 2] as [Float], toInputAt: 0)
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0) == [1, 2] as [Float])
  }

  @Test("an operator may write a variable, which the next run reads")
  func writtenVariables() throws {
    let model = TestModel(
      tensors: [
        .init(name: "x", shape: [2]), .init(name: "state", shape: [2], isVariable: true),
        .init(name: "sum", shape: [2]), .init(name: "zero", shape: [2], data: TestModel.bytes([0, 0])),
      ],
      operators: [
        .init(code: .add, inputs: [0, 1], outputs: [2]),
        .init(code: .add, inputs: [2, 3], outputs: [1]),
      ],
      inputs: [0], outputs: [2])
    let interpreter = try Interpreter(model: model.model())
    try interpreter.copy([1, 2] as [Float], toInputAt: 0)
    for run in 1...3 {
      try interpreter.invoke()
      #expect(try interpreter.output(at: 0) == [Float(run), Float(2 * run)])
    }
    interpreter.resetVariables()
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0) == [1, 2] as [Float])
    // A resizing that fails leaves inputs and variables as they are.
    #expect(throws: ApusError.self) { try interpreter.resizeInput(at: 0, to: [3]) }
    for run in 2...3 {
      try interpreter.invoke()
      #expect(try interpreter.output(at: 0) == [Float(run), Float(2 * run)])
    }
  }

  @Test("interpreters of one model on several threads agree")
  func sharing() async throws {
    let archive = try GoldenArchive(name: "CONV_2D").open()
    let name = try #require(archive.cases.first { $0.hasPrefix("uint8") })
    let model = try archive.model(of: name)
    let input = try #require(archive.arrays("input", of: name).first).bytes
    let expected = try #require(archive.arrays("output", of: name).first).bytes
    let answers = try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
      for task in 0..<8 {
        group.addTask {
          var options = Interpreter.Options()
          options.threadCount = 1 + task % 3
          let interpreter = try Interpreter(model: model, options: options)
          try interpreter.copyBytes(input, toInputAt: 0)
          var answers: [[UInt8]] = []
          for _ in 0..<20 {
            try interpreter.invoke()
            answers.append(try interpreter.bytes(ofOutputAt: 0))
          }
          return answers
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(answers.count == 160)
    #expect(answers.allSatisfy { $0 == expected })
  }
}

extension Interpreter {
  /// Fills an input of any type.
  func copyBytes(_ values: [UInt8], toInputAt position: Int) throws(ApusError) {
    try withInputBytes(at: position) { (span: inout MutableRawSpan) throws(ApusError) in
      guard span.byteCount == values.count else {
        throw ApusError(
          .invalidArgument, "input \(position) has \(span.byteCount) bytes, not \(values.count)")
      }
      for index in values.indices { span.storeBytes(of: values[index], toByteOffset: index, as: UInt8.self) }
    }
  }

  /// An output of any type.
  func bytes(ofOutputAt position: Int) throws(ApusError) -> [UInt8] {
    try withOutputBytes(at: position) { span in span.withUnsafeBytes { Array($0) } }
  }
}
