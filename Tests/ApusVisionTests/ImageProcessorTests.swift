// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision
import Testing

private let policies: [FitPolicy] = [
  .stretch, .centerCrop, .letterbox(fill: PixelColor(red: 9, green: 80, blue: 200)),
]

/// One resized value in double precision, straight from the documented rule.
private func reference(
  _ image: ImageBuffer, channel: (PixelColor) -> UInt8, _ x: Int, _ y: Int, region: ImageTransform.Region,
  width: Int, height: Int, resampling: Resampling
) -> Double {
  func weights(_ index: Int, _ source: Int, _ target: Int) -> [(Int, Double)] {
    let scale = Double(source) / Double(target)
    switch resampling {
    case .nearest: return [(Int((Double(index) + 0.5) * scale), 1)]
    case .area,
      .automatic where source > 2 * target:
      let (begin, end) = (Double(index) * scale, Double(index + 1) * scale)
      return (0..<source).map { ($0, max(0, min(end, Double($0 + 1)) - max(begin, Double($0))) / scale) }
    case .mediaPipe:
      let position = (Double(index * source * 32) / Double(target)).rounded(.toNearestOrEven) / 32
      let first = position.rounded(.down)
      return [(Int(first), 1 - position + first), (Int(first) + 1, position - first)]
    default:
      let position = (Double(index) + 0.5) * scale - 0.5
      let first = position.rounded(.down)
      return [(Int(first), 1 - position + first), (Int(first) + 1, position - first)]
    }
  }
  var sum = 0.0
  for (row, rowWeight) in weights(y, region.height, height) where rowWeight > 0 {
    for (column, columnWeight) in weights(x, region.width, width) where columnWeight > 0 {
      let color = image.pixel(
        x: region.x + min(max(column, 0), region.width - 1), y: region.y + min(max(row, 0), region.height - 1)
      )
      sum += rowWeight * columnWeight * Double(color.map(channel) ?? 0)
    }
  }
  return sum
}

@Suite struct ImageProcessorTests {
  @Test("resizing follows the documented rule", arguments: Resampling.allCases, policies)
  func matchesReference(resampling: Resampling, fit: FitPolicy) throws {
    for (width, height, inputWidth, inputHeight) in [
      (1, 1, 3, 2), (8, 8, 8, 8), (13, 7, 5, 9), (40, 6, 7, 5), (5, 41, 6, 4), (3, 3, 17, 11),
      (64, 48, 10, 10),
      (20, 10, 10, 5),
    ] {
      let image = try noise(width, height, .rgb, seed: UInt64(width * height))
      let processor = try ImageProcessor(
        width: inputWidth, height: inputHeight, fit: fit, resampling: resampling)
      let result = processor.prepare(image)
      let (source, target) = (result.transform.source, result.transform.target)
      #expect(result.bytes.count == inputWidth * inputHeight * 3)
      for y in 0..<inputHeight {
        for x in 0..<inputWidth {
          let found = Array(result.bytes[(y * inputWidth + x) * 3..<(y * inputWidth + x) * 3 + 3])
          let (column, row) = (x - target.x, y - target.y)
          guard (0..<target.width).contains(column), (0..<target.height).contains(row) else {
            #expect(found == [9, 80, 200])
            continue
          }
          for (index, channel) in [\PixelColor.red, \.green, \.blue].enumerated() {
            let expected = reference(
              image, channel: { $0[keyPath: channel] }, column, row, region: source, width: target.width,
              height: target.height, resampling: resampling)
            // Weights have 15 bits: the value before rounding is off by much less than the half that rounding adds.
            #expect(abs(Double(found[index]) - expected) <= 0.52)
          }
        }
      }
    }
  }

  @Test(
    "every format, stride and orientation prepares as its upright rgb picture",
    arguments: ImageOrientation.allCases)
  func doesNotDependOnStorage(orientation: ImageOrientation) throws {
    for format in PixelFormat.allCases {
      for fit in policies {
        for resampling in Resampling.allCases {
          let image = try noise(23, 14, format, padding: 3, orientation: orientation)
          let plain = image.oriented().converted(to: .rgb)
          for channels in ImageProcessor.Channels.allCases {
            let processor = try ImageProcessor(
              width: 8, height: 9, channels: channels, fit: fit, resampling: resampling)
            #expect(processor.prepare(image) == processor.prepare(plain))
          }
        }
      }
    }
  }

  @Test func theSameSizeIsACopy() throws {
    let image = try noise(19, 11, .rgb)
    for resampling in Resampling.allCases {
      #expect(
        try ImageProcessor(width: 19, height: 11, resampling: resampling).prepare(image).bytes == image.bytes)
    }
  }

  @Test func anEvenlyColoredPictureStaysSo() throws {
    for (width, height) in [(1, 1), (31, 1_000), (32_768, 1), (300, 299)] {
      let image = try ImageBuffer(
        bytes: [UInt8](repeating: 255, count: width * height), width: width, height: height, format: .gray)
      for resampling in Resampling.allCases {
        let result = try ImageProcessor(width: 30, height: 7, resampling: resampling).prepare(image)
        #expect(result.bytes.allSatisfy { $0 == 255 })
      }
    }
  }

  @Test func channelOrderFollowsTheInput() throws {
    let image = try ImageBuffer(bytes: [1, 2, 3, 4], width: 1, height: 1, format: .abgr)
    #expect(try ImageProcessor(width: 1, height: 1).prepare(image).bytes == [4, 3, 2])
    #expect(try ImageProcessor(width: 1, height: 1, channels: .bgr).prepare(image).bytes == [2, 3, 4])
    #expect(try ImageProcessor(width: 1, height: 1, channels: .gray).prepare(image).bytes == [3])
  }

  @Test("an impossible input is refused", arguments: [(0, 1), (1, -1), (32_769, 1), (Int.max, Int.max)])
  func refuses(width: Int, height: Int) {
    let error = #expect(throws: ApusError.self) { try ImageProcessor(width: width, height: height) }
    #expect(error?.code == .invalidArgument)
  }

  @Test func cropsAndBoxesAreCentered() throws {
    let crop = ImageTransform(
      imageWidth: 640, imageHeight: 480, inputWidth: 300, inputHeight: 300, fit: .centerCrop)
    #expect(crop.source == ImageTransform.Region(x: 80, y: 0, width: 480, height: 480))
    let box = ImageTransform(
      imageWidth: 640, imageHeight: 480, inputWidth: 320, inputHeight: 320, fit: .letterbox())
    #expect(box.target == ImageTransform.Region(x: 0, y: 40, width: 320, height: 240))
    let tall = ImageTransform(
      imageWidth: 1, imageHeight: 9_000, inputWidth: 320, inputHeight: 320, fit: .letterbox())
    #expect(tall.target == ImageTransform.Region(x: 159, y: 0, width: 1, height: 320))
  }
}
