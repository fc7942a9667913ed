// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusVision
import Testing

/// The parts of pipelines, against the rules in NumPy, which agree with MediaPipe's own goldens.
@Suite struct PipelineTests {
  @Test func hasCases() {
    #expect(LandmarkGolden.of("crop").count == 14)
    #expect(LandmarkGolden.of("anchors").count == 4)
    #expect(LandmarkGolden.of("hands").count == 3)
  }

  @Test("a rotated crop has the bytes of the rule", arguments: LandmarkGolden.of("crop"))
  func crops(golden: LandmarkGolden) throws {
    let (size, region) = (try #require(golden.size), try #require(golden.region))
    let border = try #require(golden.border.flatMap(PictureView.Border.init(rawValue:)))
    let crop = try PictureView(golden.image()).crop(
      Region(region), width: size[0], height: size[1], border: border)
    #expect(crop.bytes == golden.bytes)
  }

  @Test("how a picture is stored changes no crop", arguments: ImageOrientation.allCases)
  func cropsStoredPictures(orientation: ImageOrientation) throws {
    let golden = try #require(LandmarkGolden.of("crop").dropFirst(2).first)
    let (size, upright) = (try #require(golden.size), try golden.image())
    // Turned three more times or mirrored once more, a picture is as before.
    let inverse: [ImageOrientation: ImageOrientation] = [.left: .right, .right: .left]
    var stored = upright
    stored.orientation = inverse[orientation] ?? orientation
    stored = stored.oriented().converted(to: .bgra)
    stored.orientation = orientation
    let crop = try PictureView(stored).crop(
      Region(#require(golden.region)), width: size[0], height: size[1], border: .zero)
    #expect(crop.bytes == golden.bytes)
  }

  @Test("beyond the part to look at, there is only the border")
  func cropsParts() throws {
    let white = try ImageBuffer(
      bytes: [UInt8](repeating: 255, count: 20 * 10 * 3), width: 20, height: 10, format: .rgb)
    let view = try PictureView(white, in: PixelRect(x: 4, y: 2, width: 8, height: 6))
    let region = Region(PixelRect(x: 0, y: 0, width: 20, height: 10))
    let crop = try view.crop(region, width: 20, height: 10, border: .zero)
    for y in 0..<10 {
      for x in 0..<20 {
        let isInside = (4..<12).contains(x) && (2..<8).contains(y)
        #expect(crop.pixel(x: x, y: y)?.red == (isInside ? 255 : 0))
      }
    }
    let all = try view.crop(region, width: 20, height: 10, border: .replicate)
    #expect(all.bytes == white.bytes)
  }

  @Test("anchors are those of the rule", arguments: LandmarkGolden.of("anchors"))
  func makesAnchors(golden: LandmarkGolden) throws {
    let anchors =
      switch golden.name {
      case "palms": AnchorGenerator.palms.anchors(width: 192, height: 192)
      case "people": AnchorGenerator.people.anchors(width: 224, height: 224)
      case "six layers": AnchorGenerator.sixLayers.anchors(width: 300, height: 300)
      default: AnchorPyramid(levels: 6...7, scale: 3, scalesPerOctave: 3).anchors(width: 640, height: 640)
      }
    #expect(anchors.count == golden.count)
    let step = try #require(golden.every)
    let some = stride(from: 0, to: anchors.count, by: step).flatMap {
      [anchors[$0].x, anchors[$0].y, anchors[$0].width, anchors[$0].height]
    }
    #expect(agree(some, try #require(golden.anchors), within: 1e-5))
  }

  @Test("the number of anchors is known before they are made")
  func countsAnchors() {
    for (generator, side) in [(AnchorGenerator.palms, 192), (.people, 224), (.sixLayers, 300)] {
      for (width, height) in [(side, side), (side + 1, side), (1, 1), (17, 999)] {
        #expect(
          generator.count(width: width, height: height)
            == generator.anchors(width: width, height: height).count)
      }
    }
    #expect(AnchorGenerator.palms.count(width: 0, height: 9) == nil)
    #expect(AnchorGenerator.palms.count(width: 1 << 40, height: 1 << 40) == nil)
  }

  @Test(
    "a region without an area, or beyond any picture, is refused",
    arguments: [
      (1, 1, 0, 1, 0), (1, 1, 1, -1, 0), (.nan, 1, 1, 1, 0), (1, .infinity, 1, 1, 0), (1, 1, 1, 1, .nan),
      (1, 1, .infinity, 1, 0), (1, 1, 1, .nan, 0), (1e30, 0, 5, 5, 0), (0, 0, 1e30, 5, 0),
      (0, 0, 1, 1, .infinity),
    ] as [(Float, Float, Float, Float, Float)])
  func refusesRegions(x: Float, y: Float, width: Float, height: Float, rotation: Float) throws {
    let region = Region([x, y, width, height, rotation])
    #expect(!region.isUsable)
    let view = try PictureView(#require(LandmarkGolden.of("crop").first).image())
    let error = #expect(throws: ApusError.self) {
      try view.crop(region, width: 8, height: 8, border: .replicate)
    }
    #expect(error?.code == .invalidData)
  }

  @Test("regions at the limit, far outside the picture or hardly there, are cut without a trap")
  func cropsExtremeRegions() throws {
    let view = try PictureView(#require(LandmarkGolden.of("crop").first).image())
    let far: Float = 1_048_576
    for numbers in [
      [far, -far, far, far, 1], [0, 0, 1e-30, far, 2], [3, 3, 1e-38, 1e-38, 0], [5, 5, far, far, 1e30],
    ] as [[Float]] {
      for border in [PictureView.Border.zero, .replicate] {
        let crop = try view.crop(Region(numbers), width: 7, height: 5, border: border)
        #expect(crop.bytes.count == 7 * 5 * 3)
      }
    }
  }
}
