// SPDX-License-Identifier: Apache-2.0
import Apus
import ApusPixels

/// Enlarges the cells of a model's grid to the pixels of a picture.
struct MaskEnlargement {
  /// For a pixel of the picture along an axis: the two cells around it, and the weight of the second.
  private struct Step {
    let tap: BilinearGrid.Tap
    let nearest: Int
  }

  private let columns: [Step]
  private let rows: [Step]
  private let gridWidth: Int
  private let gridHeight: Int

  /// Computes where the pixels of the whole picture, or of an area of it, lie in a grid that covers the input.
  init(
    _ placement: Placement, area: ImageTransform.Region? = nil, gridWidth: Int, gridHeight: Int
  ) {
    let transform = placement.transform
    self.gridWidth = gridWidth
    self.gridHeight = gridHeight
    let area = area ?? .init(x: 0, y: 0, width: placement.imageWidth, height: placement.imageHeight)
    let seen = placement.seenPixels
    func x(_ column: Float) -> Float { transform.modelPoint(imageX: column, imageY: 0).x }
    func y(_ row: Float) -> Float { transform.modelPoint(imageX: 0, imageY: row).y }
    let acrossCells = Self.cells(x(Float(seen.x)), x(Float(seen.x + seen.width)), gridWidth)
    let downCells = Self.cells(y(Float(seen.y)), y(Float(seen.y + seen.height)), gridHeight)
    columns = (area.x..<area.x + area.width).map { Self.step(x(Float($0) + 0.5), gridWidth, acrossCells) }
    rows = (area.y..<area.y + area.height).map { Self.step(y(Float($0) + 0.5), gridHeight, downCells) }
  }

  /// Computes where the pixels of a picture of another size lie in a grid that covers it.
  init(width: Int, height: Int, gridWidth: Int, gridHeight: Int) {
    self.gridWidth = gridWidth
    self.gridHeight = gridHeight
    let (acrossCells, downCells) = (0...gridWidth - 1, 0...gridHeight - 1)
    columns = (0..<width).map { Self.step((Float($0) + 0.5) / Float(width), gridWidth, acrossCells) }
    rows = (0..<height).map { Self.step((Float($0) + 0.5) / Float(height), gridHeight, downCells) }
  }

  /// The cells whose centers lie in the picture, not in the bars of a letterbox; the nearest one if there are none.
  ///
  /// - Parameters:
  ///   - start: Where the picture begins, in fractions of the input.
  ///   - end: Where it ends.
  private static func cells(_ start: Float, _ end: Float, _ count: Int) -> ClosedRange<Int> {
    let last = Float(count - 1)
    let first = Int(clamp((start * Float(count) - 0.5).rounded(.up), to: last))
    let end = Int(clamp((end * Float(count) - 0.5).rounded(.down), to: last))
    return first <= end ? first...end : end...end
  }

  private static func step(_ position: Float, _ count: Int, _ cells: ClosedRange<Int>) -> Step {
    let (low, high) = (Float(cells.lowerBound), Float(cells.upperBound))
    let place = low + clamp(position * Float(count) - 0.5 - low, to: high - low)
    let first = Int(place)
    return Step(
      tap: .init(first: first, second: min(first + 1, cells.upperBound), weight: place - Float(first)),
      nearest: min(
        max(Int(clamp(position * Float(count), to: Float(count - 1))), cells.lowerBound), cells.upperBound))
  }

  /// Where the cells of a channel are.
  struct Channels {
    let count: Int
    let perCell: Int
    let perChannel: Int
  }

  /// The bilinear enlargement of a grid with these channels.
  func bilinear(_ channels: Channels) -> BilinearGrid {
    BilinearGrid(
      columns: columns.map(\.tap), rows: rows.map(\.tap),
      layout: .init(
        width: gridWidth, height: gridHeight, channels: channels.count, perCell: channels.perCell,
        perChannel: channels.perChannel), kernels: Runtime.pictureKernels)
  }

  /// How far a class may be from a whole number: outputs with a scale round classes to its multiples.
  private static let roundingError: Float = 0.26

  /// The class of the cell that contains each pixel.
  ///
  /// - Throws: `invalidData` for a class that a mask cannot hold.
  func nearest(_ classes: Span<Float>) throws(ApusError) -> [UInt16] {
    var result: [UInt16] = []
    result.reserveCapacity(rows.count * columns.count)
    var held = -1
    for row in rows {
      if row.nearest == held {
        // Most rows of pixels have the cells of the row before.
        result.append(contentsOf: result[(result.count - columns.count)...])
        continue
      }
      held = row.nearest
      for column in columns {
        let value = classes[row.nearest * gridWidth + column.nearest]
        let whole = value.rounded()
        guard let index = UInt16(exactly: whole), abs(value - whole) <= Self.roundingError else {
          throw ApusError(
            .invalidData,
            "a cell of the output has the class \(value), not one from 0 to \(UInt16.max); if it is a logit or a probability, --scores says so"
          )
        }
        result.append(index)
      }
    }
    return result
  }
}
