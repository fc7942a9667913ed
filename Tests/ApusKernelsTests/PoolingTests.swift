import ApusKernels
import Testing

/// Pools of bytes, against loops over each window.
@Suite struct PoolingTests {
  @Test("windows of bytes are averaged and searched", arguments: [1, 15, 16, 17, 40], [3, 13, 14])
  func poolsBytes(channels: Int, filter: Int) throws {
    let (height, width) = (15, 17)
    // The window of 14 × 14 = 196 values takes another path than that of 13 × 13.
    let input = (0..<height * width * channels).map { UInt8(truncatingIfNeeded: ($0 &* 0x9E37_79B9) >> 7) }
    let (outputHeight, outputWidth) = (height - filter + 1, width - filter + 1)
    for isSigned in [false, true] {
      for kind in [Pooling.Kind.average, .maximum] {
        let pooling = try #require(
          Pooling(
            kind: kind,
            elements: .integer(
              isSigned ? .int8 : .uint8, minimum: isSigned ? -128 : 3, maximum: isSigned ? 100 : 255),
            batches: 1, inputHeight: height, inputWidth: width, channels: channels,
            outputHeight: outputHeight,
            outputWidth: outputWidth, filterHeight: filter, filterWidth: filter, strideHeight: 1,
            strideWidth: 1,
            paddingTop: 0, paddingLeft: 0))
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

  @Test("a window without any value under it is refused")
  func refusesEmptyWindows() {
    let pooling = Pooling(
      kind: .average, elements: .float32(minimum: 0, maximum: 1), batches: 1, inputHeight: 2, inputWidth: 2,
      channels: 1,
      outputHeight: 2, outputWidth: 2, filterHeight: 1, filterWidth: 1, strideHeight: 2, strideWidth: 2,
      paddingTop: 0,
      paddingLeft: 0)
    #expect(pooling == nil)
  }
}
