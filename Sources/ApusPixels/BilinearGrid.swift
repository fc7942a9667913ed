// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// A grid of numbers that is enlarged to pixels: between the centers of cells it is interpolated bilinearly, columns first.
///
/// A number between `a` and `b` is `a + (b − a) · w` in single precision, each operation rounded, the same bytes from every kernel set.
package struct BilinearGrid: Sendable {
  /// Where a pixel lies along an axis: the two cells around it, and the weight of the second.
  package struct Tap: Sendable {
    package let first: Int
    package let second: Int
    package let weight: Float

    /// Makes the place of a pixel.
    package init(first: Int, second: Int, weight: Float) {
      (self.first, self.second, self.weight) = (first, second, weight)
    }
  }

  /// Where the numbers of a grid are.
  package struct Layout: Sendable {
    package let width: Int
    package let height: Int
    package let channels: Int
    /// From a cell to the next, and from a channel to the next, in numbers.
    package let perCell: Int
    package let perChannel: Int

    /// Makes the layout of a grid whose numbers are all of `width · height · channels`.
    package init(width: Int, height: Int, channels: Int, perCell: Int, perChannel: Int) {
      precondition(width > 0 && height > 0 && channels > 0 && perCell > 0 && perChannel > 0)
      precondition(
        (width * height - 1) * perCell + (channels - 1) * perChannel < width * height * channels)
      (self.width, self.height, self.channels) = (width, height, channels)
      (self.perCell, self.perChannel) = (perCell, perChannel)
    }

    var count: Int { width * height * channels }
  }

  /// Columns that code computes at a time.
  static let block = 16
  /// The bytes of two rows of all channels that stay in the second cache.
  private static let tileBytes = 1 << 17

  private let layout: Layout
  private let rows: [Tap]
  private let columnCount: Int
  // For each column: its cells in bytes from a row's first cell, and the weight of the second one.
  private let firstCells: [Int]
  private let secondCells: [Int]
  private let weights: [Float]
  private let code: GridCode

  /// Prepares an enlargement to as many pixels as there are columns and rows.
  package init(columns: [Tap], rows: [Tap], layout: Layout, kernels: KernelSet) {
    precondition(
      columns.allSatisfy { (0..<layout.width).contains($0.first) && (0..<layout.width).contains($0.second) })
    precondition(
      rows.allSatisfy { (0..<layout.height).contains($0.first) && (0..<layout.height).contains($0.second) })
    self.layout = layout
    self.rows = rows
    columnCount = columns.count
    // Columns are computed in blocks; what lies beyond the last is not read.
    let padding = roundedUp(columns.count, to: Self.block) - columns.count
    let zeros = [Int](repeating: 0, count: padding)
    firstCells = columns.map { 4 * $0.first * layout.perCell } + zeros
    secondCells = columns.map { 4 * $0.second * layout.perCell } + zeros
    weights = columns.map(\.weight) + [Float](repeating: 0, count: padding)
    code = GridCode(kernels)
  }

  /// The channel with the largest number at each pixel, row by row; the first of equal ones.
  ///
  /// - Parameters:
  ///   - values: Finite numbers.
  ///   - checkTime: Called now and then.
  package func largest<E: Error>(
    _ values: Span<Float>, _ checkTime: () throws(E) -> Void
  ) throws(E) -> [UInt16] {
    try search(values, floor: nil, checkTime)
  }

  /// 1 where the first channel is above a threshold, otherwise 0, row by row.
  package func above<E: Error>(
    _ threshold: Float, _ values: Span<Float>, _ checkTime: () throws(E) -> Void
  ) throws(E) -> [UInt16] {
    try search(values, floor: threshold, checkTime)
  }

  /// The numbers of a channel at each pixel, row by row.
  package func enlarged(_ values: Span<Float>, channel: Int) -> [Float] {
    precondition(values.count == layout.count && (0..<layout.channels).contains(channel))
    var result = [Float](repeating: 0, count: rows.count * columnCount)
    guard !result.isEmpty else { return result }
    let tile = weights.count
    var held = HeldRows(planes: 1, tile: tile)
    unsafe values.withUnsafeBufferPointer { values in
      unsafe result.withUnsafeMutableBufferPointer { result in
        guard let values = values.baseAddress, let result = result.baseAddress else { return }
        for (line, row) in rows.enumerated() {
          let (upper, lower) = unsafe held.pair(row) { cells, target in
            unsafe interpolate(values, row: cells, channel: channel, columns: 0..<tile, to: target)
          }
          let target = unsafe result + line &* columnCount
          let weight = row.weight
          for column in 0..<columnCount {
            let above = unsafe upper[column]
            unsafe target[column] = above + (lower[column] - above) * weight
          }
        }
      }
    }
    return result
  }

  /// The largest channel at each pixel; with a floor, whether the first channel is above it.
  private func search<E: Error>(
    _ values: Span<Float>, floor: Float?, _ checkTime: () throws(E) -> Void
  ) throws(E) -> [UInt16] {
    precondition(values.count == layout.count && layout.channels <= 1 << 15)
    var result = [UInt16](repeating: 0, count: rows.count * columnCount)
    guard !result.isEmpty else { return result }
    // A floor is a channel before the first, whose number is the same everywhere.
    let planes = floor == nil ? layout.channels : 2
    let tile = min(
      weights.count, max(Self.block, Self.tileBytes / (8 * planes) / Self.block * Self.block))
    var held = HeldRows(planes: planes, tile: tile)
    var line = [UInt16](repeating: 0, count: tile)
    var best = [Float](repeating: 0, count: tile)
    var steps = 0
    for start in stride(from: 0, to: columnCount, by: tile) {
      let columns = start..<min(start + tile, weights.count)
      held.forget()
      for (index, row) in rows.enumerated() {
        steps += planes * tile
        if steps >= 1 << 22 {
          steps = 0
          try checkTime()
        }
        unsafe values.withUnsafeBufferPointer { values in
          guard let values = values.baseAddress else { return }
          let (upper, lower) = unsafe held.pair(row) { cells, target in
            if let floor {
              unsafe target.update(repeating: floor, count: tile)
              unsafe interpolate(values, row: cells, channel: 0, columns: columns, to: target + tile)
            } else {
              for channel in 0..<planes {
                unsafe interpolate(
                  values, row: cells, channel: channel, columns: columns, to: target + channel &* tile)
              }
            }
          }
          unsafe line.withUnsafeMutableBufferPointer { line in
            unsafe best.withUnsafeMutableBufferPointer { best in
              unsafe result.withUnsafeMutableBufferPointer { result in
                guard let line = line.baseAddress, let best = best.baseAddress,
                  let result = result.baseAddress
                else { return }
                unsafe search(
                  upper, lower, row.weight, planes: planes, tile: tile, columns.count, best, to: line)
                unsafe (result + index &* columnCount + start).update(
                  from: line, count: min(columns.count, columnCount - start))
              }
            }
          }
        }
      }
    }
    return result
  }

  /// Interpolates a channel of a row of cells for some columns, a multiple of ``block``.
  private func interpolate(
    _ values: UnsafePointer<Float>, row: Int, channel: Int, columns: Range<Int>,
    to target: UnsafeMutablePointer<Float>
  ) {
    let base = unsafe values + row &* layout.width &* layout.perCell + channel &* layout.perChannel
    unsafe firstCells.withUnsafeBufferPointer { first in
      unsafe secondCells.withUnsafeBufferPointer { second in
        unsafe weights.withUnsafeBufferPointer { weights in
          guard let first = first.baseAddress, let second = second.baseAddress,
            let weights = weights.baseAddress
          else { return }
          if let code = code.cells {
            unsafe code.call(
              GridCode.Cells(
                values: Int(bitPattern: base), first: Int(bitPattern: first + columns.lowerBound),
                second: Int(bitPattern: second + columns.lowerBound),
                weights: Int(bitPattern: weights + columns.lowerBound), target: Int(bitPattern: target),
                count: columns.count))
            return
          }
          for column in 0..<columns.count {
            let place = columns.lowerBound &+ column
            let near = unsafe base[first[place] / 4]
            unsafe target[column] = near + (base[second[place] / 4] - near) * weights[place]
          }
        }
      }
    }
  }

  /// Finds the largest plane for some columns, a multiple of ``block``.
  private func search(
    _ upper: UnsafeMutablePointer<Float>, _ lower: UnsafeMutablePointer<Float>, _ weight: Float,
    planes: Int, tile: Int, _ count: Int, _ best: UnsafeMutablePointer<Float>,
    to line: UnsafeMutablePointer<UInt16>
  ) {
    if let code = code.largest {
      code.call(
        GridCode.Largest(
          upper: Int(bitPattern: upper), lower: Int(bitPattern: lower), planeStride: 4 * tile,
          others: planes - 1, target: Int(bitPattern: line), blocks: count / Self.block, weight: weight))
      return
    }
    for plane in 0..<planes {
      let (above, below) = unsafe (upper + plane &* tile, lower + plane &* tile)
      let number = UInt16(truncatingIfNeeded: plane)
      for column in 0..<count {
        let value = unsafe above[column] + (below[column] - above[column]) * weight
        if unsafe plane == 0 || value > best[column] {
          unsafe best[column] = value
          unsafe line[column] = number
        }
      }
    }
  }
}

