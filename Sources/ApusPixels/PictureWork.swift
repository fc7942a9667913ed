// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// One run of a resize, whose tiles are rows of results.
@safe struct PictureWork: TileWork {
  let resize: PictureResize
  /// The first byte of the region that is read; that of the picture, if rows are converted.
  let picture: UnsafePointer<UInt8>
  /// The end of the picture's bytes.
  let end: UnsafePointer<UInt8>
  let bases: UnsafePointer<Int>
  let weights: UnsafePointer<SIMD4<UInt32>>
  let elements: PictureElements
  /// Code that writes the elements; nil for plain Swift.
  let elementsCode: CodeFunction<PictureCode.Elements>?
  let scratch: PictureScratch
  let memory: UnsafeMutableRawPointer
  let tiles: Int

  func run(tile: Int, worker: Int) {
    let memory = unsafe self.memory + worker &* scratch.byteCount
    let columns = resize.columns.count
    let line = unsafe (memory + scratch.line).assumingMemoryBound(to: UInt32.self)
    var kept = (-1, -1)
    var held = 0..<0
    for row in share(of: resize.rows.count, tile: tile, of: tiles) {
      unsafe hold(row, memory, &held)
      switch resize.method {
      case .copy: unsafe copy(row, to: line, memory, held)
      case .blend: unsafe blend(row, to: line, memory, &kept, held)
      case .sums: unsafe sum(row, to: line, memory, held)
      }
      unsafe elements.write(line, row: row, columns: columns, resize.placement, elementsCode)
    }
  }

  // MARK: Rows

  /// Converts the rows that a result reads, unless they are held from the result before.
  private func hold(_ result: Int, _ memory: UnsafeMutableRawPointer, _ held: inout Range<Int>) {
    guard let conversion = resize.source.conversion else { return }
    let rows = resize.rows
    let first = rows.starts[result]
    let last = first &+ rows.offsets[result &+ 1] &- rows.offsets[result]
    if held.lowerBound <= first, last <= held.upperBound { return }
    let base = unsafe memory + scratch.converted
    var next = first
    if held.contains(first) {
      let offset = (first &- held.lowerBound) &* conversion.stride
      next = held.upperBound
      unsafe base.copyMemory(from: base + offset, byteCount: (next &- first) &* conversion.stride)
    }
    while next < last {
      let place = unsafe base + (next &- first) &* conversion.stride
      unsafe conversion.convert(next, of: picture, to: place.assumingMemoryBound(to: UInt8.self))
      next &+= 1
    }
    held = first..<last
  }

  /// The address of a row; that of its conversion, which is held, if there is one.
  private func place(ofRow row: Int, _ memory: UnsafeMutableRawPointer, _ held: Range<Int>) -> UnsafePointer<
    UInt8
  > {
    let source = resize.source
    guard source.conversion != nil else { return unsafe picture + row &* source.bytesPerRow }
    let offset = (row &- held.lowerBound) &* source.bytesPerRow &+ source.offset
    return unsafe UnsafePointer((memory + scratch.converted + offset).assumingMemoryBound(to: UInt8.self))
  }

  /// The address of a row with eight readable bytes beyond its end.
  private func address(ofRow row: Int, slot: Int, _ memory: UnsafeMutableRawPointer, _ held: Range<Int>)
    -> UnsafePointer<UInt8>
  {
    let place = unsafe place(ofRow: row, memory, held)
    if resize.source.conversion != nil { return unsafe place }
    let length = resize.source.rowLength
    if unsafe end - place >= length &+ 8 { return unsafe place }
    let copy = unsafe memory + scratch.copies + slot &* scratch.copyLength
    unsafe copy.copyMemory(from: place, byteCount: length)
    unsafe (copy + length).storeBytes(of: 0, as: UInt64.self)
    return unsafe UnsafePointer(copy.assumingMemoryBound(to: UInt8.self))
  }

  // MARK: Pixels as they are

  private func copy(
    _ row: Int, to line: UnsafeMutablePointer<UInt32>, _ memory: UnsafeMutableRawPointer, _ held: Range<Int>
  ) {
    let place = unsafe address(ofRow: resize.rows.starts[row], slot: 0, memory, held)
    let source = unsafe UnsafeRawPointer(place)
    for column in 0..<resize.columns.count {
      unsafe line[column] = source.loadUnaligned(fromByteOffset: bases[column], as: UInt32.self)
    }
  }

  // MARK: Means of two by two

