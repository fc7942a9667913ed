// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// PRELU of rows of bytes, by code or by tables of each channel, against the function value by value.
@Suite("PRELU of rows of bytes")
struct ByteReluTests {
  /// Whether bytes are signed, the scales above and below zero, the channels, and zero points, from the least byte on.
  struct Case: CustomStringConvertible, Sendable {
    let isSigned: Bool
    let positive: Double
    let negative: Double
    let channels: Int
    let zeroPoints: (input: Int32, output: Int32)

    var description: String {
      "\(isSigned ? "int8" : "uint8"), \(positive), \(negative), \(channels) channels, zero points \(zeroPoints)"
    }
  }

  private static let cases: [Case] = [true, false].flatMap { isSigned in
    [(0.83, 0.0061), (1, 0.00392), (1.37, 0.011), (0.24, 0.0007), (3.1, 0.21), (0.5, 0.25)].flatMap {
      positive, negative in
      [(1, 121, 133), (3, 0, 0), (16, 255, 255), (32, 128, 0), (100, 0, 255), (250, 255, 0), (64, 64, 190)]
        .map {
          Case(
            isSigned: isSigned, positive: positive, negative: negative, channels: $0.0,
            zeroPoints: (input: $0.1, output: $0.2))
        }
    }
  }

  @Test("rows are what the function makes of each value", arguments: KernelSet.tested)
  func answers(set: KernelSet) throws {
    var coded = 0
    for (number, test) in Self.cases.enumerated() {
      var random = SeededGenerator(seed: UInt64(number))
      let (isSigned, channels) = (test.isSigned, test.channels)
      let rows = 1003
      let least: Int32 = isSigned ? -128 : 0
      let function = QuantizedParametricRelu(
        positive: Rescaling(
          zeroPoint: least + test.zeroPoints.input,
          output: QuantizedResult(
            multiplier: FixedPointMultiplier(test.positive), zeroPoint: least + test.zeroPoints.output,
            minimum: least, maximum: least + 255)),
        alphaZeroPoint: isSigned ? 3 : 130, negative: FixedPointMultiplier(test.negative))
      // Each channel has each byte at least once.
      let input = (0..<rows * channels).map { index in
        index / channels < 256 ? UInt8(index / channels) : UInt8.random(in: 0...255, using: &random)
      }
      let factors = (0..<channels).map { channel in
        channel == 0 ? (isSigned ? 3 : 130) : UInt8.random(in: 0...255, using: &random)
      }
      let shapes = try #require(BroadcastShapes([rows, channels], [channels]))
      let plain = try #require(function.kernel(isSigned ? .int8 : .uint8, shapes))
      var expected = [UInt8](repeating: 0, count: input.count)
      do {
        var span = expected.mutableSpan
        var bytes = span.mutableBytes
        plain.run(input.span.bytes, factors.span.bytes, to: &bytes, threads: ThreadTeam(count: 1))
      }
      let (kernel, choice) = function.choose(
        isSigned: isSigned, rows: rows,
        factors: factors.map { isSigned ? Int32(Int8(bitPattern: $0)) : Int32($0) }, using: set)
      if choice.set != KernelSet.portable.name { coded += 1 }
      for threads in [1, 3] {
        var output = [UInt8](repeating: 0, count: input.count)
        var span = output.mutableSpan
        var bytes = span.mutableBytes
        kernel.run(input.span.bytes, to: &bytes, threads: ThreadTeam(count: threads))
        #expect(output == expected, "\(test), \(choice.set)")
      }
    }
    // Floats are found for most of them.
    #expect(coded == 0 || coded >= Self.cases.count * 3 / 4, "\(coded) of \(Self.cases.count)")
    if set.name.hasPrefix("x86"), !set.isEmulated { #expect(coded > 0) }
  }
}
