// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

extension KernelTrial {
  /// Operators that one function computes together, and what follows a product in the cache.
  static let chains: [KernelTrial] = elementwiseChains + rowChains + postOperations + [thinProduct]

  /// The shape of chains: rows that fill vectors.
  private static let (height, depth) = (9, 80)
  private static let count = height * depth

  private typealias Stages = [(stage: ChainStage?, sources: [Chain.Source])]

  // MARK: Elementwise chains

  private static let elementwiseChains: [KernelTrial] = functionChains + mixedChains

  /// Each function with a stage after it that keeps its results apart.
  private static let functionChains: [KernelTrial] = FloatFunction.samples.map { function in
    chain("\(function) of floats in a chain", isFloat: true, [floats]) { set in
      [(unary(function, set), [.tensor(0)]), (unary(.negate, set), [.stage(0)])]
    }
  }

  private static let mixedChains: [KernelTrial] = [
    // A long program. Each function is one to one, or nearly so: an error of one is not lost in the next.
    chain("functions of floats one after the other in a chain", isFloat: true, [floats]) { set in
      let functions: [FloatFunction] = [
        .tanh, .exp, .swish, .logistic, .square, .elu, .leakyRelu(alpha: 0.3), .gelu(isApproximate: true),
        .gelu(isApproximate: false), .hardSwish, .negate,
      ]
      return functions.enumerated().map { index, function in
        (unary(function, set), [index == 0 ? .tensor(0) : .stage(index - 1)])
      }
    },
    chain("roundings of floats in a chain", isFloat: true, [floats, row]) { set in
      [
        (unary(.floor, set), [.tensor(0)]), (unary(.ceil, set), [.tensor(0)]),
        (unary(.round, set), [.tensor(0)]), (unary(.absolute, set), [.stage(2)]),
        (binary(.multiply, set, [height, depth]), [.stage(0), .stage(1)]),
        (binary(.subtract, set, [height, depth]), [.stage(4), .stage(3)]),
        (binary(.add, set, [depth]), [.stage(5), .tensor(1)]),
        (unary(.clamp(minimum: -9, maximum: 12), set), [.stage(6)]),
      ]
    },
    chain("operations of floats in a chain", isFloat: true, [floats, row]) { set in
      [
        (binary(.squaredDifference, set, [depth]), [.tensor(0), .tensor(1)]),
        (binary(.parametricRelu, set, [depth]), [.tensor(0), .tensor(1)]),
        (binary(.maximum, set, [height, depth]), [.tensor(0), .stage(1)]),
        (binary(.minimum, set, [depth]), [.stage(0), .tensor(1)]),
        (binary(.add, set, [height, depth]), [.stage(2), .stage(3)]),
        (unary(.exp, set), [.tensor(0)]), (binary(.divide, set, [height, depth]), [.stage(4), .stage(5)]),
      ]
    },
    chain("a function between bytes in a chain", isFloat: false, [bytes(count, seed: 23)]) { set in
      let parameters = (scale: Float(0.037), zeroPoint: Int32(5))
      let dequantization = Dequantization(scale: parameters.scale, zeroPoint: parameters.zeroPoint)
      let quantization = FloatQuantization(
        scale: parameters.scale, zeroPoint: parameters.zeroPoint, range: -128...127)
      return [
        (
          dequantization.chooseBytes(isSigned: true, count: count, using: set).kernel.stage, [.tensor(0)]
        ),
        (unary(.hardSwish, set), [.stage(0)]),
        (quantization.chooseBytes(count: count, using: set).kernel.stage, [.stage(1)]),
      ]
    },
  ]

  private static let floats = floatBytes(count, seed: 21)
  private static let row = floatBytes(depth, seed: 22)

  private static func unary(_ function: FloatFunction, _ set: KernelSet) -> ChainStage? {
    function.choose(count: count, using: set).kernel.stage
  }

  /// An operation of a whole tensor and one of another shape.
  private static func binary(
    _ kind: FloatOperation.Kind, _ set: KernelSet, _ other: [Int]
  ) -> ChainStage? {
    guard let shapes = BroadcastShapes([height, depth], other) else { return nil }
    let operation = FloatOperation(kind)
    return set.choose(otherwise: operation.kernel(shapes)) { set throws(Decline) in
      try set.generatedKernels().floats(operation, shapes)
    }.kernel.stage
  }

  private static func chain(
    _ name: String, isFloat: Bool, _ tensors: [[UInt8]], outputs: Int = count,
    _ stages: @escaping @Sendable (KernelSet) -> Stages
  ) -> KernelTrial {
    KernelTrial(name: name, isFloat: isFloat) { set throws(Decline) in
      var known: Chain.Stages = []
      for (stage, sources) in stages(set) {
        guard let stage else { throw Decline("an operator cannot be a stage") }
        known.append((stage, sources))
      }
      let chain = try Chain(known, tensorCount: tensors.count, using: set)
      return output((isFloat ? 4 : 1) * outputs, scratch: chain.scratchByteCount(threads: 1)) {
        output, scratch, threads in
        withExtendedLifetime(tensors) {
          var inputs = ChainInputs()
          for tensor in tensors { unsafe inputs.add(tensor.span.bytes) }
          chain.run(inputs, to: &output, scratch: &scratch, threads: threads)
        }
      }
    }
  }

