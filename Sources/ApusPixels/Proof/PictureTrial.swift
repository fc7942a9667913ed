// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// A small picture that a kernel set and plain Swift bring to the size of a model's input.
package struct PictureTrial: Sendable {
  /// The name of the resize or conversion.
  let name: String
  /// The bytes of the result with a set's code.
  let results: @Sendable (KernelSet) -> [UInt8]

  /// Where the code of a set for pictures first differs from plain Swift; nil if no trial finds a difference.
  package static func difference(of set: KernelSet) -> String? {
    for trial in all {
      let (found, expected) = (trial.results(set), trial.results(.portable))
      if let index = zip(found, expected).enumerated().first(where: { $1.0 != $1.1 })?.offset {
        return "\(trial.name): byte \(index) of \(expected.count) is \(found[index]), not \(expected[index])"
      }
    }
    return nil
  }

  private static let all: [PictureTrial] =
    [1, 3, 4].flatMap { bytesPerPixel in
      [
        resize("means of 2×2 pixels", bytesPerPixel, columns: halves(37), rows: halves(9)),
        resize("pixels between two", bytesPerPixel, columns: between(41), rows: between(11)),
      ]
        + [3, 4, 5, 8].map { taps in
          resize(
            "sums of \(taps) pixels", bytesPerPixel, columns: sums(29, taps: taps), rows: sums(7, taps: taps))
        }
    }
    + [tableOfFloats, tableOfBytes]
    + [classes("last", perCell: 5, perChannel: 1), classes("first", perCell: 1, perChannel: 7 * 6)]
    + [
      LumaChroma(
        width: 75, height: 4, lumaStride: 80, u: 320, v: 321, isShared: true, chromaStride: 76,
        rowsPerChroma: 2,
        colors: colors),
      LumaChroma(
        width: 75, height: 4, lumaStride: 80, u: 321, v: 320, isShared: true, chromaStride: 76,
        rowsPerChroma: 2,
        colors: colors),
      LumaChroma(
        width: 75, height: 4, lumaStride: 80, u: 320, v: 400, isShared: false, chromaStride: 40,
        rowsPerChroma: 2,
        colors: colors),
      LumaChroma(width: 75, height: 4, stride: 152, luma: 0, u: 1, v: 3, colors: colors),
      LumaChroma(width: 75, height: 4, stride: 152, luma: 1, u: 2, v: 0, colors: colors),
    ].map { convert($0) }

  private static let colors = LumaChromaColors(redWeight: 0.2126, blueWeight: 0.0722, isFull: false)

  // MARK: Axes

  /// Means of two neighbors.
  private static func halves(_ count: Int) -> PictureAxis {
    axis(count) { (2 * $0, [16_384, 16_384]) }
  }

  /// Pixels between two neighbors, in unequal shares.
  private static func between(_ count: Int) -> PictureAxis {
    axis(count) { index in
      let share = UInt16((index * 7_919) % 32_768)
      return (index * 3 / 4, [32_768 - share, share])
    }
  }

  /// Sums of `taps` neighbors, or of one fewer.
  private static func sums(_ count: Int, taps: Int) -> PictureAxis {
    axis(count) { index in
      let own = max(1, taps - index % 2)
      var weights = [UInt16](repeating: UInt16(32_768 / own), count: own)
      weights[0] += 32_768 % UInt16(own)
      return (2 * index, weights)
    }
  }

  private static func axis(
    _ count: Int, _ taps: (Int) -> (start: Int, weights: [UInt16])
  ) -> PictureAxis {
    let taps = (0..<count).map(taps)
    return PictureAxis(
      starts: taps.map(\.start),
      offsets: taps.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.weights.count) },
      weights: taps.flatMap(\.weights))
  }

  // MARK: Trials

  private static func resize(
    _ name: String, _ bytesPerPixel: Int, columns: PictureAxis, rows: PictureAxis
  ) -> PictureTrial {
    let source = source(columns, rows, bytesPerPixel: bytesPerPixel)
    let picture = bytes(source.bytesPerRow * source.height)
    return PictureTrial(name: "\(name) of \(bytesPerPixel) bytes") { set in
      run(
        PictureResize(
          columns: columns, rows: rows, source: source,
          placement: placement(columns: columns.count, channels: bytesPerPixel == 1 ? .one : .three(0, 1, 2)),
          kernels: set), picture)
    }
  }

  private static let tableWidth = 37
  private static let tablePixels = 37 * 9

  /// Entries of a table in the channels' reverse order, in planes.
  private static var tableOfFloats: PictureTrial {
    let placement = PicturePlacement(
      channels: .three(2, 1, 0), origin: 0, perColumn: 1, perRow: tableWidth, pixelStep: 1,
      channelStep: tablePixels)
    return throughTable("floats", bytesPerPixel: 4, placement) { resize, picture in
      var result = [Float](repeating: 0, count: 3 * tablePixels)
      var span = result.mutableSpan
      resize.run(
        picture.span, into: &span, table: (0..<768).map { Float($0) / 3 }, team: ThreadTeam(count: 1))
      return result.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * $0)) }
      }
    }
  }

  /// Entries of a table in a picture that is turned by 180°.
  private static var tableOfBytes: PictureTrial {
    let placement = PicturePlacement(
      channels: .three(0, 1, 2), origin: tablePixels - 1, perColumn: -1, perRow: -tableWidth, pixelStep: 3,
      channelStep: 1)
    return throughTable("bytes", bytesPerPixel: 3, placement) { resize, picture in
      var result = [UInt8](repeating: 0xA5, count: 3 * tablePixels)
      var span = result.mutableSpan
      let table = (0..<768).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 >> 8) }
      resize.run(picture.span, into: &span, table: table, team: ThreadTeam(count: 1))
      return result
    }
  }

  /// The largest of five channels of 7×6 cells at 45×23 pixels, equal ones among them, and how often each is.
  private static func classes(_ place: String, perCell: Int, perChannel: Int) -> PictureTrial {
    let values = bytes(7 * 6 * 5).map { Float($0 / 32) - 3.7 }
    let (columns, rows) = (taps(45, cells: 7), taps(23, cells: 6))
    return PictureTrial(name: "classes of channels \(place)") { set in
      let grid = BilinearGrid(
        columns: columns, rows: rows,
        layout: .init(width: 7, height: 6, channels: 5, perCell: perCell, perChannel: perChannel),
        kernels: set)
      let classes = grid.largest(values.span) {} + grid.above(0.25, values.span) {}
      var counts = ClassCounts(kernels: set)
      counts.add(classes.span)
      return classes.map { UInt8(truncatingIfNeeded: $0) }
        + counts.counters.prefix(8).map { UInt8(truncatingIfNeeded: $0) }
    }
  }

  /// Pixels between the centers of cells.
  private static func taps(_ count: Int, cells: Int) -> [BilinearGrid.Tap] {
    (0..<count).map { pixel in
      let position = max((Float(pixel) + 0.5) / Float(count) * Float(cells) - 0.5, 0)
      let first = Int(position)
      return BilinearGrid.Tap(
        first: first, second: min(first + 1, cells - 1), weight: position - Float(first))
    }
  }

  private static func throughTable(
    _ type: String, bytesPerPixel: Int, _ placement: PicturePlacement,
    _ results: @escaping @Sendable (PictureResize, [UInt8]) -> [UInt8]
  ) -> PictureTrial {
    let (columns, rows) = (halves(tableWidth), halves(tablePixels / tableWidth))
    let source = source(columns, rows, bytesPerPixel: bytesPerPixel)
    let picture = bytes(source.bytesPerRow * source.height)
    return PictureTrial(name: "entries of a table of \(type)") { set in
      results(
        PictureResize(columns: columns, rows: rows, source: source, placement: placement, kernels: set),
        picture)
    }
  }

  /// A picture of the size that axes read.
  private static func source(_ columns: PictureAxis, _ rows: PictureAxis, bytesPerPixel: Int)
    -> PictureResize.Source
  {
    PictureResize.Source(
      offset: 0, width: columns.sourceCount, height: rows.sourceCount, bytesPerPixel: bytesPerPixel,
      bytesPerRow: columns.sourceCount * bytesPerPixel)
  }

  private static func convert(_ layout: LumaChroma) -> PictureTrial {
    let picture = bytes(layout.byteCount)
    let (columns, rows) = (axis(layout.width) { ($0, [32_768]) }, axis(layout.height) { ($0, [32_768]) })
    return PictureTrial(name: "luma and chroma (\(layout.form))") { set in
      let source = PictureResize.Source(
        layout, x: 0, y: 0, width: layout.width, height: layout.height, kernels: set)
      return run(
        PictureResize(
          columns: columns, rows: rows, source: source,
          placement: placement(columns: columns.count, channels: .three(0, 1, 2)), kernels: set), picture)
    }
  }

  private static func placement(columns: Int, channels: PicturePlacement.Channels) -> PicturePlacement {
    var count = 1
    if case .three = channels { count = 3 }
    return PicturePlacement(
      channels: channels, origin: 0, perColumn: 1, perRow: columns, pixelStep: count, channelStep: 1)
  }

  private static func run(_ resize: PictureResize, _ picture: [UInt8]) -> [UInt8] {
    var result = [UInt8](
      repeating: 0xA5, count: resize.columns.count * resize.rows.count * resize.placement.channelCount)
    var span = result.mutableSpan
    resize.run(picture.span, into: &span, team: ThreadTeam(count: 1))
    return result
  }

  /// Bytes without a pattern.
  private static func bytes(_ count: Int) -> [UInt8] {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  }
}
