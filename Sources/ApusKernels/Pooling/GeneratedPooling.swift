// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusRuntime

/// A pooling layer in generated code: one reduction over all taps of each window, or two.
///
/// The two-stage form first reduces the taps of each input column. That runs over whole rows of memory, so
/// vectors are full however few channels there are. Then it reduces the columns of each window.
final class GeneratedPooling: Sendable {
  /// Consecutive output columns whose windows have equally many input columns and are a stride apart.
  private struct Run {
    let first: Int
    var count: Int
    /// The input columns of the first window.
    let taps: PoolingTaps.Taps
    /// The index of the first tap offset in ``offsets``.
    let list: Int
  }

  private let pooling: Pooling
  /// The first stage, which reduces rows of the input; nil if windows are reduced at once.
  private let rows: TapReductionCode?
  /// The last stage.
  private let windows: TapReductionCode
  /// The offsets of taps: first those of one column, row by row; then a list for each width of windows.
  private let offsets: [Int]
  private let runs: [Run]
  /// The first channel of each vector of a pixel; the last may overlap the one before it.
  private let vectors: [Int]

  /// The maximum length of a list of offsets.
  private static let maximumTaps = 64
  /// From this number of whole vectors on, pixels are computed one by one.
  private static let manyVectors = 4
  private static let maximumRows = 1 << 12
  /// The maximum number of vectors that a call reads, which takes some milliseconds, unless a single result
  /// needs more.
  private static let maximumReads = 1 << 22

  /// Plans a pooling layer; throws if the set has no code for it.
  init(_ pooling: Pooling, using kernels: any GeneratedKernels) throws(Decline) {
    self.pooling = pooling
    let p = pooling
    let (height, width) = p.maximumTaps
    func hasNoCode() -> Decline {
      Decline("windows of \(height)×\(width) of \(p.channels) channels have no code")
    }
    // Large windows are declined before `tapReductions`, which visits all sizes of windows.
    guard height <= Self.maximumRows, width <= Self.maximumRows else { throw hasNoCode() }
    let (first, last) = try pooling.tapReductions
    let (kept, most) = (last.byteCounts.kept, kernels.vectorByteCount)
    let widths = [16, 32, 64].filter { $0 <= most && ($0 > 16 || kept != 2) }
    // The widest vectors that a pixel fills, and the narrowest that hold all its channels.
    let filled = widths.last { $0 <= p.channels * kept }
    let roomy = widths.first { $0 >= p.channels * kept } ?? most
    let byRows = widths.last { $0 <= p.horizontal.size * p.channels * kept }
    /// The cycles of a reduction per pixel: a load of 512 bits takes two.
    func cycles(_ loads: Int, _ width: Int, contiguous: Bool = false) -> Double {
      let vectors =
        contiguous
        ? Double(p.channels * kept) / Double(width) : Double(ceilingQuotient(p.channels * kept, width))
      return Double(loads) * vectors * (width == 64 ? 1 : 0.5)
    }
    let direct =
      filled.map { height * width > Self.maximumTaps ? .infinity : cycles(height * width + 1, $0) }
      ?? .infinity
    let isContiguous = p.horizontal.stride == 1
    let twice =
      byRows.map {
        cycles(height + 2, $0, contiguous: true) * Double(p.horizontal.stride)
          + cycles(width + 2, isContiguous ? most : roomy, contiguous: isContiguous)
      } ?? .infinity
    guard min(direct, twice).isFinite else { throw hasNoCode() }
    let result: TapReduction.Result =
      switch last {
      case .greatestFloats, .greatestSignedBytes, .greatestUnsignedBytes: .bounded
      case .sumOfFloats: p.countsArePowersOfTwo ? .product : .quotient
      default: .product
      }
    let isDirect = direct <= twice
    if isDirect {
      rows = nil
      windows = try kernels.pooling(TapReduction(operation: first, result: result, width: filled ?? most))
    } else {
      rows = try kernels.pooling(TapReduction(operation: first, result: .kept, width: byRows ?? most))
      windows = try kernels.pooling(
        TapReduction(operation: last, result: result, width: isContiguous ? most : roomy))
    }

    let lanes = windows.reduction.lanes
    var vectors = Array(stride(from: 0, to: p.channels, by: lanes))
    if p.channels > lanes { vectors[vectors.count - 1] = p.channels - lanes }
    self.vectors = vectors

    let source = first.byteCounts.source
    let rowByteCount = p.horizontal.size * p.channels * source
    var offsets = (0..<height).map { $0 * rowByteCount }
    var lists: [(columns: Int, offsets: Int)] = []
    // For rows, the lists of fewer columns are prefixes of the longest.
    let start = offsets.count
    if !isDirect { offsets += (0..<width).map { $0 * p.channels * kept } }
    var runs: [Run] = []
    for (column, taps) in p.columnTaps.enumerated() {
      if let run = runs.last, run.taps.count == taps.count,
        run.taps.first + run.count * p.horizontal.stride == taps.first
      {
        runs[runs.count - 1].count += 1
        continue
      }
      var list = start
      if isDirect {
        if let known = lists.first(where: { $0.columns == taps.count }) {
          list = known.offsets
        } else {
          list = offsets.count
          lists.append((taps.count, list))
          for row in 0..<height {
            for tap in 0..<taps.count { offsets.append(row * rowByteCount + tap * p.channels * source) }
          }
        }
      }
      runs.append(Run(first: column, count: 1, taps: taps, list: list))
    }
    self.offsets = offsets
    self.runs = runs
  }

