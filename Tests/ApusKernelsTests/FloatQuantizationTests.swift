// SPDX-License-Identifier: Apache-2.0

import ApusKernels
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
}
