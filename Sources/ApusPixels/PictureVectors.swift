// SPDX-License-Identifier: Apache-2.0

import ApusKernels

// The loops of a resize in plain Swift, eight lanes at a time. A sum of a row is negative, like its weights:
// its high 16 bits are `sum >> 8`, −32,640 to 0, its low byte is the rest. The values of the next step are
// kept in memory between the loops, because one loop for both is compiled to shuffles instead of products.

@inline(__always)
private func load(_ place: UnsafeRawPointer, _ offset: Int = 0) -> SIMD8<UInt8> {
  unsafe place.loadUnaligned(fromByteOffset: offset, as: SIMD8<UInt8>.self)
}

/// Four bytes, and four that are zero.
@inline(__always)
private func loadPixel(_ place: UnsafeRawPointer) -> SIMD8<UInt8> {
  let bytes = UInt64(unsafe place.loadUnaligned(as: UInt32.self))
  return unsafe unsafeBitCast(bytes, to: SIMD8<UInt8>.self)
}

/// Interleaves the bytes of two vectors.
@inline(__always)
private func interleaved(_ even: SIMD8<UInt8>, _ odd: SIMD8<UInt8>) -> SIMD16<UInt8> {
  var result = SIMD16<UInt8>()
  result.evenHalf = even
  result.oddHalf = odd
  return result
}

/// Interleaves and widens the bytes of two vectors.
@inline(__always)
private func interleaved(_ even: SIMD4<UInt8>, _ odd: SIMD4<UInt8>) -> SIMD8<Int16> {
  var result = SIMD8<UInt8>()
  result.evenHalf = even
  result.oddHalf = odd
  return SIMD8<Int16>(widening: result)
}

/// A pair of weights, four times.
@inline(__always)
private func weightVector(_ pair: UInt32) -> SIMD8<Int16> {
  unsafe unsafeBitCast(SIMD4(repeating: pair), to: SIMD8<Int16>.self)
}

@inline(__always)
private func words(_ first: SIMD4<Int32>, _ second: SIMD4<Int32>) -> SIMD8<Int16> {
  var result = SIMD8<Int16>()
  for lane in 0..<4 {
    result[lane] = Int16(truncatingIfNeeded: first[lane])
    result[lane + 4] = Int16(truncatingIfNeeded: second[lane])
  }
  return result
}

/// Stores sums as high 16 bits and low bytes.
@inline(__always)
private func store(
  _ first: SIMD4<Int32>, _ second: SIMD4<Int32>, _ high: UnsafeMutableRawPointer,
  _ low: UnsafeMutableRawPointer, at offset: Int
) {
  unsafe high.storeBytes(of: words(first &>> 8, second &>> 8), toByteOffset: offset, as: SIMD8<Int16>.self)
  unsafe low.storeBytes(of: words(first & 255, second & 255), toByteOffset: offset, as: SIMD8<Int16>.self)
}

// MARK: Weighted sums of rows

/// Adds the weighted bytes of two rows to two sums of four.
@inline(__always)
private func add(
  _ upper: SIMD8<UInt8>, _ lower: SIMD8<UInt8>, _ weights: SIMD8<Int16>, _ first: inout SIMD4<Int32>,
  _ second: inout SIMD4<Int32>
) {
  first &+= pairSums(interleaved(upper.lowHalf, lower.lowHalf), weights)
  second &+= pairSums(interleaved(upper.highHalf, lower.highHalf), weights)
}

