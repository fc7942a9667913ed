// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Packing of K×N weights, the right-hand side of a product of two tensors, row by row. (Filters are N×K.)
extension ProductPacking {
  /// Whether ``pack(rows:into:)`` supports these weights: floats, or bytes that need no change but a flipped
  /// highest bit.
  var packsRows: Bool {
    let arePlain =
      terms.operands == nil && !plan.product.isBFloat16
      || plan.operandByteCount == 1 && !terms.mayHaveExtras && !plan.hasColumnSums
        && terms.packedOperands?.rhsZeroPoint == 128 && terms.hasPlainOffsets(count: convolution.depth)
    return arePlain && !plan.strategy.isInner && plan.tapCount == 1 && convolution.groups == 1
  }

  /// Packs a K×N matrix of floats or bytes; there is no bias.
  func pack(rows: RawSpan, into packed: PackedWeights) {
    precondition(
      packsRows && rows.byteCount >= convolution.weightCount * terms.elementByteCount
        && packed.byteCount >= weightsOffset + weightByteCount)
    unsafe rows.withUnsafeBytes { rows in
      guard let start = rows.baseAddress else { return }
      if let operands = terms.operands, let packedOperands = terms.packedOperands {
        unsafe packBytes(rows, operands, packedOperands, into: packed)
      } else {
        unsafe packFloats(start, into: packed)
      }
    }
    WeightTerms.setBounds(.kept, in: packed)
  }

  /// Packs floats: a K-step of a panel is a part of one row.
  private func packFloats(_ rows: UnsafeRawPointer, into packed: PackedWeights) {
    var next = weightsOffset
    for (index, panel) in plan.panels.enumerated() {
      let pairs = plan.pairs(panel)
      let stepByteCount = pairs?.stepByteCount ?? panel.paddedCount * 4
      var source = unsafe rows + panel.firstColumn * 4
      let first = next
      for step in 0..<plan.stepCount {
        if step & 0x3FFF == 0, packed.mustStop { break }
        if let pairs {
          unsafe packRows(source, pairs, columnCount: panel.columnCount, to: packed.address + next)
        } else {
          unsafe (packed.address + next).copyMemory(from: source, byteCount: panel.columnCount * 4)
        }
        unsafe source += convolution.columnCount * plan.depthPerStep * 4
        next += stepByteCount
      }
      WeightTerms.setRecord(
        WeightTerms.Record(weights: first, extras: next, extraCount: 0), index, in: packed)
      next = first + plan.stepCount * stepByteCount
    }
  }

  /// The columns of bytes that are packed together.
  private static let columnsTogether = 16

  /// Packs bytes: a K-step of a column is four bytes of four consecutive rows. Sixteen columns are
  /// interleaved at once.
  private func packBytes(
    _ rows: UnsafeRawBufferPointer, _ operands: ByteOperands, _ packedOperands: ByteOperands,
    into packed: PackedWeights
  ) {
    guard let start = rows.baseAddress else { return }
    let (depth, columnCount) = (convolution.depth, convolution.columnCount)
    var next = weightsOffset
    for (index, panel) in plan.panels.enumerated() {
      let first = next
      let stepByteCount = panel.paddedCount * 4
      for column in stride(from: 0, to: panel.columnCount, by: Self.columnsTogether) {
        let places = places(panel, from: column)
        for step in 0..<plan.stepCount {
          if step & 0xFFFF == 0, packed.mustStop { break }
          let target = unsafe packed.address + (first + step * stepByteCount)
          let four = unsafe BytesOfRows(
            rows, row: 4 * step, of: depth, column: panel.firstColumn + column, stride: columnCount,
            turns: packedOperands.signFlip ^ 0x80)
          for half in 0..<2 {
            let eight = four.eight(half)
            let (low, high) = (places[2 * half], places[2 * half + 1])
            if low >= 0 {
              unsafe target.storeBytes(of: eight.lowHalf, toByteOffset: low, as: SIMD4<UInt32>.self)
            }
            if high >= 0 {
              unsafe target.storeBytes(of: eight.highHalf, toByteOffset: high, as: SIMD4<UInt32>.self)
            }
          }
        }
      }
      next += plan.stepCount * stepByteCount
      let offsets = unsafe packed.address + offsets(group: 0) + panel.paddedBefore * plan.offsetByteCount
      unsafe fillOffsets(offsets, start + panel.firstColumn, operands, panel)
      WeightTerms.setRecord(
        WeightTerms.Record(weights: first, extras: next, extraCount: 0), index, in: packed)
    }
  }

