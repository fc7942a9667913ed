// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusSystem
import Testing

/// Each limit is an option; beyond it there is an error that says what was asked and what is allowed.
@Suite struct LimitTests {
  /// A loop whose condition is the constant true, and whose body does nothing or adds.
  private static func endlessLoop(adds: Bool = true, width: Int32 = 1) -> TestModel {
    let condition = TestModel(
      tensors: [
        .init(name: "x", shape: [width]), .init(name: "true", type: TestModel.bool, shape: [], data: [1]),
      ], operators: [], inputs: [0], outputs: [1])
    let body = TestModel(
      tensors: [.init(name: "x", shape: [width]), .init(name: "y", shape: [width])],
      operators: adds ? [.init(code: .add, inputs: [0, 0], outputs: [1])] : [], inputs: [0],
      outputs: [adds ? 1 : 0])
    return TestModel(
      tensors: [.init(name: "x", shape: [width]), .init(name: "y", shape: [width])],
      operators: [
        .init(code: .while, inputs: [0], outputs: [1], options: .while(condition: 1, body: 2))
      ], inputs: [0], outputs: [1], children: [condition, body])
  }

  /// A product of two inputs, of `size`³ multiply-accumulates.
  private static func product(_ size: Int32) -> TestModel {
    TestModel(
      tensors: ["a", "b", "c"].map { .init(name: $0, shape: [size, size]) },
      operators: [.init(code: .batchMatMul, inputs: [0, 1], outputs: [2])], inputs: [0, 1],
      outputs: [2])
  }

  private func error(_ body: () throws(ApusError) -> Void) -> ApusError? {
    do throws(ApusError) { try body() } catch { return error }
    return nil
  }