/// Weighted sums of neighboring rows of `count` bytes; reads nothing beyond them.
func sumPictureRows(
  _ source: UnsafePointer<UInt8>, bytesPerRow: Int, taps: Int, _ weights: UnsafePointer<UInt32>, count: Int,
  _ high: UnsafeMutableRawPointer, _ low: UnsafeMutableRawPointer
) {
  guard count >= 8 else {
    for index in 0..<count {
      var sum: Int32 = 0
      for tap in 0..<taps {
        let weight = unsafe Int16(truncatingIfNeeded: weights[tap / 2] >> (tap % 2 == 0 ? 0 : 16))
        sum &+= unsafe Int32(source[tap &* bytesPerRow &+ index]) &* Int32(weight)
      }
      unsafe high.storeBytes(
        of: Int16(truncatingIfNeeded: sum >> 8), toByteOffset: 2 &* index, as: Int16.self)
      unsafe low.storeBytes(
        of: Int16(truncatingIfNeeded: sum & 255), toByteOffset: 2 &* index, as: Int16.self)
    }
    return
  }
  switch (taps + 1) / 2 {
  case 1: unsafe sumPictureRows(source, bytesPerRow, taps, pairs: 1, weights, count, high, low)
  case 2: unsafe sumPictureRows(source, bytesPerRow, taps, pairs: 2, weights, count, high, low)
  case 3: unsafe sumPictureRows(source, bytesPerRow, taps, pairs: 3, weights, count, high, low)
  case 4: unsafe sumPictureRows(source, bytesPerRow, taps, pairs: 4, weights, count, high, low)
  case let pairs: unsafe sumPictureRows(source, bytesPerRow, taps, pairs: pairs, weights, count, high, low)
  }
}

@inline(__always)
private func sumPictureRows(
  _ source: UnsafePointer<UInt8>, _ bytesPerRow: Int, _ taps: Int, pairs: Int,
  _ weights: UnsafePointer<UInt32>, _ count: Int, _ high: UnsafeMutableRawPointer,
  _ low: UnsafeMutableRawPointer
) {
  // A missing second row of a pair repeats the first, without weight.
  let lastLower = taps.isMultiple(of: 2) ? bytesPerRow : 0
  var index = 0
  while true {
    var (first, second) = (SIMD4<Int32>.zero, SIMD4<Int32>.zero)
    var place = unsafe UnsafeRawPointer(source) + index
    for pair in 0..<pairs - 1 {
      unsafe add(load(place), load(place, bytesPerRow), weightVector(weights[pair]), &first, &second)
      unsafe place += 2 &* bytesPerRow
    }
    unsafe add(load(place), load(place, lastLower), weightVector(weights[pairs - 1]), &first, &second)
    unsafe store(first, second, high, low, at: 2 &* index)
    if index == count - 8 { return }
    // The last iteration repeats some bytes.
    index = min(index + 8, count - 8)
  }
}

// MARK: Weighted sums of columns

/// Interleaves the high 16 bits of each pixel with those of the next.
func pairPixels(
  _ high: UnsafeMutableRawPointer, count: Int, bytesPerPixel: Int, _ pairs: UnsafeMutableRawPointer
) {
  var offset = 0
  while offset < 2 &* count {
    var both = SIMD16<Int16>()
    both.evenHalf = unsafe high.loadUnaligned(fromByteOffset: offset, as: SIMD8<Int16>.self)
    both.oddHalf = unsafe high.loadUnaligned(
      fromByteOffset: offset &+ 2 &* bytesPerPixel, as: SIMD8<Int16>.self)
    unsafe pairs.storeBytes(of: both.lowHalf, toByteOffset: 2 &* offset, as: SIMD8<Int16>.self)
    unsafe pairs.storeBytes(of: both.highHalf, toByteOffset: 2 &* offset &+ 16, as: SIMD8<Int16>.self)
    offset &+= 16
  }
}

/// For each column, four sums of pairs plus the rounding constant; the first sums are those of its channels.
func sumColumns(
  _ pairs: UnsafeRawPointer, _ bases: UnsafePointer<Int>, _ weights: UnsafePointer<SIMD4<UInt32>>, count: Int,
  bytesPerPixel: Int, pairCount: Int, _ sums: UnsafeMutableRawPointer
) {
  switch pairCount {
  case 2: unsafe sumColumns(pairs, bases, weights, count, bytesPerPixel, pairs: 2, sums)
  case 3: unsafe sumColumns(pairs, bases, weights, count, bytesPerPixel, pairs: 3, sums)
  case 4: unsafe sumColumns(pairs, bases, weights, count, bytesPerPixel, pairs: 4, sums)
  case 5: unsafe sumColumns(pairs, bases, weights, count, bytesPerPixel, pairs: 5, sums)
  default: unsafe sumColumns(pairs, bases, weights, count, bytesPerPixel, pairs: pairCount, sums)
  }
}

