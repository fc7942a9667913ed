// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

extension KernelTrial {
  /// Everything but convolutions for which sets have generated code.
  static let elements: [KernelTrial] = functions + operations + byteOperations + rows + pictures

  /// Elements that fill vectors, and some more.
  private static let count = 1_037

  // MARK: Functions of one tensor

  private static let functions: [KernelTrial] =
    FloatFunction.samples.map { function in
      unary("\(function) of floats", isFloat: true, inputs: floatBytes(count, seed: 3), outputs: 4 * count) {
        function.choose(count: count, using: $0)
      }
    } + [
      unary("a table of bytes", isFloat: false, inputs: bytes(count, seed: 4), outputs: count) {
        ByteTable(isSigned: false) { $0 &* $0 &+ 3 }.choose(count: count, using: $0)
      },
      unary("integers of floats", isFloat: false, inputs: floatBytes(count, seed: 5), outputs: 4 * count) {
        CastKernel.choose(from: .float32, to: .int32, count: count, using: $0)
      },
      unary("bytes of floats", isFloat: false, inputs: floatBytes(count, seed: 6), outputs: count) {
        FloatQuantization(scale: 0.037, zeroPoint: 5, range: -128...127).chooseBytes(count: count, using: $0)
      },
      unary("floats of bytes", isFloat: true, inputs: bytes(count, seed: 7), outputs: 4 * count) {
        Dequantization(scale: 0.037, zeroPoint: 5).chooseBytes(isSigned: true, count: count, using: $0)
      },
    ]

  private static func unary(
    _ name: String, isFloat: Bool, inputs: [UInt8], outputs: Int,
    _ choose: @escaping @Sendable (KernelSet) -> KernelSet.Chosen<any UnaryKernel>
  ) -> KernelTrial {
    KernelTrial(name: name, isFloat: isFloat) { set throws(Decline) in
      try results(of: choose(set), in: set) { kernel in
        output(outputs) { output, _, threads in
          unsafe kernel.run(inputs.span.bytes, to: &output, threads: threads)
        }
      }
    }
  }

  // MARK: Functions of two tensors

  private static let operations: [KernelTrial] = FloatOperation.Kind.allCases.flatMap { kind in
    [[13, 80], [80]].map { other in
      binary(
        "\(kind) of floats", isFloat: true, [13, 80], other,
        lhs: floatBytes(13 * 80, seed: 8), rhs: floatBytes(other.reduce(1, *), seed: 9), elementByteCount: 4
      ) { set, shapes throws(Decline) in
        try set.generated?.floats(FloatOperation(kind), shapes) ?? FloatOperation(kind).kernel(shapes)
      }
    }
  }

  private static let byteOperations: [KernelTrial] = [false, true].flatMap { isSigned in
    let (least, most): (Int32, Int32) = isSigned ? (-128, 127) : (0, 255)
    let result = QuantizedResult(
      multiplier: FixedPointMultiplier(0x1p-19), zeroPoint: least + 100, minimum: least, maximum: most)
    let sum = QuantizedSum(
      lhs: QuantizedOperand(zeroPoint: least + 90, multiplier: FixedPointMultiplier(0.47)),
      rhs: QuantizedOperand(zeroPoint: least + 130, multiplier: FixedPointMultiplier(0.31)),
      isDifference: false, leftShift: 20, output: result)
    let product = QuantizedProduct(
      lhsZeroPoint: least + 90, rhsZeroPoint: least + 130,
      output: QuantizedResult(
        multiplier: FixedPointMultiplier(0.021), zeroPoint: least + 100, minimum: least, maximum: most))
    let name = isSigned ? "int8" : "uint8"
    let (lhs, rhs) = (bytes(13 * 80, seed: 10), bytes(13 * 80, seed: 11))
    return [
      binary(
        "a sum of \(name)", isFloat: false, [13, 80], [13, 80], lhs: lhs, rhs: rhs, elementByteCount: 1
      ) {
        set, shapes throws(Decline) in
        try set.generated?.sum(sum, isSigned: isSigned, shapes) ?? sum.bytes(isSigned: isSigned, shapes)
      },
      binary(
        "a product of bytes, \(name)", isFloat: false, [13, 80], [13, 80], lhs: lhs, rhs: rhs,
        elementByteCount: 1
      ) { set, shapes throws(Decline) in
        try set.generated?.product(product, isSigned: isSigned, shapes)
          ?? product.bytes(isSigned: isSigned, shapes)
      },
    ]
  }

  private static func binary(
    _ name: String, isFloat: Bool, _ lhsShape: [Int], _ rhsShape: [Int], lhs: [UInt8], rhs: [UInt8],
    elementByteCount: Int,
    _ prepare: @escaping @Sendable (KernelSet, BroadcastShapes) throws(Decline) -> any BinaryKernel
  ) -> KernelTrial {
    KernelTrial(name: name, isFloat: isFloat) { set throws(Decline) in
      guard let shapes = BroadcastShapes(lhsShape, rhsShape) else { throw Decline("shapes do not fit") }
      let kernel = try prepare(set, shapes)
      return output(shapes.result.reduce(elementByteCount, *)) { output, _, threads in
        unsafe kernel.run(lhs.span.bytes, rhs.span.bytes, to: &output, threads: threads)
      }
    }
  }

