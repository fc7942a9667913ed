// SPDX-License-Identifier: Apache-2.0

#if arch(x86_64)
  import ApusCodeGeneration
  import ApusKernels
  import ReferenceKernels
  import TestSupport
  import Testing

  /// Convolutions by Winograd's method, wherever it serves.
  @Suite("Winograd")
  struct WinogradTests {
    private static let sets = KernelSet.withWinogradEverywhere.filter { set in
      KernelSet.tested.contains { $0.name == set.name }
    }
    private static let kinds = [
      CaseKind.uint8, .uint8PerChannel, .int8, .int8PerChannel, .float32, .float32,
    ]

    @Test("random sizes, paddings and channels match the reference", arguments: sets)
    func random(kernels: KernelSet) throws {
      for seed in 0..<300 {
        var random = SeededGenerator(seed: UInt64(seed))
        let kind = Self.kinds.pick(using: &random)
        let sizes = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 40, 64, 70]
        let (inputs, outputs) = (sizes.pick(using: &random), sizes.pick(using: &random))
        let (height, width) = (Int.random(in: 1...14, using: &random), Int.random(in: 1...22, using: &random))
        let convolution = Convolution(
          batches: [1, 1, 2].pick(using: &random), inputHeight: height, inputWidth: width,
          inputChannels: inputs, filterHeight: 3, filterWidth: 3,
          outputHeight: max(1, height + .random(in: -2...4, using: &random)),
          outputWidth: max(1, width + .random(in: -2...4, using: &random)), outputChannels: outputs,
          paddingTop: .random(in: 0...3, using: &random), paddingLeft: .random(in: 0...3, using: &random),
          operands: kind.operands(using: &random),
          epilogue: kind.epilogue(channels: outputs, terms: 9 * inputs, using: &random))
        // Weights as models have them, and any.
        try check(convolution, kernels, spread: [40, 255].pick(using: &random), using: &random)
      }
    }

    @Test("images of many batches of squares match the reference", arguments: sets)
    func large(kernels: KernelSet) throws {
      for (index, (height, width, inputs, outputs)) in [
        (70, 9, 40, 12), (6, 130, 24, 20), (30, 33, 65, 8), (9, 9, 150, 70),
        // Tiles of five lines have larger batches than those of six; of floats, three and four.
        (44, 40, 64, 4), (14, 40, 64, 4), (21, 80, 100, 3), (30, 60, 33, 5),
      ].enumerated() {
        for kind in [CaseKind.uint8, .int8PerChannel, .float32] {
          var random = SeededGenerator(seed: UInt64(index))
          let convolution = Convolution(
            batches: 1, inputHeight: height, inputWidth: width, inputChannels: inputs, filterHeight: 3,
            filterWidth: 3, outputHeight: height, outputWidth: width, outputChannels: outputs, paddingTop: 1,
            paddingLeft: 1, operands: kind.operands(using: &random),
            epilogue: kind.epilogue(channels: outputs, terms: 9 * inputs, using: &random))
          try check(convolution, kernels, spread: 60, using: &random)
        }
      }
    }

    @Test("the greatest and the least sums are exact, and those beyond the limit", arguments: sets)
    func extremes(kernels: KernelSet) throws {
      // The sum of 9 · 57 products of 255² is below 2²⁵, that of 9 · 58 is not. Other cases have extremes of either sign.
      for channels in [56, 57, 58, 130] {
        for (lhs, rhs) in [(Int32(0), Int32(0)), (0, 255), (255, 0), (255, 255), (0, 128), (128, 128)] {
          for (isSigned, isRandom) in [(false, false), (false, true), (true, true)] {
            var random = SeededGenerator(seed: UInt64(channels))
            let shift: Int32 = isSigned ? 128 : 0
            let (height, width, outputs) = (5, 7, 18)
            let convolution = Convolution(
              batches: 1, inputHeight: height, inputWidth: width, inputChannels: channels, filterHeight: 3,
              filterWidth: 3, outputHeight: height, outputWidth: width, outputChannels: outputs,
              paddingTop: 1, paddingLeft: 1,
              operands: isSigned
                ? .int8(lhsZeroPoint: lhs - shift, rhsZeroPoint: rhs - shift)
                : .uint8(lhsZeroPoint: lhs, rhsZeroPoint: rhs),
              epilogue: .fixedPoint(
                [FixedPointMultiplier(isRandom ? 0x1p-17 : 0x1p-19)], zeroPoint: 128 - shift,
                minimum: 0 - shift, maximum: 255 - shift))
            // As far from the zero points as can be.
            let flip: UInt8 = isSigned ? 0x80 : 0
            let (farInput, farWeight) = ((lhs == 0 ? 255 : 0) ^ flip, (rhs == 0 ? 255 : 0) ^ flip)
            func extreme(_ far: UInt8) -> UInt8 {
              isRandom ? [0x80, 0x7F, 0, 255].pick(using: &random) : far
            }
            let input = (0..<height * width * channels).map { _ in extreme(farInput) }
            let weights = (0..<9 * channels * outputs).map { _ in extreme(farWeight) }
            // Some biases are beyond what generated code rescales.
            let bias = (0..<outputs).map {
              Int32($0 % 2 == 0 ? 1 : -1) * (channels == 56 && $0 > 15 ? 1 << 30 : 900)
            }
            let expected = ReferenceConvolution.bytes(convolution, input: input, weights: weights, bias: bias)
            try compare(
              try prepared(convolution, kernels), input, weights, bytes(bias), byteCount: expected.count,
              threads: [1, 2]
            ) { #expect($0 == expected, "\(channels) \(lhs) \(rhs) \(isSigned) \(isRandom)") }
          }
        }
      }
    }

    @Test("layers that it serves faster are given to it", arguments: sets)
    func choice(kernels: KernelSet) throws {
      let set = try #require(KernelSet.named(kernels.name))
      for kind in [CaseKind.uint8, .int8PerChannel, .float32] {
        for (size, channels, isFaster) in [(56, 128, true), (28, 128, true), (56, 3, false), (2, 64, false)] {
          var random = SeededGenerator(seed: 1)
          let convolution = Convolution(
            batches: 1, inputHeight: size, inputWidth: size, inputChannels: channels, filterHeight: 3,
            filterWidth: 3, outputHeight: size, outputWidth: size, outputChannels: channels, paddingTop: 1,
            paddingLeft: 1, operands: kind.operands(using: &random),
            epilogue: kind.epilogue(channels: channels, terms: 9 * channels, using: &random))
          let implementation = try #require(set.prepare(convolution)).implementation
          #expect(implementation.hasPrefix("Winograd") == isFaster, "\(kind) \(size) \(channels)")
        }
      }
    }

    private func prepared(
      _ convolution: Convolution, _ kernels: KernelSet
    ) throws -> any PreparedConvolution {
      let prepared = try kernels.convolution(convolution)
      #expect(prepared.implementation.hasPrefix("Winograd"), "\(convolution)")
      return prepared
    }

    /// Compares with the reference for several counts of threads; weights of bytes are so far apart.
    private func check(
      _ convolution: Convolution, _ kernels: KernelSet, spread: Int, using random: inout SeededGenerator
    ) throws {
      let inputCount =
        convolution.batches * convolution.inputHeight * convolution.inputWidth * convolution.inputChannels
      let weightCount = 9 * convolution.inputChannels * convolution.outputChannels
      let prepared = try prepared(convolution, kernels)
      let hasBias = Int.random(in: 0..<4, using: &random) > 0
      let weightZeroPoint: Int32
      switch convolution.operands {
      case .uint8(_, let zeroPoint), .int8(_, let zeroPoint): weightZeroPoint = zeroPoint
      default:
        let input = (0..<inputCount).map { _ in Float.random(in: -1...1, using: &random) }
        let weights = (0..<weightCount).map { _ in Float.random(in: -1...1, using: &random) }
        let bias = (0..<convolution.outputChannels).map { _ in Float.random(in: -1...1, using: &random) }
        let expected = ReferenceConvolution.floats(
          convolution, input: input, weights: weights, bias: hasBias ? bias : nil)
        // The largest of some thousand sums of such terms is about 1.4 times the root of their number; of that, what is
        // found differs by no more than 10⁻⁶: sums of pixels and of weights are rounded as well as those of products.
        let tolerance = 1.4e-6 * Float(9 * convolution.inputChannels + 1).squareRoot()
        try compare(
          prepared, bytes(input), bytes(weights), hasBias ? bytes(bias) : nil, byteCount: expected.count * 4,
          threads: [1, 2, 3, 8]
        ) { found in
          let error = zip(floats(found), expected).reduce(0) { max($0, abs($1.0 - $1.1)) }
          #expect(error <= tolerance, "\(convolution)")
        }
        return
      }
      let input = (0..<inputCount).map { _ in UInt8.random(in: 0...255, using: &random) }
      let weights = (0..<weightCount).map { _ in
        UInt8(
          truncatingIfNeeded: Int(weightZeroPoint) + .random(in: -spread / 2...spread / 2, using: &random))
      }
      let bias = (0..<convolution.outputChannels).map { _ in Int32.random(in: -9_999...9_999, using: &random)
      }
      let expected = ReferenceConvolution.bytes(
        convolution, input: input, weights: weights, bias: hasBias ? bias : nil)
      try compare(
        prepared, input, weights, hasBias ? bytes(bias) : nil, byteCount: expected.count,
        threads: [1, 2, 3, 8]
      ) { #expect($0 == expected, "\(convolution)") }
    }
  }
#endif
