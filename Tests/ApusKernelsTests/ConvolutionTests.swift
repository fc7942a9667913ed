// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ReferenceKernels
import TestSupport
import Testing

extension KernelSet: CustomTestStringConvertible {
  package var testDescription: String { name }
}

@Suite("Convolution")
struct ConvolutionTests {
  @Test("random convolutions match the reference", arguments: KernelSet.testedConvolutions, CaseKind.allCases)
  func random(kernels: KernelSet, kind: CaseKind) throws {
    for seed in kernels.seeds(160) {
      var random = SeededGenerator(seed: UInt64(seed))
      let vertical = AxisCase(largest: 9, using: &random)
      let horizontal = seed % 6 == 5 ? .one : AxisCase(largest: 13, using: &random)
      let groups = [1, 1, 1, 2, 3].pick(using: &random)
      let inputs = groups * [1, 2, 3, 7, 8, 9, 17, 40].pick(using: &random)
      let outputs = groups * [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33].pick(using: &random)
      let terms = vertical.filter * horizontal.filter * inputs / groups
      let convolution = Convolution(
        batches: .random(in: 1...3, using: &random), inputHeight: vertical.input,
        inputWidth: horizontal.input, inputChannels: inputs, filterHeight: vertical.filter,
        filterWidth: horizontal.filter, outputHeight: vertical.output, outputWidth: horizontal.output,
        outputChannels: outputs, strideHeight: vertical.stride, strideWidth: horizontal.stride,
        dilationHeight: vertical.dilation, dilationWidth: horizontal.dilation,
        paddingTop: vertical.padding, paddingLeft: horizontal.padding, groups: groups,
        operands: kind.operands(using: &random),
        epilogue: kind.epilogue(channels: outputs, terms: terms, using: &random))
      if kernels.isEmulated, !convolution.operands.isHybrid {
        #expect(throws: Never.self, "\(convolution)") { try kernels.convolution(convolution) }
      }
      try check(convolution, kernels, using: &random)
    }
  }

  @Test("matrices of every awkward size match the reference", arguments: KernelSet.testedConvolutions)
  func matrices(kernels: KernelSet) throws {
    let sizes = [
      (1, 1, 1), (1, 1024, 1001), (1, 7, 300), (2, 1, 9), (3, 65, 7), (4, 8, 8), (5, 1023, 9), (7, 1024, 3),
      (9, 1025, 8), (63, 64, 65), (257, 16, 24), (2, 2_049, 70), (6, 4_700, 130), (300, 2_100, 3),
      (40, 33, 600), (13, 160, 200), (25, 300, 130), (49, 1_040, 530), (20, 8_300, 70), (40, 4_400, 130),
      (0, 5, 4),
    ]
    try checkMatrices(sizes, kernels)
  }

  @Test("what is prepared for one thread gives the same with any number of them", arguments: KernelSet.tested)
  func oneThread(kernels: KernelSet) throws {
    try checkMatrices([(300, 33, 70), (1, 1_024, 200), (97, 64, 130)], kernels.forOneThread)
  }

  /// Checks products of rows, terms and columns, of every kind.
  private func checkMatrices(_ sizes: [(rows: Int, depth: Int, columns: Int)], _ kernels: KernelSet) throws {
    for (index, (rows, depth, columns)) in sizes.enumerated() {
      for kind in CaseKind.allCases {
        var random = SeededGenerator(seed: UInt64(index))
        let convolution = Convolution(
          rows: rows, depth: depth, columns: columns, operands: kind.operands(using: &random),
          epilogue: kind.epilogue(channels: columns, terms: depth, using: &random))
        try check(convolution, kernels, using: &random)
      }
    }
  }