  /// The byte offsets in a K-step of sixteen columns from `column` on, four by four; negative for those that
  /// are not in the panel.
  private func places(_ panel: ProductPlan.Panel, from column: Int) -> SIMD4<Int> {
    var places = SIMD4(repeating: -1)
    for place in stride(from: 0, to: panel.paddedCount, by: 4) {
      let part = panel.columns[place] - column
      if part >= 0, part < Self.columnsTogether { places[part / 4] = 4 * place }
    }
    return places
  }

  /// Writes the offsets that are added to the sums of a panel; its first row begins at `rows`.
  private func fillOffsets(
    _ offsets: UnsafeMutableRawPointer, _ rows: UnsafeRawPointer, _ operands: ByteOperands,
    _ panel: ProductPlan.Panel
  ) {
    let (depth, stride) = (convolution.depth, convolution.columnCount)
    let isSigned = operands.signFlip != 0
    let zeroPoint = operands.rhsZeroPoint &- (isSigned ? 128 : 0)
    let rest = 0 &- zeroPoint &* Int32(truncatingIfNeeded: depth)
    unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: panel.paddedCount) { memory in
      guard let sums = memory.baseAddress else { return }
      unsafe sums.initialize(repeating: rest, count: panel.paddedCount)
      unsafe ByteSum.combineColumns(
        sums, rows, stride: stride, rows: depth, columns: panel.columnCount, isSigned: isSigned)
      for place in Swift.stride(from: 0, to: panel.paddedCount, by: 4) {
        let four = unsafe UnsafeRawPointer(sums + panel.columns[place]).loadUnaligned(as: SIMD4<Int32>.self)
        unsafe offsets.storeBytes(
          of: terms.plainOffsets(sums: four), toByteOffset: 4 * place, as: SIMD4<Int32>.self)
      }
    }
  }
}

/// Sixteen bytes of each of four rows, interleaved so that each column's four bytes are adjacent.
private struct BytesOfRows {
  /// Rows 0 and 1 interleaved, eight columns in each half; then rows 2 and 3.
  private let first: (SIMD8<UInt16>, SIMD8<UInt16>)
  private let second: (SIMD8<UInt16>, SIMD8<UInt16>)

  /// Loads and interleaves four rows, and flips the bits in `turns`; rows beyond the last are zeros.
  @inline(__always)
  init(
    _ rows: UnsafeRawBufferPointer, row: Int, of rowCount: Int, column: Int, stride: Int, turns: UInt8
  ) {
    @inline(__always)
    func bytes(_ index: Int) -> SIMD16<UInt8> {
      guard row &+ index < rowCount else { return SIMD16() }
      let place = (row &+ index) &* stride &+ column
      if place &+ 16 <= rows.count {
        return unsafe rows.loadUnaligned(fromByteOffset: place, as: SIMD16<UInt8>.self)
          ^ SIMD16(repeating: turns)
      }
      // The end of the last row: 16 bytes would reach beyond the matrix.
      var bytes = SIMD16<UInt8>()
      for index in 0..<max(0, rows.count &- place) {
        bytes[index] = unsafe rows.load(fromByteOffset: place &+ index, as: UInt8.self) ^ turns
      }
      return bytes
    }
    @inline(__always)
    func words(_ bytes: SIMD8<UInt8>) -> SIMD8<UInt16> { SIMD8(widening: bytes) }
    @inline(__always)
    func pairs(_ upper: SIMD16<UInt8>, _ lower: SIMD16<UInt8>) -> (SIMD8<UInt16>, SIMD8<UInt16>) {
      (
        words(upper.lowHalf) | words(lower.lowHalf) &<< 8, words(upper.highHalf) | words(lower.highHalf) &<< 8
      )
    }
    first = pairs(bytes(0), bytes(1))
    second = pairs(bytes(2), bytes(3))
  }

  /// The four bytes of each of eight columns.
  @inline(__always)
  func eight(_ half: Int) -> SIMD8<UInt32> {
    SIMD8<UInt32>(widening: half == 0 ? first.0 : first.1)
      | SIMD8<UInt32>(widening: half == 0 ? second.0 : second.1) &<< 16
  }
}
