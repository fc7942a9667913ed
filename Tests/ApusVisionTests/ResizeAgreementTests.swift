// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import ApusVision
import Testing

/// Resizing, letterboxes and smaller scales as others have them.
@Suite struct ResizeAgreementTests {
  @Test func resizesAsOpenCVDoes() throws {
    let cases = ResizingGoldens.all.flatMap(\.resized)
    #expect(cases.count == 6)
    for one in cases {
      let image = try ImageBuffer(
        bytes: Array(one.pixels), width: one.width, height: one.height, format: .rgb)
      for (resampling, data) in [(Resampling.bilinear, one.bilinear), (.area, one.area)] {
        guard let data else { continue }
        let found = try ImageProcessor(width: one.newWidth, height: one.newHeight, resampling: resampling)
          .prepare(image).bytes
        // OpenCV's weights have 11 bits for bilinear interpolation and are floats for areas: one step, after rounding.
        let worst = zip(found, data).map { abs(Int($0) - Int($1)) }.max() ?? 255
        #expect(
          worst <= 1, "\(resampling), \(one.width) × \(one.height) to \(one.newWidth) × \(one.newHeight)")
      }
    }
  }

  @Test func letterboxesAreUltralytics() {
    let cases = ResizingGoldens.all.flatMap(\.letterboxes)
    #expect(cases.count > 300)
    for one in cases {
      let transform = ImageTransform(
        imageWidth: one[0], imageHeight: one[1], inputWidth: one[2], inputHeight: one[3], fit: .yolo)
      let expected = ImageTransform.Region(x: one[6], y: one[7], width: one[4], height: one[5])
      #expect(transform.target == expected, "\(one)")
      // The way back is that of the pixels as they were resized.
      let corner = transform.imagePoint(
        modelX: Float(one[6] + one[4]) / Float(one[2]), modelY: Float(one[7] + one[5]) / Float(one[3]))
      #expect(
        abs(corner.x - Float(one[0])) < 1e-3 * Float(one[0])
          && abs(corner.y - Float(one[1])) < 1e-3 * Float(one[1]))
    }
  }

  @Test("a JPEG at a smaller scale has the pixels of libjpeg's", arguments: ResizingGoldens.Reduced.all)
  func decodesAtSmallerScales(one: ResizingGoldens.Reduced) throws {
    let image = try ImageBuffer(
      decoding: Array(one.file), reduction: .toAtLeast(width: one.width, height: one.height))
    #expect(image.reduction == one.factor && image.width == one.width && image.height == one.height)
    #expect(image.originalWidth == 141 && image.originalHeight == 101)
    let worst = zip(image.converted(to: .rgb).bytes, one.pixels).map { abs(Int($0) - Int($1)) }.max() ?? 255
    // Versions of the library differ in how they enlarge and round colors.
    #expect(worst <= 2)
    let full = try ImageBuffer(decoding: Array(one.file))
    #expect(full.reduction == 1 && full.width == 141)
  }

  @Test func thereAreReducedPictures() {
    #expect(ResizingGoldens.Reduced.all.count == 12)
  }

  @Test("the smallest scale is chosen at which nothing is enlarged")
  func choosesScales() throws {
    func factor(_ width: Int, _ height: Int, _ side: Int, _ fit: FitPolicy) throws -> Int {
      ImageReduction.fitting(try ImageProcessor(width: side, height: side, fit: fit))
        .factor(width: width, height: height)
    }
    #expect(try factor(1_920, 1_080, 300, .stretch) == 2)
    #expect(try factor(3_840, 2_160, 300, .stretch) == 4)
    #expect(try factor(3_840, 2_160, 640, .stretch) == 2)
    // The picture is 640 × 360 in the input.
    #expect(try factor(3_840, 2_160, 640, .yolo) == 4)
    #expect(try factor(3_840, 2_160, 640, .centerCrop) == 2)
    #expect(try factor(4_000, 3_000, 100, .stretch) == 8)
    #expect(try factor(1_199, 600, 300, .stretch) == 2)
    #expect(try factor(1_199, 598, 300, .stretch) == 1)
    #expect(try factor(200, 60, 4, .stretch) == 1)
    #expect(ImageReduction.none.factor(width: 9_000, height: 9_000) == 1)
    #expect(ImageReduction.toAtLeast(width: 500, height: 1).factor(width: 1_000, height: 1_000) == 2)
  }

  @Test(
    "boxes in a picture that was read at a smaller scale are those of the file",
    arguments: ImageOrientation.allCases)
  func mapsReducedPictures(orientation: ImageOrientation) throws {
    let one = try #require(ResizingGoldens.Reduced.all.first { $0.factor == 4 })
    var image = try ImageBuffer(
      decoding: Array(one.file), reduction: .toAtLeast(width: one.width, height: one.height))
    image.orientation = orientation
    let processor = try ImageProcessor(width: 20, height: 20)
    let transform = processor.prepare(image).transform
    #expect(transform.imageWidth == (orientation.swapsSides ? 101 : 141))
    #expect(transform.imageHeight == (orientation.swapsSides ? 141 : 101))
    // 141 and 101 pixels are 36 and 26 times four, but for what the last ones lack.
    let corner = transform.imagePoint(modelX: 1, modelY: 1)
    #expect(
      corner.x == (orientation.swapsSides ? 104 : 144) && corner.y == (orientation.swapsSides ? 144 : 104))
    let region = try processor.transform(
      for: image, region: PixelRect(x: 40, y: 20, width: 60, height: 60))
    let point = region.imagePoint(modelX: 0.5, modelY: 0.5)
    #expect(abs(point.x - 70) <= 2 && abs(point.y - 50) <= 2)
    let back = region.modelPoint(imageX: point.x, imageY: point.y)
    #expect(abs(back.x - 0.5) < 1e-5 && abs(back.y - 0.5) < 1e-5)
    #expect(image.oriented().originalWidth == image.originalWidth)
    #expect(image.converted(to: .bgra).reduction == 4)
  }
}