  @Test("long filters of one channel match the reference", arguments: KernelSet.tested)
  func filters(kernels: KernelSet) throws {
    // Height and width of input and filter, stride, dilation, padding.
    let shapes = [
      (1, 300, 1, 16, 1, 1, 0), (1, 700, 1, 256, 2, 1, 0), (3, 90, 1, 33, 3, 2, 40), (9, 40, 5, 5, 2, 1, 2),
      (20, 7, 16, 1, 1, 1, 3),
    ]
    for (index, (height, width, filterHeight, filterWidth, stride, dilation, padding)) in shapes.enumerated()
    {
      for kind in [CaseKind.float32, .int8] {
        var random = SeededGenerator(seed: UInt64(index))
        let (top, left) = (filterHeight > 1 ? padding : 0, filterWidth > 1 ? padding : 0)
        let convolution = Convolution(
          batches: 2, inputHeight: height, inputWidth: width, inputChannels: 1, filterHeight: filterHeight,
          filterWidth: filterWidth,
          outputHeight: (height + 2 * top - (filterHeight - 1) * dilation - 1) / stride + 1,
          outputWidth: (width + 2 * left - (filterWidth - 1) * dilation - 1) / stride + 1, outputChannels: 1,
          strideHeight: stride, strideWidth: stride, dilationHeight: dilation, dilationWidth: dilation,
          paddingTop: top, paddingLeft: left, operands: kind.operands(using: &random),
          epilogue: kind.epilogue(channels: 1, terms: filterHeight * filterWidth, using: &random))
        try check(convolution, kernels, using: &random)
      }
    }
  }

  @Test(
    "lines of a few pixels with more weights than a cache holds match the reference",
    arguments: KernelSet.tested)
  func farWeights(kernels: KernelSet) throws {
    for (index, width) in [5, 7, 8, 11].enumerated() {
      for kind in [CaseKind.float32, .uint8, .int8PerChannel, .hybrid] {
        var random = SeededGenerator(seed: UInt64(index))
        let convolution = Convolution(
          batches: 1, inputHeight: 3, inputWidth: width, inputChannels: 244, filterHeight: 3, filterWidth: 3,
          outputHeight: 3, outputWidth: width, outputChannels: 250, strideHeight: 1, strideWidth: 1,
          dilationHeight: 1, dilationWidth: 1, paddingTop: 1, paddingLeft: 1,
          operands: kind.operands(using: &random),
          epilogue: kind.epilogue(channels: 250, terms: 9 * 244, using: &random))
        try check(convolution, kernels, using: &random)
      }
    }
  }

  @Test("one long line, padded and in place, matches the reference", arguments: KernelSet.tested)
  func longLines(kernels: KernelSet) throws {
    // Width, channels, rows and columns of the filter, stride, dilation, padding, outputs, groups.
    let shapes = [
      (700, 24, 1, 9, 1, 1, 4, 20, 1), (611, 17, 2, 4, 3, 2, 9, 70, 1), (403, 32, 3, 5, 2, 1, 2, 12, 2),
      (260, 64, 1, 7, 1, 1, 0, 64, 1), (97, 250, 1, 5, 1, 1, 300, 260, 1), (2_000, 3, 1, 5, 2, 1, 1, 33, 1),
    ]
    for (index, shape) in shapes.enumerated() {
      let (width, channels, filterHeight, filterWidth, stride, dilation, padding, outputs, groups) = shape
      for kind in CaseKind.allCases {
        var random = SeededGenerator(seed: UInt64(index))
        let convolution = Convolution(
          batches: 1 + index % 2, inputHeight: filterHeight, inputWidth: width, inputChannels: channels,
          filterHeight: filterHeight, filterWidth: filterWidth, outputHeight: 1,
          outputWidth: (width + 2 * padding - (filterWidth - 1) * dilation - 1) / stride + 1,
          outputChannels: outputs, strideHeight: 1, strideWidth: stride, dilationHeight: 1,
          dilationWidth: dilation, paddingTop: 0, paddingLeft: padding, groups: groups,
          operands: kind.operands(using: &random),
          epilogue: kind.epilogue(
            channels: outputs, terms: filterHeight * filterWidth * channels / groups, using: &random))
        try check(convolution, kernels, using: &random)
      }
    }
  }

  @Test(
    "outputs without rows or columns are none, also where weights are many", arguments: KernelSet.supported)
  func emptyOutputs(kernels: KernelSet) throws {
    for (height, width) in [(0, 1), (1, 0), (0, 0)] {
      for kind in CaseKind.allCases {
        var random = SeededGenerator(seed: 7)
        let convolution = Convolution(
          batches: 1, inputHeight: 1, inputWidth: 3, inputChannels: 64, filterHeight: 3, filterWidth: 3,
          outputHeight: height, outputWidth: width, outputChannels: 1000, strideHeight: 3, strideWidth: 3,
          dilationHeight: 1, dilationWidth: 1, paddingTop: 0, paddingLeft: 0,
          operands: kind.operands(using: &random),
          epilogue: kind.epilogue(channels: 1000, terms: 9 * 64, using: &random))
        try check(convolution, kernels, using: &random)
      }
    }
    // A dilated filter that reaches over more rows than the image has, and than a tile gathers.
    for kind in CaseKind.allCases {
      var random = SeededGenerator(seed: 8)
      let convolution = Convolution(
        batches: 1, inputHeight: 38, inputWidth: 32, inputChannels: 32, filterHeight: 3, filterWidth: 3,
        outputHeight: 0, outputWidth: 30, outputChannels: 16, strideHeight: 2, strideWidth: 1,
        dilationHeight: 20, dilationWidth: 1, paddingTop: 0, paddingLeft: 0,
        operands: kind.operands(using: &random),
        epilogue: kind.epilogue(channels: 16, terms: 9 * 32, using: &random))
      try check(convolution, kernels, using: &random)
    }
  }

