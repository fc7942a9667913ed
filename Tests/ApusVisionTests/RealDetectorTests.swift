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
