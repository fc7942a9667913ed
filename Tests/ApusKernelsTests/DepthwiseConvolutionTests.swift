// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ReferenceKernels
import TestSupport
import Testing

@Suite("DepthwiseConvolution")
struct DepthwiseConvolutionTests {
  @Test(
    "random depthwise convolutions match the reference", arguments: KernelSet.tested, CaseKind.allCases)
  func random(kernels: KernelSet, kind: CaseKind) throws {
    for seed in kernels.seeds(160) {
      var random = SeededGenerator(seed: UInt64(seed))
      let vertical = AxisCase(largest: 17, using: &random)
      let horizontal = seed % 6 == 5 ? .one : AxisCase(largest: 13, using: &random)
      let multiplier = [1, 1, 1, 2, 3, 8, 11].pick(using: &random)
      let inputs = [1, 2, 3, 7, 8, 9, 16, 33].pick(using: &random)
      let convolution = Convolution(
        batches: .random(in: 1...2, using: &random), inputHeight: vertical.input,
        inputWidth: horizontal.input, inputChannels: inputs, filterHeight: vertical.filter,
        filterWidth: horizontal.filter, outputHeight: vertical.output, outputWidth: horizontal.output,
        outputChannels: inputs * multiplier, strideHeight: vertical.stride, strideWidth: horizontal.stride,
        dilationHeight: vertical.dilation, dilationWidth: horizontal.dilation, paddingTop: vertical.padding,
        paddingLeft: horizontal.padding, isDepthwise: true, operands: kind.operands(using: &random),
        epilogue: kind.epilogue(
          channels: inputs * multiplier, terms: vertical.filter * horizontal.filter, using: &random))
      // Generated code for arm64 has no part in outputs that are empty, nor in hybrid operands.
      if kernels.isEmulated, !convolution.operands.isHybrid, vertical.output > 0, horizontal.output > 0 {
        #expect(throws: Never.self, "\(convolution)") { try kernels.convolution(convolution) }
      }
      try check(convolution, kernels, using: &random)
    }
  }

  @Test("filters of bytes of several rows match the reference", arguments: KernelSet.tested)
  func rowsOfBytes(kernels: KernelSet) throws {
    let filters = [(3, 3), (3, 3), (5, 5), (3, 5), (4, 2), (6, 3), (7, 3), (8, 2), (2, 3), (1, 4), (2, 7)]
    for seed in kernels.seeds(90) {
      var random = SeededGenerator(seed: UInt64(3_000 + seed))
      let kind = [CaseKind.uint8, .uint8PerChannel, .int8, .int8PerChannel].pick(using: &random)
      let (height, width) = filters.pick(using: &random)
      let (stride, dilation) = [(1, 1), (1, 1), (2, 1), (1, 2)].pick(using: &random)
      let channels = [8, 16, 24, 32, 40, 64, 65, 130].pick(using: &random)
      let (outputHeight, outputWidth) = (
        Int.random(in: 1...3, using: &random), Int.random(in: 1...27, using: &random)
      )
      let convolution = Convolution(
        batches: 1, inputHeight: outputHeight * stride, inputWidth: outputWidth * stride,
        inputChannels: channels, filterHeight: height, filterWidth: width, outputHeight: outputHeight,
        outputWidth: outputWidth, outputChannels: channels, strideHeight: stride, strideWidth: stride,
        dilationHeight: dilation, dilationWidth: dilation, paddingTop: height / 2 * dilation,
        paddingLeft: width / 2 * dilation, isDepthwise: true, operands: kind.operands(using: &random),
        epilogue: kind.epilogue(channels: channels, terms: height * width, using: &random))
      // Some sums are beyond what generated code rescales.
      let limit: Int32 = seed % 5 == 4 ? .max : 9_999
      try check(convolution, kernels, bias: -limit...limit, using: &random)
    }
  }