  @Test("dilated filters of any reach match the reference", arguments: KernelSet.testedConvolutions)
  func dilated(kernels: KernelSet) throws {
    for seed in kernels.seeds(24) {
      var random = SeededGenerator(seed: UInt64(seed))
      let kind = CaseKind.allCases.pick(using: &random)
      let (height, width) = (Int.random(in: 3...24, using: &random), Int.random(in: 3...24, using: &random))
      let channels = [3, 16, 40].pick(using: &random)
      let (dilation, stride) = (Int.random(in: 2...30, using: &random), [1, 1, 2].pick(using: &random))
      // With SAME padding, the output size is the input size divided by the stride, rounded up.
      let (rows, columns) = ((height + stride - 1) / stride, (width + stride - 1) / stride)
      let (top, left) = (
        max(0, (rows - 1) * stride + 2 * dilation + 1 - height) / 2,
        max(0, (columns - 1) * stride + 2 * dilation + 1 - width) / 2
      )
      let convolution = Convolution(
        batches: 2, inputHeight: height, inputWidth: width, inputChannels: channels, filterHeight: 3,
        filterWidth: 3, outputHeight: rows, outputWidth: columns, outputChannels: 24, strideHeight: stride,
        strideWidth: stride, dilationHeight: dilation, dilationWidth: dilation, paddingTop: top,
        paddingLeft: left, operands: kind.operands(using: &random),
        epilogue: kind.epilogue(channels: 24, terms: 9 * channels, using: &random))
      try check(convolution, kernels, using: &random)
    }
  }

  @Test("few columns of many terms match the reference", arguments: KernelSet.testedConvolutions)
  func fewColumns(kernels: KernelSet) throws {
    for seed in kernels.seeds(60) {
      var random = SeededGenerator(seed: UInt64(seed))
      let columns = 1 + seed % 5
      let filter = [1, 3, 5].pick(using: &random)
      let (height, width) = (Int.random(in: 5...9, using: &random), Int.random(in: 5...40, using: &random))
      let channels = Int.random(in: 1...70, using: &random)
      let groups = [1, 1, 2].pick(using: &random)
      let padding = Int.random(in: 0...filter / 2, using: &random)
      let stride = [1, 2].pick(using: &random)
      let convolution = Convolution(
        batches: 2, inputHeight: height, inputWidth: width, inputChannels: channels * groups,
        filterHeight: filter, filterWidth: filter,
        outputHeight: (height + 2 * padding - filter) / stride + 1,
        outputWidth: (width + 2 * padding - filter) / stride + 1, outputChannels: columns * groups,
        strideHeight: stride, strideWidth: stride, dilationHeight: 1, dilationWidth: 1, paddingTop: padding,
        paddingLeft: padding, groups: groups, operands: .float32,
        epilogue: CaseKind.float32.epilogue(
          channels: columns * groups, terms: filter * filter * channels, using: &random))
      try check(convolution, kernels, using: &random)
    }
  }

