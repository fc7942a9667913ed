// SPDX-License-Identifier: Apache-2.0

import ApusImages
import ApusVision
import TestSupport
import Testing

@Suite struct PlateLayoutTests {
  @Test("plates stay inside the picture", arguments: 0..<5)
  func staysInside(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var layout = PlateLayout(width: 320, height: 240)
    for _ in 0..<100 {
      let box = PixelRect(
        x: .random(in: 0...319, using: &random), y: .random(in: 0...239, using: &random),
        width: .random(in: 0...320, using: &random), height: .random(in: 0...240, using: &random))
      let width = Float.random(in: 1...320, using: &random)
      let plate = layout.place(width: width, height: 18, at: box)
      #expect(plate.x >= 0 && plate.maxX <= 320.01 && plate.y >= 0 && plate.maxY <= 240.01)
      #expect(plate.width == width && plate.height == 18)
    }
  }

  @Test func aPlateTooLargeForThePictureBeginsAtItsEdge() {
    var layout = PlateLayout(width: 10, height: 5)
    let plate = layout.place(width: 100, height: 50, at: PixelRect(x: 3, y: 3, width: 2, height: 2))
    #expect(plate == PixelRect(x: 0, y: 0, width: 100, height: 50))
  }

  @Test func platesOfNearbyBoxesDoNotOverlap() {
    var layout = PlateLayout(width: 400, height: 400)
    var plates: [PixelRect] = []
    for index in 0..<8 {
      let box = PixelRect(x: 100 + Float(index), y: 150 + Float(index), width: 120, height: 100)
      plates.append(layout.place(width: 90, height: 20, at: box))
    }
    #expect(plates[0] == PixelRect(x: 100, y: 130, width: 90, height: 20))
    for (index, plate) in plates.enumerated() {
      for other in plates[..<index] {
        #expect(
          plate.maxX <= other.x || other.maxX <= plate.x || plate.maxY <= other.y || other.maxY <= plate.y)
      }
    }
  }
}
