// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision
import Testing

@Suite struct NormalizationTests {
  /// Every value once per channel.
  private func ramp(_ channels: ImageProcessor.Channels) throws -> PreparedImage {
    let image = try ImageBuffer(bytes: Array(0...255), width: 16, height: 16, format: .gray)
    return try ImageProcessor(width: 16, height: 16, channels: channels).prepare(image)
  }

  @Test("floats are normalized value by value", arguments: ImageProcessor.Channels.allCases)
  func normalizesFloats(channels: ImageProcessor.Channels) throws {
    let image = try ramp(channels)
    let pixels = image.bytes.map(Float.init)
    #expect(try image.floats() == pixels.map { ($0 - 127.5) / 127.5 })
    #expect(try image.floats(normalization: .signed) == pixels.map { ($0 - 127.5) / 127.5 })
    #expect(try image.floats(normalization: .unit) == pixels.map { $0 / 255 })
    #expect(
      try image.floats(normalization: .meanStd(mean: [10], std: [4])) == pixels.map { ($0 - 10) / 4 })
  }

  @Test func everyChannelHasItsOwnMean() throws {
    let image = try ramp(.rgb)
    let values = try image.floats(
      normalization: .meanStd(mean: [123.675, 116.28, 103.53], std: [58.395, 57.12, 57.375]))
    for index in image.bytes.indices {
      let mean: Float = [123.675, 116.28, 103.53][index % 3]
      let std: Float = [58.395, 57.12, 57.375][index % 3]
      #expect(values[index] == (Float(image.bytes[index]) - mean) / std)
    }
  }

  @Test func standardizesByThePictureAsTensorFlowDoes() throws {
    let values = try ramp(.rgb).floats(normalization: .perImageStandardization)
    let mean = values.reduce(0, +) / Float(values.count)
    let variance = values.map { $0 * $0 }.reduce(0, +) / Float(values.count) - mean * mean
    #expect(abs(mean) < 1e-4 && abs(variance - 1) < 1e-4)
    // One color: the deviation is 1/√N instead of zero.
    let flat = try ImageBuffer(bytes: [7, 7, 7, 7], width: 2, height: 2, format: .gray)
    let prepared = try ImageProcessor(width: 2, height: 2, channels: .gray).prepare(flat)
    #expect(try prepared.floats(normalization: .perImageStandardization) == [0, 0, 0, 0])
  }

  @Test func quantizedInputsTakeThePixels() throws {
    let image = try ramp(.rgb)
    var unsigned = [UInt8](repeating: 0, count: image.count)
    var signed = [Int8](repeating: 0, count: image.count)
    do {
      var span = unsigned.mutableSpan
      try image.fill(&span)
    }
    do {
      var span = signed.mutableSpan
      try image.fill(&span)
    }
    #expect(unsigned == image.bytes)
    #expect(signed.map(Int.init) == image.bytes.map { Int($0) - 128 })
  }

  @Test func anExplicitNormalizationIsQuantizedByTheInput() throws {
    let image = try ramp(.gray)
    var signed = [Int8](repeating: 0, count: image.count)
    do {
      var span = signed.mutableSpan
      try image.fill(&span, normalization: .unit, scale: 1 / 255, zeroPoint: -128)
    }
    #expect(signed.map(Int.init) == (0...255).map { $0 - 128 })
    var unsigned = [UInt8](repeating: 0, count: image.count)
    do {
      var span = unsigned.mutableSpan
      try image.fill(&span, normalization: .meanStd(mean: [0], std: [1]), scale: 0.5, zeroPoint: 3)
    }
    #expect(unsigned.map(Int.init) == (0...255).map { min($0 * 2 + 3, 255) })
    do {
      var span = unsigned.mutableSpan
      try image.fill(&span, normalization: .signed, scale: .leastNonzeroMagnitude, zeroPoint: .min)
    }
    #expect(unsigned.allSatisfy { $0 == 0 || $0 == 255 })
  }

  @Test(
    "a normalization that does not fit is refused",
    arguments: [
      Normalization.meanStd(mean: [], std: [1]), .meanStd(mean: [1, 2], std: [1]),
      .meanStd(mean: [0], std: [0]),
      .meanStd(mean: [.nan], std: [1]), .meanStd(mean: [0], std: [-1]), .meanStd(mean: [0], std: [.infinity]),
      .meanStd(mean: [0, 0, 0], std: [1, 1, 0]),
    ])
  func refuses(normalization: Normalization) throws {
    let image = try ramp(.rgb)
    let error = #expect(throws: ApusError.self) { try image.floats(normalization: normalization) }
    #expect(error?.code == .invalidArgument)
  }

  @Test func aDestinationOfAnotherSizeIsRefused() throws {
    let image = try ramp(.gray)
    let error = #expect(throws: ApusError.self) {
      var values = [Float](repeating: 0, count: 255)
      var span = values.mutableSpan
      try image.fill(&span)
    }
    #expect(error?.code == .invalidArgument)
    let scale = #expect(throws: ApusError.self) {
      var values = [Int8](repeating: 0, count: 256)
      var span = values.mutableSpan
      try image.fill(&span, normalization: .unit, scale: 0, zeroPoint: 0)
    }
    #expect(scale?.code == .invalidArgument)
  }
}