  @Test(
    "wide layers, extreme zero points, factors and biases match the reference", arguments: KernelSet.tested
  )
  func extremeParameters(kernels: KernelSet) throws {
    for seed in kernels.seeds(120) {
      var random = SeededGenerator(seed: UInt64(1_000 + seed))
      let isSigned = seed % 2 == 1
      let (lowest, highest): (Int32, Int32) = isSigned ? (-128, 127) : (0, 255)
      let ends = [lowest, highest, (lowest + highest + 1) / 2]
      let lhs = ends.pick(using: &random)
      let rhs = ends.pick(using: &random)
      let groups = [1, 1, 1, 2].pick(using: &random)
      let inputs = Int.random(in: 1...130, using: &random) * groups
      let outputs = Int.random(in: 1...130, using: &random) * groups
      let filter = [1, 1, 3].pick(using: &random)
      let width = Int.random(in: 1...(filter == 1 ? 70 : 20), using: &random)
      // Below a half, from a half to one, and above one; for all channels or for each.
      let greatest = [0.001, 0.9, 40].pick(using: &random)
      let count = Bool.random(using: &random) ? 1 : outputs
      let zeroPoint = ends.pick(using: &random)
      let epilogue: Epilogue =
        seed % 5 == 4
        ? .float64(
          (0..<count).map { _ in .random(in: 0...greatest, using: &random) }, zeroPoint: zeroPoint,
          minimum: lowest, maximum: highest)
        : .fixedPoint(
          (0..<count).map { _ in FixedPointMultiplier(.random(in: 0...greatest, using: &random)) },
          zeroPoint: zeroPoint, minimum: lowest, maximum: highest)
      let dilation = filter == 1 ? 1 : [1, 1, 2].pick(using: &random)
      let stride = [1, 1, 2].pick(using: &random)
      let convolution = Convolution(
        batches: [1, 2].pick(using: &random), inputHeight: 2, inputWidth: width, inputChannels: inputs,
        filterHeight: filter, filterWidth: filter, outputHeight: 2,
        outputWidth: (width + stride - 1) / stride,
        outputChannels: outputs, strideWidth: stride, dilationHeight: dilation, dilationWidth: dilation,
        paddingTop: filter / 2 * dilation, paddingLeft: filter / 2 * dilation, groups: groups,
        operands: isSigned
          ? .int8(lhsZeroPoint: lhs, rhsZeroPoint: rhs) : .uint8(lhsZeroPoint: lhs, rhsZeroPoint: rhs),
        epilogue: epilogue)
      // Sums near 2³¹ wrap, so nothing may be assumed of them.
      let bias = [Int32(0), 9_999, 1 << 29, .max].pick(using: &random)
      try check(convolution, kernels, bias: -bias...bias, threads: [1, 2, 8], using: &random)
    }
  }

  @Test("lines of many rows and few terms match the reference", arguments: KernelSet.testedConvolutions)
  func shallow(kernels: KernelSet) throws {
    for seed in kernels.seeds(80) {
      var random = SeededGenerator(seed: UInt64(2_000 + seed))
      let kind = [CaseKind.uint8, .uint8PerChannel, .int8, .int8PerChannel].pick(using: &random)
      let filter = seed % 4 == 3 ? 3 : 1
      let width = Int.random(in: 16...60, using: &random)
      let inputs = filter == 3 ? Int.random(in: 1...12, using: &random) : .random(in: 1...140, using: &random)
      let outputs = [1, 8, 15, 16, 17, 24, 32, 33, 48, 64, 70].pick(using: &random)
      var convolution = Convolution(
        batches: 1, inputHeight: filter, inputWidth: width, inputChannels: inputs, filterHeight: filter,
        filterWidth: filter, outputHeight: filter, outputWidth: width, outputChannels: outputs,
        paddingTop: filter / 2, paddingLeft: filter / 2, operands: kind.operands(using: &random),
        epilogue: kind.epilogue(channels: outputs, terms: inputs * filter * filter, using: &random))
      // Powers of two make exact halves common.
      if Bool.random(using: &random),
        case .fixedPoint(let factors, let zeroPoint, let minimum, let maximum) = convolution.epilogue
      {
        let halves = factors.map { _ in FixedPointMultiplier([0x1p-4, 0x1p-7, 0x1p-10].pick(using: &random)) }
        convolution.epilogue = .fixedPoint(halves, zeroPoint: zeroPoint, minimum: minimum, maximum: maximum)
      }
      try check(convolution, kernels, threads: [1, 3], using: &random)
    }
  }