  // MARK: Chains over rows

  private static let rowChains: [KernelTrial] = [
    chain("the variance of rows in a chain", isFloat: true, [floats], outputs: height) { set in
      [
        (mean, [.tensor(0)]), (binary(.squaredDifference, set, [height, 1]), [.tensor(0), .stage(0)]),
        (mean, [.stage(1)]),
      ]
    },
    chain("rows minus their means in a chain", isFloat: true, [floats, row]) { set in
      [
        (mean, [.tensor(0)]), (binary(.subtract, set, [height, 1]), [.tensor(0), .stage(0)]),
        (binary(.multiply, set, [depth]), [.stage(1), .tensor(1)]),
      ]
    },
  ]

  private static let mean = Reduction(dimensions: [height, depth], isFolded: [false, true])
    .stage(.sum, divisor: depth)

  // MARK: Products

  /// Operations on a product's results in place, and a product that applies them.
  private static let postOperations: [KernelTrial] = [
    inPlace("PRELU of results in place") { PostOperation(parametricRelu: factors, using: $0) },
    inPlace("a rectified sum of results in place") {
      PostOperation(rectifiedSum: factors, within: -3, 3.5, using: $0)
    },
    inPlace("a function of results in place") { PostOperation(.logistic, using: $0) },
    KernelTrial(name: "a sum of results and another tensor in place", isFloat: true) { set throws(Decline) in
      let operations = PostOperations(addingWithin: -3, 4, using: set)
      return inPlace(operations, count: 1_037)
    },
  ]

  private static let factors: [Float] = (0..<37).map { Float($0) / 20 - 0.8 }

  private static func inPlace(
    _ name: String, _ prepare: @escaping @Sendable (KernelSet) -> PostOperation?
  ) -> KernelTrial {
    KernelTrial(name: name, isFloat: true) { set throws(Decline) in
      guard let operation = prepare(set) else { throw Decline("there is no such operation") }
      return try results(of: (operation, operation.choice), in: set) { operation in
        inPlace(PostOperations(last: operation), count: 1_037)
      }
    }
  }

  private static func inPlace(_ operations: PostOperations, count: Int) -> [UInt8] {
    let (values, other) = (floatBytes(count, seed: 24), floatBytes(count, seed: 25))
    return output(4 * count) { output, _, _ in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe output.copyBytes(from: values)
        unsafe other.withUnsafeBytes { other in
          guard let target = output.baseAddress, let other = other.baseAddress else { return }
          unsafe operations.apply(
            to: target.assumingMemoryBound(to: Float.self), other: other.assumingMemoryBound(to: Float.self),
            first: 0, count: count)
        }
      }
    }
  }

  /// A product of a few rows with a matrix that is not packed.
  private static let thinProduct = KernelTrial(name: "a product with a matrix as it lies", isFloat: true) {
    set throws(Decline) in
    let (rows, depth, columns) = (5, 37, 48)
    let (lhs, rhs) = (floatBytes(rows * depth, seed: 26), floatBytes(depth * columns, seed: 27))
    guard set !== KernelSet.portable else {
      // Plain Swift packs the matrix, its columns as the weights of outputs.
      let order = (0..<columns * depth).map { $0 % depth * columns + $0 / depth }
      let weights = order.flatMap { rhs[4 * $0..<4 * $0 + 4] }
      let product = Convolution(
        rows: rows, depth: depth, columns: columns, operands: .float32,
        epilogue: .float32(minimum: -.infinity, maximum: .infinity))
      let kernel = try set.convolutions.convolution(product, isForOneThread: true)
      let packed = unsafe PackedWeights(byteCount: kernel.packedByteCount(for: weights.span.bytes))
      unsafe kernel.pack(weights: weights.span.bytes, bias: nil, into: packed)
      return output(4 * rows * columns, scratch: kernel.scratchByteCount(threads: 1)) {
        output, scratch, threads in
        unsafe kernel.run(packed, input: lhs.span.bytes, output: &output, scratch: &scratch, threads: threads)
      }
    }
    let products = try ThinProducts(
      rows: rows, depth: depth, columns: columns, pairs: MatrixPairs(lhs: [], rhs: []), using: set)
    return output(4 * rows * columns) { output, _, threads in
      unsafe products.run(lhs: lhs.span.bytes, rhs: rhs.span.bytes, output: &output, threads: threads)
    }
  }
}
