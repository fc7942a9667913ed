// SPDX-License-Identifier: Apache-2.0
import Apus

/// Enlarges the cells of a model's grid to the pixels of a picture.
struct MaskEnlargement {
  /// For a pixel of the picture along an axis: the two cells around it, and the weight of the second.
  private struct Step {
    let first: Int
    let second: Int
    let weight: Float
    let nearest: Int
  }

  private let columns: [Step]
  private let rows: [Step]
  private let gridWidth: Int

  /// Computes where the pixels of the whole picture, or of an area of it, lie in a grid that covers the input.
  init(
    _ placement: Placement, area: ImageTransform.Region? = nil, gridWidth: Int, gridHeight: Int
  ) {
    let transform = placement.transform
    self.gridWidth = gridWidth
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
      first: first, second: min(first + 1, cells.upperBound), weight: place - Float(first),
      nearest: min(
        max(Int(clamp(position * Float(count), to: Float(count - 1))), cells.lowerBound), cells.upperBound))
  }

  /// Where the cells of a channel are.
  struct Channels {
    let count: Int
    let perCell: Int
    let perChannel: Int
  }

  /// One channel, interpolated between the centers of cells.
  func enlarged(_ values: Span<Float>, _ channels: Channels, _ channel: Int) -> [Float] {
    var result = [Float](repeating: 0, count: rows.count * columns.count)
    var target = 0
    for row in rows {
      forEachColumn(values, channels, channel, row) { value in
        result[target] = value
        target += 1
      }
    }
    return result
  }

  /// The channel with the largest value at each pixel; the first of equal ones. `checkTime` is asked now and then.
  func largest(
    _ values: Span<Float>, _ channels: Channels, _ checkTime: () throws(ApusError) -> Void
  ) throws(ApusError) -> [UInt16] {
    var result = [UInt16](repeating: 0, count: rows.count * columns.count)
    var best = [Float](repeating: 0, count: columns.count)
    // A row of many channels may take as long as many rows.
    var steps = 0
    for (line, row) in rows.enumerated() {
      for channel in 0..<channels.count {
        steps += columns.count
        if steps >= 1 << 20 {
          steps = 0
          try checkTime()
        }
        var column = 0
        forEachColumn(values, channels, channel, row) { value in
          if channel == 0 || value > best[column] {
            best[column] = value
            result[line * columns.count + column] = UInt16(clamping: channel)
          }
          column += 1
        }
      }
    }
    return result
  }

  /// 1 if the only channel is above a threshold.
  func above(_ threshold: Float, _ values: Span<Float>, _ channels: Channels) -> [UInt16] {
    var result: [UInt16] = []
    result.reserveCapacity(rows.count * columns.count)
    for row in rows {
      forEachColumn(values, channels, 0, row) { result.append($0 > threshold ? 1 : 0) }
    }
    return result
  }

  /// How far a class may be from a whole number: outputs with a scale round classes to its multiples.
  private static let roundingError: Float = 0.26

  /// The class of the cell that contains each pixel.
  ///
  /// - Throws: `invalidData` for a class that a mask cannot hold.
  func nearest(_ classes: Span<Float>) throws(ApusError) -> [UInt16] {
    var result: [UInt16] = []
    result.reserveCapacity(rows.count * columns.count)
    for row in rows {
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

  @inline(__always)
  private func forEachColumn(
    _ values: Span<Float>, _ channels: Channels, _ channel: Int, _ row: Step, _ body: (Float) -> Void
  ) {
    let upper = row.first * gridWidth * channels.perCell + channel * channels.perChannel
    let lower = row.second * gridWidth * channels.perCell + channel * channels.perChannel
    for column in columns {
      let (first, second) = (column.first * channels.perCell, column.second * channels.perCell)
      let above = values[upper + first] + (values[upper + second] - values[upper + first]) * column.weight
      let below = values[lower + first] + (values[lower + second] - values[lower + first]) * column.weight
      body(above + (below - above) * row.weight)
    }
  }
}