  @Test("an endless loop ends at the limit of iterations", arguments: [false, true])
  func loops(adds: Bool) throws {
    var options = Interpreter.Options()
    options.loopLimit = 1000
    let interpreter = try Interpreter(model: Self.endlessLoop(adds: adds).model(), options: options)
    for _ in 0..<2 {
      #expect(
        error { () throws(ApusError) in try interpreter.invoke() }
          == ApusError(
            .resourceLimit,
            "operator #0, WHILE: the loops of the run have more than 1000 iterations, the limit"))
    }
  }

  @Test("an endless loop ends at the default limits")
  func defaults() throws {
    let interpreter = try Interpreter(model: Self.endlessLoop().model())
    #expect(error { () throws(ApusError) in try interpreter.invoke() }?.code == .resourceLimit)
  }

  @Test("an endless loop ends at the limit of steps")
  func steps() throws {
    var options = Interpreter.Options()
    options.runWorkLimit = 10_000
    let interpreter = try Interpreter(model: Self.endlessLoop(width: 64).model(), options: options)
    #expect(
      error { () throws(ApusError) in try interpreter.invoke() }
        == ApusError(.resourceLimit, "the run takes more steps than the limit of 10000"))
  }

  @Test("an endless loop ends at a deadline")
  func deadline() throws {
    var options = Interpreter.Options()
    // Preparing counts, too.
    options.timeLimit = .milliseconds(500)
    options.loopLimit = .max
    options.runWorkLimit = .max
    let interpreter = try Interpreter(model: Self.endlessLoop().model(), options: options)
    let began = ContinuousClock.now
    #expect(
      error { () throws(ApusError) in try interpreter.invoke() }
        == ApusError(.resourceLimit, "the model takes longer than the limit of 0.5 seconds"))
    #expect(ContinuousClock.now - began < .seconds(5))
  }

  @Test(
    "a long product ends at a deadline, and the next run is right",
    arguments: Runtime.kernelSets.filter(\.isSupported).map(\.name), [1, 3])
  func deadlineWithinOperators(kernels: KernelSetName, threads: Int) throws {
    var options = Interpreter.Options()
    options.kernels = kernels
    options.threadCount = threads
    // Seconds of work for the fastest kernels.
    let interpreter = try Interpreter(model: Self.product(6000).model(), options: options)
    let began = ContinuousClock.now
    let found = error { () throws(ApusError) in
      try Watchdog.limit(seconds: 0.1) { flag throws(ApusError) in try interpreter.invoke(cancellation: flag)
      }
    }
    #expect(found?.code == .cancelled)
    // A tile of portable kernels is some tenths of a second; the product takes minutes there.
    #expect(ContinuousClock.now - began < .seconds(20))
    try interpreter.resizeInputs([0: [2, 2], 1: [2, 2]])
    try interpreter.copy([1, 2, 3, 4] as [Float], toInputAt: 0)
    try interpreter.copy([1, 0, 0, 1] as [Float], toInputAt: 1)
    try interpreter.invoke()
    #expect(try interpreter.output(at: 0) == [1, 2, 3, 4] as [Float])
  }

  @Test("many random numbers end at a deadline, and the next run draws all")
  func deadlineOfRandomNumbers() throws {
    // 2²⁵ normal numbers take most of a second.
    let count: Int32 = 1 << 25
    let model = TestModel(
      tensors: [
        .init(name: "shape", type: TestModel.int32, shape: [1], data: [0, 0, 0, 2]),
        .init(name: "numbers", shape: [count]),
      ],
      operators: [.init(code: .randomStandardNormal, inputs: [0], outputs: [1])], inputs: [],
      outputs: [1])
    var options = Interpreter.Options()
    options.timeLimit = .milliseconds(200)
    let interpreter = try Interpreter(model: model.model(), options: options)
    #expect(error { () throws(ApusError) in try interpreter.invoke() }?.code == .resourceLimit)
    try Interpreter(model: model.model()).invoke()
  }

  @Test("preparation ends at a deadline")
  func preparation() throws {
    var options = Interpreter.Options()
    options.timeLimit = .zero
    #expect(
      error { () throws(ApusError) in _ = try Interpreter(model: Self.product(4).model(), options: options) }?
        .code
        == .resourceLimit)
  }

  @Test("a preparation and several runs end at one deadline together")
  func sharedDeadline() throws {
    var options = Interpreter.Options()
    options.timeLimit = .seconds(60)
    options.deadline = .now + .seconds(1)
    let began = ContinuousClock.now
    let interpreter = try Interpreter(model: Self.endlessLoop().model(), options: options)
    for _ in 0..<3 {
      #expect(error { () throws(ApusError) in try interpreter.invoke() }?.code == .resourceLimit)
    }
    #expect(
      error { () throws(ApusError) in _ = try Interpreter(model: Self.product(4).model(), options: options) }?
        .code == .resourceLimit)
    #expect(ContinuousClock.now - began < .seconds(20))
  }

  @Test("a run of microseconds is refused after its deadline")
  func lateBriefRun() throws {
    var options = Interpreter.Options()
    let deadline = Moment.now + .seconds(3)
    options.deadline = deadline
    let interpreter = try Interpreter(model: Self.product(4).model(), options: options)
    while Moment.now < deadline { try? interpreter.invoke() }
    let late = error { () throws(ApusError) in try interpreter.invoke() }
    #expect(late?.code == .resourceLimit)
    let cancellation = Cancellation()
    cancellation.cancel()
    let patient = try Interpreter(model: Self.product(4).model())
    let cancelled = error { () throws(ApusError) in try patient.invoke(cancellation: cancellation) }
    #expect(cancelled?.code == .cancelled)
    try patient.invoke()
  }

  @Test("tensors have no more elements than the limit")
  func elements() throws {
    var options = Interpreter.Options()
    options.elementLimit = 15
    #expect(
      error { () throws(ApusError) in _ = try Interpreter(model: Self.product(4).model(), options: options) }
        == ApusError(
          .resourceLimit,
          "operator #0, BATCH_MATMUL: output c, 4×4, has 16 elements, more than the limit of 15"))
    options.elementLimit = 16
    _ = try Interpreter(model: Self.product(4).model(), options: options)
  }

  @Test("the memory of all subgraphs together is limited")
  func memoryOfSubgraphs() throws {
    // Two megabytes in each of three subgraphs.
    let model = Self.endlessLoop(width: 1 << 18)
    var options = Interpreter.Options()
    options.memoryLimit = 16 << 20
    _ = try Interpreter(model: model.model(), options: options)
    options.memoryLimit = 3 << 20
    #expect(
      error { () throws(ApusError) in _ = try Interpreter(model: model.model(), options: options) }?.code
        == .resourceLimit)
  }

  @Test("tables of operators count towards the limit of memory")
  func memoryOfTables() throws {
    // A million maxima of two rows, which take 12 megabytes, and taps of 48.
    let rows: Int32 = 1 << 20
    let pool = TestModel(
      tensors: [.init(name: "x", shape: [1, 2 * rows, 1, 1]), .init(name: "y", shape: [1, rows, 1, 1])],
      operators: [
        .init(
          code: .maxPool2D, inputs: [0], outputs: [1],
          options: .pool2D(isValid: true, strideHeight: 2, filterHeight: 2))
      ], inputs: [0], outputs: [1])
    // Distinct values are looked for in a dictionary, which takes more than they do.
    let unique = TestModel(
      tensors: [
        .init(name: "x", type: TestModel.int32, shape: [rows]),
        .init(name: "values", type: TestModel.int32, shape: [rows]),
        .init(name: "places", type: TestModel.int32, shape: [rows]),
      ],
      operators: [.init(code: .unique, inputs: [0], outputs: [1, 2], options: .resultType(TestModel.int32))],
      inputs: [0],
      outputs: [1, 2])
    for (model, place) in [(pool, "MAX_POOL_2D: tables: "), (unique, "UNIQUE: values: ")] {
      func run(_ limit: Int) -> ApusError? {
        error { () throws(ApusError) in
          var options = Interpreter.Options()
          options.memoryLimit = limit
          try Interpreter(model: Model(bytes: model.bytes), options: options).invoke()
        }
      }
      #expect(run(256 << 20) == nil)
      let refused = run(32 << 20)
      #expect(
        refused?.code == .resourceLimit && refused?.message.contains(place) == true, "\(refused as Any)")
    }
  }

  @Test("a model larger than its limits is refused")
  func models() throws {
    let bytes = Self.endlessLoop().bytes
    var limits = Model.Limits()
    (limits.subgraphCount, limits.tensorCount, limits.operatorCount) = (3, 6, 2)
    (limits.elementCount, limits.fileByteCount) = (1, bytes.count)
    _ = try Model(bytes: bytes, limits: limits)
    for path: WritableKeyPath<Model.Limits, Int> in [
      \.subgraphCount, \.tensorCount, \.operatorCount, \.elementCount, \.fileByteCount,
    ] {
      var tighter = limits
      tighter[keyPath: path] -= 1
      let found = error { () throws(ApusError) in _ = try Model(bytes: bytes, limits: tighter) }
      #expect(found?.code == .resourceLimit, "\(found?.message ?? "")")
    }
    var shallow = Model.Limits()
    shallow.callDepth = 0
    let model = try Model(bytes: bytes, limits: shallow)
    #expect(error { () throws(ApusError) in _ = try Interpreter(model: model) }?.code == .resourceLimit)
  }

  @Test(
    "values that are assigned to any number of handles count towards the limit of memory, with what each takes beside them"
  )
  func strays() throws {
    var model = Self.endlessLoop()
    let int32 = TestModel.int32
    model.tensors = ["x", "y"].map { .init(name: $0, type: int32, shape: []) }
    model.children[0].tensors[0] = .init(name: "x", type: int32, shape: [])
    model.children[1] = TestModel(
      tensors: [
        .init(name: "x", type: int32, shape: []), .init(name: "y", type: int32, shape: []),
        .init(name: "one", type: int32, shape: [], data: [1, 0, 0, 0]),
      ],
      operators: [
        .init(code: .assignVariable, inputs: [0, 2], outputs: []),
        .init(code: .add, inputs: [0, 2], outputs: [1]),
      ], inputs: [0], outputs: [1])
    var options = Interpreter.Options()
    options.memoryLimit = 1 << 20
    options.loopLimit = 100_000
    let interpreter = try Interpreter(model: model.model(), options: options)
    for _ in 0..<2 {
      let found = error { () throws(ApusError) in try interpreter.invoke() }
      #expect(
        found?.code == .resourceLimit && found?.message.contains("resource variables") == true,
        "\(found as Any)")
      interpreter.resetVariables()
    }
  }

  @Test("names of variables count towards the limit of memory")
  func handles() throws {
    let model = TestModel(
      tensors: (0..<100).map { .init(name: "\($0)", type: 13, shape: []) },
      operators: (0..<100).map {
        .init(
          code: .varHandle, inputs: [], outputs: [Int32($0)],
          options: .varHandle(name: "\($0)" + String(repeating: "n", count: 10_000)))
      }, inputs: [], outputs: [0])
    var options = Interpreter.Options()
    let file = try model.model()
    _ = try Interpreter(model: file, options: options)
    options.memoryLimit = 500_000
    let found = error { () throws(ApusError) in _ = try Interpreter(model: file, options: options) }
    #expect(
      found?.code == .resourceLimit && found?.message.contains("resource variables") == true,
      "\(found as Any)")
  }

  @Test("constants that a pass looks at count towards the limit of memory")
  func pinnedConstants() throws {
    // Each sum has a constant of 4 MiB, which a file of some bytes describes.
    let (width, count) = (1 << 20 as Int32, 9 as Int32)
    var model = TestModel(
      tensors: [
        .init(name: "x", type: TestModel.int8, shape: [1, width], scale: 0.1),
        .init(
          name: "shape", type: TestModel.int32, shape: [2],
          data: [1, width].flatMap { value in withUnsafeBytes(of: value.littleEndian) { Array($0) } }),
        .init(name: "value", shape: [], data: TestModel.bytes([2])),
        .init(name: "floats", shape: [1, width]),
      ], operators: [.init(code: .dequantize, inputs: [0], outputs: [3])], inputs: [0], outputs: [])
    for _ in 0..<count {
      let first = Int32(model.tensors.count)
      model.tensors += [
        .init(name: "filled", shape: [1, width]), .init(name: "product", shape: [1, width]),
        .init(name: "y", type: TestModel.int8, shape: [1, width], scale: 0.1),
      ]
      model.operators += [
        .init(code: .fill, inputs: [1, 2], outputs: [first]),
        .init(code: .mul, inputs: [3, first], outputs: [first + 1]),
        .init(code: .quantize, inputs: [first + 1], outputs: [first + 2]),
      ]
      model.outputs.append(first + 2)
    }
    let file = try model.model()
    var options = Interpreter.Options()
    _ = try Interpreter(model: file, options: options)
    options.memoryLimit = 24 << 20
    let found = error { () throws(ApusError) in _ = try Interpreter(model: model.model(), options: options) }
    #expect(found?.code == .resourceLimit, "\(found as Any)")
  }
}
