// SPDX-License-Identifier: Apache-2.0

/// Where a panel's factors lie, in bytes from its block's start.
struct X86FactorLayout {
  /// Arrays of one 32-bit lane for each column; factors that shift right are doubled. Those of float outputs are floats.
  let multipliers = 0
  let oddMultipliers: Int
  let shifts: Int
  let roundings: Int
  let leftShifts: Int
  /// In single precision: what multipliers lack.
  var rests: Int { shifts }
  /// Where all shift right: arrays of one 64-bit lane for the even and for the odd columns.
  var evenOffsets: Int { roundings }
  var oddOffsets: Int { leftShifts }
  /// For one rounding: doubles of all columns, then vectors of one double each: the bounds without the zero point, the
  /// sign, and the double below one half.
  var scales: Int { multipliers }
  let least: Int
  let most: Int
  let signs: Int
  let belowHalf: Int
  /// 2³⁰ in 64-bit lanes; or, where all shift right, 2³¹ in 32-bit lanes: what sums begin with; the sign of floats, too.
  let half: Int
  var bias: Int { half }
  /// AVX2: eight lanes of ones, then eight of zeros.
  let columnMask: Int
  /// AVX2: which bytes of eight of one row and eight of another become words: low halves of unsigned ones, high halves of
  /// signed ones.
  var wordOrder: Int { columnMask }
  /// AVX-512: for panels of one to three vectors, which dwords of packed bytes make rows, as a byte each.
  let order: Int
  /// 0x80 in every byte.
  let signFlip: Int
  /// A 16-bit value.
  let zeroPoint: Int
  /// A byte four times, or a float.
  let minimum: Int
  let maximum: Int
  /// Where factors are of any shift: the zero point in 32-bit lanes.
  let wideZeroPoint: Int
  /// The size of a vector, and that of a block.
  private let vectorByteCount: Int
  let byteCount: Int

  init(_ target: X86Target) {
    vectorByteCount = target.width.byteCount
    let array = target.mostVectors * vectorByteCount
    oddMultipliers = array
    shifts = 2 * array
    roundings = 3 * array
    leftShifts = 4 * array
    least = 2 * array
    most = least + vectorByteCount
    signs = most + vectorByteCount
    belowHalf = signs + vectorByteCount
    half = 5 * array
    columnMask = half + 64
    order = columnMask
    signFlip = columnMask + 64
    zeroPoint = signFlip + 4
    minimum = signFlip + 8
    maximum = signFlip + 12
    wideZeroPoint = signFlip + 64
    byteCount = wideZeroPoint + 64
  }