@inline(__always)
private func sumColumns(
  _ words: UnsafeRawPointer, _ bases: UnsafePointer<Int>, _ weights: UnsafePointer<SIMD4<UInt32>>,
  _ count: Int, _ bytesPerPixel: Int, pairs: Int, _ sums: UnsafeMutableRawPointer
) {
  for column in 0..<count {
    var sum = SIMD4<Int32>(repeating: 1 << 21)
    var place = unsafe words + 4 &* bases[column]
    for pair in 0..<pairs {
      let weight = unsafe unsafeBitCast(weights[column &* pairs &+ pair], to: SIMD8<Int16>.self)
      sum &+= pairSums(unsafe place.loadUnaligned(as: SIMD8<Int16>.self), weight)
      unsafe place += 8 &* bytesPerPixel
    }
    unsafe sums.storeBytes(of: sum, toByteOffset: 16 &* column, as: SIMD4<Int32>.self)
  }
}

/// Adds the low bytes' contribution to sums of high parts where it makes a difference.
///
/// With `A` from the high parts and `B` from the low bytes, a result is `(256 A + B + 2²⁹) >> 30`, which is
/// `(A + (B >> 8) + 2²¹) >> 22`. `B >> 8` is −32,640 to 0, so it lowers a result only if `A + 2²¹` is less
/// than 2¹⁵ above a multiple of 2²².
func completeSums(
  _ low: UnsafeMutableRawPointer, _ bases: UnsafePointer<Int>, _ weights: UnsafePointer<SIMD4<UInt32>>,
  count: Int, bytesPerPixel: Int, pairCount: Int, _ sums: UnsafeMutableRawPointer
) {
  // Whole numbers of two sums each: a debug build would call functions for the operations of vectors.
  let both = unsafe UnsafePointer(sums.assumingMemoryBound(to: UInt64.self))
  let (bits, signs, units): (UInt64, UInt64, UInt64) = (
    0x3F_8000_003F_8000, 0x8000_0000_8000_0000, 0x8000_0000_8000
  )
  var column = 0
  while column < count {
    // The sign of a half is lost if its bits are zero.
    let first = unsafe (both[2 &* column] & bits | signs) &- units
    let second = unsafe (both[2 &* column &+ 1] & bits | signs) &- units
    if first & second & signs != signs {
      unsafe completeSum(
        UnsafePointer(low.assumingMemoryBound(to: Int16.self)) + bases[column], weights + column &* pairCount,
        bytesPerPixel: bytesPerPixel, pairCount: pairCount, sums + 16 &* column)
    }
    column &+= 1
  }
}

/// Adds the low bytes' contribution to those of a column's four sums where it makes a difference.
private func completeSum(
  _ low: UnsafePointer<Int16>, _ weights: UnsafePointer<SIMD4<UInt32>>, bytesPerPixel: Int, pairCount: Int,
  _ sums: UnsafeMutableRawPointer
) {
  var lane = 0
  while lane < 4 {
    let sum = unsafe sums.loadUnaligned(fromByteOffset: 4 &* lane, as: Int32.self)
    if sum & 0x3F_8000 == 0 {
      var part: Int32 = 0
      var (pair, place) = (0, lane)
      while pair < pairCount {
        let both = unsafe weights[pair][0]
        let first = Int32(Int16(truncatingIfNeeded: both))
        let second = Int32(Int16(truncatingIfNeeded: both >> 16))
        unsafe part &+= Int32(low[place]) &* first &+ Int32(low[place &+ bytesPerPixel]) &* second
        pair &+= 1
        place &+= 2 &* bytesPerPixel
      }
      unsafe sums.storeBytes(of: sum &+ part &>> 8, toByteOffset: 4 &* lane, as: Int32.self)
    }
    lane &+= 1
  }
}

