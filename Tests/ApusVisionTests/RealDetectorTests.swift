// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusImages
import ApusVision
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder that the environment variable `APUS_TEST_DATA` names.
private let data = getenv("APUS_TEST_DATA").map { String(cString: $0) }

@Suite(.enabled(if: data != nil, "APUS_TEST_DATA is not set"))
struct RealDetectorTests {
  @Test func hasExpectations() {
    #expect(LiteRTDetections.all.count == 10)
  }

  @Test("real models find what LiteRT finds in real pictures", arguments: LiteRTDetections.all)
  func findsWhatLiteRTFinds(expected: LiteRTDetections) throws {
    let folder = try #require(data)
    var options = ObjectDetector.Options()
    options.fit = expected.fit.policy
    options.scoreThreshold = 0.3
    options.maxResults = 10
    let detector = try ObjectDetector(
      modelFile: "\(folder)/models/\(expected.model).tflite", options: options)
    let picture = try ImageBuffer(contentsOfFile: "\(folder)/images/\(expected.image)")
    let processor = try ImageProcessor(
      width: detector.inputWidth, height: detector.inputHeight, fit: expected.fit.policy)
    #expect(processor.prepare(picture).bytes.crc32 == expected.pixels)

    let found = try detector.detect(picture).detections
    #expect(found.map(\.index) == expected.objects.map(\.index))
    #expect(found.map(\.score) == expected.objects.map(\.score))
    for (detection, object) in zip(found, expected.objects) {
      let rect = detection.rect
      // The expectation has four decimals, and edges of a thousand pixels are exact to 1e-4 as Float.
      for (edge, expected) in zip([rect.y, rect.x, rect.maxY, rect.maxX], object.edges) {
        #expect(abs(edge - expected) <= 5e-4)
      }
    }
  }

  @Test("YOLOX finds what LiteRT and NumPy find in a part of a picture that needs no resizing")
  func findsWhatYOLOXFinds() throws {
    let folder = try #require(data)
    let cases = "\(folder)/cases/heads-that-look-like-v8"
    let detector = try ObjectDetector(
      modelFile: "\(cases)/yolox_nano.tflite", labelsFile: "\(cases)/yolox_labels.txt")
    #expect(detector.layout == .yolox)
    let picture = try ImageBuffer(contentsOfFile: "\(folder)/images/cats_and_dogs.jpg")
    let found = try detector.detect(picture, in: PixelRect(x: 600, y: 100, width: 416, height: 416))
      .detections
    // `heads.yolox` of Tools/vision, on what LiteRT's reference kernels answer.
    let expected: [(label: String, score: Float, edges: [Float])] = [
      ("dog", 0.9114937, [614.053, 157.6008, 906.2253, 510.4814]),
      ("cat", 0.4672033, [879.6123, 403.3122, 1015.9333, 515.1954]),
    ]
    #expect(found.map(\.label) == expected.map(\.label))
    for (one, other) in zip(found, expected) {
      #expect(abs(one.score - other.score) <= 1e-3)
      for (edge, expected) in zip([one.rect.x, one.rect.y, one.rect.maxX, one.rect.maxY], other.edges) {
        #expect(abs(edge - expected) <= 0.1)
      }
    }
  }

  @Test("FOMO finds the purple balloon where its cell is")
  func findsBalloons() throws {
    let folder = try #require(data) + "/cases/fomo"
    let detector = try ObjectDetector(
      modelFile: "\(folder)/fomo_balloon.tflite", labelsFile: "\(folder)/fomo_balloon.txt")
    let found = try detector.detect(ImageBuffer(contentsOfFile: "\(folder)/balloons96.png")).detections
    let purple = try #require(found.first { $0.label == "purple" })
    #expect(abs(purple.score - 0.547) < 1e-3)
    #expect(purple.center == PixelPoint(x: 28, y: 36))
    #expect(purple.rect == PixelRect(x: 24, y: 32, width: 8, height: 8))
  }

  @Test("a picture is found in every orientation", arguments: ImageOrientation.allCases)
  func ignoresOrientation(orientation: ImageOrientation) throws {
    let folder = try #require(data)
    let detector = try ObjectDetector(
      modelFile: "\(folder)/models/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29.tflite",
      labelsFile: "\(folder)/labels/coco_labelmap_classic.txt")
    let upright = try ImageBuffer(contentsOfFile: "\(folder)/images/cats_and_dogs.jpg")
    // Turned twice by the same orientation, or by it and its opposite, a picture is as before.
    var turned = upright
    turned.orientation = orientation == .right ? .left : orientation == .left ? .right : orientation
    turned = turned.oriented()
    turned.orientation = orientation
    let found = try detector.detect(turned).detections
    #expect(found == (try detector.detect(upright).detections))
    #expect(found.map(\.label) == ["cat", "cat", "cat"])
  }

  @Test("labels inside a published model name what is found")
  func readsPublishedLabels() throws {
    let folder = try #require(data)
    let detector = try ObjectDetector(
      modelFile: "\(folder)/models/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_metadata.tflite")
    let picture = try ImageBuffer(contentsOfFile: "\(folder)/images/sparrow.png")
    #expect(try detector.detect(picture).detections.map(\.label) == ["bird"])
  }
}
