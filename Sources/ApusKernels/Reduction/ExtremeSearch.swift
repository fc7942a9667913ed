// SPDX-License-Identifier: Apache-2.0

import ApusRuntime

/// ARG_MAX and ARG_MIN: the index of the maximum or minimum along the middle one of three axes.
package struct ExtremeSearch: Sendable {
  private let elements: ScalarType
  private let isMaximum: Bool
  private let outer: Int
  private let length: Int
  private let inner: Int
  private let isWide: Bool
  private let tiles: Int

  /// Describes a search; indices are int64 if `isWide`, otherwise int32.
  package init(
    _ elements: ScalarType, isMaximum: Bool, outer: Int, length: Int, inner: Int, isWide: Bool
  ) {
    self.elements = elements
    self.isMaximum = isMaximum
    self.outer = outer
    self.length = length
    self.inner = inner
    self.isWide = isWide
    tiles = max(1, min(outer, (outer &* length &* inner) >> 15))
  }

  /// Searches; the spans must be as large as the axes say.
  package func run(_ input: RawSpan, to output: inout MutableRawSpan, threads: ThreadTeam) {
    let count = outer &* inner
    guard count > 0 else { return }
    precondition(
      input.byteCount >= count * length * elements.byteCount && output.byteCount >= count * (isWide ? 8 : 4))
    unsafe withAddresses(input, &output) { input, output in
      unsafe withUnsafePointer(to: self) { owner in
        threads.run(tiles: tiles, unsafe Work(owner: owner, threads: threads, input: input, output: output))
      }
    }
  }

  /// The tiles of one run; its pointers are valid during that call only.
  @safe private struct Work: TileWork {
    static var mayStop: Bool { true }

    let owner: UnsafePointer<ExtremeSearch>
    let threads: ThreadTeam
    let input: UnsafeRawPointer
    let output: UnsafeMutableRawPointer

    func run(tile: Int, worker: Int) {
      unsafe owner.pointee.search(self, share(of: owner.pointee.outer, tile: tile, of: owner.pointee.tiles))
    }
  }

  private func search(_ work: Work, _ rows: Range<Int>) {
    if inner == 1, elements.byteCount == 1, (8...256).contains(length) { return searchShortRows(work, rows) }
    if length <= 1 << 16, inner == 1, elements.byteCount == 1 { return searchBytes(work, rows) }
    if inner == 1, elements == .float32, length >= 8 { return searchFloatRows(work, rows) }
    switch elements {
    case .float32 where isMaximum: searchRows(work, rows) { (value: Float) in value.orderedBits(nan: .min) }
    case .float32: searchRows(work, rows) { (value: Float) in value.orderedBits(nan: .max) }
    case .int32: searchRows(work, rows) { (value: Int32) in value }
    case .int64: searchWideRows(work, rows)
    case .uint8, .bool: searchRows(work, rows) { (value: UInt8) in Int32(value) }
    case .int8: searchRows(work, rows) { (value: Int8) in Int32(value) }
    case .int16: searchRows(work, rows) { (value: Int16) in Int32(value) }
    default: elements.isNotTaken()
    }
  }

  /// Searches rows of 8 to 256 bytes with eight 16-bit keys at a time: the value in the upper byte, 255 minus
  /// the index in the lower.
  private func searchShortRows(_ work: Work, _ rows: Range<Int>) {
    // Keys are ordered as signed bytes, so unsigned ones have their sign flipped. For a minimum, the order is
    // reversed.
    let flip: UInt8 = (elements == .int8 ? 0 : 0x80) ^ (isMaximum ? 0 : 0xFF)
    let flips = SIMD8<UInt16>(repeating: UInt16(flip) &<< 8)
    let values = unsafe work.input.assumingMemoryBound(to: UInt8.self)
    let first = SIMD8<UInt16>(255, 254, 253, 252, 251, 250, 249, 248)
    // The last eight bytes may overlap the ones before.
    let last = length &- 8
    for row in rows {
      let line = unsafe UnsafeRawPointer(values + row &* length)
      var best = SIMD8<Int16>(repeating: .min)
      var index = 0
      while true {
        let bytes = unsafe line.loadUnaligned(fromByteOffset: index, as: SIMD8<UInt8>.self)
        let places = first &- SIMD8(repeating: UInt16(truncatingIfNeeded: index))
        let high = SIMD8<UInt16>(widening: bytes) &<< SIMD8<UInt16>(repeating: 8)
        let keys = SIMD8<Int16>(bits: (high ^ flips) | places)
        best.replace(with: keys, where: best .< keys)
        if index == last { break }
        index = min(index &+ 8, last)
      }
      store(Int(255 &- (best.greatest & 255)), at: row, work)
    }
  }

  /// Searches rows of bytes by keys: the value in the upper bits, the distance from the end below. The
  /// maximum key has the result.
  private func searchBytes(_ work: Work, _ rows: Range<Int>) {
    // Flips signed bytes to unsigned ones of equal order. For a minimum, the order is reversed.
    let flip: UInt8 = (elements == .int8 ? 0x80 : 0) ^ (isMaximum ? 0 : 0xFF)
    let values = unsafe work.input.assumingMemoryBound(to: UInt8.self)
    for row in rows {
      let line = unsafe values + row &* length
      var best: Int32 = 0
      for index in 0..<length {
        let value = unsafe Int32(line[index] ^ flip)
        best = max(best, value &<< 16 | (0xFFFF &- Int32(truncatingIfNeeded: index)))
      }
      store(Int(0xFFFF &- (best & 0xFFFF)), at: row, work)
    }
  }

  /// Finds the extreme of a row of floats, eight at a time, and then its first index. NaN is found only if
  /// there is nothing else.
  private func searchFloatRows(_ work: Work, _ rows: Range<Int>) {
    // For a minimum, signs are flipped.
    let flips = SIMD8<Int32>(repeating: isMaximum ? 0 : .min)
    let values = unsafe work.input.assumingMemoryBound(to: Float.self)
    // The last eight may overlap the ones before.
    let last = length &- 8
    for row in rows {
      let line = unsafe UnsafeRawPointer(values + row &* length)
      @inline(__always)
      func eight(_ index: Int) -> SIMD8<Float> {
        SIMD8<Float>(
          bits: unsafe line.loadUnaligned(fromByteOffset: 4 &* index, as: SIMD8<Int32>.self) ^ flips)
      }
      var lanes = SIMD8<Float>(repeating: -.infinity)
      var index = 0
      while true {
        let next = eight(index)
        lanes.replace(with: next, where: next .> lanes)
        if index == last { break }
        index = min(index &+ 8, last)
      }
      let four = lanes.lowHalf.replacing(with: lanes.highHalf, where: lanes.highHalf .> lanes.lowHalf)
      let two = four.lowHalf.replacing(with: four.highHalf, where: four.highHalf .> four.lowHalf)
      let best = SIMD8<Float>(repeating: max(two.x, two.y))
      var place = 0
      index = 0
      while true {
        let isBest = eight(index) .== best
        if isBest.isSomewhereSet {
          var lane = 0
          while !isBest[lane] { lane &+= 1 }
          place = index &+ lane
          break
        }
        if index == last { break }
        index = min(index &+ 8, last)
      }
      store(place, at: row, work)
    }
  }

  @inline(__always)
  private func store(_ place: Int, at index: Int, _ work: Work) {
    if isWide {
      unsafe work.output.storeBytes(of: Int64(place), toByteOffset: index &* 8, as: Int64.self)
    } else {
      unsafe work.output.storeBytes(
        of: Int32(truncatingIfNeeded: place), toByteOffset: index &* 4, as: Int32.self)
    }
  }

  /// Searches rows by integer keys, which compare without branches.
  @inline(__always)
  private func searchRows<T: BitwiseCopyable>(_ work: Work, _ rows: Range<Int>, _ key: (T) -> Int32) {
    let values = unsafe work.input.assumingMemoryBound(to: T.self)
    var poll = StopPoll(work.threads)
    for row in rows {
      let line = unsafe values + row &* length &* inner
      var column = 0
      while column &+ 8 <= inner {
        if poll.mustStop(before: 8 &* length) { return }
        let places = unsafe eightPlaces(in: line + column, key)
        for lane in 0..<8 { store(Int(places[lane]), at: row &* inner &+ column &+ lane, work) }
        column &+= 8
      }
      while column < inner {
        let place = unsafe place(in: line + column, key)
        store(place, at: row &* inner &+ column, work)
        column &+= 1
      }
    }
  }

  private func searchWideRows(_ work: Work, _ rows: Range<Int>) {
    let values = unsafe work.input.assumingMemoryBound(to: Int64.self)
    for row in rows {
      for column in 0..<inner {
        let place = unsafe place(in: values + (row &* length &* inner &+ column)) { $0 }
        store(place, at: row &* inner &+ column, work)
      }
    }
  }

  /// The indices of eight neighboring columns, each of less than 2³¹ values.
  @inline(__always)
  private func eightPlaces<T: BitwiseCopyable>(
    in values: UnsafePointer<T>, _ key: (T) -> Int32
  ) -> SIMD8<Int32> {
    @inline(__always)
    func keys(_ line: UnsafePointer<T>) -> SIMD8<Int32> {
      var keys = SIMD8<Int32>()
      for lane in 0..<8 { keys[lane] = unsafe key(line[lane]) }
      // For a minimum, the order is reversed.
      return isMaximum ? keys : ~keys
    }
    var best = unsafe keys(values)
    var places = SIMD8<Int32>()
    var index = 1
    while index < length {
      let keys = unsafe keys(values + index &* inner)
      let wins = best .< keys
      best.replace(with: keys, where: wins)
      places.replace(with: SIMD8(repeating: Int32(truncatingIfNeeded: index)), where: wins)
      index &+= 1
    }
    return places
  }

  @inline(__always)
  private func place<T: BitwiseCopyable, K: FixedWidthInteger>(
    in values: UnsafePointer<T>, _ key: (T) -> K
  ) -> Int {
    var best = unsafe key(values[0])
    var place = 0
    var index = 1
    while index < length {
      let value = unsafe key(values[index &* inner])
      let wins = isMaximum ? value > best : value < best
      best = wins ? value : best
      place = wins ? index : place
      index &+= 1
    }
    return place
  }
}

extension Float {
  /// An integer whose order is that of the numbers, equal for both zeros; NaN becomes `nan`, which loses to
  /// any number.
  @inline(__always)
  fileprivate func orderedBits(nan: Int32) -> Int32 {
    let bits = Int32(bitPattern: (self + 0).bitPattern)
    return self == self ? bits ^ ((bits &>> 31) & .max) : nan
  }
}
