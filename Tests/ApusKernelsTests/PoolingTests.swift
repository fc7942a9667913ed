// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime
import Testing

/// Pools of bytes, against loops over each window.
@Suite struct PoolingTests {
  @Test("windows of bytes are averaged and searched", arguments: [1, 15, 16, 17, 40], [3, 13, 14, 17])
  func poolsBytes(channels: Int, filter: Int) throws {
    let (height, width) = (18, 19)
    // The windows of 14 × 14 = 196 and of 17 × 17 = 289 values take other paths than that of 13 × 13.
    let input = (0..<height * width * channels).map { UInt8(truncatingIfNeeded: ($0 &* 0x9E37_79B9) >> 7) }
    let (outputHeight, outputWidth) = (height - filter + 1, width - filter + 1)
    for isSigned in [false, true] {
      for kind in [Pooling.Kind.average, .maximum] {
        let pooling = try #require(
          Pooling(
            kind: kind,
            elements: .integer(
              isSigned ? .int8 : .uint8, minimum: isSigned ? -128 : 3, maximum: isSigned ? 100 : 255),
            batches: 1, vertical: WindowAxis(size: height, places: outputHeight, taps: filter),
            horizontal: WindowAxis(size: width, places: outputWidth, taps: filter), channels: channels))
        var output = [UInt8](repeating: 0, count: outputHeight * outputWidth * channels)
        var span = output.mutableSpan
        var bytes = span.mutableBytes
        pooling.run(input.span.bytes, to: &bytes, threads: ThreadTeam(count: 2))
        for (index, result) in output.enumerated() {
          let (pixel, channel) = (index / channels, index % channels)
          var values: [Int] = []
          for row in 0..<filter {
            for column in 0..<filter {
              let place = (pixel / outputWidth + row) * width + pixel % outputWidth + column
              let byte = input[place * channels + channel]
              values.append(isSigned ? Int(Int8(bitPattern: byte)) : Int(byte))
            }
          }
          let sum = values.reduce(0, +)
          let half = sum > 0 ? values.count / 2 : -(values.count / 2)
          let value = kind == .maximum ? values.max() ?? 0 : (sum + half) / values.count
          let clamped = isSigned ? min(max(value, -128), 100) : min(max(value, 3), 255)
          #expect(result == UInt8(truncatingIfNeeded: clamped))
        }
      }
    }
  }

  @Test("windows of floats are averaged and searched", arguments: [1, 7, 8, 9, 16, 17, 42])
  func poolsFloats(channels: Int) throws {
    let (height, width) = (5, 6)
    let input = (0..<height * width * channels).map { Float(($0 &* 7919) % 1000) / 8 }
    for kind in [Pooling.Kind.average, .maximum, .l2] {
      let pooling = try #require(
        Pooling(
          kind: kind, elements: .float32(minimum: -1000, maximum: 110), batches: 1,
          vertical: WindowAxis(size: height, places: 2, taps: 3, stride: 2),
          horizontal: WindowAxis(size: width, places: 3, taps: 2, stride: 2), channels: channels))
      var output = [Float](repeating: 0, count: 6 * channels)
      var span = output.mutableSpan
      var bytes = span.mutableBytes
      pooling.run(input.span.bytes, to: &bytes, threads: ThreadTeam(count: 2))
      for (index, result) in output.enumerated() {
        let (pixel, channel) = (index / channels, index % channels)
        let values = (0..<6).map { tap in
          let place = (pixel / 3 * 2 + tap / 2) * width + pixel % 3 * 2 + tap % 2
          return Double(input[place * channels + channel])
        }
        let expected =
          switch kind {
          case .average: values.reduce(0, +) / 6
          case .maximum: values.max() ?? 0
          case .l2: (values.reduce(0) { $0 + $1 * $1 } / 6).squareRoot()
          }
        #expect(abs(Double(result) - min(expected, 110)) < 1e-4)
      }
    }
  }

  @Test("a window without any value under it is refused")
  func refusesEmptyWindows() {
    let pooling = Pooling(
      kind: .average, elements: .float32(minimum: 0, maximum: 1), batches: 1,
      vertical: WindowAxis(size: 2, places: 2, stride: 2),
      horizontal: WindowAxis(size: 2, places: 2, stride: 2),
      channels: 1)
    #expect(pooling == nil)
  }
}
