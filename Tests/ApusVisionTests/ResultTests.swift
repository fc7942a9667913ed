// SPDX-License-Identifier: Apache-2.0

import ApusVision
import Testing

@Suite struct ResultTests {
  @Test func overlapIsSharedOverJointArea() {
    let box = BoundingBox(minX: 0, minY: 0, maxX: 0.5, maxY: 0.5)
    #expect(box.intersectionOverUnion(box) == 1)
    let shifted = BoundingBox(minX: 0.25, minY: 0, maxX: 0.75, maxY: 0.5)
    #expect(abs(box.intersectionOverUnion(shifted) - 1 / 3) < 1e-6)
    let apart = BoundingBox(minX: 0.5, minY: 0.5, maxX: 1, maxY: 1)
    #expect(box.intersectionOverUnion(apart) == 0)
    let insideOut = BoundingBox(minX: 1, minY: 1, maxX: 0, maxY: 0)
    #expect(insideOut.intersectionOverUnion(insideOut) == 0)
    let undefined = BoundingBox(minX: 0, minY: .nan, maxX: 1, maxY: 1)
    #expect(undefined.intersectionOverUnion(box) >= 0)
  }

  @Test func pixelsAreFractionsOfTheSides() {
    let detection = Detection(
      category: Category(index: 4, score: 0.5),
      boundingBox: BoundingBox(minX: 0.25, minY: 0.5, maxX: 0.5, maxY: 1),
      imageWidth: 200, imageHeight: 100)
    #expect(detection.rect == PixelRect(x: 50, y: 50, width: 50, height: 50))
    #expect(detection.category.name == "class 4")
  }

  @Test func coordinatesThatAreNoNumbersClampToTheCorner() {
    let rect = PixelRect(x: .nan, y: -5, width: .infinity, height: 1e30).clamped(width: 10, height: 20)
    #expect(rect == PixelRect(x: 0, y: 0, width: 0, height: 20))
  }

  @Test func theFirstTenColorsDifferAndRepeatByIndex() {
    let palette = ClassPalette.standard
    #expect(palette.colors.count >= 10 && Set(palette.colors).count == palette.colors.count)
    for first in 0..<10 {
      for second in 0..<first {
        let (one, two) = (palette[first], palette[second])
        let distance =
          abs(Int(one.red) - Int(two.red)) + abs(Int(one.green) - Int(two.green))
          + abs(Int(one.blue) - Int(two.blue))
        #expect(distance > 60)
      }
    }
    #expect(palette[7] == palette[7 + palette.colors.count])
    #expect(palette[-1] == palette.colors.last)
    #expect(palette[.min] == palette[.min] && palette[.max].alpha == 255)
    #expect(ClassPalette(colors: [])[5].alpha == 255)
  }

  @Test func textContrastsWithItsPlate() {
    for color in ClassPalette.standard.colors {
      #expect(abs(Int(color.luminance) - Int(color.contrasting.luminance)) > 100)
    }
  }
}
