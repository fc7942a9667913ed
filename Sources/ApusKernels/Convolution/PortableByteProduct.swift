// SPDX-License-Identifier: Apache-2.0

/// The product of 16-bit rows with the first `columns` of a panel's eight; `terms`, which is K, is a multiple
/// of eight. The sums of one more column may be written.
///
/// Eight values of a row are multiplied with eight of a column, both in memory order, and four partial sums
/// per pair are added at the end. Broadcasting two values of a row to all columns would take a fifth more
/// instructions.
func multiplyPanel(
  _ rows: UnsafePointer<Int16>, rowCount: Int, terms: Int, _ panel: UnsafePointer<Int16>, columns: Int,
  _ sums: UnsafeMutablePointer<Int32>, sumStride: Int, accumulates: Bool
) {
  let pairs = (min(columns, 8) &+ 1) / 2
  var row = 0
  while row &+ 4 <= rowCount {
    unsafe multiplyFourRows(
      rows + row &* terms, terms: terms, panel, pairs: pairs, sums + row &* sumStride, sumStride: sumStride,
      accumulates: accumulates)
    row &+= 4
  }
  while row < rowCount {
    unsafe multiplyRow(
      rows + row &* terms, terms: terms, panel, pairs: pairs, sums + row &* sumStride,
      accumulates: accumulates)
    row &+= 1
  }
}

/// The index of a weight in a panel: `[pair of columns][eight values of K][column][k]`.
@inline(__always)
func placeInPanel(column: Int, term: Int, terms: Int) -> Int {
  column / 2 &* 2 &* terms &+ term / 8 &* 16 &+ column % 2 &* 8 &+ term % 8
}

@inline(__always)
private func eightTerms(_ terms: UnsafePointer<Int16>) -> SIMD8<Int16> {
  unsafe UnsafeRawPointer(terms).loadUnaligned(as: SIMD8<Int16>.self)
}

/// The partial sums of one row and two columns.
private struct PairSums {
  private var (first, second) = (SIMD4<Int32>(), SIMD4<Int32>())

  @inline(__always)
  mutating func add(_ row: SIMD8<Int16>, _ columns: (SIMD8<Int16>, SIMD8<Int16>)) {
    first &+= pairSums(row, columns.0)
    second &+= pairSums(row, columns.1)
  }

  /// Two partial sums of each column.
  @inline(__always)
  private var halves: SIMD4<Int32> {
    let partial = SIMD8(lowHalf: first, highHalf: second)
    return partial.evenHalf &+ partial.oddHalf
  }

  @inline(__always)
  mutating func add(_ other: Self) {
    first &+= other.first
    second &+= other.second
  }

  /// Writes the sums of a row.
  @inline(__always)
  static func store(_ row: Self, to sums: UnsafeMutablePointer<Int32>, accumulates: Bool) {
    let halves = row.halves
    unsafe write(halves.evenHalf &+ halves.oddHalf, to: sums, accumulates: accumulates)
  }

  /// Writes the sums of two rows.
  @inline(__always)
  static func store(
    _ upper: Self, _ lower: Self, to sums: UnsafeMutablePointer<Int32>, sumStride: Int, accumulates: Bool
  ) {
    let halves = SIMD8(lowHalf: upper.halves, highHalf: lower.halves)
    let whole = halves.evenHalf &+ halves.oddHalf
    unsafe write(whole.lowHalf, to: sums, accumulates: accumulates)
    unsafe write(whole.highHalf, to: sums + sumStride, accumulates: accumulates)
  }

  @inline(__always)
  private static func write(
    _ values: SIMD2<Int32>, to sums: UnsafeMutablePointer<Int32>, accumulates: Bool
  ) {
    let target = UnsafeMutableRawPointer(sums)
    let previous = unsafe accumulates ? target.loadUnaligned(as: SIMD2<Int32>.self) : SIMD2()
    unsafe target.storeBytes(of: values &+ previous, as: SIMD2<Int32>.self)
  }
}

@inline(never)
private func multiplyFourRows(
  _ rows: UnsafePointer<Int16>, terms: Int, _ panel: UnsafePointer<Int16>, pairs: Int,
  _ sums: UnsafeMutablePointer<Int32>, sumStride: Int, accumulates: Bool
) {
  var columns = unsafe panel
  var sums = unsafe sums
  for _ in 0..<pairs {
    var (a, b, c, d) = (PairSums(), PairSums(), PairSums(), PairSums())
    @inline(__always)
    func add(_ term: Int) {
      let pair = unsafe (eightTerms(columns + 2 &* term), eightTerms(columns + (2 &* term &+ 8)))
      unsafe a.add(eightTerms(rows + term), pair)
      unsafe b.add(eightTerms(rows + term + terms), pair)
      unsafe c.add(eightTerms(rows + term + 2 &* terms), pair)
      unsafe d.add(eightTerms(rows + term + 3 &* terms), pair)
    }
    var term = 0
    while term &+ 16 <= terms {
      add(term)
      add(term &+ 8)
      term &+= 16
    }
    if term < terms { add(term) }
    unsafe columns += 2 &* terms
    unsafe PairSums.store(a, b, to: sums, sumStride: sumStride, accumulates: accumulates)
    unsafe PairSums.store(
      c, d, to: sums + 2 &* sumStride, sumStride: sumStride, accumulates: accumulates)
    unsafe sums += 2
  }
}

@inline(never)
private func multiplyRow(
  _ row: UnsafePointer<Int16>, terms: Int, _ panel: UnsafePointer<Int16>, pairs: Int,
  _ sums: UnsafeMutablePointer<Int32>, accumulates: Bool
) {
  for pair in 0..<pairs {
    let columns = unsafe panel + pair &* 2 &* terms
    // Two accumulators in turn, so that additions do not wait for each other.
    var (a, b) = (PairSums(), PairSums())
    var term = 0
    while term &+ 16 <= terms {
      let next = unsafe columns + 2 &* term
      unsafe a.add(eightTerms(row + term), (eightTerms(next), eightTerms(next + 8)))
      unsafe b.add(eightTerms(row + (term &+ 8)), (eightTerms(next + 16), eightTerms(next + 24)))
      term &+= 16
    }
    if term < terms {
      let next = unsafe columns + 2 &* term
      unsafe a.add(eightTerms(row + term), (eightTerms(next), eightTerms(next + 8)))
    }
    a.add(b)
    unsafe PairSums.store(a, to: sums + 2 &* pair, accumulates: accumulates)
  }
}
