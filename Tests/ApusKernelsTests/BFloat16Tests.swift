// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusCodeGeneration
import ApusKernels
import ReferenceKernels
import TestSupport
import Testing

/// Products of floats that are rounded to bfloat16: every set has the bits that are defined.
@Suite("bfloat16")
struct BFloat16Tests {
  /// The sets that multiply bfloat16, with and without an instruction for it.
  static let sets: [KernelSet] = {
    #if arch(x86_64)
      return KernelSet.supported.filter { $0.name != "blas" } + KernelSet.multiplyingBFloat16
    #else
      return [.portable]
    #endif
  }()

  /// The sets that add in parts: plain Swift, and tile registers where this machine has them.
  static let setsOfParts = KernelSet.supported.filter { $0.name == "portable" } + KernelSet.multiplyingTiles

  /// The sets with orders that they know, for both.
  static let cases = sets.map { ($0, false) } + setsOfParts.map { ($0, true) }

  /// Numbers where roundings and limits differ.
  static let special: [Float] = [
    0, -0.0, 1, -1, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
    .leastNormalMagnitude, -.leastNormalMagnitude, Float.leastNormalMagnitude.nextDown,
    .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0x1.FEp127, 0x1.FFp127, 0x1.01p0, 0x1.03p0,
    0x1.01p-126, 0x1p-63, -0x1p-63, 0x1.FEp-64, 1e-30, 3e38,
  ]

