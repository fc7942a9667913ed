// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// Generates the epilogue of a product, from accumulators to outputs in memory.
///
/// The accumulator of row `i` and vector `j` is register `i · vectorCount + j`; the registers after them are
/// free. `x16` points at the factors, `x17` at the offsets, and a register per row at its output.
package struct Arm64EpilogueGenerator: Hashable, Sendable {
  /// The outputs that the epilogue computes.
  package enum Outputs: Hashable, Sendable {
    /// 32-bit sums, without bias.
    case sums
    /// Floats: adds the bias and clamps.
    case floats
    /// Bytes: adds the offset, rescales in fixed point with two roundings, adds the zero point and clamps.
    case bytes(isSigned: Bool, shiftsLeft: Bool)
    /// Bytes: adds the offset, rescales in double precision with one rounding, adds the zero point and
    /// clamps.
    case bytesRoundedOnce(isSigned: Bool)

    /// The outputs for operands and an epilogue; raw sums without one.
    init(_ operands: MatrixOperands, _ epilogue: LoweredEpilogue?) {
      var isSigned = false
      if case .int8 = operands { isSigned = true }
      switch epilogue {
      case .none: self = .sums
      case .stated(.fixedPoint(let multipliers, _, _, _)):
        self = .bytes(isSigned: isSigned, shiftsLeft: multipliers.contains { $0.shift > 0 })
      case .stated(.float64): self = .bytesRoundedOnce(isSigned: isSigned)
      default: self = .floats
      }
    }
  }

  package let outputs: Outputs
  package let rowCount: Int
  package let vectorCount: Int
  /// The number of columns that are stored.
  package let columnCount: Int

  private typealias Layout = Arm64FactorLayout

  func sum(_ row: Int, _ vector: Int) -> Int { row * vectorCount + vector }
  /// A free register.
  func free(_ index: Int) -> Int { rowCount * vectorCount + index }

  /// The size of a block's row of outputs.
  package var rowByteCount: Int {
    switch outputs {
    case .sums, .floats: 4 * columnCount
    case .bytes, .bytesRoundedOnce: columnCount
    }
  }

  /// Stores the outputs and advances the row registers.
  func store(_ a: inout Arm64Assembler, _ rows: [Arm64Assembler.General]) {
    switch outputs {
    case .sums: storeWords(&a, rows)
    case .floats:
      bound(&a)
      storeWords(&a, rows)
    case .bytes(let isSigned, let shiftsLeft):
      a.load(.q, zeroPoint, .x16, Layout.zeroPoint)
      for vector in 0..<vectorCount { requantize(&a, vector: vector, shiftsLeft: shiftsLeft) }
      storeBytes(&a, rows, isSigned: isSigned)
    case .bytesRoundedOnce(let isSigned):
      a.load(.q, zeroPoint, .x16, Layout.zeroPoint)
      for vector in 0..<vectorCount { requantizeOnce(&a, vector: vector) }
      storeBytes(&a, rows, isSigned: isSigned)
    }
  }

  private var offset: Int { free(0) }
  private var zeroPoint: Int { free(1) }

  private func forEachRow(_ vector: Int, _ body: (_ sum: Int) -> Void) {
    for row in 0..<rowCount { body(sum(row, vector)) }
  }

  // MARK: Floats

  private func bound(_ a: inout Arm64Assembler) {
    let (minimum, maximum) = (free(1), free(2))
    a.load(.q, minimum, .x16, Layout.minimum)
    a.load(.q, maximum, .x16, Layout.maximum)
    for vector in 0..<vectorCount {
      a.load(.q, offset, .x17, 16 * vector)
      forEachRow(vector) { a.vector(.fadd, $0, $0, offset) }
      forEachRow(vector) { a.vector(.fmax, $0, $0, minimum) }
      forEachRow(vector) { a.vector(.fmin, $0, $0, maximum) }
    }
  }

  private func storeWords(_ a: inout Arm64Assembler, _ rows: [Arm64Assembler.General]) {
    for (row, place) in rows.enumerated() {
      let (whole, rest) = (columnCount / 4, columnCount % 4)
      for vector in 0..<whole { a.store(.q, sum(row, vector), place, 16 * vector) }
      guard rest > 0 else { continue }
      if whole > 0 { a.add(place, place, 16 * whole) }
      if rest >= 2 { a.storeLane(.d, sum(row, whole), 0, place) }
      if rest % 2 == 1 { a.storeLane(.s, sum(row, whole), rest - 1, place) }
    }
  }

  // MARK: Bytes

  /// Rescales one vector of columns with the reference's two roundings.
  ///
  /// `sqrdmulh` is the first: `(x·m + 2³⁰) >> 31`. Its results `y` are above −2³¹, since no factor is −2³¹.
  /// So one can be subtracted from those that are negative and shift right; then `srshl`, which rounds halves
  /// up, rounds them away from zero: `(y − 1 + 2ᵉ⁻¹) >> e`. All of this holds for any sum.
  private func requantize(_ a: inout Arm64Assembler, vector: Int, shiftsLeft: Bool) {
    let (multipliers, right, left) = (free(2), free(3), free(4))
    a.load(.q, offset, .x17, 16 * vector)
    a.load(.q, multipliers, .x16, Layout.multipliers + 16 * vector)
    a.load(.q, right, .x16, Layout.rightShifts + 16 * vector)
    forEachRow(vector) { a.vector(.add, $0, $0, offset) }
    if shiftsLeft {
      a.load(.q, left, .x16, Layout.leftShifts + 16 * vector)
      forEachRow(vector) { a.vector(.sshl, $0, $0, left) }
    }
    forEachRow(vector) { a.vector(.sqrdmulh, $0, $0, multipliers) }
    for row in 0..<rowCount {
      let negative = free(5 + row % 2)
      a.vector(.and, negative, sum(row, vector), right)
      a.addShiftedRight(sum(row, vector), negative, by: 31)
    }
    forEachRow(vector) { a.vector(.srshl, $0, $0, right) }
    forEachRow(vector) { a.vector(.add, $0, $0, zeroPoint) }
  }

  /// Rescales one vector of columns in double precision, with one rounding, halves away from zero.
  private func requantizeOnce(_ a: inout Arm64Assembler, vector: Int) {
    let scales = [free(2), free(3)]
    a.load(.q, offset, .x17, 16 * vector)
    for half in 0..<2 { a.load(.q, scales[half], .x16, Layout.scales + 32 * vector + 16 * half) }
    for row in 0..<rowCount {
      let value = sum(row, vector)
      let halves = [free(4 + row % 2 * 2), free(5 + row % 2 * 2)]
      a.vector(.add, value, value, offset)
      a.vector(.sxtl, halves[0], value)
      a.vector(.sxtl2, halves[1], value)
      for half in 0..<2 {
        a.vector(.scvtf, halves[half], halves[half])
        a.vector(.fmulDoubles, halves[half], halves[half], scales[half])
        a.vector(.fcvtas, halves[half], halves[half])
      }
      a.vector(.sqxtnDoubles, value, halves[0])
      a.vector(.sqxtnDoubles2, value, halves[1])
      a.vector(.sqadd, value, value, zeroPoint)
    }
  }

  private func storeBytes(_ a: inout Arm64Assembler, _ rows: [Arm64Assembler.General], isSigned: Bool) {
    let (minimum, maximum) = (free(2), free(3))
    a.load(.q, minimum, .x16, Layout.minimum)
    a.load(.q, maximum, .x16, Layout.maximum)
    for row in 0..<rowCount {
      for vector in stride(from: 0, to: vectorCount, by: 2) {
        a.vector(.sqxtnWords, sum(row, vector), sum(row, vector))
        if vector + 1 < vectorCount { a.vector(.sqxtnWords2, sum(row, vector), sum(row, vector + 1)) }
      }
    }
    for (row, place) in rows.enumerated() {
      let value = sum(row, 0)
      a.vector(isSigned ? .sqxtnBytes : .sqxtunBytes, value, value)
      if vectorCount > 2 { a.vector(isSigned ? .sqxtnBytes2 : .sqxtunBytes2, value, sum(row, 2)) }
      a.vector(isSigned ? .smax : .umax, value, value, minimum)
      a.vector(isSigned ? .smin : .umin, value, value, maximum)
      guard columnCount < 16 else {
        a.store(.q, value, place)
        continue
      }
      var done = 0
      for part in [Arm64Assembler.Part.d, .s, .h, .b] where columnCount & part.byteCount != 0 {
        a.storeLane(part, value, done / part.byteCount, place)
        done += part.byteCount
      }
    }
  }
}
