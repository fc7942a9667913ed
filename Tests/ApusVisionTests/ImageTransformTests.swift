// SPDX-License-Identifier: Apache-2.0

import Apus
import ApusVision
import TestSupport
import Testing

@Suite struct ImageTransformTests {
  private static let policies: [FitPolicy] = [.stretch, .centerCrop, .letterbox()]

  @Test("a point goes to the model and back", arguments: policies)
  func inverts(fit: FitPolicy) {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<500 {
      let (width, height) = (
        Int.random(in: 1...5_000, using: &random), Int.random(in: 1...5_000, using: &random)
      )
      let transform = ImageTransform(
        imageWidth: width, imageHeight: height, inputWidth: Int.random(in: 1...640, using: &random),
        inputHeight: Int.random(in: 1...640, using: &random), fit: fit)
      let x = Float.random(in: 0...Float(width), using: &random)
      let y = Float.random(in: 0...Float(height), using: &random)
      let model = transform.modelPoint(imageX: x, imageY: y)
      let back = transform.imagePoint(modelX: model.x, modelY: model.y)
      // The fractions have 24 bits; a center crop of an extreme shape magnifies them.
      let magnified =
        Float(transform.source.width) / Float(transform.target.width) * Float(transform.inputWidth)
      let magnifiedY =
        Float(transform.source.height) / Float(transform.target.height) * Float(transform.inputHeight)
      #expect(abs(back.x - x) <= 2e-6 * max(magnified * (1 + abs(model.x)), Float(width)))
      #expect(abs(back.y - y) <= 2e-6 * max(magnifiedY * (1 + abs(model.y)), Float(height)))
    }
  }

  @Test("a letterbox without a color is the model's own, if it was trained with one")
  func completesLetterboxes() {
    let blue = PixelColor(red: 0, green: 0, blue: 200)
    for own in [FitPolicy.yolo, .yolox, .letterbox(fill: blue), .topLeftLetterbox(fill: blue)] {
      #expect(FitPolicy.letterbox().completed(by: own) == own)
      #expect(FitPolicy.letterbox(fill: blue).completed(by: own) == .letterbox(fill: blue))
      #expect(FitPolicy.stretch.completed(by: own) == .stretch)
    }
    for other in [FitPolicy.stretch, .centerCrop] {
      #expect(FitPolicy.letterbox().completed(by: other) == .letterbox(fill: .black))
    }
  }

  @Test("what the model sees lies where the transform says", arguments: policies, ImageOrientation.allCases)
  func findsAMark(fit: FitPolicy, orientation: ImageOrientation) throws {
    let (width, height) = (200, 120)
    for (left, top) in [(60, 40), (120, 70), (95, 20)] {
      // A white mark of 10 × 8 stored pixels on black.
      var bytes = [UInt8](repeating: 0, count: width * height)
      for y in top..<top + 8 { for x in left..<left + 10 { bytes[y * width + x] = 255 } }
      let image = try ImageBuffer(
        bytes: bytes, width: width, height: height, format: .gray, orientation: orientation)
      let prepared = try ImageProcessor(width: 90, height: 100, channels: .gray, fit: fit).prepare(image)
      var (sum, sumX, sumY) = (0.0, 0.0, 0.0)
      for y in 0..<100 {
        for x in 0..<90 {
          let value = Double(prepared.bytes[y * 90 + x])
          sum += value
          sumX += value * (Double(x) + 0.5) / 90
          sumY += value * (Double(y) + 0.5) / 100
        }
      }
      let center = prepared.transform.imagePoint(modelX: Float(sumX / sum), modelY: Float(sumY / sum))
      let stored = PixelRect(x: Float(left), y: Float(top), width: 10, height: 8)
      let seen = orientation.upright(stored, width: width, height: height)
      #expect(abs(center.x - (seen.x + seen.width / 2)) < 0.1)
      #expect(abs(center.y - (seen.y + seen.height / 2)) < 0.1)
    }
  }

  @Test func boxesAgreeInBothForms() {
    let transform = ImageTransform(
      imageWidth: 640, imageHeight: 480, inputWidth: 320, inputHeight: 320, fit: .letterbox())
    let box = BoundingBox(minX: 0.5, minY: 0.25, maxX: 1.1, maxY: 0.875)
    #expect(transform.imageRect(ofModelBox: box) == PixelRect(x: 320, y: 80, width: 384, height: 400))
    let image = transform.imageBox(ofModelBox: box)
    #expect(abs(image.maxY - 1) < 1e-6 && abs(image.minX - 0.5) < 1e-6 && abs(image.maxX - 1.1) < 1e-6)
    #expect(image.clamped.maxX == 1)
  }

  @Test func stretchKeepsFractions() {
    let transform = ImageTransform(
      imageWidth: 123, imageHeight: 457, inputWidth: 300, inputHeight: 300, fit: .stretch)
    let box = BoundingBox(minX: 0.2, minY: 0.1, maxX: 0.4, maxY: 0.3)
    let image = transform.imageBox(ofModelBox: box)
    #expect(abs(image.minY - 0.1) < 1e-6 && abs(image.minX - 0.2) < 1e-6)
    #expect(abs(image.maxY - 0.3) < 1e-6 && abs(image.maxX - 0.4) < 1e-6)
  }

  @Test func anyNumberAModelAnswersIsMapped() {
    let transform = ImageTransform(
      imageWidth: 100, imageHeight: 100, inputWidth: 30, inputHeight: 30, fit: .centerCrop)
    for value in [Float.nan, .infinity, -.infinity, .greatestFiniteMagnitude] {
      let box = BoundingBox(minX: -value, minY: value, maxX: 0, maxY: value)
      let rect = transform.imageRect(ofModelBox: box).clamped(width: 100, height: 100)
      #expect(rect.x >= 0 && rect.maxX <= 100 && rect.y >= 0 && rect.maxY <= 100)
    }
  }
}
