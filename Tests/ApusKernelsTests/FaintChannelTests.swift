// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ReferenceKernels
import TestSupport
import Testing

/// Channels such as converters leave without weights: factors near nothing, with biases that are clipped.
@Suite("Special channels")
struct FaintChannelTests {
  @Test("channels with factors that shift far right match the reference", arguments: KernelSet.tested)
  func faint(kernels: KernelSet) throws {
    for seed in kernels.seeds(60) {
      var random = SeededGenerator(seed: UInt64(seed))
      let isSigned = seed % 2 == 0
      let channels = [8, 20, 64].pick(using: &random)
      let isFaint = (0..<channels).map { _ in Int.random(in: 0..<3, using: &random) == 0 }
      let factors = isFaint.map { isFaint in
        let shift = isFaint ? Int.random(in: 21...40, using: &random) : 9
        return FixedPointMultiplier(.random(in: 0.5...1, using: &random) / Double(1 << shift))
      }
      let (operands, epilogue) = Self.types(isSigned, factors, isRectified: seed % 3 == 0, &random)
      // Without weights, with a few, or with as many as other channels have, whose sums make several outputs.
      let weightless: UInt8 = isSigned ? 0 : 128
      let reach = [0, 1, 1, 100].pick(using: &random)
      let biases: [Int32] = isFaint.map { isFaint in
        isFaint
          ? [1 << 30, -1 << 30, 1 << 30 + 128, 99_174_816, -7].pick(using: &random)
          : Int32.random(in: -999...999, using: &random)
      }
      func weight(_ channel: Int) -> UInt8 {
        guard isFaint[channel] else { return .random(in: 0...255, using: &random) }
        return weightless &+ UInt8(truncatingIfNeeded: Int.random(in: -reach...reach, using: &random))
      }
      let (size, taps) = (9, 9)
      if seed % 4 < 2 {
        let convolution = Convolution(
          batches: 1, inputHeight: size, inputWidth: size, inputChannels: channels, filterHeight: 3,
          filterWidth: 3, outputHeight: size, outputWidth: size, outputChannels: channels, paddingTop: 1,
          paddingLeft: 1, isDepthwise: true, operands: operands, epilogue: epilogue)
        let input = (0..<size * size * channels).map { _ in UInt8.random(in: 0...255, using: &random) }
        let weights = (0..<taps * channels).map { weight($0 % channels) }
        try compareBytes(
          kernels.prepare(convolution), input, weights, biases, on: kernels,
          give: ReferenceConvolution.bytes(
            convolution, input: input, weights: weights, bias: biases), "\(seed) \(convolution)")
      } else {
        let depth = 40
        let convolution = Convolution(
          rows: size * size, depth: depth, columns: channels, operands: operands, epilogue: epilogue)
        let input = (0..<size * size * depth).map { _ in UInt8.random(in: 0...255, using: &random) }
        let weights = (0..<depth * channels).map { weight($0 / depth) }
        try compareBytes(
          kernels.prepare(convolution), input, weights, biases, on: kernels,
          give: ReferenceConvolution.bytes(convolution, input: input, weights: weights, bias: biases),
          "\(seed) \(convolution)")
      }
      kernels.expectNoFaults()
    }
  }