  private func blend(
    _ row: Int, to line: UnsafeMutablePointer<UInt32>, _ memory: UnsafeMutableRawPointer,
    _ kept: inout (Int, Int), _ held: Range<Int>
  ) {
    let columns = resize.columns.count
    let first = resize.rows.starts[row]
    let second = resize.rows.offsets[row + 1] - resize.rows.offsets[row] > 1 ? first + 1 : first
    let pair = resize.rowWeights[row]
    if let code = resize.code.blend {
      unsafe withUnsafePointer(to: resize.order) { order in
        unsafe code.call(
          PictureCode.Blend(
            upper: Int(bitPattern: address(ofRow: first, slot: 0, memory, held)),
            lower: Int(bitPattern: address(ofRow: second, slot: 1, memory, held)),
            bases: Int(bitPattern: bases), weights: Int(bitPattern: weights), line: Int(bitPattern: line),
            count: (columns + 1) / 2, order: Int(bitPattern: order), rowWeights: pair))
      }
    } else {
      // When a picture is enlarged, its rows are gathered once for all results between them.
      let upper = unsafe gathered(first, keeping: second, memory, &kept, held)
      let lower = unsafe gathered(second, keeping: first, memory, &kept, held)
      let (high, low) = unsafe (memory + scratch.high, memory + scratch.low)
      let sums = unsafe memory + scratch.sums
      unsafe blendRows(upper, lower, pair, count: columns, high, low)
      unsafe blendColumns(high, low, weights, count: roundedUp(columns, to: 4), sums)
      unsafe packResults(sums, count: roundedUp(columns, to: 4), line)
    }
  }

  /// Gathers a row's pixels for each column. Two gathered rows are kept; `other` is not replaced.
  private func gathered(
    _ row: Int, keeping other: Int, _ memory: UnsafeMutableRawPointer, _ kept: inout (Int, Int),
    _ held: Range<Int>
  ) -> UnsafeRawPointer {
    let places = unsafe memory + scratch.gathered
    if kept.0 == row { return UnsafeRawPointer(places) }
    if kept.1 == row { return unsafe UnsafeRawPointer(places + scratch.gatheredLength) }
    let slot = kept.0 == other ? 1 : 0
    if slot == 0 { kept.0 = row } else { kept.1 = row }
    let place = unsafe places + slot &* scratch.gatheredLength
    let source = unsafe address(ofRow: row, slot: slot, memory, held)
    unsafe gatherPixels(
      source, bases, count: resize.columns.count, bytesPerPixel: resize.source.bytesPerPixel, place)
    return UnsafeRawPointer(place)
  }

  // MARK: Sums of rows and columns

  private func sum(
    _ row: Int, to line: UnsafeMutablePointer<UInt32>, _ memory: UnsafeMutableRawPointer, _ held: Range<Int>
  ) {
    let columns = resize.columns.count
    let step = resize.source.bytesPerPixel
    let (high, low) = unsafe (memory + scratch.high, memory + scratch.low)
    unsafe sumRows(row, place(ofRow: resize.rows.starts[row], memory, held), high, low)
    if let code = resize.code.columns {
      unsafe withUnsafePointer(to: resize.order) { order in
        unsafe code.call(
          PictureCode.Columns(
            high: Int(bitPattern: high), low: Int(bitPattern: low), bases: Int(bitPattern: bases),
            weights: Int(bitPattern: weights), line: Int(bitPattern: line), count: columns,
            order: Int(bitPattern: order)))
      }
    } else {
      let (pairs, sums) = unsafe (memory + scratch.pairs, memory + scratch.sums)
      unsafe pairPixels(high, count: resize.source.rowLength, bytesPerPixel: step, pairs)
      unsafe sumColumns(
        pairs, bases, weights, count: columns, bytesPerPixel: step, pairCount: resize.pairCount, sums)
      unsafe completeSums(
        low, bases, weights, count: columns, bytesPerPixel: step, pairCount: resize.pairCount, sums)
      unsafe packResults(sums, count: roundedUp(columns, to: 4), line)
    }
  }

  private func sumRows(
    _ row: Int, _ place: UnsafePointer<UInt8>, _ high: UnsafeMutableRawPointer,
    _ low: UnsafeMutableRawPointer
  ) {
    let source = resize.source
    let taps = resize.rows.offsets[row + 1] - resize.rows.offsets[row]
    let block = resize.code.rowBlock
    unsafe resize.rowWeights.withUnsafeBufferPointer { weights in
      guard let weights = unsafe weights.baseAddress.map({ unsafe $0 + row &* resize.rowPairCount }) else {
        return
      }
      let index = taps - resize.rows.tapRange.lowerBound
      guard index < resize.code.rows.count, source.rowLength >= block, let code = resize.code.rows[index]
      else {
        unsafe sumPictureRows(
          place, bytesPerRow: source.bytesPerRow, taps: taps, weights, count: source.rowLength, high, low)
        return
      }
      func call(_ offset: Int, _ blocks: Int) {
        unsafe code.call(
          PictureCode.Rows(
            source: Int(bitPattern: place + offset), bytesPerRow: source.bytesPerRow,
            weights: Int(bitPattern: weights), high: Int(bitPattern: high + 2 &* offset),
            low: Int(bitPattern: low + 2 &* offset), blocks: blocks))
      }
      call(0, source.rowLength / block)
      // The rest is computed together with bytes before it.
      if !source.rowLength.isMultiple(of: block) { call(source.rowLength - block, 1) }
    }
  }
}
