// SPDX-License-Identifier: Apache-2.0

import ApusCodeGeneration
import ApusKernels
import ApusPixels
import TestSupport
import Testing

/// Every kernel set against the documented formula, pixel by pixel.
@Suite struct BilinearGridTests {
  struct Case {
    let columns: [BilinearGrid.Tap]
    let rows: [BilinearGrid.Tap]
    let layout: BilinearGrid.Layout
    let values: [Float]

    /// A grid of any size and either order, enlarged or reduced; some numbers are equal.
    init(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      func side(_ sides: [Int]) -> Int { sides.randomElement(using: &random) ?? 1 }
      let (width, height) = (side([1, 2, 3, 9, 33]), side([1, 2, 5, 17]))
      // With 700 channels a row is computed in tiles.
      let channels = side([1, 2, 3, 21, 150, 700])
      let isChannelsLast = Bool.random(using: &random)
      layout = .init(
        width: width, height: height, channels: channels, perCell: isChannelsLast ? channels : 1,
        perChannel: isChannelsLast ? 1 : width * height)
      values = (0..<width * height * channels).map { _ in
        Bool.random(using: &random)
          ? Float(Int.random(in: -3...3, using: &random)) : .random(in: -100...100, using: &random)
      }
      func taps(_ count: Int, cells: Int) -> [BilinearGrid.Tap] {
        (0..<count).map { pixel in
          let position = (Float(pixel) + 0.5) / Float(count) * Float(cells) - 0.5
          let place = min(max(position, 0), Float(cells - 1))
          return BilinearGrid.Tap(
            first: Int(place), second: min(Int(place) + 1, cells - 1), weight: place - Float(Int(place)))
        }
      }
      columns = taps(side([1, 2, 15, 16, 17, 40, 101]), cells: width)
      rows = taps(side([1, 2, 7, 30]), cells: height)
    }

    /// The number of a channel at a pixel.
    func number(_ column: BilinearGrid.Tap, _ row: BilinearGrid.Tap, channel: Int) -> Float {
      func between(_ cells: Int) -> Float {
        func value(_ cell: Int) -> Float {
          values[(cells * layout.width + cell) * layout.perCell + channel * layout.perChannel]
        }
        return value(column.first) + (value(column.second) - value(column.first)) * column.weight
      }
      let (above, below) = (between(row.first), between(row.second))
      return above + (below - above) * row.weight
    }

    /// A function of each pixel, row by row.
    func pixels<T>(_ body: (BilinearGrid.Tap, BilinearGrid.Tap) -> T) -> [T] {
      rows.flatMap { row in columns.map { body($0, row) } }
    }
  }

  @Test(
    "the first of the largest channels, a threshold and numbers are those of the formula", arguments: 0..<60)
  func matchesFormula(seed: UInt64) {
    let one = Case(seed: seed)
    let largest = one.pixels { column, row in
      let numbers = (0..<one.layout.channels).map { one.number(column, row, channel: $0) }
      return UInt16(numbers.firstIndex(of: numbers.max() ?? 0) ?? 0)
    }
    let above = one.pixels { column, row in one.number(column, row, channel: 0) > 1.5 ? UInt16(1) : 0 }
    let last = one.layout.channels - 1
    let numbers = one.pixels { column, row in one.number(column, row, channel: last) }
    for kernels in KernelSet.supported {
      let grid = BilinearGrid(
        columns: one.columns, rows: one.rows, layout: one.layout, kernels: kernels)
      #expect(grid.largest(one.values.span) {} == largest, "\(kernels.name)")
      #expect(grid.above(1.5, one.values.span) {} == above, "\(kernels.name)")
      #expect(grid.enlarged(one.values.span, channel: last) == numbers, "\(kernels.name)")
    }
  }

  private struct Stop: Error {}

  @Test("a search of many pixels asks whether to stop")
  func asks() throws {
    let tap = BilinearGrid.Tap(first: 0, second: 0, weight: 0)
    let grid = BilinearGrid(
      columns: Array(repeating: tap, count: 2_000), rows: Array(repeating: tap, count: 2_000),
      layout: .init(width: 1, height: 1, channels: 5, perCell: 5, perChannel: 1), kernels: .portable)
    let values = [Float](repeating: 1, count: 5)
    #expect(throws: Stop.self) { try grid.largest(values.span) { () throws(Stop) in throw Stop() } }
  }

  @Test("classes are counted by every kernel set")
  func counts() {
    var random = SeededGenerator(seed: 7)
    let classes = (0..<5_001).map { _ in UInt16.random(in: 0...UInt16.max, using: &random) % 300 * 218 }
    var expected = [Int](repeating: 0, count: 1 << 16)
    for index in classes { expected[Int(index)] += 1 }
    for kernels in KernelSet.supported {
      var counts = ClassCounts(kernels: kernels)
      for part in [0..<17, 17..<classes.count, 0..<0] { counts.add(classes.span.extracting(part)) }
      #expect(counts.counters == expected, "\(kernels.name)")
    }
  }
}
