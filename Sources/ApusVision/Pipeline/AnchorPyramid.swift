// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusFormat
import ApusSystem

/// The anchors of a single-shot detector with a feature pyramid: each level has a grid of twice the stride of the one before.
package struct AnchorPyramid: Hashable, Sendable {
  package typealias Anchor = DetectorMetadata.Anchor

  /// The levels; the stride of one is 2 to its power.
  var levels: ClosedRange<Int>
  /// The size of a cell's smallest square anchor, in strides.
  var scale: Float
  /// How many sizes there are before the next one is twice the first.
  var scalesPerOctave: Int
  /// Width over height of the anchors.
  var aspectRatios: [Float] = [1, 2, 0.5]

  /// Makes a rule with the aspect ratios 1, 2 and 1/2.
  package init(levels: ClosedRange<Int>, scale: Float, scalesPerOctave: Int) {
    (self.levels, self.scale, self.scalesPerOctave) = (levels, scale, scalesPerOctave)
  }

  /// The anchors for an input, level by level and row by row, in fractions of the input.
  package func anchors(width: Int, height: Int) -> [Anchor] {
    var anchors: [Anchor] = []
    let scales = (0..<scalesPerOctave).map {
      $0 * 2 == scalesPerOctave ? Float(2).squareRoot() : Float(pow(2, Double($0) / Double(scalesPerOctave)))
    }
    for level in levels {
      let stride = 1 << level
      let (rows, columns) = ((height + stride - 1) / stride, (width + stride - 1) / stride)
      // Centers are half a stride further where the stride divides the side.
      let offsetY = height.isMultiple(of: stride) ? Float(stride) / 2 : 0
      let offsetX = width.isMultiple(of: stride) ? Float(stride) / 2 : 0
      for row in 0..<rows {
        for column in 0..<columns {
          for ratio in aspectRatios {
            for scale in scales {
              let base = self.scale * Float(stride) * scale
              anchors.append(
                Anchor(
                  x: (Float(column * stride) + offsetX) / Float(width),
                  y: (Float(row * stride) + offsetY) / Float(height),
                  width: base * ratio.squareRoot() / Float(width),
                  height: base / ratio.squareRoot() / Float(height)))
            }
          }
        }
      }
    }
    return anchors
  }
}