  @Test("wide lines, whose edges alone need padding, match the reference", arguments: KernelSet.tested)
  func wideLines(kernels: KernelSet) throws {
    for seed in kernels.seeds(48) {
      var random = SeededGenerator(seed: UInt64(7_000 + seed))
      let kind = [CaseKind.uint8, .uint8PerChannel, .int8, .int8PerChannel].pick(using: &random)
      let filter = [3, 3, 3, 4, 5, 7].pick(using: &random)
      let (stride, dilation) = [(1, 1), (2, 1), (2, 1), (3, 1), (2, 2), (1, 3)].pick(using: &random)
      let channels = [16, 24, 40, 64, 64, 72, 128, 130, 192].pick(using: &random)
      let (outputHeight, outputWidth) = (
        Int.random(in: 1...5, using: &random), Int.random(in: 8...70, using: &random)
      )
      let reach = (filter - 1) * dilation + 1
      // Padding on both sides, on one, or on none.
      let padding = Int.random(in: 0..<reach, using: &random)
      func input(_ output: Int) -> Int {
        max(1, (output - 1) * stride + reach - padding - .random(in: 0..<reach, using: &random))
      }
      let convolution = Convolution(
        batches: .random(in: 1...2, using: &random), inputHeight: input(outputHeight),
        inputWidth: input(outputWidth), inputChannels: channels, filterHeight: filter, filterWidth: filter,
        outputHeight: outputHeight, outputWidth: outputWidth, outputChannels: channels, strideHeight: stride,
        strideWidth: stride, dilationHeight: dilation, dilationWidth: dilation, paddingTop: padding,
        paddingLeft: padding, isDepthwise: true, operands: kind.operands(using: &random),
        epilogue: kind.epilogue(channels: channels, terms: filter * filter, using: &random))
      let limit: Int32 = seed % 8 == 7 ? .max : 9_999
      try check(convolution, kernels, bias: -limit...limit, using: &random)
    }
  }

