// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusCodeGeneration
import ApusKernels
import TestSupport
import Testing

/// Which set takes what, and what the others say.
@Suite("Kernel choices")
struct KernelChoiceTests {
  private static let bytes = MatrixOperands.uint8(lhsZeroPoint: 3, rhsZeroPoint: 128)
  private static let fixedPoint = Epilogue.fixedPoint(
    [FixedPointMultiplier(0.01)], zeroPoint: 0, minimum: 0, maximum: 255)
  private static let floatBounds = Epilogue.float32(minimum: -.infinity, maximum: .infinity)

  private static func filters(
    _ operands: MatrixOperands, _ epilogue: Epilogue, size: Int = 14, channels: Int = 32
  ) -> Convolution {
    Convolution(
      batches: 1, inputHeight: size, inputWidth: size, inputChannels: channels, filterHeight: 3,
      filterWidth: 3, outputHeight: size, outputWidth: size, outputChannels: channels, paddingTop: 1,
      paddingLeft: 1, operands: operands, epilogue: epilogue)
  }

  private static func depthwise(_ operands: MatrixOperands, _ epilogue: Epilogue) -> Convolution {
    Convolution(
      batches: 1, inputHeight: 14, inputWidth: 14, inputChannels: 32, filterHeight: 3, filterWidth: 3,
      outputHeight: 14, outputWidth: 14, outputChannels: 32, paddingTop: 1, paddingLeft: 1,
      isDepthwise: true, operands: operands, epilogue: epilogue)
  }

  /// A set's reason for not taking a convolution.
  private static func reason(_ set: KernelSet, _ convolution: Convolution) throws -> String {
    try reason { try set.convolution(convolution) }
  }

  private static func reason<Kernel>(_ prepare: () throws -> Kernel) throws -> String {
    do {
      _ = try prepare()
    } catch let decline as Decline { return decline.description }
    return ""
  }

