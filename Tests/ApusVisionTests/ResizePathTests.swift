// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusCodeGeneration
import ApusKernels
import ApusVision
import TestSupport
import Testing

/// Every path of a resize against the documented rules, and every way to write its values against the plain one.
@Suite struct ResizePathTests {
  struct Case {
    let image: ImageBuffer
    let processor: ImageProcessor
    let transform: ImageTransform

    /// A picture and an input of any kind.
    init(seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      func side(_ sides: [Int]) -> Int {
        max(1, (sides.randomElement(using: &random) ?? 1) + Int.random(in: -1...1, using: &random))
      }
      let format = PixelFormat.allCases.randomElement(using: &random) ?? .rgb
      let orientation = ImageOrientation.allCases.randomElement(using: &random) ?? .up
      image = try noise(
        side([1, 2, 3, 8, 13, 31, 64, 150]), side([1, 2, 3, 9, 17, 40, 120]), format,
        padding: Int.random(in: 0...9, using: &random), orientation: orientation, seed: seed)
      let fits: [FitPolicy] = [
        .stretch, .centerCrop, .yolo, .letterbox(fill: PixelColor(red: 9, green: 80, blue: 200)),
      ]
      processor = try ImageProcessor(
        width: side([1, 2, 3, 5, 7, 16, 33]), height: side([1, 2, 4, 8, 21, 34]),
        channels: ImageProcessor.Channels.allCases.randomElement(using: &random) ?? .rgb,
        fit: fits.randomElement(using: &random) ?? .stretch,
        resampling: Resampling.allCases.randomElement(using: &random) ?? .automatic)
      var region: PixelRect?
      if Bool.random(using: &random) {
        let (width, height) = (Float(image.uprightWidth), Float(image.uprightHeight))
        let x = Float.random(in: 0...width / 2, using: &random)
        let y = Float.random(in: 0...height / 2, using: &random)
        region = PixelRect(
          x: x, y: y, width: Float.random(in: 1...max(width - x, 1), using: &random) + 0.5,
          height: Float.random(in: 1...max(height - y, 1), using: &random) + 0.5)
      }
      transform = try processor.transform(for: image, region: region)
    }
  }

