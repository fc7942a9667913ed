// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusFormat
import Foundation
import TestSupport
import Testing

/// Infinities, NaN, zeros of either sign, subnormal numbers and what overflows: passes leave their bits alone, and functions and what
/// follows them keep their digits.
@Suite struct SpecialValueTests {
  private static let functions: [OperatorCode] = [
    .relu, .reluN1To1, .relu6, .logistic, .tanh, .exp, .log, .sqrt, .rsqrt, .square, .neg, .abs, .elu,
    .hardSwish,
    .floor, .sin, .round,
  ]
  private static let operations: [OperatorCode] = [
    .add, .mul, .sub, .div, .maximum, .minimum, .squaredDifference,
  ]

  private static let special: [Float] = [
    0, -0.0, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
    .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude, Float(1e-40 as Double),
    Float(-1e-40 as Double), 3e38, -3e38, 1e30,
    -1e30, 88.7, -88.7, -103.5, -95, 1, -1, 0.5, -2,
  ]

  /// Special values and, for one of three, ordinary ones.
  private static func floats(_ count: Int, using random: inout SeededGenerator) -> [Float] {
    (0..<count).map { _ in
      Int.random(in: 0..<3, using: &random) == 0
        ? .random(in: -4...4, using: &random) : special.pick(using: &random)
    }
  }

  /// The outputs without passes, with all of them, and with all but each; those with the first must be those of all, bit by bit.
  private func expectSameBits(
    _ model: Model, inputs: [[Float]], _ comment: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for kernels in Runtime.kernelSets where kernels.isSupported {
      var expected: [[Float]]?
      for passes in [Passes.none, .all] + Passes.optional.map({ Passes.all.without([$0]) }) {
        var options = Interpreter.Options()
        options.kernels = kernels.name
        options.passes = passes
        let interpreter = try Interpreter(model: model, options: options)
        for (place, values) in inputs.enumerated() { try interpreter.copy(values, toInputAt: place) }
        try interpreter.invoke()
        let found = try interpreter.outputs.indices.map { try interpreter.output(at: $0) as [Float] }
        guard let expected else {
          expected = found
          continue
        }
        for (one, other) in zip(expected, found) {
          let differing = one.indices.first {
            one[$0].bitPattern != other[$0].bitPattern && !(one[$0].isNaN && other[$0].isNaN)
          }
          if let differing {
            Issue.record(
              "\(comment), \(kernels.name), \(passes): \(other[differing]) not \(one[differing]) at \(differing)",
              sourceLocation: sourceLocation)
            return
          }
        }
      }
    }
  }

