// SPDX-License-Identifier: Apache-2.0

/// The product of float rows with one panel of eight columns.
func multiplyPanel(
  _ rows: UnsafeRawPointer, rowCount: Int, rowStride: Int, terms: Int, _ panel: UnsafePointer<Float>,
  _ sums: UnsafeMutablePointer<Float>, sumStride: Int, accumulates: Bool
) {
  var row = 0
  while row &+ 4 <= rowCount {
    unsafe multiplyFourRows(
      rows + row &* rowStride &* 4, rowStride: rowStride, terms: terms, panel, sums + row &* sumStride,
      sumStride: sumStride, accumulates: accumulates)
    row &+= 4
  }
  while row < rowCount {
    unsafe multiplyRow(
      rows + row &* rowStride &* 4, terms: terms, panel, sums + row &* sumStride, accumulates: accumulates)
    row &+= 1
  }
}

@inline(__always)
private func broadcast(_ rows: UnsafeRawPointer, _ index: Int) -> SIMD4<Float> {
  unsafe SIMD4(repeating: rows.loadUnaligned(fromByteOffset: index &* 4, as: Float.self))
}

@inline(__always)
private func store(_ sums: SIMD4<Float>, to address: UnsafeMutablePointer<Float>, accumulates: Bool) {
  let previous = unsafe accumulates ? load4(address, 0) : SIMD4<Float>()
  unsafe UnsafeMutableRawPointer(address).storeBytes(of: sums + previous, as: SIMD4<Float>.self)
}

@inline(never)
private func multiplyFourRows(
  _ rows: UnsafeRawPointer, rowStride: Int, terms: Int, _ panel: UnsafePointer<Float>,
  _ sums: UnsafeMutablePointer<Float>, sumStride: Int, accumulates: Bool
) {
  var (a0, a1) = (SIMD4<Float>(), SIMD4<Float>())
  var (b0, b1) = (SIMD4<Float>(), SIMD4<Float>())
  var (c0, c1) = (SIMD4<Float>(), SIMD4<Float>())
  var (d0, d1) = (SIMD4<Float>(), SIMD4<Float>())
  for term in 0..<terms {
    let low = unsafe load4(panel, term &* 8)
    let high = unsafe load4(panel, term &* 8 &+ 4)
    let a = unsafe broadcast(rows, term)
    a0 += a * low
    a1 += a * high
    let b = unsafe broadcast(rows, term &+ rowStride)
    b0 += b * low
    b1 += b * high
    let c = unsafe broadcast(rows, term &+ 2 &* rowStride)
    c0 += c * low
    c1 += c * high
    let d = unsafe broadcast(rows, term &+ 3 &* rowStride)
    d0 += d * low
    d1 += d * high
  }
  unsafe store(a0, to: sums, accumulates: accumulates)
  unsafe store(a1, to: sums + 4, accumulates: accumulates)
  unsafe store(b0, to: sums + sumStride, accumulates: accumulates)
  unsafe store(b1, to: sums + sumStride + 4, accumulates: accumulates)
  unsafe store(c0, to: sums + 2 &* sumStride, accumulates: accumulates)
  unsafe store(c1, to: sums + 2 &* sumStride + 4, accumulates: accumulates)
  unsafe store(d0, to: sums + 3 &* sumStride, accumulates: accumulates)
  unsafe store(d1, to: sums + 3 &* sumStride + 4, accumulates: accumulates)
}

@inline(never)
private func multiplyRow(
  _ row: UnsafeRawPointer, terms: Int, _ panel: UnsafePointer<Float>, _ sums: UnsafeMutablePointer<Float>,
  accumulates: Bool
) {
  var (low, high) = (SIMD4<Float>(), SIMD4<Float>())
  for term in 0..<terms {
    let value = unsafe broadcast(row, term)
    low += unsafe value * load4(panel, term &* 8)
    high += unsafe value * load4(panel, term &* 8 &+ 4)
  }
  unsafe store(low, to: sums, accumulates: accumulates)
  unsafe store(high, to: sums + 4, accumulates: accumulates)
}
