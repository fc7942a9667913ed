// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// Gathers a tile's input into planes of eight lanes, borders and repeated channels included.
struct PlaneGathering<Conversion: PlaneConversion> {
  let convolution: Convolution
  let tiling: DepthwiseTiling
  let conversion: Conversion

  /// Fills the planes of `tile` at `lanes`.
  func gather(
    _ tile: DepthwiseTiling.Tile, from input: UnsafeRawPointer,
    to lanes: UnsafeMutablePointer<Conversion.Lane>
  ) {
    let channels = convolution.inputChannels
    let y0 = tile.rows.lowerBound &* convolution.strideHeight &- convolution.paddingTop
    let x0 = tile.columns.lowerBound &* convolution.strideWidth &- convolution.paddingLeft
    // In tiles of one row (or column) taps are adjacent: the step in the input is then the dilation.
    let yStep = tiling.rowsPerTile == 1 ? convolution.dilationHeight : 1
    let xStep = tiling.columnsPerTile == 1 ? convolution.dilationWidth : 1
    for group in tile.groups {
      let plane = unsafe lanes + (group &- tile.groups.lowerBound) &* tiling.planeCount
      for row in 0..<tiling.planeRows {
        let y = y0 &+ row &* yStep
        let line = unsafe plane + row &* tiling.planeColumns &* 8
        guard y >= 0, y < convolution.inputHeight else {
          unsafe clear(line, columns: 0..<tiling.planeColumns)
          continue
        }
        // The columns inside the input.
        let first = min(tiling.planeColumns, x0 >= 0 ? 0 : ceilingQuotient(0 &- x0, xStep))
        let room = convolution.inputWidth &- x0
        let last = max(first, min(tiling.planeColumns, room > 0 ? ceilingQuotient(room, xStep) : 0))
        unsafe clear(line, columns: 0..<first)
        unsafe clear(line, columns: last..<tiling.planeColumns)
        let start =
          ((tile.batch &* convolution.inputHeight &+ y) &* convolution.inputWidth &+ x0 &+ first &* xStep)
          &* channels
        unsafe copy(
          group: group, count: last &- first, step: xStep &* channels &* Conversion.elementByteCount,
          from: input + start &* Conversion.elementByteCount, to: line + first &* 8)
        unsafe conversion.finish(line, columns: tiling.planeColumns, tapStep: tiling.tapColumnStep)
      }
    }
  }

  /// Converts one group's channels of `count` columns.
  @inline(__always)
  private func copy(
    group: Int, count: Int, step: Int, from source: UnsafeRawPointer,
    to line: UnsafeMutablePointer<Conversion.Lane>
  ) {
    let size = Conversion.elementByteCount
    var source = unsafe source
    var destination = unsafe line
    if convolution.outputChannels == convolution.inputChannels, group &* 8 &+ 8 <= convolution.inputChannels {
      unsafe conversion.convertLine(source + group &* 8 &* size, step: step, count: count, to: line)
      return
    }
    let used = min(8, convolution.outputChannels &- group &* 8)
    let multiplier = convolution.depthMultiplier
    for _ in 0..<count {
      for lane in 0..<used {
        let channel = (group &* 8 &+ lane) / multiplier
        unsafe destination[lane] = conversion.convertOne(source + channel &* size)
      }
      for lane in used..<8 { unsafe destination[lane] = conversion.padding }
      unsafe source += step
      unsafe destination += 8
    }
  }

  private func clear(_ line: UnsafeMutablePointer<Conversion.Lane>, columns: Range<Int>) {
    unsafe (line + columns.lowerBound &* 8).update(repeating: conversion.padding, count: columns.count &* 8)
  }
}
