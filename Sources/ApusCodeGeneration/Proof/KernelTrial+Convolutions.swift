// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

extension KernelTrial {
  /// Products and convolutions of each kind of operands.
  static let convolutions: [KernelTrial] = kinds.flatMap { kind in
    [
      trial("a product of \(kind.name)", product(kind, rows: 5, depth: 75, columns: 41)),
      trial("a row of \(kind.name)", product(kind, rows: 1, depth: 130, columns: 70)),
      trial("a 1×1 convolution of \(kind.name)", filters(kind, size: 9, channels: 32, filter: 1)),
      trial("a 3×3 convolution of \(kind.name)", filters(kind, size: 12, channels: 16, filter: 3)),
      trial(
        "a 3×3 convolution with strides of \(kind.name)",
        filters(kind, size: 15, channels: 3, filter: 3, stride: 2)),
    ]
  }

  /// Depthwise convolutions of each kind of operands.
  static let depthwiseConvolutions: [KernelTrial] = kinds.flatMap { kind in
    [
      trial("a depthwise convolution of \(kind.name)", depthwise(kind, size: 14, channels: 40, filter: 3)),
      trial(
        "a depthwise convolution with strides of \(kind.name)",
        depthwise(kind, size: 15, channels: 17, filter: 3, stride: 2)),
      trial(
        "a 5×5 depthwise convolution of \(kind.name)", depthwise(kind, size: 11, channels: 32, filter: 5)),
    ]
  }

  /// Convolutions that other strategies compute, and outputs that are rescaled in other ways.
  static let strategies: [KernelTrial] =
    rescalings.map { trial("a product of \($0.name)", product($0, rows: 5, depth: 75, columns: 41)) }
    + [
      // Factors in single precision pay for many outputs only.
      trial("many rows of int8", product(int8, rows: 300, depth: 24, columns: 20)),
      trial("many rows of uint8", product(uint8, rows: 300, depth: 24, columns: 20)),
      trial("two rows of float32", product(float32, rows: 2, depth: 66, columns: 40)),
      trial("two columns of float32", product(float32, rows: 3, depth: 200, columns: 2)),
      trial(
        "a filter of float32 on one channel", filters(float32, size: 20, channels: 1, filter: 5, outputs: 1)),
      trial(
        "a 3×3 convolution of many channels of int8",
        filters(int8, size: 16, channels: 64, filter: 3, outputs: 64)),
      trial(
        "a 3×3 convolution of many channels of float32",
        filters(float32, size: 12, channels: 32, filter: 3, outputs: 32)),
    ]
    + [uint8, int8, float32].flatMap { kind in
      [
        trial("wide depthwise lines of \(kind.name)", depthwise(kind, size: 36, channels: 32, filter: 3)),
        trial(
          "a depthwise convolution with dilations of \(kind.name)",
          depthwise(kind, size: 13, channels: 16, filter: 3, dilation: 2)),
        trial(
          "a depthwise convolution of \(kind.name), four outputs a channel",
          depthwise(kind, size: 9, channels: 8, filter: 3, multiplier: 4)),
      ]
    }

  // MARK: Kinds

  /// Operands, and the epilogue for a number of channels and of terms in each sum.
  private struct Kind: Sendable {
    let name: String
    let operands: MatrixOperands
    /// Whether products of bfloat16 are added in parts, as long as the convolution allows.
    var isInParts = false
    let epilogue: @Sendable (_ channels: Int, _ terms: Int) -> Epilogue

    /// The bytes of an activation and of an output.
    var byteCount: Int { isFloat ? 4 : 1 }
    /// Whether activations, biases and outputs are floats.
    var isFloat: Bool { hasFloatWeights || operands.isHybrid }
    /// Whether weights are floats.
    var hasFloatWeights: Bool { operands == .float32 || operands.isBFloat16 }
    /// Whether sums may be added in another order. Those of bfloat16 are defined to the bit.
    var mayDiffer: Bool { isFloat && !operands.isBFloat16 }
  }

  private static let uint8 = Kind(name: "uint8", operands: .uint8(lhsZeroPoint: 117, rhsZeroPoint: 131)) {
    channels, terms in
    .fixedPoint([FixedPointMultiplier(scale(terms))], zeroPoint: 120, minimum: 0, maximum: 255)
  }
  private static let int8 = int8("int8", zeroPoint: 3)
  private static let float32 = Kind(name: "float32", operands: .float32) { _, _ in
    .float32(minimum: -40, maximum: 60)
  }

  private static let kinds: [Kind] = [
    uint8, int8,
    Kind(name: "int8, rounded once", operands: .int8(lhsZeroPoint: 9, rhsZeroPoint: 0)) { channels, terms in
      .float64(factors(channels, terms), zeroPoint: -7, minimum: -128, maximum: 127)
    },
    float32,
    Kind(name: "bfloat16", operands: .bfloat16(.pairs)) { _, _ in .float32(minimum: -40, maximum: 60) },
    Kind(name: "bfloat16 in parts", operands: .bfloat16(.pairs), isInParts: true) { _, _ in
      .float32(minimum: -40, maximum: 60)
    },
    Kind(name: "floats with int8 weights", operands: .hybrid(isAsymmetric: true)) { channels, terms in
      .hybrid(
        factors(channels, terms).map { Float($0) }, minimum: -.greatestFiniteMagnitude,
        maximum: .greatestFiniteMagnitude)
    },
  ]

