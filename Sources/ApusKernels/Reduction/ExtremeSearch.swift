/// A search, along the middle one of three axes, for the place of the greatest or least value.
package struct ExtremeSearch: Sendable {
  private let elements: Reduction.Elements
  private let isMaximum: Bool
  private let outer: Int
  private let length: Int
  private let inner: Int
  private let isWide: Bool
  private let tiles: Int

  /// Writes int64 places where `isWide` is set, int32 ones otherwise.
  package init(
    _ elements: Reduction.Elements, isMaximum: Bool, outer: Int, length: Int, inner: Int, isWide: Bool
  ) {
    self.elements = elements
    self.isMaximum = isMaximum
    self.outer = outer
    self.length = length
    self.inner = inner
    self.isWide = isWide
    tiles = max(1, min(outer, outer &* length &* inner >> 15))
  }

  /// Searches; the spans must be as large as the axes say.
  package func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    let count = outer &* inner
    guard count > 0 else { return }
    precondition(
      input.byteCount >= count * length * elements.byteCount && output.byteCount >= count * (isWide ? 8 : 4))
    unsafe input.withUnsafeBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        unsafe withUnsafePointer(to: self) { owner in
          guard let from = input.baseAddress, let to = output.baseAddress else { return }
          threads.run(tiles: tiles, unsafe Work(owner: owner, input: from, output: to))
        }
      }
    }
  }

  /// One run: pointers that live as long as its call.
  private struct Work: TileWork {
    let owner: UnsafePointer<ExtremeSearch>
    let input: UnsafeRawPointer
    let output: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      unsafe owner.pointee.search(self, share(of: owner.pointee.outer, tile: tile, of: owner.pointee.tiles))
    }
  }

  private func search(_ work: Work, _ rows: Range<Int>) {
    switch elements {
    case .float32: searchRows(work, rows, Float.self)
    case .int32: searchRows(work, rows, Int32.self)
    case .int64: searchRows(work, rows, Int64.self)
    case .uint8, .bool: searchRows(work, rows, UInt8.self)
    case .int8: searchRows(work, rows, Int8.self)
    case .int16: searchRows(work, rows, Int16.self)
    }
  }

  @inline(__always)
  private func searchRows<T: Comparable & BitwiseCopyable>(_ work: Work, _ rows: Range<Int>, _ type: T.Type) {
    let values = unsafe work.input.assumingMemoryBound(to: T.self)
    for row in rows {
      for column in 0..<inner {
        let place = unsafe place(in: values + (row &* length &* inner &+ column))
        let index = row &* inner &+ column
        if isWide {
          unsafe work.output.storeBytes(of: Int64(place), toByteOffset: index &* 8, as: Int64.self)
        } else {
          unsafe work.output.storeBytes(
            of: Int32(truncatingIfNeeded: place), toByteOffset: index &* 4, as: Int32.self)
        }
      }
    }
  }

  /// A value replaces one that it beats, and any value replaces NaN, which does not equal itself.
  @inline(__always)
  private func place<T: Comparable & BitwiseCopyable>(in values: UnsafePointer<T>) -> Int {
    var best = unsafe values[0]
    var place = 0
    var index = 1
    if isMaximum {
      while index < length {
        let value = unsafe values[index &* inner]
        let wins = value > best || best != best && value == value
        best = wins ? value : best
        place = wins ? index : place
        index &+= 1
      }
    } else {
      while index < length {
        let value = unsafe values[index &* inner]
        let wins = value < best || best != best && value == value
        best = wins ? value : best
        place = wins ? index : place
        index &+= 1
      }
    }
    return place
  }
}
