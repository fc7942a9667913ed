// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusCodeGeneration
import ApusKernels
import ApusVideo
import ApusVision
import TestSupport
import Testing

/// Models' inputs filled from luma and chroma, beside those filled from the same picture's pixels.
@Suite struct LumaChromaTests {
  static let layouts = RawPicture.Layout.allCases.filter { ![.rgb24, .bgr24, .gray8].contains($0) }

  /// A picture of noise, with gaps between rows.
  private func noise(_ layout: RawPicture.Layout, _ random: inout SeededGenerator) throws -> RawPicture {
    func side(_ sides: [Int]) -> Int {
      max(1, (sides.randomElement(using: &random) ?? 1) + Int.random(in: -1...1, using: &random))
    }
    let (width, height) = (side([1, 2, 16, 32, 64, 96, 130, 257]), side([1, 2, 3, 18, 50]))
    let isPacked = [.yuyv, .yvyu, .uyvy, .vyuy].contains(layout)
    let stride = (isPacked ? 4 * ((width + 1) / 2) : width) + Int.random(in: 0...9, using: &random)
    return try RawPicture(
      bytes: random.bytes(stride * (height + 2) * 3), width: width, height: height, bytesPerRow: stride,
      layout: layout,
      color: VideoColor(
        matrix: VideoColor.Matrix.allCases.randomElement(using: &random) ?? .bt601,
        range: VideoColor.Range.allCases.randomElement(using: &random) ?? .full))
  }

  @Test("every kernel set gives the pixels of plain Swift", arguments: layouts)
  func convertsAlike(layout: RawPicture.Layout) throws {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<60 {
      let picture = try noise(layout, &random).converted()
      let processor = try ImageProcessor(
        width: picture.width, height: picture.height, resampling: .nearest)
      let transform = try processor.transform(for: picture, region: nil)
      let expected = processor.prepare(picture, transform, threads: 1, kernels: .portable).bytes
      #expect(picture.bytes == expected)
      for kernels in KernelSet.supported {
        let found = processor.prepare(picture, transform, threads: 1, kernels: kernels)
        #expect(found.bytes == expected, "\(picture.width) × \(picture.height), \(kernels.name)")
      }
    }
  }

  @Test(
    "an input has the values that the pixels give, however it is resized, turned and cut", arguments: layouts)
  func fillsAsFromPixels(layout: RawPicture.Layout) throws {
    var random = SeededGenerator(seed: 6)
    for round in 0..<80 {
      let raw = try noise(layout, &random)
      var picture = raw.converted()
      var pixels = try ImageBuffer(
        bytes: picture.bytes, width: raw.width, height: raw.height, format: .rgb)
      picture.orientation = ImageOrientation.allCases.randomElement(using: &random) ?? .up
      pixels.orientation = picture.orientation
      let fits: [FitPolicy] = [.stretch, .centerCrop, .yolo]
      let processor = try ImageProcessor(
        width: Int.random(in: 1...70, using: &random), height: Int.random(in: 1...40, using: &random),
        channels: ImageProcessor.Channels.allCases.randomElement(using: &random) ?? .rgb,
        fit: fits.randomElement(using: &random) ?? .stretch,
        resampling: Resampling.allCases.randomElement(using: &random) ?? .automatic)
      var region: PixelRect?
      if round.isMultiple(of: 2) {
        let (width, height) = (Float(picture.uprightWidth), Float(picture.uprightHeight))
        let x = Float.random(in: 0...width / 2, using: &random)
        let y = Float.random(in: 0...height / 2, using: &random)
        region = PixelRect(x: x, y: y, width: width / 2, height: height / 2 + 0.5)
        if (try? processor.transform(for: picture, region: region)) == nil { region = nil }
      }
      let transform = try processor.transform(for: picture, region: region)
      let expected = processor.prepare(pixels, transform, threads: 1, kernels: .portable).bytes
      for kernels in KernelSet.supported {
        for threads in [1, 3] {
          let found = processor.prepare(picture, transform, threads: threads, kernels: kernels)
          #expect(
            found.bytes == expected,
            "round \(round), \(raw.width) × \(raw.height), \(kernels.name), \(threads) threads: \(processor)")
        }
      }
      var floats = [Float](repeating: 0, count: processor.width * processor.height * processor.channels.count)
      var others = floats
      var span = floats.mutableSpan
      try processor.fill(&span, from: picture, region: region, order: .planar, normalization: .unit)
      var otherSpan = others.mutableSpan
      try processor.fill(&otherSpan, from: pixels, region: region, order: .planar, normalization: .unit)
      #expect(floats == others)
    }
  }

  @Test("a picture of luma and chroma is the picture of its pixels")
  func isItsPixels() throws {
    var random = SeededGenerator(seed: 7)
    let raw = try noise(.nv12, &random)
    let picture = raw.converted()
    let pixels = try ImageBuffer(bytes: picture.bytes, width: raw.width, height: raw.height, format: .rgb)
    #expect(picture == pixels && picture.hashValue == pixels.hashValue && picture.isTightlyPacked)
    #expect(picture.converted(to: .bgra) == pixels.converted(to: .bgra))
    #expect(picture.pixel(x: 0, y: 0) == pixels.pixel(x: 0, y: 0))
    var turned = picture
    turned.orientation = .right
    #expect(turned != pixels && turned.oriented().uprightWidth == raw.height)
  }
}
