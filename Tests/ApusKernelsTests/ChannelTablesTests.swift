// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import TestSupport
import Testing

/// PRELU of bytes by tables of each channel, against the function value by value.
@Suite struct ChannelTablesTests {
  @Test("tables answer as the function does", arguments: [true, false], [1, 3, 32])
  func answers(isSigned: Bool, channels: Int) throws {
    var random = SeededGenerator(seed: UInt64(channels))
    let rows = 1000
    let function = QuantizedParametricRelu(
      positive: Rescaling(
        zeroPoint: isSigned ? -7 : 121,
        output: QuantizedResult(
          multiplier: FixedPointMultiplier(0.83), zeroPoint: isSigned ? 5 : 133, minimum: isSigned ? -128 : 0,
          maximum: isSigned ? 127 : 255)),
      alphaZeroPoint: isSigned ? 3 : 130, negative: FixedPointMultiplier(0.0061))
    let input = (0..<rows * channels).map { _ in UInt8.random(in: 0...255, using: &random) }
    let factors = (0..<channels).map { _ in UInt8.random(in: 0...255, using: &random) }
    let shapes = try #require(BroadcastShapes([rows, channels], [channels]))
    let plain = try #require(function.kernel(isSigned ? .int8 : .uint8, shapes))
    var expected = [UInt8](repeating: 0, count: input.count)
    do {
      var span = expected.mutableSpan
      var bytes = span.mutableBytes
      plain.run(input.span.bytes, factors.span.bytes, to: &bytes, threads: ThreadTeam(count: 1))
    }
    let tables = function.tables(
      isSigned: isSigned, rows: rows,
      factors: factors.map { isSigned ? Int32(Int8(bitPattern: $0)) : Int32($0) })
    for threads in [1, 3] {
      var output = [UInt8](repeating: 0, count: input.count)
      var span = output.mutableSpan
      var bytes = span.mutableBytes
      tables.run(input.span.bytes, to: &bytes, threads: ThreadTeam(count: threads))
      #expect(output == expected)
    }
  }
}
