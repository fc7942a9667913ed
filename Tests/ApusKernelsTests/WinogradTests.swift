import ApusKernels
import ReferenceKernels
import TestSupport
import Testing

/// Convolutions that sets with Winograd's way do so, by their own reckoning: the others pass the same tests.
@Suite("Winograd")
struct WinogradTests {
  private static let kinds = [CaseKind.uint8, .uint8PerChannel, .int8, .int8PerChannel]
  /// Sets that have it, and the channels from which on they use it.
  private static let least = ["x86-avx2": 8, "x86-avx512vnni": 64]

  @Test("random sizes, paddings and channels match the reference", arguments: KernelSet.tested)
  func random(kernels: KernelSet) throws {
    let least = Self.least[kernels.name]
    var count = 0
    let seeds = 0..<(least == nil ? 12 : 100)
    for seed in seeds {
      var random = SeededGenerator(seed: UInt64(seed))
      let kind = Self.kinds.pick(using: &random)
      let first = least ?? 8
      let (inputs, outputs) = (
        Int.random(in: first...first + 70, using: &random), Int.random(in: first...first + 70, using: &random)
      )
      let (height, width) = (Int.random(in: 3...19, using: &random), Int.random(in: 3...23, using: &random))
      let (top, left) = (Int.random(in: 0...3, using: &random), Int.random(in: 0...3, using: &random))
      let convolution = Convolution(
        batches: [1, 1, 2].pick(using: &random), inputHeight: height, inputWidth: width,
        inputChannels: inputs, filterHeight: 3, filterWidth: 3,
        outputHeight: height + .random(in: -2...4, using: &random),
        outputWidth: width + .random(in: -2...4, using: &random), outputChannels: outputs, paddingTop: top,
        paddingLeft: left, operands: kind.operands(using: &random),
        epilogue: kind.epilogue(channels: outputs, terms: 9 * inputs, using: &random))
      let prepared = try #require(kernels.prepare(convolution))
      if prepared.implementation == "GeneratedWinograd" { count += 1 }
      let input = (0..<height * width * inputs * convolution.batches).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      // Weights as models have them, and any.
      let spread = [40, 255].pick(using: &random)
      let center: Int32 =
        switch convolution.operands {
        case .uint8(_, let zeroPoint), .int8(_, let zeroPoint): zeroPoint
        default: 0
        }
      let weights = (0..<9 * inputs * outputs).map { _ in
        UInt8(truncatingIfNeeded: Int(center) + .random(in: -spread / 2...spread / 2, using: &random))
      }
      let bias = (0..<outputs).map { _ in Int32.random(in: -9_999...9_999, using: &random) }
      let hasBias = seed % 4 > 0
      let expected = ReferenceConvolution.bytes(
        convolution, input: input, weights: weights, bias: hasBias ? bias : nil)
      try compare(
        prepared, input, weights, hasBias ? bytes(bias) : nil, byteCount: expected.count,
        threads: kernels.threads([1, 2, 3, 8])
      ) { #expect($0 == expected, "\(convolution)") }
    }
    kernels.expectNoFaults()
    if least != nil { #expect(count > seeds.count / 2) } else { #expect(count == 0) }
  }

  @Test("the greatest and the least sums are exact, and those beyond the limit", arguments: KernelSet.tested)
  func extremes(kernels: KernelSet) throws {
    // All products 255², of which 9 · 57 keep to 2²⁵ and 9 · 58 do not; and more or less of either sign.
    for channels in Self.least[kernels.name] == nil ? [57] : [56, 57, 58, 64, 130] {
      for (lhs, rhs) in [(Int32(0), Int32(0)), (0, 255), (255, 0), (255, 255), (0, 128), (128, 128)] {
        for (isSigned, isRandom) in [(false, false), (false, true), (true, true)] {
          var random = SeededGenerator(seed: UInt64(channels))
          let shift: Int32 = isSigned ? 128 : 0
          let outputs = 64
          let factor = FixedPointMultiplier(isRandom ? 0x1p-17 : 0x1p-19)
          let convolution = Convolution(
            batches: 1, inputHeight: 9, inputWidth: 11, inputChannels: channels, filterHeight: 3,
            filterWidth: 3, outputHeight: 9, outputWidth: 11, outputChannels: outputs, paddingTop: 1,
            paddingLeft: 1,
            operands: isSigned
              ? .int8(lhsZeroPoint: lhs - shift, rhsZeroPoint: rhs - shift)
              : .uint8(lhsZeroPoint: lhs, rhsZeroPoint: rhs),
            epilogue: .fixedPoint(
              [factor], zeroPoint: 128 - shift, minimum: 0 - shift, maximum: 255 - shift))
          let far: UInt8 = lhs == 0 ? 255 : 0
          let input = (0..<99 * channels).map { _ in isRandom ? [0, 255].pick(using: &random) : far }
          let weights = (0..<9 * channels * outputs).map { index -> UInt8 in
            isRandom ? [0, 255].pick(using: &random) : rhs == 0 ? 255 : UInt8(index % 2) &* 255 & ~far | far
          }
          // Some beyond what generated code rescales.
          let bias = (0..<outputs).map {
            Int32($0 % 2 == 0 ? 1 : -1) * (channels == 56 && $0 > 60 ? 1 << 30 : 900)
          }
          let expected = ReferenceConvolution.bytes(
            convolution, input: input, weights: weights, bias: bias)
          let prepared = try #require(kernels.prepare(convolution))
          try compare(
            prepared, input, weights, bytes(bias), byteCount: expected.count,
            threads: kernels.threads([1, 2])
          ) { #expect($0 == expected, "\(channels) \(lhs) \(rhs) \(isSigned) \(isRandom)") }
        }
      }
    }
    kernels.expectNoFaults()
  }
}