  /// Bytes of four vectors, which are packed together, lie by quarters of 128 bits: where the dwords of one vector after
  /// the other are.
  private static let dwordOrder: [UInt8] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]

  /// Writes a block of factors.
  func fill(
    _ block: UnsafeMutableRawPointer, epilogue: Epilogue, kind: X86EpilogueGenerator.Kind,
    lanes: ChannelLanes
  ) {
    func store<Value: BitwiseCopyable>(_ value: Value, at offset: Int) {
      unsafe block.storeBytes(of: value, toByteOffset: offset, as: Value.self)
    }
    func storeBytes(_ zero: Int32, _ least: Int32, _ most: Int32) {
      // Code that takes one vector of two finds them there as well.
      for place in [0, 32] {
        store(Int16(truncatingIfNeeded: zero), at: zeroPoint + place)
        store(UInt32(UInt8(truncatingIfNeeded: least)) * 0x0101_0101, at: minimum + place)
        store(UInt32(UInt8(truncatingIfNeeded: most)) * 0x0101_0101, at: maximum + place)
      }
    }
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    let shiftsRight = kind.shiftsRight
    let half: Int64 = shiftsRight || kind.isSingle ? .min | 1 << 31 : 1 << 30
    for lane in 0..<8 { store(half, at: self.half + 8 * lane) }
    if vectorByteCount < 64, case .bytes(let isSigned, _, _) = kind {
      let (first, step): (UInt64, UInt64) =
        isSigned
        ? (0x0980_0180_0880_0080, 0x0200_0200_0200_0200) : (0x8009_8001_8008_8000, 0x0002_0002_0002_0002)
      for quad in 0..<4 { store(first + UInt64(quad) * step, at: wordOrder + 8 * quad) }
    } else if vectorByteCount < 64 {
      for lane in 0..<8 { store(-1 as Int32, at: columnMask + 4 * lane) }
    } else {
      for (place, dword) in Self.dwordOrder.enumerated() { store(dword, at: order + place) }
    }
    store(0x8080_8080 as UInt32, at: signFlip)
    switch epilogue {
    case .float32(let least, let most):
      store(least, at: minimum)
      store(most, at: maximum)
    case .fixedPoint(let multipliers, let zero, let least, let most),
      .fixedPointOfAnySum(let multipliers, let zero, let least, let most):
      storeBytes(zero, least, most)
      for lane in 0..<16 { store(zero, at: wideZeroPoint + 4 * lane) }
      for lane in lanes.columns.indices {
        guard let channel = lanes.channel(lane) else { continue }
        let multiplier = multipliers.count > 1 ? multipliers[channel] : multipliers[0]
        let factor = UInt32(bitPattern: multiplier.value) << (shiftsRight ? 1 : 0)
        let shift = Int32(truncatingIfNeeded: min(31, max(0, 0 - multiplier.shift)))
        let rounding: Int32 = shift > 0 ? 1 << (shift - 1) : 0
        let place = 4 * lane
        store(factor, at: self.multipliers + place)
        // Odd lanes meet their factor where the even lane before them is.
        if lane % 2 == 1 { store(factor, at: oddMultipliers + place - 4) }
        if shiftsRight {
          store(shift, at: shifts + place)
          // Half of the first rounding, less the bias of the sums; above 2³², the rest: see `rescaleRight`.
          let bias = Int64(multiplier.value) << 32
          let rest = Int64(rounding) - (kind.isRectified ? 0 : 1) + Int64(zero) << Int64(shift)
          store(
            1 << 31 - bias &+ rest << 32,
            at: (lane % 2 == 0 ? evenOffsets : oddOffsets) + place - lane % 2 * 4)
        } else {
          store(max(0, shift - 1), at: shifts + place)
          store(min(1, shift), at: roundings + place)
          store(Int32(truncatingIfNeeded: max(0, multiplier.shift)), at: leftShifts + place)
        }
      }
    case .singlePrecision(let factors, let zero, let least, let most):
      storeBytes(zero, least, most)
      for lane in lanes.columns.indices {
        guard let channel = lanes.channel(lane) else { continue }
        let factor = factors.count > 1 ? factors[channel] : factors[0]
        store(factor.multiplier, at: multipliers + 4 * lane)
        store(factor.offset, at: oddMultipliers + 4 * lane)
        store(factor.rest ?? 0, at: rests + 4 * lane)
      }
    case .float64(let scales, let zero, let least, let most):
      store(Int16(truncatingIfNeeded: zero), at: zeroPoint)
      for offset in stride(from: 0, to: vectorByteCount, by: 8) {
        store(Double(least &- zero), at: self.least + offset)
        store(Double(most &- zero), at: self.most + offset)
        store(-0.0 as Double, at: signs + offset)
        store((0.5 as Double).nextDown, at: belowHalf + offset)
      }
      for lane in lanes.columns.indices {
        guard let channel = lanes.channel(lane) else { continue }
        store(scales.count > 1 ? scales[channel] : scales[0], at: self.scales + 8 * lane)
      }
    case .hybrid(let scales, let least, let most, _):
      store(least, at: minimum)
      store(most, at: maximum)
      for lane in lanes.columns.indices {
        guard let channel = lanes.channel(lane) else { continue }
        store(scales.count > 1 ? scales[channel] : scales[0], at: multipliers + 4 * lane)
      }
    default: break
    }
  }
}
