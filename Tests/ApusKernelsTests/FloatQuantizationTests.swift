// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusRuntime
import TestSupport
import Testing

/// From floats to bytes.
@Suite struct FloatQuantizationTests {
  @Test("halves are rounded away from zero, like everything else to the nearest", arguments: [0, 7, 255])
  func roundsHalvesAwayFromZero(zeroPoint: Int32) {
    var values: [Float] = []
    for step in -1100...1100 {
      let value = Float(step) / 4
      values += [value, value.nextUp, value.nextDown]
    }
    values += [0.49999997, -0.49999997, 1e9, -1e9, 8_388_609, -8_388_609, 4_194_304.5]
    let quantization = FloatQuantization(scale: 1, zeroPoint: zeroPoint, range: 0...255)
    var output = [UInt8](repeating: 0, count: values.count)
    var span = output.mutableSpan
    var bytes = span.mutableBytes
    quantization.bytes(count: values.count).run(values.span.bytes, to: &bytes, threads: ThreadTeam(count: 1))
    let expected = values.map {
      UInt8(clamping: Int($0.rounded(.toNearestOrAwayFromZero)) + Int(zeroPoint))
    }
    #expect(output == expected)
  }

  @Test("generated code converts as plain Swift does", arguments: KernelSet.supported, [-128, -3, 0, 127])
  func generatedCodeMatches(set: KernelSet, zeroPoint: Int32) {
    let alone = ThreadTeam(count: 1)
    var values: [Float] = [
      .nan, .infinity, -.infinity, 0, -0.0, 0x1p31, -0x1p31, (0x1p31 as Float).nextDown, 1e30,
    ]
    for step in -1300...1300 {
      let value = Float(step) / 8
      values += [value, value.nextUp, value.nextDown]
    }
    var random = SeededGenerator(seed: 3)
    let scales = (0..<30).map { _ in Float.random(in: 0.001...1, using: &random) }
    for scale in [1, 0.05, 3.7, 1e-20] + scales {
      let quantization = FloatQuantization(scale: scale, zeroPoint: zeroPoint, range: -128...127)
      // From 8,192 floats on, generated code may make quotients without dividing.
      let reals = values.flatMap { value -> [Float] in
        let real = value * scale
        return [real, real.nextUp, real.nextDown]
      }
      func bytes(_ set: KernelSet) -> [UInt8] {
        var output = [UInt8](repeating: 0xA5, count: reals.count)
        var span = output.mutableSpan
        var memory = span.mutableBytes
        quantization.bytes(count: reals.count, using: set).run(reals.span.bytes, to: &memory, threads: alone)
        return output
      }
      let quantized = bytes(set)
      #expect(quantized == bytes(.portable), "\(scale)")
      let unsigned = FloatQuantization(scale: scale, zeroPoint: zeroPoint + 128, range: 0...255)
      func unsignedBytes(_ set: KernelSet) -> [UInt8] {
        var output = [UInt8](repeating: 0xA5, count: reals.count)
        var span = output.mutableSpan
        var memory = span.mutableBytes
        unsigned.bytes(count: reals.count, using: set).run(reals.span.bytes, to: &memory, threads: alone)
        return output
      }
      #expect(unsignedBytes(set) == unsignedBytes(.portable), "\(scale)")
      for isSigned in [false, true] {
        func floats(_ set: KernelSet) -> [UInt32] {
          var output = [Float](repeating: -1, count: quantized.count)
          var span = output.mutableSpan
          var memory = span.mutableBytes
          Dequantization(scale: scale, zeroPoint: zeroPoint + (isSigned ? 0 : 128))
            .bytes(isSigned: isSigned, count: quantized.count, using: set)
            .run(quantized.span.bytes, to: &memory, threads: alone)
          return output.map(\.bitPattern)
        }
        #expect(floats(set) == floats(.portable), "\(scale)")
      }
    }
  }
}