  @Test("floats that are quantized at run time match the reference", arguments: KernelSet.tested)
  func quantizedFloats(kernels: KernelSet) throws {
    for seed in kernels.seeds(96) {
      var random = SeededGenerator(seed: UInt64(3_000 + seed))
      let filter = [1, 1, 2, 3].pick(using: &random)
      let groups = [1, 1, 1, 2].pick(using: &random)
      let inputs = Int.random(in: 1...70, using: &random) * groups
      let outputs = [1, 3, 8, 16, 17, 33, 64, 70].pick(using: &random) * groups
      // Images of one chunk and of several, rows that are images, and few of them.
      let (height, width) = [(1, 1), (1, 40), (3, 7), (12, 17), (20, 23)].pick(using: &random)
      let stride = [1, 1, 2].pick(using: &random)
      let hasScales = Bool.random(using: &random)
      let kind = hasScales ? CaseKind.hybridPerChannel : .hybrid
      let convolution = Convolution(
        batches: [1, 2, 3, 31].prefix(height < 12 ? 4 : 2).randomElement(using: &random) ?? 1,
        inputHeight: height, inputWidth: width, inputChannels: inputs, filterHeight: filter,
        filterWidth: filter, outputHeight: (height + stride - 1) / stride,
        outputWidth: (width + stride - 1) / stride, outputChannels: outputs, strideHeight: stride,
        strideWidth: stride, paddingTop: filter / 2, paddingLeft: filter / 2, groups: groups,
        operands: .hybrid(isAsymmetric: seed % 2 == 1),
        epilogue: kind.epilogue(channels: outputs, terms: inputs * filter * filter, using: &random))
      try check(convolution, kernels, using: &random)
    }
  }

  @Test(
    "images that have no finite scale are the same in all sets, and change nothing in others",
    arguments: KernelSet.tested)
  func infiniteImages(kernels: KernelSet) throws {
    let (depth, columns) = (70, 20)
    let one: [Float] = (0..<depth).map { Float($0) / 7 - 3 }
    var all: [Float] = []
    for special in [[Float.infinity], [-.infinity], [.nan], [.infinity, -.infinity, .nan]] {
      all += special + one.dropFirst(special.count)
    }
    all += [Float](repeating: .nan, count: depth) + one
    let weights = (0..<depth * columns).map { UInt8(truncatingIfNeeded: 37 * $0) }
    for isAsymmetric in [false, true] {
      var product = Convolution(
        rows: 6, depth: depth, columns: columns, operands: .hybrid(isAsymmetric: isAsymmetric),
        epilogue: .hybrid([0.01], minimum: -.greatestFiniteMagnitude, maximum: .greatestFiniteMagnitude))
      let prepared = try #require(kernels.prepare(product))
      let whole = ReferenceHybrid.convolve(product, input: all, weights: weights, bias: nil)
      product.batches = 1
      let expected = ReferenceHybrid.convolve(product, input: one, weights: weights, bias: nil)
      try compare(prepared, bytes(all), weights, nil, byteCount: 6 * columns * 4) { found in
        #expect(Array(floats(found).suffix(columns)) == expected && floats(found).isAlike(whole))
      }
    }
  }

  @Test("each set does the work itself", arguments: KernelSet.tested)
  func implementations(kernels: KernelSet) throws {
    let factor = FixedPointMultiplier(0.01)
    let uint8 = MatrixOperands.uint8(lhsZeroPoint: 3, rhsZeroPoint: 128)
    let int8 = MatrixOperands.int8(lhsZeroPoint: 3, rhsZeroPoint: 0)
    var cases: [(MatrixOperands, Epilogue)] = [
      (.float32, .float32(minimum: 0, maximum: 6)),
      (uint8, .fixedPoint([factor], zeroPoint: 0, minimum: 0, maximum: 255)),
      (int8, .fixedPoint([factor], zeroPoint: 0, minimum: -128, maximum: 127)),
      (int8, .float64([0.01], zeroPoint: 0, minimum: -128, maximum: 127)),
    ]
    // BLAS and arm64 have none of these.
    if kernels.name != "blas", !kernels.name.hasPrefix("arm64") {
      cases.append((.hybrid(isAsymmetric: true), .hybrid([0.01], minimum: 0, maximum: 6)))
    }
    for (operands, epilogue) in cases {
      let product = Convolution(rows: 49, depth: 64, columns: 40, operands: operands, epilogue: epilogue)
      #expect(try #require(kernels.choose(product)).choice.set == kernels.name)
      var filters = product
      filters.vertical = WindowAxis(size: 9, places: 7, taps: 3)
      filters.horizontal = filters.vertical
      #expect(try #require(kernels.choose(filters)).choice.set == kernels.name)
      let depthwise = Convolution(
        batches: 1, inputHeight: 9, inputWidth: 9, inputChannels: 32, filterHeight: 3, filterWidth: 3,
        outputHeight: 9, outputWidth: 9, outputChannels: 32, paddingTop: 1, paddingLeft: 1,
        isDepthwise: true, operands: operands, epilogue: epilogue)
      // BLAS has no depthwise convolutions.
      let own = kernels.name == "blas" ? "portable" : kernels.name
      #expect(try #require(kernels.choose(depthwise)).choice.set == own)
    }
  }