  @Test("whatever factors and biases a layer has, its outputs match the reference", arguments: sets)
  func anything(kernels: KernelSet) throws {
    for seed in kernels.seeds(160) {
      var random = SeededGenerator(seed: UInt64(20_000 + seed))
      let isSigned = seed % 2 == 0
      let channels = [16, 24, 64, 70].pick(using: &random)
      // Few channels are special in some layers, all in others.
      let share = [1, 3, 20].pick(using: &random)
      let kinds = (0..<channels).map { _ in
        Int.random(in: 0..<share, using: &random) == 0 ? Int.random(in: 0..<7, using: &random) : -1
      }
      let factors = kinds.map { kind in
        let factor = Double.random(in: 0.5...1, using: &random)
        let real: Double =
          switch kind {
          case 0: [0, 5e-24].pick(using: &random)
          case 1: factor / Double(1 << Int.random(in: 20...31, using: &random))
          case 2 where share < 20: factor * Double(1 << Int.random(in: 0...30, using: &random))
          case 3 where share < 20: -factor / Double(1 << Int.random(in: 0...31, using: &random))
          default: factor / Double(1 << Int.random(in: 6...11, using: &random))
          }
        return FixedPointMultiplier(real)
      }
      let biases = kinds.map { kind -> Int32 in
        kind < 0
          ? .random(in: -9_999...9_999, using: &random)
          : [.max, .min, -.max, 1 << 30, .random(in: .min ... .max, using: &random), 77].pick(using: &random)
      }
      let weightless: UInt8 = isSigned ? 0 : 128
      func weight(_ channel: Int) -> UInt8 {
        kinds[channel] >= 4 ? weightless : .random(in: 0...255, using: &random)
      }
      let (operands, epilogue) = Self.types(isSigned, factors, isRectified: seed % 3 == 0, &random)
      let (size, stride) = ([7, 20].pick(using: &random), [1, 2].pick(using: &random))
      let outputSize = (size + stride - 1) / stride
      if seed % 4 < 2 {
        let convolution = Convolution(
          batches: 1, inputHeight: size, inputWidth: size, inputChannels: channels, filterHeight: 3,
          filterWidth: 3, outputHeight: outputSize, outputWidth: outputSize, outputChannels: channels,
          strideHeight: stride, strideWidth: stride, paddingTop: 1, paddingLeft: 1, isDepthwise: true,
          operands: operands, epilogue: epilogue)
        let input = (0..<size * size * channels).map { _ in UInt8.random(in: 0...255, using: &random) }
        let weights = (0..<9 * channels).map { weight($0 % channels) }
        try compareBytes(
          kernels.prepare(convolution), input, weights, biases, on: kernels,
          give: ReferenceConvolution.bytes(
            convolution, input: input, weights: weights, bias: biases), "\(seed) \(convolution)")
      } else {
        // The rows of a product, a first layer, a dense one, and one of several panels.
        let (filter, depth) = [(1, 40), (3, 3), (3, 16), (1, 150)].pick(using: &random)
        let convolution = Convolution(
          batches: 1, inputHeight: size, inputWidth: size, inputChannels: depth, filterHeight: filter,
          filterWidth: filter, outputHeight: outputSize, outputWidth: outputSize, outputChannels: channels,
          strideHeight: stride, strideWidth: stride, paddingTop: filter / 2, paddingLeft: filter / 2,
          operands: operands, epilogue: epilogue)
        let input = (0..<size * size * depth).map { _ in UInt8.random(in: 0...255, using: &random) }
        let weights = (0..<filter * filter * depth * channels).map { weight($0 / (filter * filter * depth)) }
        try compareBytes(
          kernels.prepare(convolution), input, weights, biases, on: kernels,
          give: ReferenceConvolution.bytes(convolution, input: input, weights: weights, bias: biases),
          "\(seed) \(convolution)")
      }
      kernels.expectNoFaults()
    }
  }

  /// The operands of a layer of bytes, and how its sums become bytes again.
  private static func types(
    _ isSigned: Bool, _ factors: [FixedPointMultiplier], isRectified: Bool, _ random: inout SeededGenerator
  ) -> (MatrixOperands, Epilogue) {
    let (least, most): (Int32, Int32) = isSigned ? (-128, 127) : (0, 255)
    let zeroPoint = Int32.random(in: least...most, using: &random)
    return (
      isSigned ? .int8(lhsZeroPoint: 3, rhsZeroPoint: 0) : .uint8(lhsZeroPoint: 9, rhsZeroPoint: 128),
      .fixedPoint(factors, zeroPoint: zeroPoint, minimum: isRectified ? zeroPoint : least, maximum: most)
    )
  }

  /// Runs a layer with one and two threads, and compares its bytes.
  private func compareBytes(
    _ prepared: (any PreparedConvolution)?, _ input: [UInt8], _ weights: [UInt8], _ biases: [Int32],
    on kernels: KernelSet, give expected: [UInt8], _ layer: String
  ) throws {
    try compare(
      #require(prepared), input, weights, bytes(biases), byteCount: expected.count,
      threads: kernels.threads([1, 2])
    ) { #expect($0 == expected, "\(layer)") }
  }

  /// All that are tested, other pipes and Winograd's method wherever it serves.
  private static let sets: [KernelSet] = {
    #if arch(x86_64)
      let names = KernelSet.tested.map(\.name)
      return KernelSet.testedConvolutions
        + KernelSet.withWinogradEverywhere.filter {
          names.contains($0.name) && KernelSet.supported.map(\.name).contains($0.name)
        }
    #else
      return KernelSet.testedConvolutions
    #endif
  }()
}
