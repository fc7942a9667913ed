// SPDX-License-Identifier: Apache-2.0

import ApusVision

/// Finds places for label plates: inside the picture and, where possible, not on top of each other.
package struct PlateLayout {
  private let width: Float
  private let height: Float
  private var placed: [PixelRect] = []

  /// Makes an empty layout for a picture of that size.
  package init(width: Int, height: Int) {
    self.width = Float(width)
    self.height = Float(height)
  }

  /// A place for a plate of that size: on the box's top edge, else at another edge, inside or near, where it covers
  /// the smallest part of earlier plates; on a tie, the first.
  package mutating func place(width plateWidth: Float, height plateHeight: Float, at box: PixelRect)
    -> PixelRect
  {
    let right = box.maxX - plateWidth
    var candidates: [(x: Float, y: Float)] = []
    for y in [box.y - plateHeight, box.y, box.maxY, box.maxY - plateHeight] {
      candidates += [(box.x, y), (right, y)]
    }
    for row in 1...8 {
      let shift = Float(row) * plateHeight
      candidates += [(box.x, box.y + shift), (box.x, box.y - plateHeight - shift), (box.x, box.maxY + shift)]
    }
    var best = PixelRect(x: 0, y: 0, width: plateWidth, height: plateHeight)
    var least = Float.infinity
    for (order, candidate) in candidates.enumerated() {
      let rect = PixelRect(
        x: max(min(candidate.x, width - plateWidth), 0), y: max(min(candidate.y, height - plateHeight), 0),
        width: plateWidth, height: plateHeight)
      // A place that had to be moved far is a worse one, though better than an overlap.
      let moved = abs(rect.x - candidate.x) + abs(rect.y - candidate.y)
      let overlap = placed.reduce(Float(0)) { $0 + Self.overlap($1, rect) }
      let cost = overlap * 16 + moved * plateHeight / 4 + Float(order) / 64
      if cost < least {
        least = cost
        best = rect
      }
    }
    placed.append(best)
    return best
  }

  private static func overlap(_ one: PixelRect, _ other: PixelRect) -> Float {
    let width = min(one.maxX, other.maxX) - max(one.x, other.x)
    let height = min(one.maxY, other.maxY) - max(one.y, other.y)
    return width > 0 && height > 0 ? width * height : 0
  }
}
