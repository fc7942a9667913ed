// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// The Fourier transform of real planes, cropped or zero-padded to `height × width`: of each row, then of
/// each of the first `width / 2 + 1` columns.
package struct PlaneTransform: Sendable {
  private let planes: Int
  private let sizes: (height: Int, width: Int)
  private let rows: RealFourierTransform
  private let columns: FourierTransform

  /// Computes the tables for `planes` planes of `sizes`; `height` and `width` are powers of two up to 2³¹.
  package init(planes: Int, sizes: (height: Int, width: Int), height: Int, width: Int) {
    self.planes = planes
    self.sizes = sizes
    rows = RealFourierTransform(count: width)
    columns = FourierTransform(count: height)
  }

  /// The scratch memory of a run in bytes; nil on overflow.
  package static func scratchByteCount(height: Int, width: Int, threads: Int) -> Int? {
    let (plane, overflow) = height.multipliedReportingOverflow(by: width / 2 + 1)
    // A plane's results, a row and a column.
    let worker = plane.multipliedReportingOverflow(by: 2)
    guard !overflow, !worker.overflow, worker.partialValue < 1 << 48 else { return nil }
    return (worker.partialValue + width + 2 + 2 * height) * threads * MemoryLayout<Double>.stride
  }

  /// Transforms floats to pairs of floats, real and imaginary parts.
  package func run(
    _ input: RawSpan, to output: inout MutableRawSpan, scratch: inout MutableRawSpan, threads: ThreadTeam
  ) {
    let results = columns.count * rows.resultCount
    let work = 2 * results + rows.workCount + 2 * columns.count
    precondition(
      input.byteCount >= planes * sizes.height * sizes.width * 4 && output.byteCount >= planes * results * 8
        && scratch.byteCount >= work * threads.count * 8)
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe scratch.withUnsafeMutableBytes { scratch in
          guard let output = output.baseAddress, let scratch = scratch.baseAddress else { return }
          // Planes without elements have no memory; they count as zeros.
          threads.run(
            tiles: planes,
            unsafe Work(
              transform: self, input: input.baseAddress?.assumingMemoryBound(to: Float.self),
              output: output.assumingMemoryBound(to: Float.self),
              scratch: scratch.assumingMemoryBound(to: Double.self), workCount: work, threads: threads))
        }
      }
    }
  }

  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let transform: PlaneTransform
    let input: UnsafePointer<Float>?
    let output: UnsafeMutablePointer<Float>
    let scratch: UnsafeMutablePointer<Double>
    let workCount: Int
    let threads: ThreadTeam

    func run(tile: Int, worker: Int) {
      let (height, width) = (transform.columns.count, transform.rows.resultCount)
      let plane = unsafe scratch + worker &* workCount
      let row = unsafe plane + 2 &* height &* width
      let column = unsafe row + transform.rows.workCount
      var poll = StopPoll(threads)
      for index in 0..<height {
        if poll.mustStop(before: 16 &* width) { return }
        unsafe transform.transformRow(index, ofPlane: tile, of: input, row)
        for place in 0..<width {
          unsafe plane[2 &* (index &* width &+ place)] = row[place]
          unsafe plane[2 &* (index &* width &+ place) &+ 1] = row[width &+ place]
        }
      }
      if height > 1 {
        for place in 0..<width {
          if poll.mustStop(before: 16 &* height) { return }
          unsafe transform.transformColumn(plane + 2 &* place, column)
        }
      }
      let result = unsafe output + tile &* 2 &* height &* width
      for index in 0..<2 &* height &* width { unsafe result[index] = Float(plane[index]) }
    }
  }

  private func transformRow(
    _ index: Int, ofPlane plane: Int, of input: UnsafePointer<Float>?, _ row: UnsafeMutablePointer<Double>
  ) {
    guard index < sizes.height, let input = unsafe input else {
      unsafe row.initialize(repeating: 0, count: rows.workCount)
      return
    }
    let source = unsafe input + (plane &* sizes.height &+ index) &* sizes.width
    unsafe rows.run(row) { place in unsafe place < sizes.width ? Double(source[place]) : 0 }
  }

  private func transformColumn(_ top: UnsafeMutablePointer<Double>, _ column: UnsafeMutablePointer<Double>) {
    let step = 2 &* rows.resultCount
    let imaginaries = unsafe column + columns.count
    for index in 0..<columns.count {
      unsafe column[index] = top[index &* step]
      unsafe imaginaries[index] = top[index &* step &+ 1]
    }
    unsafe columns.run(column, imaginaries)
    for index in 0..<columns.count {
      unsafe top[index &* step] = column[index]
      unsafe top[index &* step &+ 1] = imaginaries[index]
    }
  }
}