  /// Kinds whose outputs are rescaled in other ways than those of ``kinds``.
  private static let rescalings: [Kind] = [
    int8("int8, rectified", zeroPoint: -20, from: -20),
    int8("int8 from the minimum on", zeroPoint: -128),
    int8("int8, some of it amplified", zeroPoint: 3, gain: 4096),
    Kind(name: "uint8, rectified", operands: .uint8(lhsZeroPoint: 117, rhsZeroPoint: 131)) {
      channels, terms in
      .fixedPoint([FixedPointMultiplier(scale(terms))], zeroPoint: 0, minimum: 0, maximum: 200)
    },
    Kind(name: "floats with int8 weights, without zero points", operands: .hybrid(isAsymmetric: false)) {
      channels, terms in
      .hybrid(factors(channels, terms).map { Float($0) }, minimum: 0, maximum: 6, areWeightsFirst: true)
    },
  ]

  /// Signed bytes with a factor for each channel; every eighth is multiplied by `gain`.
  private static func int8(
    _ name: String, zeroPoint: Int32, from minimum: Int32 = -128, gain: Double = 1
  ) -> Kind {
    Kind(name: name, operands: .int8(lhsZeroPoint: -5, rhsZeroPoint: 0)) { channels, terms in
      let factors = factors(channels, terms).enumerated().map { channel, factor in
        FixedPointMultiplier(channel % 8 == 3 ? gain * factor : factor)
      }
      return .fixedPoint(factors, zeroPoint: zeroPoint, minimum: minimum, maximum: 127)
    }
  }

  /// The factor with which sums fill most of a byte.
  private static func scale(_ terms: Int) -> Double { 1 / (80 * Double(max(terms, 1)).squareRoot()) }

  private static func factors(_ channels: Int, _ terms: Int) -> [Double] {
    let scale = scale(terms)
    return (0..<channels).map { channel -> Double in scale * (0.6 + 0.02 * Double(channel % 40)) }
  }

  // MARK: Shapes

  private static func product(_ kind: Kind, rows: Int, depth: Int, columns: Int) -> (Kind, Convolution) {
    (
      kind,
      Convolution(
        rows: rows, depth: depth, columns: columns, operands: kind.operands,
        epilogue: kind.epilogue(columns, depth))
    )
  }

  private static func filters(
    _ kind: Kind, size: Int, channels: Int, filter: Int, stride: Int = 1, outputs: Int = 24
  ) -> (Kind, Convolution) {
    let outputSize = (size + stride - 1) / stride
    return (
      kind,
      Convolution(
        batches: 1, inputHeight: size, inputWidth: size, inputChannels: channels, filterHeight: filter,
        filterWidth: filter, outputHeight: outputSize, outputWidth: outputSize, outputChannels: outputs,
        strideHeight: stride, strideWidth: stride, paddingTop: filter / 2, paddingLeft: filter / 2,
        operands: kind.operands, epilogue: kind.epilogue(outputs, filter * filter * channels))
    )
  }

  private static func depthwise(
    _ kind: Kind, size: Int, channels: Int, filter: Int, stride: Int = 1, dilation: Int = 1,
    multiplier: Int = 1
  ) -> (Kind, Convolution) {
    let outputSize = (size + stride - 1) / stride
    let padding = filter / 2 * dilation
    return (
      kind,
      Convolution(
        batches: 1, inputHeight: size, inputWidth: size, inputChannels: channels, filterHeight: filter,
        filterWidth: filter, outputHeight: outputSize, outputWidth: outputSize,
        outputChannels: channels * multiplier, strideHeight: stride, strideWidth: stride,
        dilationHeight: dilation, dilationWidth: dilation, paddingTop: padding, paddingLeft: padding,
        isDepthwise: true, operands: kind.operands,
        epilogue: kind.epilogue(channels * multiplier, filter * filter))
    )
  }

  // MARK: Trials

  private static func trial(_ name: String, _ described: (Kind, Convolution)) -> KernelTrial {
    let (kind, convolution) = described
    return KernelTrial(name: name, isFloat: kind.mayDiffer) { set throws(Decline) in
      var convolution = convolution.alongRows
      if kind.isInParts { convolution.operands = .bfloat16(try convolution.bfloat16Parts()) }
      let kernel = try set.convolutions.convolution(convolution, isForOneThread: false)
      return run(
        kernel, kind, inputs: convolution.inputCount, weights: convolution.weightCount,
        channels: convolution.outputChannels, outputs: convolution.outputCount)
    }
  }

  private static func run(
    _ kernel: any PreparedConvolution, _ kind: Kind, inputs: Int, weights: Int, channels: Int, outputs: Int
  ) -> [UInt8] {
    func values(_ count: Int, seed: UInt64, areFloats: Bool) -> [UInt8] {
      areFloats ? floatBytes(count, seed: seed) : bytes(count, seed: seed)
    }
    let input = values(inputs, seed: 1, areFloats: kind.isFloat)
    var filter = values(weights, seed: 2, areFloats: kind.hasFloatWeights)
    // Weights of signed bytes are no less than −127.
    if kind.operands.bytes?.signFlip != 0 || kind.isFloat, !kind.hasFloatWeights {
      filter = filter.map { $0 == 0x80 ? 0x81 : $0 }
    }
    let bias = (0..<channels).flatMap { channel -> [UInt8] in
      if kind.isFloat { return littleEndian(Float(channel % 7) - 3) }
      let steps = Int32(channel % 9) - 4
      return littleEndian(UInt32(bitPattern: steps * 500))
    }
    let packed = unsafe PackedWeights(byteCount: kernel.packedByteCount(for: filter.span.bytes))
    unsafe kernel.pack(weights: filter.span.bytes, bias: bias.span.bytes, into: packed)
    return output(outputs * kind.byteCount, scratch: kernel.scratchByteCount(threads: 1)) {
      output, scratch, threads in
      unsafe kernel.run(packed, input: input.span.bytes, output: &output, scratch: &scratch, threads: threads)
    }
  }
}
