// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ReferenceKernels
import TestSupport
import Testing

/// Channels such as converters leave without weights: factors near nothing, with biases that are clipped.
@Suite("Faint channels")
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
      let (least, most): (Int32, Int32) = isSigned ? (-128, 127) : (0, 255)
      let zeroPoint = Int32.random(in: least...most, using: &random)
      let epilogue = Epilogue.fixedPoint(
        factors, zeroPoint: zeroPoint, minimum: seed % 3 == 0 ? zeroPoint : least, maximum: most)
      let operands =
        isSigned
        ? MatrixOperands.int8(lhsZeroPoint: 3, rhsZeroPoint: 0)
        : .uint8(lhsZeroPoint: 9, rhsZeroPoint: 128)
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
        let convolution = DepthwiseConvolution(
          batches: 1, inputHeight: size, inputWidth: size, inputChannels: channels, filterHeight: 3,
          filterWidth: 3, outputHeight: size, outputWidth: size, paddingTop: 1, paddingLeft: 1,
          operands: operands, epilogue: epilogue)
        let input = (0..<size * size * channels).map { _ in UInt8.random(in: 0...255, using: &random) }
        let weights = (0..<taps * channels).map { weight($0 % channels) }
        let expected = ReferenceDepthwiseConvolution.bytes(
          convolution, input: input, weights: weights, bias: biases)
        let prepared = try #require(kernels.prepare(convolution))
        try compare(
          prepared, input, weights, bytes(biases), byteCount: expected.count,
          threads: kernels.threads([1, 2])
        ) { #expect($0 == expected, "\(convolution)") }
      } else {
        let depth = 40
        let convolution = Convolution(
          rows: size * size, depth: depth, columns: channels, operands: operands, epilogue: epilogue)
        let input = (0..<size * size * depth).map { _ in UInt8.random(in: 0...255, using: &random) }
        let weights = (0..<depth * channels).map { weight($0 / depth) }
        let expected = ReferenceConvolution.bytes(convolution, input: input, weights: weights, bias: biases)
        let prepared = try #require(kernels.prepare(convolution))
        try compare(
          prepared, input, weights, bytes(biases), byteCount: expected.count,
          threads: kernels.threads([1, 2])
        ) { #expect($0 == expected, "\(convolution)") }
      }
      kernels.expectNoFaults()
    }
  }
}