  @Test("passes leave every bit of random elementwise graphs as it is", arguments: 0..<24)
  func elementwise(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let shape: [Int32] = [[1, 6, 7, 16], [2, 3, 40], [1, 9, 64], [5, 333]].pick(using: &random)
    let (count, channels) = (Int(shape.reduce(1, *)), shape[shape.count - 1])
    var tensors: [TestModel.TensorSpec] = [
      .init(name: "x", shape: shape), .init(name: "z", shape: shape),
      .init(
        name: "c", shape: [channels], data: TestModel.bytes(Self.floats(Int(channels), using: &random))),
      .init(
        name: "slopes", shape: [channels],
        data: TestModel.bytes((0..<channels).map { _ in .random(in: -2...2, using: &random) })),
    ]
    var operators: [TestModel.OperatorSpec] = []
    var values: [Int32] = [0, 1]
    var unread: Set<Int32> = []
    func emit(_ code: OperatorCode, _ inputs: [Int32], _ options: TestOptions = .none) {
      let result = Int32(tensors.count)
      tensors.append(.init(name: "t\(result)", shape: shape))
      operators.append(.init(code: code, inputs: inputs, outputs: [result], options: options))
      values.append(result)
      unread.subtract(inputs)
      unread.insert(result)
    }
    for _ in 0..<14 {
      let (first, second) = (values.suffix(3).randomElement(using: &random) ?? 0, values.pick(using: &random))
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<4: emit(Self.functions.pick(using: &random), [first])
      case 4..<7: emit(Self.operations.pick(using: &random), [first, second])
      case 7: emit(Self.operations.pick(using: &random), [first, 2])
      case 8: emit(.prelu, [first, 3])
      case 9: emit(.leakyRelu, [first], .leakyRelu(alpha: [0.1, -0.3].pick(using: &random)))
      case 10:
        // A gate.
        emit(.logistic, [first])
        emit(.mul, [first, values[values.count - 1]])
      default:
        // PRELU in five operators.
        emit(.relu, [first])
        let positive = values[values.count - 1]
        emit(.neg, [first])
        emit(.relu, [values[values.count - 1]])
        emit(.mul, [values[values.count - 1], [2, 3].pick(using: &random)])
        emit(.add, [positive, values[values.count - 1]])
      }
    }
    let model = try TestModel(
      tensors: tensors, operators: operators, inputs: [0, 1], outputs: unread.sorted()
    ).model()
    let inputs = (0..<2).map { _ in Self.floats(count, using: &random) }
    try expectSameBits(model, inputs: inputs, "seed \(seed)")
  }

  /// `MUL` and `NEG` in all orders on the way to a term below zero: `RELU(x) + …`.
  @Test(
    "a rectifier of several operators has the same bits as one step",
    arguments: [
      [.neg, .relu, .mul], [.neg, .relu, .mul, .neg], [.neg, .relu, .neg, .mul], [.mul, .neg, .relu],
      [.neg, .mul, .relu],
    ] as [[OperatorCode]],
    [Float(0.25), -0.25, 1.5, -1.5, 0, -0.0])
  func rectifiers(path: [OperatorCode], factor: Float) throws {
    let shape: [Int32] = [1, 3, 8, 8]
    var tensors: [TestModel.TensorSpec] = [
      .init(name: "x", shape: shape), .init(name: "w", shape: [8, 1, 1, 8]), .init(name: "b", shape: [8]),
      .init(name: "factor", shape: [1], data: TestModel.bytes([factor])), .init(name: "a", shape: shape),
    ]
    // A convolution that leaves each channel alone, but for infinities.
    tensors[1].data = TestModel.bytes((0..<64).map { $0 % 9 == 0 ? 1 : 0 })
    tensors[2].data = TestModel.bytes(Array(repeating: 0, count: 8))
    for isBehindConvolution in [false, true] {
      var tensors = tensors
      var operators: [TestModel.OperatorSpec] = []
      if isBehindConvolution {
        operators.append(
          .init(
            code: .conv2D, inputs: [0, 1, 2], outputs: [4], options: .conv2D()))
      }
      let start: Int32 = isBehindConvolution ? 4 : 0
      func emit(_ code: OperatorCode, _ inputs: [Int32]) -> Int32 {
        tensors.append(.init(name: "t\(tensors.count)", shape: shape))
        operators.append(.init(code: code, inputs: inputs, outputs: [Int32(tensors.count - 1)]))
        return Int32(tensors.count - 1)
      }
      let positive = emit(.relu, [start])
      var last = start
      for code in path { last = emit(code, code == .mul ? [last, 3] : [last]) }
      let sum = emit(.add, [positive, last])
      let model = try TestModel(tensors: tensors, operators: operators, inputs: [0], outputs: [sum]).model()
      let values = (0..<192).map { index in
        isBehindConvolution && index % 8 != 0
          ? [0, -0.0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 2.5, -2.5, Float(1e-39 as Double)][
            index % 7] : Self.special[index % Self.special.count]
      }
      try expectSameBits(model, inputs: [values], "\(path) with \(factor)")
    }
  }

  @Test("a product with a gate of it is no more than the greatest number, as MUL clamps")
  func gate() throws {
    for isRead in [false, true] {
      let model = try TestModel(
        tensors: [
          .init(name: "x", shape: [1, 24]), .init(name: "gate", shape: [1, 24]),
          .init(name: "y", shape: [1, 24]),
        ],
        operators: [
          .init(code: .logistic, inputs: [0], outputs: [1]),
          .init(code: .mul, inputs: [0, 1], outputs: [2]),
        ], inputs: [0], outputs: isRead ? [2, 1] : [2]
      ).model()
      for kernels in Runtime.kernelSets where kernels.isSupported {
        var options = Interpreter.Options()
        options.kernels = kernels.name
        let interpreter = try Interpreter(model: model, options: options)
        try interpreter.copy(Self.special, toInputAt: 0)
        try interpreter.invoke()
        let results: [Float] = try interpreter.output(at: 0)
        #expect(results[2] == .greatestFiniteMagnitude && results[3].isNaN && results[4].isNaN)
      }
    }
  }

  /// LiteRT's results, whose signs a division shows.
  @Test("ROUND gives zero without a sign to all but zero itself")
  func roundedZeros() throws {
    let cases: [(value: Float, rounded: Float)] = [
      (-0.3, 0), (-0.5, 0), (-0.0, -0.0), (0, 0), (0.5, 0), (1.5, 2), (-1.5, -2), (2.5, 2), (-0.75, -1),
      (Float(-1e-40 as Double), 0), (Float(1e-40 as Double), 0), (0.499_999_97, 0), (-0.499_999_97, 0),
      (.infinity, .infinity), (-.infinity, -.infinity), (8_388_607.5, 8_388_608), (-8_388_611, -8_388_611),
    ]
    let shape: [Int32] = [1, Int32(cases.count)]
    for isDivided in [false, true] {
      let model = try TestModel(
        tensors: [
          .init(name: "x", shape: shape), .init(name: "rounded", shape: shape),
          .init(name: "one", shape: [1], data: TestModel.bytes([1 as Float])),
          .init(name: "inverse", shape: shape),
        ],
        operators: [
          .init(code: .round, inputs: [0], outputs: [1]), .init(code: .div, inputs: [2, 1], outputs: [3]),
        ], inputs: [0], outputs: isDivided ? [3] : [1]
      ).model()
      for kernels in Runtime.kernelSets where kernels.isSupported {
        var options = Interpreter.Options()
        options.kernels = kernels.name
        let interpreter = try Interpreter(model: model, options: options)
        try interpreter.copy(cases.map(\.value), toInputAt: 0)
        try interpreter.invoke()
        let results: [Float] = try interpreter.output(at: 0)
        for (given, result) in zip(cases, results) {
          let greatest = Float.greatestFiniteMagnitude
          let wanted = isDivided ? max(-greatest, min(1 / given.rounded, greatest)) : given.rounded
          #expect(
            result.bitPattern == wanted.bitPattern,
            "\(kernels.name), \(given.value): \(result), not \(wanted)")
        }
      }
    }
  }

  @Test("passes leave every bit of normalized rows as it is", arguments: 0..<8)
  func rows(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let (rows, depth): (Int32, Int32) = [(9, 64), (3, 300), (20, 48), (2, 1000)].pick(using: &random)
    let (shape, narrow): ([Int32], [Int32]) = ([1, rows, depth], [1, rows, 1])
    let model = try TestModel(
      tensors: [
        .init(name: "x", shape: shape),
        .init(name: "axes", type: TestModel.int32, shape: [1], data: [2, 0, 0, 0]),
        .init(name: "mean", shape: narrow), .init(name: "squares", shape: shape),
        .init(name: "variance", shape: narrow), .init(name: "inverse", shape: narrow),
        .init(name: "centered", shape: shape), .init(name: "y", shape: shape),
        .init(name: "relu", shape: shape),
      ],
      operators: [
        .init(code: .mean, inputs: [0, 1], outputs: [2], options: .reducer(keepsDimensions: true)),
        .init(code: .squaredDifference, inputs: [0, 2], outputs: [3]),
        .init(code: .mean, inputs: [3, 1], outputs: [4], options: .reducer(keepsDimensions: true)),
        .init(code: .rsqrt, inputs: [4], outputs: [5]),
        .init(code: .sub, inputs: [0, 2], outputs: [6]),
        .init(code: .mul, inputs: [6, 5], outputs: [7]),
        .init(code: .logistic, inputs: [7], outputs: [8]),
      ], inputs: [0], outputs: [8]
    ).model()
    // Most rows have ordinary values but for one.
    var values = (0..<Int(rows * depth)).map { _ in Float.random(in: -3...3, using: &random) }
    for row in 0..<Int(rows) {
      values[row * Int(depth) + Int.random(in: 0..<Int(depth), using: &random)] = Self.special.pick(
        using: &random)
    }
    try expectSameBits(model, inputs: [values], "seed \(seed)")
  }

  @Test("the logarithm of LOGISTIC is finite and right down to the last subnormal number")
  func logarithmOfLogistic() throws {
    let count = 4160
    let shape: [Int32] = [1, Int32(count)]
    let model = try TestModel(
      tensors: [
        .init(name: "x", shape: shape), .init(name: "s", shape: shape), .init(name: "y", shape: shape),
      ],
      operators: [
        .init(code: .logistic, inputs: [0], outputs: [1]),
        .init(code: .log, inputs: [1], outputs: [2]),
      ], inputs: [0], outputs: [2]
    ).model()
    // From 0 down to −103.97, below which the nearest float is zero.
    let values = (0..<count).map { -0.024_99 * Float($0) }
    for kernels in Runtime.kernelSets where kernels.isSupported {
      for passes in [Passes.all, .none] {
        var options = Interpreter.Options()
        options.kernels = kernels.name
        options.passes = passes
        let interpreter = try Interpreter(model: model, options: options)
        try interpreter.copy(values, toInputAt: 0)
        try interpreter.invoke()
        let results: [Float] = try interpreter.output(at: 0)
        for (value, result) in zip(values, results) where value < -10 {
          // A spacing of subnormal numbers, relative to e^x, shifts its logarithm as much.
          let power = exp(Double(value))
          let allowed = 3e-5 + 1.5 * Double(Float.leastNonzeroMagnitude) / power
          #expect(abs(Double(result) - Double(value)) <= allowed, "\(kernels.name), \(value): \(result)")
        }
      }
    }
  }
}

extension RandomAccessCollection {
  /// One of the elements; there are some.
  fileprivate func pick(using random: inout SeededGenerator) -> Element {
    self[index(startIndex, offsetBy: Int.random(in: 0..<count, using: &random))]
  }
}