  @Test("sums of extreme bytes and biases are exact", arguments: KernelSet.testedConvolutions)
  func extremes(kernels: KernelSet) throws {
    for (value, zeroPoint) in [(UInt8(0), Int32(255)), (255, 0), (0, 0), (255, 255)] {
      // Biases beyond what generated code rescales; then such as converters clip to 2³⁰, with factors of every shift.
      for (greatestBias, factors) in [
        (4_000_000_000, [FixedPointMultiplier(0x1p-21)]),
        (1 << 30 + 128, (0..<20).map { FixedPointMultiplier(0.999_999 / Double(1 << $0)) }),
      ] {
        let convolution = Convolution(
          rows: 70, depth: 3_000, columns: 20,
          operands: .uint8(lhsZeroPoint: zeroPoint, rhsZeroPoint: 255 - zeroPoint),
          epilogue: .fixedPoint(factors, zeroPoint: 128, minimum: 0, maximum: 255))
        for weight in [UInt8(0), 255] {
          let input = [UInt8](repeating: value, count: 70 * 3_000)
          let weights = [UInt8](repeating: weight, count: 20 * 3_000)
          let bias = (0..<20).map {
            Int32(truncatingIfNeeded: greatestBias / 19 * $0 * ($0 % 2 == 0 ? 1 : -1))
          }
          let expected = ReferenceConvolution.bytes(convolution, input: input, weights: weights, bias: bias)
          let prepared = try #require(kernels.prepare(convolution))
          let found = run(
            prepared, input: input, weights: weights, bias: bytes(bias), outputCount: expected.count,
            threads: 2
          )
          #expect(Array(found.prefix(expected.count)) == expected)
        }
      }
    }
  }

