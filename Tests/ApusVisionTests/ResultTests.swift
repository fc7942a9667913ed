// SPDX-License-Identifier: Apache-2.0

import ApusVision
import Testing

@Suite struct ResultTests {
  @Test func overlapIsSharedOverJointArea() {
    let box = BoundingBox(ymin: 0, xmin: 0, ymax: 0.5, xmax: 0.5)
    #expect(box.intersectionOverUnion(box) == 1)
    let shifted = BoundingBox(ymin: 0, xmin: 0.25, ymax: 0.5, xmax: 0.75)
    #expect(abs(box.intersectionOverUnion(shifted) - 1 / 3) < 1e-6)
    let apart = BoundingBox(ymin: 0.5, xmin: 0.5, ymax: 1, xmax: 1)
    #expect(box.intersectionOverUnion(apart) == 0)
    let insideOut = BoundingBox(ymin: 1, xmin: 1, ymax: 0, xmax: 0)
    #expect(insideOut.intersectionOverUnion(insideOut) == 0)
    let undefined = BoundingBox(ymin: .nan, xmin: 0, ymax: 1, xmax: 1)
    #expect(undefined.intersectionOverUnion(box) >= 0)
  }

  @Test func pixelsAreFractionsOfTheSides() {
    let detection = Detection(
      category: Category(index: 4, score: 0.5),
      boundingBox: BoundingBox(ymin: 0.5, xmin: 0.25, ymax: 1, xmax: 0.5),
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