  var implementation: String {
    rows == nil
      ? "generated vectors of \(windows.reduction.lanes) channels, all taps of a window at once"
      : "generated vectors of \(windows.reduction.lanes) channels, rows of the input first"
  }

  // MARK: Running

  /// A worker's memory: what rows make, with room to read a vector beyond it; and a row of the output, with room to write one.
  var scratchByteCount: Int { rows == nil ? 0 : rowByteCount + outputRowByteCount }
  private var rowByteCount: Int {
    roundedUp(
      pooling.horizontal.size * pooling.channels * windows.reduction.operation.byteCounts.source, to: 64)
      + 64
  }
  private var outputRowByteCount: Int {
    roundedUp(pooling.horizontal.places * pooling.channels * windows.reduction.resultByteCount, to: 64) + 64
  }

  /// Computes some rows of the output.
  func run(
    _ input: UnsafeRawPointer, to output: UnsafeMutableRawPointer, rows range: Range<Int>,
    scratch: UnsafeMutableRawPointer, threads: ThreadTeam
  ) {
    var poll = StopPoll(threads)
    let p = pooling
    let rowByteCount = p.horizontal.places &* p.channels &* windows.reduction.resultByteCount
    unsafe offsets.withUnsafeBufferPointer { offsets in
      for row in range {
        let (image, taps) = p.window(row: row)
        let place = (image &* p.vertical.size &+ taps.first) &* p.horizontal.size &* p.channels
        let target = unsafe output + row &* rowByteCount
        guard let code = rows else {
          let source = Int(bitPattern: input) &+ place &* windows.reduction.operation.byteCounts.source
          unsafe runWindows(source, Int(bitPattern: target), rows: taps.count, offsets, &poll)
          continue
        }
        unsafe combineRows(
          code, Int(bitPattern: input) &+ place &* code.reduction.operation.byteCounts.source,
          to: Int(bitPattern: scratch), rows: taps.count, offsets, &poll)
        // Stores beyond a pixel are overwritten by later ones, except in the tile's last row.
        let isLast = (range.upperBound &- 1 &- row) &* rowByteCount < 64
        let spare = unsafe scratch + self.rowByteCount
        unsafe runWindows(
          Int(bitPattern: scratch), Int(bitPattern: isLast ? spare : target), rows: taps.count, offsets,
          &poll)
        if isLast { unsafe target.copyMemory(from: spare, byteCount: rowByteCount) }
      }
    }
  }

  /// The first stage: reduces rows of the input.
  private func combineRows(
    _ code: TapReductionCode, _ source: Int, to target: Int, rows: Int,
    _ offsets: UnsafeBufferPointer<Int>, _ poll: inout StopPoll
  ) {
    let (count, lanes) = (pooling.horizontal.size &* pooling.channels, code.reduction.lanes)
    let (from, kept) = code.reduction.operation.byteCounts
    var arguments = pooling.arguments(of: code.reduction, taps: 1)
    arguments.source = source
    arguments.target = target
    arguments.count = count / lanes
    arguments.sourceStep = lanes &* from
    arguments.targetStep = lanes &* kept
    unsafe list(&arguments, offsets, first: 0, count: rows)
    call(code, arguments, taps: rows, &poll)
    guard !count.isMultiple(of: lanes) else { return }
    // The last vector overlaps the one before it.
    arguments.source = source &+ (count &- lanes) &* from
    arguments.target = target &+ (count &- lanes) &* kept
    arguments.count = 1
    code.function.call(arguments)
  }