  @Test("operands and epilogue that do not fit are refused", arguments: KernelSet.tested)
  func misfits(kernels: KernelSet) {
    let bytes = MatrixOperands.uint8(lhsZeroPoint: 0, rhsZeroPoint: 0)
    let twoFactors = Epilogue.float64([1, 2], zeroPoint: 0, minimum: 0, maximum: 255)
    #expect(
      kernels.prepare(
        Convolution(rows: 2, depth: 2, columns: 2, operands: .float32, epilogue: twoFactors)) == nil)
    #expect(
      kernels.prepare(
        Convolution(
          rows: 2, depth: 2, columns: 2, operands: bytes, epilogue: .float32(minimum: 0, maximum: 1)))
        == nil)
    #expect(
      kernels.prepare(Convolution(rows: 2, depth: 2, columns: 3, operands: bytes, epilogue: twoFactors))
        == nil)
    #expect(
      kernels.prepare(Convolution(rows: 2, depth: 2, columns: 2, operands: bytes, epilogue: twoFactors))
        != nil)
  }

  @Test("packed weights are shared between sizes of input, and not between zero points")
  func packing() throws {
    func packing(_ rows: Int, _ operands: MatrixOperands) throws -> WeightLayout {
      let factor = FixedPointMultiplier(0.01)
      let convolution = Convolution(
        rows: rows, depth: 30, columns: 20, operands: operands,
        epilogue: .fixedPoint([factor], zeroPoint: 0, minimum: 0, maximum: 255))
      return try KernelSet.portable.convolution(convolution).packing
    }
    let first = try packing(4, .uint8(lhsZeroPoint: 3, rhsZeroPoint: 5))
    #expect(try packing(900, .uint8(lhsZeroPoint: 3, rhsZeroPoint: 5)) == first)
    #expect(try packing(4, .uint8(lhsZeroPoint: 3, rhsZeroPoint: 6)) != first)
    #expect(try packing(4, .int8(lhsZeroPoint: 3, rhsZeroPoint: 5)) != first)
  }

  @Test("scratch stays within two megabytes a thread", arguments: KernelSet.tested)
  func scratch(kernels: KernelSet) throws {
    for (rows, depth, columns) in [(100_000, 9, 4_000), (1, 1_000_000, 1_000), (5_000, 50_000, 50_000)] {
      for kind in [CaseKind.float32, .uint8] {
        var random = SeededGenerator(seed: 1)
        let convolution = Convolution(
          rows: rows, depth: depth, columns: columns, operands: kind.operands(using: &random),
          epilogue: kind.epilogue(channels: columns, terms: depth, using: &random))
        let prepared = try #require(kernels.prepare(convolution))
        #expect(prepared.scratchByteCount(threads: 1) <= 2 << 20)
      }
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
          outputHeight: output, outputWidth: output, outputChannels: 5, strideHeight: stride,
          strideWidth: stride, dilationHeight: dilation, dilationWidth: dilation, paddingTop: dilation,
          paddingLeft: dilation, operands: kind.operands(using: &random),
          epilogue: kind.epilogue(channels: 5, terms: 81, using: &random))
        try check(convolution, kernels, using: &random)
      }
    }
  }

  /// Compares a set with the reference, and its results for one, two and three threads with each other.
  private func check(
    _ convolution: Convolution, _ kernels: KernelSet, bias biases: ClosedRange<Int32> = -9_999...9_999,
    threads: [Int] = [1, 2, 3], using random: inout SeededGenerator
  ) throws {
    let prepared = try #require(kernels.prepare(convolution))
    let (inputCount, weightCount) = (convolution.inputCount, convolution.weightCount)
    let hasBias = Int.random(in: 0..<4, using: &random) > 0
    if convolution.operands == .float32 {
      let input = (0..<inputCount).map { _ in Float.random(in: -1...1, using: &random) }
      let weights = (0..<weightCount).map { _ in Float.random(in: -1...1, using: &random) }
      let bias = (0..<convolution.outputChannels).map { _ in Float.random(in: -1...1, using: &random) }
      let expected = ReferenceConvolution.floats(
        convolution, input: input, weights: weights, bias: hasBias ? bias : nil)
      let terms = Float(weightCount / convolution.outputChannels)
      try compare(
        prepared, bytes(input), bytes(weights), hasBias ? bytes(bias) : nil, byteCount: expected.count * 4,
        threads: kernels.threads(threads)
      ) { found in
        // Each term is at most one: the error of its sum stays below its number of roundings.
        for (a, b) in zip(floats(found), expected) {
          #expect(abs(a - b) <= (terms + 2) * 0x1p-23, "\(convolution)")
        }
      }
    } else if convolution.operands.isHybrid {
      let input = [Float].hybridInput(count: inputCount, using: &random)
      let weights = (0..<weightCount).map { _ in UInt8.random(in: 0...255, using: &random) }
      let bias = (0..<convolution.outputChannels).map { _ in Float.random(in: -1...1, using: &random) }
      let expected = bytes(
        ReferenceHybrid.convolve(convolution, input: input, weights: weights, bias: hasBias ? bias : nil))
      try compare(
        prepared, bytes(input), weights, hasBias ? bytes(bias) : nil, byteCount: expected.count,
        threads: threads
      ) { found in
        #expect(floats(found).isAlike(floats(expected)), "\(convolution)")
      }
    } else {
      let input = (0..<inputCount).map { _ in UInt8.random(in: 0...255, using: &random) }
      let weights = (0..<weightCount).map { _ in UInt8.random(in: 0...255, using: &random) }
      let bias = (0..<convolution.outputChannels).map { _ in Int32.random(in: biases, using: &random) }
      let expected = ReferenceConvolution.bytes(
        convolution, input: input, weights: weights, bias: hasBias ? bias : nil)
      try compare(
        prepared, input, weights, hasBias ? bytes(bias) : nil, byteCount: expected.count,
        threads: kernels.threads(threads)
      ) { found in
        #expect(found == expected, "\(convolution)")
      }
    }
    kernels.expectNoFaults()
  }
}

/// Runs with several counts of threads: the first result is judged, the others must equal it.
func compare(
  _ prepared: any PreparedConvolution, _ input: [UInt8], _ weights: [UInt8], _ bias: [UInt8]?, byteCount: Int,
  threads counts: [Int] = [1, 2, 3], judge: ([UInt8]) -> Void
) throws {
  var first: [UInt8]?
  for threads in counts {
    let found = run(
      prepared, input: input, weights: weights, bias: bias, outputCount: byteCount, threads: threads)
    #expect(found.suffix(64).allSatisfy { $0 == 0xA5 }, "a write beyond the output")
    if let first {
      #expect(found == first, "\(threads) threads differ from \(counts[0])")
    } else {
      first = found
      judge(Array(found.prefix(byteCount)))
    }
  }
}
