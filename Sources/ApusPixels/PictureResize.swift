// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels
import ApusRuntime

/// A resize of a picture into a model's input, prepared for one size. Rotation, reordering and conversion are
/// applied to the few results as they are stored.
///
/// A result is `(Σ wy · wx · v + 2²⁹) >> 30` on every path: sums are exact, so their order makes no
/// difference.
package final class PictureResize: Sendable {
  /// The region of a stored picture that is read.
  package struct Source: Sendable {
    /// The offset of the region's first byte; in luma and chroma, that of its first pixel in a converted row.
    package let offset: Int
    /// The region's width and height in pixels.
    package let width: Int
    package let height: Int
    /// Bytes per pixel, 1, 3 or 4, and per row.
    package let bytesPerPixel: Int
    package let bytesPerRow: Int
    /// For luma and chroma: how rows are converted before they are read. A pixel then has red, green, blue and a byte without meaning.
    let conversion: LumaChromaRows?

    package init(offset: Int, width: Int, height: Int, bytesPerPixel: Int, bytesPerRow: Int) {
      self.offset = offset
      self.width = width
      self.height = height
      self.bytesPerPixel = bytesPerPixel
      self.bytesPerRow = bytesPerRow
      conversion = nil
    }

    /// A region of a picture of luma and chroma.
    package init(_ picture: LumaChroma, x: Int, y: Int, width: Int, height: Int, kernels: KernelSet) {
      precondition(x >= 0 && y >= 0 && width > 0 && height > 0)
      precondition(x + width <= picture.width && y + height <= picture.height)
      let rows = LumaChromaRows(picture, x: x, y: y, width: width, kernels: kernels)
      offset = x % 2 * 4
      self.width = width
      self.height = height
      bytesPerPixel = 4
      bytesPerRow = rows.stride
      conversion = rows
    }

    /// Bytes of the region in a row.
    var rowLength: Int { width * bytesPerPixel }
  }

  /// How results are computed.
  enum Method {
    /// Each result is a pixel.
    case copy
    /// Each result is a mean of 2×2 pixels: only those are read.
    case blend
    /// Weighted sums of whole rows, then of columns.
    case sums
  }

  let columns: PictureAxis
  let rows: PictureAxis
  let source: Source
  let placement: PicturePlacement
  let method: Method
  /// For `blend` and `copy`: the offset of each column's pixels in a row. For `sums`: the offset of its
  /// values in the sums of a row.
  let bases: [Int]
  /// For each column, pairs of weights, each four times.
  let weights: [SIMD4<UInt32>]
  /// Pairs of weights per column.
  let pairCount: Int
  /// For each row, its pairs of weights.
  let rowWeights: [UInt32]
  let rowPairCount: Int
  let code: PictureCode
  private let kernels: KernelSet
  /// The `vpshufb` mask for the code of `blend`, or of `sums`.
  let order: SIMD32<UInt8>

  /// Prepares a resize; the axes are those of the stored raster.
  package init(
    columns: PictureAxis, rows: PictureAxis, source: Source, placement: PicturePlacement, kernels: KernelSet
  ) {
    precondition([1, 3, 4].contains(source.bytesPerPixel) && source.offset >= 0)
    precondition(columns.count > 0 && rows.count > 0)
    precondition(columns.sourceCount <= source.width && rows.sourceCount <= source.height)
    precondition(source.bytesPerRow >= source.rowLength)
    self.columns = columns
    self.rows = rows
    self.source = source
    self.placement = placement
    let isSparse = columns.maximumTaps <= 2 && rows.maximumTaps <= 2 && source.width > 1
    method = columns.maximumTaps == 1 && rows.maximumTaps == 1 ? .copy : isSparse ? .blend : .sums
    pairCount = (columns.maximumTaps + 1) / 2
    // Columns are computed in fours; missing ones have no weight.
    let padded = roundedUp(columns.count, to: 4)
    var bases = [Int](repeating: 0, count: padded)
    var weights = [SIMD4<UInt32>](repeating: .zero, count: padded * pairCount)
    for column in 0..<columns.count { bases[column] = columns.starts[column] * source.bytesPerPixel }
    switch method {
    case .copy: break
    case .blend:
      for column in 0..<columns.count {
        var pair = columns.pair(0, of: column)
        if columns.starts[column] == source.width - 1 {
          // The last pixel is loaded as the second of a pair.
          bases[column] -= source.bytesPerPixel
          pair <<= 16
        }
        weights[column] = SIMD4(repeating: pair)
      }
    case .sums: Self.store(columns.pairs(pairCount), to: &weights)
    }
    self.bases = bases
    self.weights = weights
    let rowPairCount = (rows.maximumTaps + 1) / 2
    self.rowPairCount = rowPairCount
    rowWeights = rows.pairs(rowPairCount)
    self.kernels = kernels
    code = kernels.pictureCode(
      PictureCode.Shape(
        method: method, bytesPerPixel: source.bytesPerPixel, pairCount: pairCount, rowTaps: rows.tapRange))
    order = pictureOrder(source.bytesPerPixel, ofWords: method == .sums)
  }

  /// Stores each pair of weights four times.
  private static func store(_ pairs: [UInt32], to weights: inout [SIMD4<UInt32>]) {
    unsafe weights.withUnsafeMutableBytes { weights in
      unsafe pairs.withUnsafeBufferPointer { pairs in
        guard let to = unsafe weights.baseAddress?.assumingMemoryBound(to: UInt32.self),
          let from = pairs.baseAddress
        else { return }
        var index = 0
        while index < pairs.count {
          let pair = unsafe from[index]
          unsafe to[4 &* index] = pair
          unsafe to[4 &* index &+ 1] = pair
          unsafe to[4 &* index &+ 2] = pair
          unsafe to[4 &* index &+ 3] = pair
          index &+= 1
        }
      }
    }
  }

  /// Writes bytes, with some bits flipped.
  package func run(
    _ picture: Span<UInt8>, into target: inout MutableSpan<UInt8>, flip: UInt8 = 0, team: ThreadTeam
  ) {
    precondition(placement.fits(columns: columns.count, rows: rows.count, count: target.count))
    unsafe target.withUnsafeMutableBufferPointer { target in
      guard let base = target.baseAddress else { return }
      unsafe run(picture, .bytes(base, flip: flip), team)
    }
  }

  /// Writes for each byte the entry in a table of 256 per channel.
  package func run(
    _ picture: Span<UInt8>, into target: inout MutableSpan<UInt8>, table: [UInt8], team: ThreadTeam
  ) {
    precondition(placement.fits(columns: columns.count, rows: rows.count, count: target.count))
    precondition(table.count == 256 * placement.channelCount)
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe table.withUnsafeBufferPointer { table in
        guard let base = target.baseAddress, let table = table.baseAddress else { return }
        unsafe run(picture, .mappedBytes(base, table: table), team)
      }
    }
  }

  /// Writes for each byte the entry in a table of 256 per channel.
  package func run(
    _ picture: Span<UInt8>, into target: inout MutableSpan<Float>, table: [Float], team: ThreadTeam
  ) {
    precondition(placement.fits(columns: columns.count, rows: rows.count, count: target.count))
    precondition(table.count == 256 * placement.channelCount)
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe table.withUnsafeBufferPointer { table in
        guard let base = target.baseAddress, let table = table.baseAddress else { return }
        unsafe run(picture, .floats(base, table: table), team)
      }
    }
  }

  /// Writes signed bytes: the picture's bytes minus 128.
  package func run(
    _ picture: Span<UInt8>, intoSigned target: inout MutableSpan<Int8>, team: ThreadTeam
  ) {
    precondition(placement.fits(columns: columns.count, rows: rows.count, count: target.count))
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe target.withMemoryRebound(to: UInt8.self) { target in
        guard let base = target.baseAddress else { return }
        unsafe run(picture, .bytes(base, flip: 0x80), team)
      }
    }
  }

  /// Writes for each byte the entry in a table of 256 per channel.
  package func run(
    _ picture: Span<UInt8>, intoSigned target: inout MutableSpan<Int8>, table: [Int8], team: ThreadTeam
  ) {
    precondition(placement.fits(columns: columns.count, rows: rows.count, count: target.count))
    precondition(table.count == 256 * placement.channelCount)
    let table = table.map { UInt8(bitPattern: $0) }
    unsafe target.withUnsafeMutableBufferPointer { target in
      unsafe target.withMemoryRebound(to: UInt8.self) { target in
        unsafe table.withUnsafeBufferPointer { table in
          guard let base = target.baseAddress, let table = table.baseAddress else { return }
          unsafe run(picture, .mappedBytes(base, table: table), team)
        }
      }
    }
  }

  private func run(_ picture: Span<UInt8>, _ elements: PictureElements, _ team: ThreadTeam) {
    let end =
      source.conversion?.picture.byteCount
      ?? source.offset + (source.height - 1) * source.bytesPerRow + source.rowLength
    precondition(end <= picture.count)
    let elementsCode = kernels.pictureCode(for: elements, placement)
    ExecutableMemory.seal()
    // Tiles are rows of results; their number depends on the bytes that they read.
    let read =
      method == .sums || source.conversion != nil
      ? source.height * source.rowLength : rows.count * columns.count * 16
    let tiles = team.tileCount(rows: rows.count, bytes: read, alone: 1)
    let scratch = PictureScratch(self)
    let workers = min(team.count, tiles)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: scratch.byteCount * workers, alignment: PictureScratch.alignment)
    defer { unsafe memory.deallocate() }
    unsafe picture.withUnsafeBufferPointer { picture in
      unsafe bases.withUnsafeBufferPointer { bases in
        unsafe weights.withUnsafeBufferPointer { weights in
          guard let start = picture.baseAddress, let bases = bases.baseAddress,
            let weights = weights.baseAddress
          else { return }
          let work = unsafe PictureWork(
            resize: self, picture: source.conversion == nil ? start + source.offset : start,
            end: start + picture.count, bases: bases,
            weights: weights, elements: elements, elementsCode: elementsCode, scratch: scratch,
            memory: memory, tiles: tiles)
          team.run(tiles: tiles, work)
        }
      }
    }
  }
}