// MARK: Means of two by two

/// Interleaves the bytes of each column's two pixels, eight bytes per column.
func gatherPixels(
  _ source: UnsafePointer<UInt8>, _ bases: UnsafePointer<Int>, count: Int, bytesPerPixel: Int,
  _ result: UnsafeMutableRawPointer
) {
  for column in 0..<count {
    let place = unsafe UnsafeRawPointer(source) + bases[column]
    let both = unsafe interleaved(loadPixel(place), loadPixel(place + bytesPerPixel)).lowHalf
    unsafe result.storeBytes(of: both, toByteOffset: 8 &* column, as: SIMD8<UInt8>.self)
  }
}

/// Weighted sums of two gathered rows.
func blendRows(
  _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ weights: UInt32, count: Int,
  _ high: UnsafeMutableRawPointer, _ low: UnsafeMutableRawPointer
) {
  let weights = weightVector(weights)
  for column in 0..<count {
    var (first, second) = (SIMD4<Int32>.zero, SIMD4<Int32>.zero)
    unsafe add(load(upper, 8 &* column), load(lower, 8 &* column), weights, &first, &second)
    unsafe store(first, second, high, low, at: 16 &* column)
  }
}

/// Weighted sums of the two pixels of each column, plus the rounding constant.
func blendColumns(
  _ high: UnsafeMutableRawPointer, _ low: UnsafeMutableRawPointer, _ weights: UnsafePointer<SIMD4<UInt32>>,
  count: Int, _ sums: UnsafeMutableRawPointer
) {
  for column in 0..<count {
    let offset = 16 &* column
    let weight = unsafe unsafeBitCast(weights[column], to: SIMD8<Int16>.self)
    let large = pairSums(unsafe high.loadUnaligned(fromByteOffset: offset, as: SIMD8<Int16>.self), weight)
    let small = pairSums(unsafe low.loadUnaligned(fromByteOffset: offset, as: SIMD8<Int16>.self), weight)
    let sum = large &+ (small &>> 8) &+ SIMD4(repeating: 1 << 21)
    unsafe sums.storeBytes(of: sum, toByteOffset: offset, as: SIMD4<Int32>.self)
  }
}

// MARK: Results

/// The results of `count` columns, a multiple of four, four bytes each: bits 22 to 29 of each sum.
func packResults(_ sums: UnsafeMutableRawPointer, count: Int, _ line: UnsafeMutablePointer<UInt32>) {
  let sums = unsafe UnsafePointer(sums.assumingMemoryBound(to: UInt64.self))
  let line = unsafe UnsafeMutableRawPointer(line).assumingMemoryBound(to: UInt64.self)
  var group = 0
  while group < count / 2 {
    let upper = unsafe packed(sums[4 &* group &+ 2], sums[4 &* group &+ 3])
    unsafe line[group] = packed(sums[4 &* group], sums[4 &* group &+ 1]) | upper &<< 32
    group &+= 1
  }
}

/// The results of a column's four sums.
@inline(__always)
private func packed(_ first: UInt64, _ second: UInt64) -> UInt64 {
  let low = first &>> 22 & 0xFF | first &>> 46 & 0xFF00
  return low | second &>> 6 & 0xFF_0000 | second &>> 30 & 0xFF00_0000
}

/// The `vpshufb` mask that interleaves the bytes, or `int16` values, of two neighboring pixels.
func pictureOrder(_ bytesPerPixel: Int, ofWords: Bool = false) -> SIMD32<UInt8> {
  var order = SIMD32<UInt8>()
  for index in 0..<32 {
    let place = index % 16
    if ofWords {
      let word = place / 4 + (place % 4 / 2) * bytesPerPixel
      order[index] = UInt8(truncatingIfNeeded: 2 * word + place % 2)
    } else {
      order[index] = UInt8(truncatingIfNeeded: place / 8 * 8 + place % 8 / 2 + (place % 2) * bytesPerPixel)
    }
  }
  return order
}
