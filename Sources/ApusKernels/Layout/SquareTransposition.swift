// SPDX-License-Identifier: Apache-2.0

/// Transposes a matrix in squares with rows of 16 bytes; the outer loop reads contiguous rows and the inner
/// one writes them. The last squares of a row and of a column overlap the ones before. Returns false and does
/// nothing if elements do not have 1, 2 or 4 bytes, or the matrix is smaller than a square.
func transposeSquares(
  _ outer: StridedCopy.Loop, _ inner: StridedCopy.Loop, width: Int, _ source: UnsafeRawPointer,
  _ destination: UnsafeMutableRawPointer
) -> Bool {
  switch width {
  case 1:
    unsafe transposeSquares(outer, inner, 1, source, destination) { unsafe transposeParts(1, $0, $1, $2, $3) }
  case 2:
    unsafe transposeSquares(outer, inner, 2, source, destination) { unsafe transposeParts(2, $0, $1, $2, $3) }
  case 4:
    unsafe transposeSquares(outer, inner, 4, source, destination) { unsafe transposeFours($0, $1, $2, $3) }
  default: false
  }
}

@inline(__always)
private func transposeSquares(
  _ outer: StridedCopy.Loop, _ inner: StridedCopy.Loop, _ width: Int, _ source: UnsafeRawPointer,
  _ destination: UnsafeMutableRawPointer,
  square: (UnsafeRawPointer, Int, UnsafeMutableRawPointer, Int) -> Void
) -> Bool {
  let side = 16 / width
  guard outer.count >= side, inner.count >= side else { return false }
  // Whole cache lines are written.
  let line = 64 / width
  var column = 0
  while column < inner.count {
    let end = min(column &+ line, inner.count)
    var row = 0
    while true {
      var part = column
      while part < end {
        let first = min(part, inner.count &- side)
        unsafe square(
          source + (row &* width &+ first &* inner.source), inner.source,
          destination + (row &* outer.destination &+ first &* width), outer.destination)
        part &+= side
      }
      if row &+ side == outer.count { break }
      row = min(row &+ side, outer.count &- side)
    }
    column = end
  }
  return true
}

private typealias Halves = SIMD2<UInt64>

/// Transposes a square of 1- or 2-byte elements. Half rows form four squares of half the side; these are
/// transposed first and then put in place.
@inline(__always)
private func transposeParts(
  _ width: Int, _ source: UnsafeRawPointer, _ sourceStride: Int, _ destination: UnsafeMutableRawPointer,
  _ destinationStride: Int
) {
  let side = 8 / width
  unsafe withUnsafeTemporaryAllocation(of: Halves.self, capacity: 16) { memory in
    guard let rows = memory.baseAddress else { return }
    for row in 0..<2 &* side {
      unsafe rows[row] = (source + row &* sourceStride).loadUnaligned(as: Halves.self)
    }
    unsafe transposeHalves(rows, width)
    unsafe transposeHalves(rows + side, width)
    for row in 0..<side {
      let (first, second) = unsafe (rows[row], rows[row &+ side])
      unsafe (destination + row &* destinationStride).storeBytes(
        of: Halves(first[0], second[0]), as: Halves.self)
      unsafe (destination + (row &+ side) &* destinationStride).storeBytes(
        of: Halves(first[1], second[1]), as: Halves.self)
    }
  }
}

/// Transposes the squares in both halves of rows: swaps the upper right and lower left quarters, then
/// recurses into the quarters.
@inline(__always)
private func transposeHalves(_ rows: UnsafeMutablePointer<Halves>, _ width: Int) {
  let side = 8 / width
  var distance = side / 2
  var mask: UInt64 = 0xFFFF_FFFF
  while distance > 0 {
    let shift = Halves(repeating: UInt64(truncatingIfNeeded: distance &* width &* 8))
    for row in 0..<side where row & distance == 0 {
      let other = row &+ distance
      let change = unsafe ((rows[row] &>> shift) ^ rows[other]) & Halves(repeating: mask)
      unsafe rows[other] ^= change
      unsafe rows[row] ^= change &<< shift
    }
    distance /= 2
    mask ^= mask &<< UInt64(truncatingIfNeeded: distance &* width &* 8)
  }
}

private typealias Four = SIMD4<UInt32>

/// Transposes a 4×4 square.
@inline(__always)
private func transposeFours(
  _ source: UnsafeRawPointer, _ sourceStride: Int, _ destination: UnsafeMutableRawPointer,
  _ destinationStride: Int
) {
  @inline(__always)
  func load(_ row: Int) -> Four { unsafe (source + row &* sourceStride).loadUnaligned(as: Four.self) }
  @inline(__always)
  func store(_ four: Four, _ row: Int) {
    unsafe (destination + row &* destinationStride).storeBytes(of: four, as: Four.self)
  }
  @inline(__always)
  func interleaved(_ a: Four, _ b: Four) -> (low: Four, high: Four) {
    (Four(a[0], b[0], a[1], b[1]), Four(a[2], b[2], a[3], b[3]))
  }
  let (even, odd) = (interleaved(load(0), load(2)), interleaved(load(1), load(3)))
  let (first, second) = (interleaved(even.low, odd.low), interleaved(even.high, odd.high))
  store(first.low, 0)
  store(first.high, 1)
  store(second.low, 2)
  store(second.high, 3)
}