  @Test("rounding is to the nearest, ties to even, and subnormal numbers are zeros")
  func rounding() {
    var random = SeededGenerator(seed: 1)
    let values =
      Self.special + (0..<100_000).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) }
    for value in values {
      let (found, expected) = (BFloat16Rounding.rounded(value), ReferenceBFloat16.rounded(value))
      #expect(found.bitPattern == expected.bitPattern || found.isNaN && expected.isNaN, "\(value)")
    }
  }

  @Test("a sum is rounded once, and is zero below the normal floats")
  func sums() {
    var random = SeededGenerator(seed: 2)
    let special = Self.special.map(ReferenceBFloat16.rounded)
    func check(_ a: Float, _ w: Float, _ sum: Float) {
      let (found, expected) = (BFloat16Sum.adding(a, w, to: sum), ReferenceBFloat16.adding(a, w, to: sum))
      #expect(
        found.bitPattern == expected.bitPattern || found.isNaN && expected.isNaN, "\(sum) + \(a) · \(w)")
    }
    for a in special { for w in special { for sum in special { check(a, w, sum) } } }
    for index in 0..<200_000 {
      // Half of them next to the least normal float.
      let isSmall = index % 2 == 0
      func number(_ exponents: ClosedRange<UInt32>) -> Float {
        Float(
          bitPattern: UInt32(truncatingIfNeeded: random.next()) & 0x807F_FFFF | .random(
            in: exponents, using: &random) << 23)
      }
      let factors: ClosedRange<UInt32> = isSmall ? 60...67 : 120...134
      check(
        ReferenceBFloat16.rounded(number(factors)), ReferenceBFloat16.rounded(number(factors)),
        number(isSmall ? 1...4 : 118...136))
    }
  }

  @Test("random convolutions have the bits of the reference", arguments: cases)
  func random(kernels: KernelSet, inParts: Bool) throws {
    for seed in 0..<160 {
      var random = SeededGenerator(seed: UInt64(seed))
      let vertical = AxisCase(largest: 9, using: &random)
      let horizontal = seed % 6 == 5 ? .one : AxisCase(largest: 13, using: &random)
      let groups = [1, 1, 1, 2, 3].pick(using: &random)
      let convolution = Convolution(
        batches: .random(in: 1...3, using: &random), inputHeight: vertical.input,
        inputWidth: horizontal.input,
        inputChannels: groups * [2, 4, 8, 10, 16, 18, 40, 64].pick(using: &random),
        filterHeight: vertical.filter, filterWidth: horizontal.filter, outputHeight: vertical.output,
        outputWidth: horizontal.output,
        outputChannels: groups * [1, 2, 3, 7, 8, 9, 15, 16, 17, 33].pick(using: &random),
        strideHeight: vertical.stride, strideWidth: horizontal.stride,
        dilationHeight: vertical.dilation, dilationWidth: horizontal.dilation,
        paddingTop: vertical.padding, paddingLeft: horizontal.padding, groups: groups,
        operands: .bfloat16(.pairs),
        epilogue: CaseKind.float32.epilogue(channels: 1, terms: 1, using: &random))
      try check(convolution, kernels, inParts: inParts, isSpecial: seed % 4 == 3, using: &random)
    }
  }

  @Test("matrices of every awkward size have the bits of the reference", arguments: cases)
  func matrices(kernels: KernelSet, inParts: Bool) throws {
    let sizes = [
      (1, 2, 1), (1, 1024, 101), (1, 8, 300), (2, 2, 9), (3, 66, 7), (4, 8, 8), (5, 1022, 9), (9, 1026, 8),
      (63, 64, 65), (257, 16, 24), (2, 2_050, 70), (6, 700, 130), (40, 34, 300), (13, 160, 200),
      (25, 300, 130), (0, 6, 4), (15, 64, 40), (16, 32, 31), (17, 96, 33), (31, 48, 16), (32, 30, 32),
      (33, 22, 64),
    ]
    for (index, (rows, depth, columns)) in sizes.enumerated() {
      var random = SeededGenerator(seed: UInt64(index))
      let convolution = Convolution(
        rows: rows, depth: depth, columns: columns, operands: .bfloat16(.pairs),
        epilogue: CaseKind.float32.epilogue(channels: columns, terms: depth, using: &random))
      try check(convolution, kernels, inParts: inParts, isSpecial: false, using: &random)
    }
  }

  @Test("NaN, infinities, subnormal and large numbers have the results of the reference", arguments: cases)
  func specialNumbers(kernels: KernelSet, inParts: Bool) throws {
    for seed in 0..<40 {
      var random = SeededGenerator(seed: UInt64(seed))
      let convolution = Convolution(
        rows: .random(in: 1...20, using: &random), depth: 2 * .random(in: 1...6, using: &random),
        columns: .random(in: 1...70, using: &random), operands: .bfloat16(.pairs),
        epilogue: .float32(minimum: -.infinity, maximum: .infinity))
      try check(convolution, kernels, inParts: inParts, isSpecial: true, using: &random)
    }
  }

  @Test("channels without pairs stay in float32")
  func oddChannels() {
    let epilogue = Epilogue.float32(minimum: -.infinity, maximum: .infinity)
    let odd = Convolution(rows: 3, depth: 5, columns: 4, operands: .float32, epilogue: epilogue)
    #expect(throws: Decline.self) { try odd.roundedToBFloat16() }
    for kernels in Self.sets {
      var rounded = odd
      rounded.operands = .bfloat16(.pairs)
      #expect(throws: Decline.self, "\(kernels.name)") { try kernels.convolution(rounded) }
    }
  }

  @Test(
    "products that would gain nothing stay in float32",
    arguments: [(18, 8, true), (16, 8, false), (34, 7, false), (800_000, 8, true), (800_002, 8, false)])
  func gains(depth: Int, columns: Int, isRounded: Bool) {
    let convolution = Convolution(
      rows: 3, depth: depth, columns: columns, operands: .float32,
      epilogue: .float32(minimum: -.infinity, maximum: .infinity))
    let rounded = try? convolution.roundedToBFloat16()
    #expect(rounded?.operands == (isRounded ? .bfloat16(.pairs) : nil))
  }

  @Test("parts are as long as a run allows, and not mostly empty")
  func parts() throws {
    for (depth, pairs) in [
      (2, 1), (8, 4), (30, 15), (32, 16), (34, nil), (36, 9), (48, 12), (62, nil), (96, 16),
    ] {
      let convolution = Convolution(
        rows: 3, depth: depth, columns: 4, operands: .float32,
        epilogue: .float32(minimum: -.infinity, maximum: .infinity))
      guard let pairs else {
        #expect(throws: Decline.self, "\(depth)") { try convolution.bfloat16Parts() }
        continue
      }
      #expect(try convolution.bfloat16Parts() == .parts(pairs: pairs), "\(depth)")
    }
  }

  /// Compares a set's outputs with the reference's, on one thread and on three.
  private func check(
    _ convolution: Convolution, _ kernels: KernelSet, inParts: Bool, isSpecial: Bool,
    using random: inout SeededGenerator
  ) throws {
    var convolution = convolution
    if inParts {
      // Shapes whose runs have no parts are added in pairs.
      guard let order = try? convolution.bfloat16Parts() else { return }
      convolution.operands = .bfloat16(order)
    }
    let prepared = try kernels.convolution(convolution)
    func numbers(_ count: Int) -> [Float] {
      (0..<count).map { _ in
        isSpecial && Int.random(in: 0..<6, using: &random) == 0
          ? Self.special.pick(using: &random)
          : .random(in: -1...1, using: &random) * (isSpecial && .random(using: &random) ? 0x1p-63 : 1)
      }
    }
    let input = numbers(convolution.inputCount)
    let weights = numbers(convolution.weightCount)
    let bias: [Float]? = .random(using: &random) ? numbers(convolution.outputChannels) : nil
    let expected = ReferenceBFloat16.convolution(convolution, input: input, weights: weights, bias: bias)
    for threads in [1, 3] {
      let found = floats(
        run(
          prepared, input: bytes(input), weights: bytes(weights), bias: bias.map(bytes),
          outputCount: 4 * convolution.outputCount, threads: threads)
      ).prefix(expected.count)
      let differences = zip(found, expected).enumerated().filter { _, pair in
        pair.0.bitPattern != pair.1.bitPattern && !(pair.0.isNaN && pair.1.isNaN)
      }
      #expect(
        differences.isEmpty,
        "\(kernels.name), \(prepared.implementation): \(differences.count) of \(expected.count), \(differences.prefix(2)), \(convolution)"
      )
    }
  }
}