  @Test("every kernel set and number of threads gives the bytes of the rules", arguments: 0..<40)
  func matchesReference(group: UInt64) throws {
    for seed in group * 10..<group * 10 + 10 {
      let one = try Case(seed: seed)
      let expected = ReferenceResize.bytes(of: one.image, one.processor, one.transform)
      for kernels in KernelSet.supported {
        for threads in [1, 3] {
          let found = one.processor.prepare(one.image, one.transform, threads: threads, kernels: kernels)
          #expect(
            found.bytes == expected, "seed \(seed), \(kernels.name), \(threads) threads: \(one.processor)")
        }
      }
    }
  }

  @Test(
    "MediaPipe's resampling has the bytes of the crop that its landmark models get",
    arguments: [(640, 480, 96, 96), (300, 200, 224, 224), (97, 61, 32, 48), (64, 64, 192, 96)])
  func resamplesAsMediaPipe(width: Int, height: Int, inputWidth: Int, inputHeight: Int) throws {
    let image = try noise(width, height, .rgb, seed: UInt64(width))
    let processor = try ImageProcessor(width: inputWidth, height: inputHeight, resampling: .mediaPipe)
    let crop = try PictureView(image).crop(
      Region(PixelRect(x: 0, y: 0, width: Float(width), height: Float(height))), width: inputWidth,
      height: inputHeight, border: .replicate)
    #expect(processor.prepare(image).bytes == crop.bytes)
  }

  @Test("weights that round to nothing and to all are exact", arguments: Resampling.allCases)
  func longSides(resampling: Resampling) throws {
    // The longest side there is, and results of one row of very many taps.
    for (width, height, inputWidth, inputHeight) in [
      (32_768, 1, 3, 2), (1, 32_768, 2, 3), (5_000, 2, 1, 1), (2, 3_000, 700, 2), (700, 40, 6, 40),
    ] {
      let image = try noise(width, height, .rgb, seed: UInt64(width))
      let processor = try ImageProcessor(width: inputWidth, height: inputHeight, resampling: resampling)
      let transform = try processor.transform(for: image, region: nil)
      let expected = ReferenceResize.bytes(of: image, processor, transform)
      for kernels in KernelSet.supported {
        #expect(processor.prepare(image, transform, threads: 2, kernels: kernels).bytes == expected)
      }
    }
  }

  @Test("means that lie next to a step are rounded as the rules say")
  func steps() throws {
    // Two rows and columns of weight ½ each: sums of four are halves, quarters and whole numbers.
    var random = SeededGenerator(seed: 8)
    for _ in 0..<50 {
      let base = UInt8.random(in: 0...252, using: &random)
      let bytes = (0..<64 * 64 * 3).map { _ in base + UInt8.random(in: 0...3, using: &random) }
      let image = try ImageBuffer(bytes: bytes, width: 64, height: 64, format: .rgb)
      for (side, resampling) in [(32, Resampling.area), (32, .bilinear), (16, .area), (8, .area)] {
        let processor = try ImageProcessor(width: side, height: side, resampling: resampling)
        let transform = try processor.transform(for: image, region: nil)
        let expected = ReferenceResize.bytes(of: image, processor, transform)
        for kernels in KernelSet.supported {
          #expect(processor.prepare(image, transform, threads: 1, kernels: kernels).bytes == expected)
        }
      }
    }
  }

  @Test("values written straight into an input are those of a prepared picture", arguments: 0..<60)
  func fillsDirectly(seed: UInt64) throws {
    let one = try Case(seed: 10_000 + seed)
    let (image, processor) = (one.image, one.processor)
    let prepared = processor.prepare(image)
    let channels = processor.channels.count
    let means = (0..<channels).map { 100 + Float($0) }
    let deviations = (0..<channels).map { 50 + Float($0) }
    let normalizations: [Normalization?] = [
      nil, .unit, .signed, .perImageStandardization, .meanStd(mean: means, std: deviations),
    ]
    for normalization in normalizations {
      for order in [ChannelOrder.interleaved, .planar] {
        var floats = [Float](repeating: .nan, count: prepared.count)
        var floatSpan = floats.mutableSpan
        let transform = try processor.fill(
          &floatSpan, from: image, order: order, normalization: normalization, threads: 2)
        #expect(transform == prepared.transform)
        #expect(floats == (try prepared.floats(order: order, normalization: normalization)))

        var unsigned = [UInt8](repeating: 7, count: prepared.count)
        var expectedUnsigned = [UInt8](repeating: 9, count: prepared.count)
        var span = unsigned.mutableSpan
        try processor.fill(
          &span, from: image, order: order, normalization: normalization, scale: 0.02, zeroPoint: 120)
        var expectedSpan = expectedUnsigned.mutableSpan
        try prepared.fill(
          &expectedSpan, order: order, normalization: normalization, scale: 0.02, zeroPoint: 120)
        #expect(unsigned == expectedUnsigned)

        var signed = [Int8](repeating: 7, count: prepared.count)
        var expectedSigned = [Int8](repeating: 9, count: prepared.count)
        var signedSpan = signed.mutableSpan
        try processor.fill(
          &signedSpan, from: image, order: order, normalization: normalization, scale: 0.02, zeroPoint: -5)
        var expectedSignedSpan = expectedSigned.mutableSpan
        try prepared.fill(
          &expectedSignedSpan, order: order, normalization: normalization, scale: 0.02, zeroPoint: -5)
        #expect(signed == expectedSigned)
      }
    }
  }

  @Test func planarValuesAreTheInterleavedOnesChannelByChannel() throws {
    let prepared = try ImageProcessor(width: 6, height: 5).prepare(noise(20, 30, .bgra))
    let planar = try prepared.floats(order: .planar, normalization: .unit)
    for channel in 0..<3 {
      for pixel in 0..<30 {
        #expect(planar[channel * 30 + pixel] == Float(prepared.bytes[pixel * 3 + channel]) / 255)
      }
    }
  }

  @Test func aDestinationOfAnotherSizeIsRefused() throws {
    let image = try noise(4, 4, .rgb)
    let error = #expect(throws: ApusError.self) {
      var values = [Float](repeating: 0, count: 11)
      var span = values.mutableSpan
      try ImageProcessor(width: 2, height: 2).fill(&span, from: image)
    }
    #expect(error?.code == .invalidArgument)
  }
}