/// The two rows of cells around a row of pixels, interpolated for its columns, a plane for each channel.
@safe private struct HeldRows: ~Copyable {
  private let memory: UnsafeMutablePointer<Float>
  private let length: Int
  private var cells = (-1, -1)

  init(planes: Int, tile: Int) {
    length = planes * tile
    unsafe memory = .allocate(capacity: 2 * length)
    unsafe memory.initialize(repeating: 0, count: 2 * length)
  }

  deinit { unsafe memory.deallocate() }

  /// Forgets which rows are held.
  mutating func forget() { cells = (-1, -1) }

  /// The planes of both rows; `fill` computes those that are not held.
  mutating func pair(
    _ row: BilinearGrid.Tap, _ fill: (Int, UnsafeMutablePointer<Float>) -> Void
  ) -> (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>) {
    let upper = unsafe planes(row.first, keeping: row.second, fill)
    let lower = unsafe planes(row.second, keeping: row.first, fill)
    return unsafe (upper, lower)
  }

  private mutating func planes(
    _ row: Int, keeping other: Int, _ fill: (Int, UnsafeMutablePointer<Float>) -> Void
  ) -> UnsafeMutablePointer<Float> {
    if cells.0 == row { return unsafe memory }
    if cells.1 == row { return unsafe memory + length }
    let slot = cells.0 == other ? 1 : 0
    if slot == 0 { cells.0 = row } else { cells.1 = row }
    let place = unsafe memory + slot &* length
    unsafe fill(row, place)
    return unsafe place
  }
}