  @Test(
    "the choice names the set whose kernel runs, and each set that was asked before",
    arguments: KernelSet.tested)
  func names(kernels: KernelSet) throws {
    let byteSums = MatrixOperands.int8Sums
    let words = MatrixOperands.int16(weightByteCount: 1, biasByteCount: 4)
    let hybrid = Epilogue.hybrid([0.01], minimum: -1e9, maximum: 1e9)
    let once = Epilogue.float64([0.01], zeroPoint: 0, minimum: -32768, maximum: 32767)
    let cases: [(MatrixOperands, Epilogue)] = [
      (.float32, Self.floatBounds), (Self.bytes, Self.fixedPoint), (byteSums, .sums), (words, once),
      (.hybrid(isAsymmetric: true), hybrid),
    ]
    let order = KernelSet.supported.map(\.name)
    for (operands, epilogue) in cases {
      for convolution in [
        Convolution(rows: 1, depth: 40, columns: 7, operands: operands, epilogue: epilogue),
        Convolution(rows: 100, depth: 64, columns: 70, operands: operands, epilogue: epilogue),
        Self.filters(operands, epilogue), Self.filters(operands, epilogue, size: 56, channels: 128),
      ] {
        let (kernel, choice) = try #require(kernels.choose(convolution))
        let set = try #require((KernelSet.tested + KernelSet.supported).first { $0.name == choice.set })
        #expect(kernel.packing == (try set.convolution(convolution)).packing, "\(convolution)")
        let first = order.firstIndex(of: kernels.name)
        let asked = choice.declined.map(\.set) + [choice.set]
        let expected = first.map { order[$0...] } ?? [kernels.name] + order[...]
        #expect(asked == Array(expected.prefix(asked.count)), "\(convolution)")
        #expect(choice.declined.allSatisfy { !$0.reason.isEmpty })
        let prefixes = ["blas": "sgemm", "portable": "portable"]
        let implementation = kernel.implementation
        #expect(
          prefixes[choice.set].map { implementation.hasPrefix($0) }
            ?? (implementation.hasPrefix("generated") || implementation.hasPrefix("Winograd")),
          "\(choice.set): \(implementation)")
        #expect(!implementation.contains("Kernel") && !implementation.contains("Convolution("))
      }
    }
  }

  @Test("a decline says what was found")
  func reasons() throws {
    let few = Convolution(
      rows: 3, depth: 64, columns: 40, operands: .float32, epilogue: Self.floatBounds)
    #expect(try Self.reason(.blas, few).contains("3 rows, fewer than 4"))
    let words = Convolution(
      rows: 8, depth: 64, columns: 40, operands: .int16(weightByteCount: 1, biasByteCount: 8),
      epilogue: .reducedFixedPoint([FixedPointMultiplier(0.01)], minimum: -32768, maximum: 32767))
    #expect(try Self.reason(.blas, words).contains("int16 with int8 weights and an int64 bias"))
    #expect(try Self.reason(.blas, Self.depthwise(Self.bytes, Self.fixedPoint)).contains("depthwise"))
    var misfit = Convolution(
      rows: 8, depth: 64, columns: 40, operands: Self.bytes,
      epilogue: .float64([1, 2], zeroPoint: 0, minimum: 0, maximum: 255))
    for set in KernelSet.tested {
      #expect(try Self.reason(set, misfit).contains("2 factors for 40 channels"), "\(set.name)")
    }
    misfit.epilogue = Self.floatBounds
    for set in KernelSet.tested {
      #expect(try Self.reason(set, misfit).contains("float outputs"), "\(set.name)")
      #expect(try Self.reason(set, misfit).contains("uint8"), "\(set.name)")
    }
  }

  @Test("without memory for code, a set says so")
  func memory() throws {
    let set = KernelSet.arm64(.neon) { _ in nil }
    let convolution = Self.filters(Self.bytes, Self.fixedPoint)
    #expect(try Self.reason(set, convolution).contains("64 MiB"))
    #expect(try Self.reason(set, Self.depthwise(Self.bytes, Self.fixedPoint)).contains("64 MiB"))
  }

  private static let generatedSets = KernelSet.tested.filter { !["blas", "portable"].contains($0.name) }

  @Test("generated sets say which size or kind is not for them", arguments: generatedSets)
  func generated(kernels: KernelSet) throws {
    let words = Convolution(
      rows: 8, depth: 64, columns: 40, operands: .int16(weightByteCount: 1, biasByteCount: 4),
      epilogue: .float64([1], zeroPoint: 0, minimum: -32768, maximum: 32767))
    #expect(try Self.reason(kernels, words).contains("int16 with int8 weights"))
    var wide = Self.filters(.float32, Self.floatBounds)
    wide.vertical.stride = 40_000
    #expect(try Self.reason(kernels, wide).contains("40000, is not below 32768"))
    wide.vertical.stride = 1
    (wide.vertical.taps, wide.vertical.dilation) = (2, 2_000)
    #expect(try Self.reason(kernels, wide).contains("rows that an output reaches, 2001, is not below 1024"))
    var large = Self.filters(.float32, Self.floatBounds)
    (large.horizontal.size, large.horizontal.places, large.inputChannels) = (4_000, 4_000, 128)
    #expect(try Self.reason(kernels, large).contains("bytes that a tile gathers"))
    large.inputChannels = 1 << 27
    #expect(try Self.reason(kernels, large).contains("input channels, 134217728,"))
    let deep = Convolution(
      rows: 8, depth: 40_000, columns: 40, operands: .uint8(lhsZeroPoint: 3, rhsZeroPoint: 5),
      epilogue: Self.fixedPoint)
    if kernels.name.hasSuffix("vnni") || kernels.name == "arm64-dotprod" {
      #expect(try Self.reason(kernels, deep).contains("10000 steps are over 8192"))
    }
    var none = Self.depthwise(Self.bytes, Self.fixedPoint)
    none.horizontal.places = 0
    #expect(try Self.reason(kernels, none).contains("14×0, is empty"))
    none.horizontal.places = 14
    (none.vertical.taps, none.vertical.dilation) = (3, 600)
    none.vertical.padding = 0
    #expect(try Self.reason(kernels, none).contains("1201, is not below 1024"))
  }

  #if arch(x86_64)
    private static let x86Sets = KernelSet.supported.filter { $0.name.hasPrefix("x86") }

    @Test("elementwise kernels say why they are portable", arguments: x86Sets)
    func elementwise(kernels: KernelSet) throws {
      let shapes = try #require(BroadcastShapes([100], [100]))
      let short = try #require(BroadcastShapes([4, 3], [4, 1]))
      let add = kernels.choose(FloatOperation(.add), shapes)
      #expect(add.choice.set == kernels.name && add.choice.declined.isEmpty)
      #expect(add.kernel.implementation.hasPrefix("generated"))
      let shortAdd = kernels.choose(FloatOperation(.add), short)
      #expect(shortAdd.choice.set == "portable")
      #expect(shortAdd.choice.declined.first?.set == kernels.name)
      #expect(try #require(shortAdd.choice.declined.first).reason.contains("stretches of 3 floats"))
      #expect(shortAdd.choice.declined.last?.reason == "the set has kernels of convolutions alone")
      #expect(shortAdd.kernel.implementation.hasPrefix("portable"))

      #expect(kernels.choose(Extremum.maximum.ofFloats, shapes).choice.set == kernels.name)

      let result = QuantizedResult(
        multiplier: FixedPointMultiplier(3), zeroPoint: 0, minimum: 0, maximum: 255)
      let product = kernels.choose(
        QuantizedProduct(lhsZeroPoint: 1, rhsZeroPoint: 1, output: result), isSigned: false, shapes)
      #expect(try #require(product.choice.declined.first).reason.contains("1610612736 · 2^-29"))
      let operand = QuantizedOperand(zeroPoint: 1, multiplier: FixedPointMultiplier(0.4))
      let sum = kernels.choose(
        QuantizedSum(
          lhs: operand, rhs: operand, isDifference: false, leftShift: 15,
          output: QuantizedResult(
            multiplier: FixedPointMultiplier(0.4), zeroPoint: 0, minimum: 0, maximum: 255)),
        isSigned: false, shapes)
      #expect(try #require(sum.choice.declined.first).reason.contains("15 bits, not 20"))

      let steps = FloatFunction.fakeQuantize(scale: 1, minimum: 0, maximum: 9)
        .choose(count: 100, using: kernels)
      #expect(steps.choice.set == "portable")
      #expect(try #require(steps.choice.declined.first).reason.contains("fakeQuantize"))
      let table = ByteTable(isSigned: false) { $0 / 2 }
      let few = table.choose(count: 100, using: kernels)
      #expect(try #require(few.choice.declined.first).reason.contains("100 bytes are fewer than 256"))
      #expect(table.choose(count: 1_000, using: kernels).choice.set == kernels.name)
      let flip = ByteTable(isSigned: false) { $0 ^ 128 }.choose(count: 1_000, using: kernels)
      #expect(try #require(flip.choice.declined.first).reason.contains("XOR a constant"))
      let integers = CastKernel.choose(from: .float32, to: .int8, count: 100, using: kernels)
      #expect(integers.choice.set == kernels.name)
      let wide = CastKernel.choose(from: .float32, to: .int64, count: 100, using: kernels)
      #expect(try #require(wide.choice.declined.first).reason.contains("int64, which int32 cannot hold"))
      let narrow = Softmax.chooseFloats(beta: 1, isHalf: false, rows: 9, depth: 10, using: kernels)
      #expect(try #require(narrow.choice.declined.first).reason.contains("rows of 10 floats"))
      let half = Softmax.chooseFloats(beta: 1, isHalf: true, rows: 9, depth: 100, using: kernels)
      #expect(try #require(half.choice.declined.first).reason.contains("float16"))
      #expect(
        Softmax.chooseFloats(beta: 1, isHalf: false, rows: 9, depth: 100, using: kernels).choice.set
          == kernels.name)
    }

    @Test("a kernel says what faster way it passed over", arguments: x86Sets)
    func notes(kernels: KernelSet) throws {
      func notes(_ convolution: Convolution) throws -> String {
        try kernels.convolution(convolution).notes(nil).joined(separator: "\n")
      }
      var filters = Self.filters(.float32, Self.floatBounds, size: 56, channels: 128)
      #expect(try notes(filters).isEmpty)
      filters.vertical.dilation = 2
      #expect(try notes(filters).contains("Winograd convolution: dilations of 2×1"))
      filters.vertical.dilation = 1
      (filters.horizontal.stride, filters.horizontal.places) = (2, 28)
      #expect(try notes(filters).contains("Winograd convolution: strides of 1×2"))
      #expect(try notes(Self.filters(.float32, Self.floatBounds, size: 2)).contains("times as long"))
      var grouped = Self.filters(.float32, Self.floatBounds)
      grouped.groups = 4
      #expect(try notes(grouped).contains("4 groups"))
      let factors = (0..<40).map { FixedPointMultiplier(0.003 + 0.0001 * Double($0)) }
      var matrix = Convolution(
        rows: 2, depth: 64, columns: 40, operands: .int8(lhsZeroPoint: 3, rhsZeroPoint: 0),
        epilogue: .fixedPoint(factors, zeroPoint: 0, minimum: -128, maximum: 127))
      #expect(try notes(matrix).contains("2 outputs of 64 products for each factor"))
      matrix.epilogue = .fixedPoint(
        [FixedPointMultiplier(-0.5)], zeroPoint: 0, minimum: -128, maximum: 127)
      #expect(try notes(matrix).contains("channel 0, -1073741824 · 2^-31,"))
      matrix.epilogue = .fixedPoint(
        factors.dropLast() + [FixedPointMultiplier(0x1p-30)], zeroPoint: 0, minimum: -128, maximum: 127)
      #expect(try notes(matrix).contains("1 of 40 channels have factors below 2^-22"))
    }

    @Test("a product says why faster strategies declined", arguments: x86Sets)
    func strategies(kernels: KernelSet) throws {
      func notes(_ operands: MatrixOperands, _ epilogue: Epilogue, rows: Int, columns: Int) throws -> String {
        let matrix = Convolution(
          rows: rows, depth: 64, columns: columns, operands: operands, epilogue: epilogue)
        return try kernels.convolution(matrix).notes(nil).joined(separator: "\n")
      }
      let floats = try notes(.float32, Self.floatBounds, rows: 64, columns: 48)
      #expect(floats.contains("vectorized along K: twice 48 columns"))
      #expect(floats.contains("K in pairs: "))
      #expect(try !notes(.float32, Self.floatBounds, rows: 64, columns: 1).contains("apart"))
      let bytes = try notes(Self.bytes, Self.fixedPoint, rows: 2, columns: 16)
      #expect(bytes.contains("overlapped epilogue: ") == kernels.name.hasSuffix("vnni"))
    }

    @Test("with weights, a kernel says whether their outputs are made step by step", arguments: x86Sets)
    func weights(kernels: KernelSet) throws {
      func notes(_ factors: [Double], weight: UInt8, bias: Int32) throws -> String {
        let convolution = Convolution(
          rows: 8, depth: 64, columns: 2, operands: .int8(lhsZeroPoint: 3, rhsZeroPoint: 0),
          epilogue: .fixedPoint(
            factors.map(FixedPointMultiplier.init), zeroPoint: 0, minimum: -128, maximum: 127))
        let kernel = try kernels.convolution(convolution)
        let packed = PackedWeights(byteCount: kernel.packedByteCount)
        let weights = [UInt8](repeating: weight, count: 128)
        let biases = [bias, bias]
        kernel.pack(weights: weights.span.bytes, bias: biases.span.bytes, into: packed)
        return kernel.notes(packed).joined(separator: "\n")
      }
      #expect(try !notes([0.01, 0.01], weight: 1, bias: 5).contains("step by step"))
      #expect(try notes([0.01, 0.01], weight: 1, bias: .max).contains("step: these weights and biases"))
      #expect(try !notes([0.01, 0.01], weight: 0, bias: .max).contains("step by step"))
      #expect(try !notes([0.01, 0.01], weight: 1, bias: 2_000_000_000).contains("step by step"))
      #expect(try !notes([0.01, 0x1p-30], weight: 0, bias: 5).contains("step by step"))
      #expect(try !notes([0.01, 5e-24], weight: 100, bias: .max).contains("several outputs"))
      #expect(try notes([0.01, 0x1p-23], weight: 100, bias: 1 << 22).contains("may make several outputs"))
    }
  #endif
}