  // MARK: Rows

  private static let rows: [KernelTrial] = [
    unary("softmax of floats", isFloat: true, inputs: floatBytes(5 * 130, seed: 12), outputs: 20 * 130) {
      Softmax.chooseFloats(beta: 1, isHalf: false, rows: 5, depth: 130, using: $0)
    },
    unary("log-softmax of floats", isFloat: true, inputs: floatBytes(5 * 130, seed: 13), outputs: 20 * 130) {
      LogSoftmax.chooseFloats(rows: 5, depth: 130, using: $0)
    },
    unary("softmax of int8", isFloat: false, inputs: bytes(5 * 130, seed: 14), outputs: 5 * 130) {
      Softmax.chooseBytes(isSigned: true, factor: 0.05, isWord: false, rows: 5, depth: 130, using: $0)
    },
    unary("softmax of uint8", isFloat: false, inputs: bytes(5 * 130, seed: 15), outputs: 5 * 130) {
      Softmax.chooseBytes(isSigned: false, factor: 0.05, isWord: false, rows: 5, depth: 130, using: $0)
    },
    unary("PRELU of int8", isFloat: false, inputs: bytes(150 * 32, seed: 16), outputs: 150 * 32) {
      QuantizedParametricRelu(
        positive: Rescaling(
          zeroPoint: 4,
          output: QuantizedResult(
            multiplier: FixedPointMultiplier(0.9), zeroPoint: -6, minimum: -128, maximum: 127)),
        alphaZeroPoint: 0, negative: FixedPointMultiplier(0.01)
      ).choose(isSigned: true, rows: 150, factors: (0..<32).map { $0 * 3 - 40 }, using: $0)
    },
  ]

  // MARK: Pictures

  private static let pictures: [KernelTrial] =
    [Pooling.Kind.average, .maximum].flatMap { kind in
      [
        pooling("pooling (\(kind)) of int8", kind, .integer(.int8, minimum: -128, maximum: 127), 1),
        pooling("pooling (\(kind)) of uint8", kind, .integer(.uint8, minimum: 0, maximum: 255), 1),
        pooling("pooling (\(kind)) of floats", kind, .float32(minimum: -9, maximum: 9), 4),
      ]
    } + [1, 2, 4].map { transposition(width: $0) } + [ScalarType.int8, .uint8].map { resize($0) }

  private static func pooling(
    _ name: String, _ kind: Pooling.Kind, _ elements: Pooling.Elements, _ width: Int
  ) -> KernelTrial {
    KernelTrial(name: name, isFloat: width == 4) { set throws(Decline) in
      guard
        let pooling = Pooling(
          kind: kind, elements: elements, batches: 1,
          vertical: WindowAxis(size: 11, places: 5, taps: 3, stride: 2),
          horizontal: WindowAxis(size: 12, places: 5, taps: 3, stride: 2), channels: 70, using: set)
      else { throw Decline("a window is empty") }
      let input =
        width == 4 ? floatBytes(11 * 12 * 70, seed: 17) : bytes(11 * 12 * 70, seed: 18)
      return try results(of: (pooling, pooling.choice), in: set) { pooling in
        output(25 * 70 * width, scratch: pooling.scratchByteCount(threads: 1)) { output, scratch, threads in
          unsafe pooling.run(input.span.bytes, to: &output, scratch: &scratch, threads: threads)
        }
      }
    }
  }

  private static func transposition(width: Int) -> KernelTrial {
    KernelTrial(name: "a transposition of elements of \(width) bytes", isFloat: false) {
      set throws(Decline) in
      guard
        let copy = StridedCopy(
          elementByteCount: width, dimensions: [93, 71], sourceStrides: [1, 93], destinationStrides: [71, 1],
          using: set)
      else { throw Decline("an address overflows") }
      let input = bytes(93 * 71 * width, seed: 19)
      return try results(of: (copy, copy.choice ?? .plain), in: set) { copy in
        output(93 * 71 * width) { output, _, threads in
          unsafe copy.run(input.span.bytes, to: &output, threads: threads)
        }
      }
    }
  }

  private static func resize(_ type: ScalarType) -> KernelTrial {
    KernelTrial(name: "bilinear resizing of \(type)", isFloat: false) { set throws(Decline) in
      guard
        let resize = BilinearResize(
          type, batches: 1, inputHeight: 7, inputWidth: 9, channels: 17, outputHeight: 12, outputWidth: 20,
          alignsCorners: false, usesHalfPixelCenters: true, using: set),
        let scratchByteCount = resize.scratchByteCount(threads: 1)
      else { throw Decline("a size is out of range") }
      let input = bytes(7 * 9 * 17, seed: 20)
      return try results(of: (resize, resize.choice), in: set) { resize in
        output(12 * 20 * 17, scratch: scratchByteCount) { output, scratch, threads in
          unsafe resize.run(input.span.bytes, to: &output, scratch: &scratch, threads: threads)
        }
      }
    }
  }
}