  /// The last stage: computes a row of the output from windows that begin in a row of the source.
  private func runWindows(
    _ source: Int, _ target: Int, rows: Int, _ offsets: UnsafeBufferPointer<Int>, _ poll: inout StopPoll
  ) {
    let (p, reduction) = (pooling, windows.reduction)
    let (from, to) = (
      reduction.operation.byteCounts.source &* p.channels, reduction.resultByteCount &* p.channels
    )
    for run in runs {
      let taps = self.rows == nil ? rows &* run.taps.count : run.taps.count
      var arguments = p.arguments(of: reduction, taps: rows &* run.taps.count)
      let (first, place) = (source &+ run.taps.first &* from, target &+ run.first &* to)
      unsafe list(&arguments, offsets, first: run.list, count: taps)
      if self.rows != nil, p.horizontal.stride == 1, run.count > 1 {
        // Neighboring windows are contiguous in memory.
        arguments.source = first
        arguments.target = place
        arguments.count = ceilingQuotient(run.count &* p.channels, reduction.lanes)
        arguments.sourceStep = reduction.lanes &* reduction.operation.byteCounts.source
        arguments.targetStep = reduction.lanes &* reduction.resultByteCount
        call(windows, arguments, taps: taps, &poll)
        continue
      }
      // If pixels have few vectors, those of neighboring pixels are computed together.
      let whole = p.channels / reduction.lanes
      let isByPixels = whole >= Self.manyVectors || whole > run.count
      if isByPixels {
        arguments.source = first
        arguments.target = place
        arguments.count = whole
        arguments.sourceStep = reduction.lanes &* reduction.operation.byteCounts.source
        arguments.targetStep = reduction.lanes &* reduction.resultByteCount
        arguments.pixels = run.count
        arguments.sourcePixelStep = p.horizontal.stride &* from
        arguments.targetPixelStep = to
        call(windows, arguments, taps: taps, &poll)
      }
      arguments.count = run.count
      arguments.sourceStep = p.horizontal.stride &* from
      arguments.targetStep = to
      arguments.pixels = 1
      for channel in isByPixels ? vectors[whole...] : vectors[...] {
        arguments.source = first &+ channel &* reduction.operation.byteCounts.source
        arguments.target = place &+ channel &* reduction.resultByteCount
        call(windows, arguments, taps: taps, &poll)
      }
    }
  }

  /// Calls a function; a long call is split, with checks for cancellation in between.
  @inline(__always)
  private func call(
    _ code: TapReductionCode, _ arguments: TapReductionCode.Arguments, taps: Int, _ poll: inout StopPoll
  ) {
    guard taps &* arguments.count &* arguments.pixels > Self.maximumReads else {
      return code.function.call(arguments)
    }
    callInPieces(code, arguments, taps: taps, &poll)
  }

  @inline(never)
  private func callInPieces(
    _ code: TapReductionCode, _ arguments: TapReductionCode.Arguments, taps: Int, _ poll: inout StopPoll
  ) {
    for pixel in 0..<arguments.pixels {
      var piece = arguments
      piece.pixels = 1
      piece.source = arguments.source &+ pixel &* arguments.sourcePixelStep
      piece.target = arguments.target &+ pixel &* arguments.targetPixelStep
      var left = arguments.count
      while left > 0 {
        piece.count = min(left, max(1, Self.maximumReads / max(taps, 1)))
        if poll.mustStop(before: taps &* piece.count) { return }
        code.function.call(piece)
        piece.source &+= piece.count &* piece.sourceStep
        piece.target &+= piece.count &* piece.targetStep
        left &-= piece.count
      }
    }
  }

  private func list(
    _ arguments: inout TapReductionCode.Arguments, _ offsets: UnsafeBufferPointer<Int>, first: Int, count: Int
  ) {
    arguments.taps = Int(bitPattern: offsets.baseAddress) &+ 8 &* first
    arguments.tapsEnd = arguments.taps &+ 8 &* count
  }
}
