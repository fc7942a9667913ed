// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision
import Testing

@Suite struct RegionTests {
  @Test("a region prepares as the picture that is cut out", arguments: ImageOrientation.allCases)
  func isACrop(orientation: ImageOrientation) throws {
    let image = try noise(40, 30, .rgb, orientation: orientation)
    let upright = image.oriented()
    let region = PixelRect(x: 5.4, y: 7.5, width: 16.2, height: 12)  // 5 to 22, 8 to 20
    var bytes: [UInt8] = []
    for y in 8..<20 {
      for x in 5..<22 {
        let color = try #require(upright.pixel(x: x, y: y))
        bytes += [color.red, color.green, color.blue]
      }
    }
    let part = try ImageBuffer(bytes: bytes, width: 17, height: 12, format: .rgb)
    for fit in [FitPolicy.stretch, .centerCrop, .letterbox()] {
      let processor = try ImageProcessor(width: 9, height: 10, fit: fit)
      let found = try processor.prepare(image, region: region)
      let expected = processor.prepare(part)
      #expect(found.bytes == expected.bytes)
      let point = found.transform.imagePoint(modelX: 0.25, modelY: 0.75)
      let inPart = expected.transform.imagePoint(modelX: 0.25, modelY: 0.75)
      #expect(abs(point.x - inPart.x - 5) < 1e-4 && abs(point.y - inPart.y - 8) < 1e-4)
    }
  }

  @Test func isCutAtTheEdges() throws {
    let image = try noise(20, 10, .rgb)
    let processor = try ImageProcessor(width: 4, height: 4)
    let transform = try processor.transform(
      for: image, region: PixelRect(x: -50, y: -3, width: 1_000, height: 1_000))
    #expect(transform.source == ImageTransform.Region(x: 0, y: 0, width: 20, height: 10))
  }

  @Test(
    "a region without pixels is refused",
    arguments: [
      PixelRect(x: 20, y: 0, width: 5, height: 5), PixelRect(x: 3, y: 3, width: 0, height: 5),
      PixelRect(x: 3, y: 3, width: -2, height: 5), PixelRect(x: .nan, y: 0, width: 5, height: 5),
      PixelRect(x: 0, y: 0, width: .infinity, height: 5), PixelRect(x: 0, y: -9, width: 5, height: 9),
      PixelRect(x: -.greatestFiniteMagnitude, y: 0, width: 5, height: 5),
    ])
  func refuses(region: PixelRect) throws {
    let image = try noise(20, 10, .rgb)
    let processor = try ImageProcessor(width: 4, height: 4)
    let error = #expect(throws: ApusError.self) { try processor.prepare(image, region: region) }
    #expect(error?.code == .invalidArgument)
  }
}
