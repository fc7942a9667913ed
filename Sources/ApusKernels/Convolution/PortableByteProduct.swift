/// Sums of products of 16-bit rows with one panel of eight columns; `terms` is a multiple of eight.
func multiplyPanel(
  _ rows: UnsafePointer<Int16>, rowCount: Int, terms: Int, _ panel: UnsafePointer<Int16>,
  _ sums: UnsafeMutablePointer<Int32>, sumStride: Int, accumulates: Bool
) {
  var row = 0
  while row &+ 4 <= rowCount {
    unsafe multiplyFourRows(
      rows + row &* terms, terms: terms, panel, sums + row &* sumStride, sumStride: sumStride,
      accumulates: accumulates)
    row &+= 4
  }
  while row < rowCount {
    unsafe multiplyRow(
      rows + row &* terms, terms: terms, panel, sums + row &* sumStride, accumulates: accumulates)
    row &+= 1
  }
}

/// Four terms' products summed in pairs: one `pmaddwd`, if the lanes stay at eight.
@inline(__always)
private func pairProducts(_ pair: Int32, _ columns: SIMD8<Int16>) -> SIMD4<Int32> {
  let lanes = unsafe unsafeBitCast(SIMD4<Int32>(repeating: pair), to: SIMD8<Int16>.self)
  return pairSums(lanes, columns)
}

@inline(__always)
private func loadPairs(_ terms: UnsafePointer<Int16>) -> SIMD4<Int32> {
  unsafe UnsafeRawPointer(terms).loadUnaligned(as: SIMD4<Int32>.self)
}

@inline(__always)
private func loadColumns(_ panel: UnsafePointer<Int16>) -> SIMD8<Int16> {
  unsafe UnsafeRawPointer(panel).load(as: SIMD8<Int16>.self)
}

@inline(__always)
private func store(
  _ sums: SIMD4<Int32>, to address: UnsafeMutablePointer<Int32>, accumulates: Bool
) {
  let previous = unsafe accumulates ? load4(address, 0) : SIMD4<Int32>()
  unsafe UnsafeMutableRawPointer(address).storeBytes(of: sums &+ previous, as: SIMD4<Int32>.self)
}

/// The sums of four rows and a panel.
private struct FourRowSums {
  var (a0, a1) = (SIMD4<Int32>(), SIMD4<Int32>())
  var (b0, b1) = (SIMD4<Int32>(), SIMD4<Int32>())
  var (c0, c1) = (SIMD4<Int32>(), SIMD4<Int32>())
  var (d0, d1) = (SIMD4<Int32>(), SIMD4<Int32>())

  /// Adds the products of a pair of terms of each row.
  @inline(__always)
  mutating func add(_ a: Int32, _ b: Int32, _ c: Int32, _ d: Int32, _ columns: UnsafePointer<Int16>) {
    let low = unsafe loadColumns(columns)
    let high = unsafe loadColumns(columns + 8)
    a0 &+= pairProducts(a, low)
    a1 &+= pairProducts(a, high)
    b0 &+= pairProducts(b, low)
    b1 &+= pairProducts(b, high)
    c0 &+= pairProducts(c, low)
    c1 &+= pairProducts(c, high)
    d0 &+= pairProducts(d, low)
    d1 &+= pairProducts(d, high)
  }
}

@inline(never)
private func multiplyFourRows(
  _ rows: UnsafePointer<Int16>, terms: Int, _ panel: UnsafePointer<Int16>,
  _ sums: UnsafeMutablePointer<Int32>, sumStride: Int, accumulates: Bool
) {
  var block = FourRowSums()
  var columns = unsafe panel
  var term = 0
  while term < terms {
    let a = unsafe loadPairs(rows + term)
    let b = unsafe loadPairs(rows + term + terms)
    let c = unsafe loadPairs(rows + term + 2 &* terms)
    let d = unsafe loadPairs(rows + term + 3 &* terms)
    // One by one: as a loop, the compiler would keep the rows in memory.
    unsafe block.add(a[0], b[0], c[0], d[0], columns)
    unsafe block.add(a[1], b[1], c[1], d[1], columns + 16)
    unsafe block.add(a[2], b[2], c[2], d[2], columns + 32)
    unsafe block.add(a[3], b[3], c[3], d[3], columns + 48)
    unsafe columns += 64
    term &+= 8
  }
  unsafe store(block.a0, to: sums, accumulates: accumulates)
  unsafe store(block.a1, to: sums + 4, accumulates: accumulates)
  unsafe store(block.b0, to: sums + sumStride, accumulates: accumulates)
  unsafe store(block.b1, to: sums + sumStride + 4, accumulates: accumulates)
  unsafe store(block.c0, to: sums + 2 &* sumStride, accumulates: accumulates)
  unsafe store(block.c1, to: sums + 2 &* sumStride + 4, accumulates: accumulates)
  unsafe store(block.d0, to: sums + 3 &* sumStride, accumulates: accumulates)
  unsafe store(block.d1, to: sums + 3 &* sumStride + 4, accumulates: accumulates)
}

@inline(never)
private func multiplyRow(
  _ row: UnsafePointer<Int16>, terms: Int, _ panel: UnsafePointer<Int16>,
  _ sums: UnsafeMutablePointer<Int32>, accumulates: Bool
) {
  var (low, high) = (SIMD4<Int32>(), SIMD4<Int32>())
  var columns = unsafe panel
  var term = 0
  while term < terms {
    let pairs = unsafe loadPairs(row + term)
    low &+= unsafe pairProducts(pairs[0], loadColumns(columns))
    high &+= unsafe pairProducts(pairs[0], loadColumns(columns + 8))
    low &+= unsafe pairProducts(pairs[1], loadColumns(columns + 16))
    high &+= unsafe pairProducts(pairs[1], loadColumns(columns + 24))
    low &+= unsafe pairProducts(pairs[2], loadColumns(columns + 32))
    high &+= unsafe pairProducts(pairs[2], loadColumns(columns + 40))
    low &+= unsafe pairProducts(pairs[3], loadColumns(columns + 48))
    high &+= unsafe pairProducts(pairs[3], loadColumns(columns + 56))
    unsafe columns += 64
    term &+= 8
  }
  unsafe store(low, to: sums, accumulates: accumulates)
  unsafe store(high, to: sums + 4, accumulates: accumulates)
}