  @Test("tiles of part of a row or of few channels match the reference", arguments: KernelSet.tested)
  func large(kernels: KernelSet) throws {
    // Width, channels, filter, stride, dilation: each makes another part of the tiling small.
    let shapes = [
      (40, 520, 3, 1, 1), (3_000, 16, 3, 1, 1), (9_000, 3, 5, 2, 1), (6_000, 9, 3, 1, 700),
      (64, 1_030, 7, 2, 1),
    ]
    for (index, (width, channels, filter, stride, dilation)) in shapes.enumerated() {
      for kind in [CaseKind.float32, .uint8, .int8PerChannel, .hybridPerChannel] {
        var random = SeededGenerator(seed: UInt64(index))
        let extent = (filter - 1) * dilation + 1
        let output = (width + stride - 1) / stride
        let convolution = Convolution(
          batches: 1, inputHeight: 3, inputWidth: width, inputChannels: channels, filterHeight: filter,
          filterWidth: filter, outputHeight: 2, outputWidth: output, outputChannels: channels,
          strideHeight: stride, strideWidth: stride, dilationHeight: dilation == 1 ? 1 : 2,
          dilationWidth: dilation, paddingTop: filter / 2,
          paddingLeft: max(0, (output - 1) * stride + extent - width) / 2, isDepthwise: true,
          operands: kind.operands(using: &random),
          epilogue: kind.epilogue(channels: channels, terms: filter * filter, using: &random))
        try check(convolution, kernels, using: &random)
        let prepared = try #require(kernels.prepare(convolution))
        // Quantized inputs are kept whole, for all threads together.
        if kind != .hybridPerChannel { #expect(prepared.scratchByteCount(threads: 1) <= 2 << 20) }
      }
    }
  }

  @Test("few lines, whose channels are shared out, match the reference", arguments: KernelSet.tested)
  func fewLines(kernels: KernelSet) throws {
    for (size, width, channels) in [
      (7, 7, 208), (5, 5, 400), (7, 7, 203), (15, 40, 72), (15, 40, 64), (1, 1, 65_600),
    ] {
      for kind in [CaseKind.float32, .uint8, .int8PerChannel, .hybridPerChannel] {
        var random = SeededGenerator(seed: UInt64(channels))
        let filter = size == 1 ? 1 : 3
        let convolution = Convolution(
          batches: size == 5 ? 2 : 1, inputHeight: size, inputWidth: width, inputChannels: channels,
          filterHeight: filter, filterWidth: filter, outputHeight: size, outputWidth: width,
          outputChannels: channels, paddingTop: filter / 2, paddingLeft: filter / 2, isDepthwise: true,
          operands: kind.operands(using: &random),
          epilogue: kind.epilogue(channels: channels, terms: filter * filter, using: &random))
        try check(convolution, kernels, using: &random)
      }
    }
  }

  @Test("channels that each make several match the reference", arguments: KernelSet.tested)
  func multipliers(kernels: KernelSet) throws {
    let channels = [
      (3, 8), (16, 2), (8, 4), (4, 16), (1, 24), (1, 64), (9, 8), (5, 2), (7, 4), (16, 3), (2, 20), (33, 2),
    ]
    for seed in kernels.seeds(96) {
      var random = SeededGenerator(seed: UInt64(9_000 + seed))
      let kind = [CaseKind.float32, .float32, .uint8, .int8PerChannel, .hybridPerChannel].pick(using: &random)
      let (inputs, multiplier) = channels[seed % channels.count]
      let filter = [1, 3, 3, 5].pick(using: &random)
      let (stride, dilation) = [(1, 1), (1, 1), (2, 1), (2, 1), (1, 2)].pick(using: &random)
      let (height, width) = (Int.random(in: 1...4, using: &random), Int.random(in: 1...20, using: &random))
      let convolution = Convolution(
        batches: 1, inputHeight: height * stride, inputWidth: width * stride, inputChannels: inputs,
        filterHeight: filter, filterWidth: filter, outputHeight: height, outputWidth: width,
        outputChannels: inputs * multiplier, strideHeight: stride, strideWidth: stride,
        dilationHeight: dilation, dilationWidth: dilation, paddingTop: filter / 2 * dilation,
        paddingLeft: filter / 2 * dilation, isDepthwise: true, operands: kind.operands(using: &random),
        epilogue: kind.epilogue(channels: inputs * multiplier, terms: filter * filter, using: &random))
      try check(convolution, kernels, using: &random)
    }
  }

  @Test("strides and dilations of a hostile model overflow nothing", arguments: KernelSet.tested)
  func hostileGeometry(kernels: KernelSet) throws {
    let most = Int(Int32.max)
    for (stride, dilation, output) in [(1, most, 9), (most, 1, 2), (most, most, 3)] {
      for kind in [CaseKind.float32, .uint8] {
        var random = SeededGenerator(seed: 5)
        let convolution = Convolution(
          batches: 1, inputHeight: 9, inputWidth: 9, inputChannels: 9, filterHeight: 3, filterWidth: 3,
          outputHeight: output, outputWidth: output, outputChannels: 9, strideHeight: stride,
          strideWidth: stride, dilationHeight: dilation, dilationWidth: dilation, paddingTop: dilation,
          paddingLeft: dilation, isDepthwise: true, operands: kind.operands(using: &random),
          epilogue: kind.epilogue(channels: 9, terms: 9, using: &random))
        try check(convolution, kernels, using: &random)
      }
    }
  }

  /// Compares a set with the reference, and its results for one, two and three threads with each other.
  private func check(
    _ convolution: Convolution, _ kernels: KernelSet, bias biases: ClosedRange<Int32> = -9_999...9_999,
    using random: inout SeededGenerator
  ) throws {
    let prepared = try #require(kernels.prepare(convolution))
    let (inputCount, taps, channels) = (convolution.inputCount, convolution.taps, convolution.outputChannels)
    let hasBias = Int.random(in: 0..<4, using: &random) > 0
    if convolution.operands == .float32 {
      let input = (0..<inputCount).map { _ in Float.random(in: -1...1, using: &random) }
      let weights = (0..<taps * channels).map { _ in Float.random(in: -1...1, using: &random) }
      let bias = (0..<channels).map { _ in Float.random(in: -1...1, using: &random) }
      let expected = ReferenceConvolution.floats(
        convolution, input: input, weights: weights, bias: hasBias ? bias : nil)
      try compare(
        prepared, bytes(input), bytes(weights), hasBias ? bytes(bias) : nil, byteCount: expected.count * 4,
        threads: kernels.threads([1, 2, 3])
      ) { found in
        // Each term is at most one: the error of its sum stays below its number of roundings.
        let tolerance = Float(taps + 2) * 0x1p-22
        for (a, b) in zip(floats(found), expected) { #expect(abs(a - b) <= tolerance, "\(convolution)") }
      }
    } else if convolution.operands.isHybrid {
      let input = [Float].hybridInput(count: inputCount, using: &random)
      let weights = (0..<taps * channels).map { _ in UInt8.random(in: 0...255, using: &random) }
      let bias = (0..<channels).map { _ in Float.random(in: -1...1, using: &random) }
      let expected = bytes(
        ReferenceHybrid.convolve(convolution, input: input, weights: weights, bias: hasBias ? bias : nil))
      try compare(prepared, bytes(input), weights, hasBias ? bytes(bias) : nil, byteCount: expected.count) {
        found in #expect(floats(found).isAlike(floats(expected)), "\(convolution)")
      }
    } else {
      let input = (0..<inputCount).map { _ in UInt8.random(in: 0...255, using: &random) }
      let weights = (0..<taps * channels).map { _ in UInt8.random(in: 0...255, using: &random) }
      let bias = (0..<channels).map { _ in Int32.random(in: biases, using: &random) }
      let expected = ReferenceConvolution.bytes(
        convolution, input: input, weights: weights, bias: hasBias ? bias : nil)
      try compare(
        prepared, input, weights, hasBias ? bytes(bias) : nil, byteCount: expected.count,
        threads: kernels.threads([1, 2, 3])
      ) { found in
        #expect(found == expected, "\(convolution)")
      }
    }
    kernels.expectNoFaults()
  }
}
