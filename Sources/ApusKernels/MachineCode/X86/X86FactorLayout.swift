/// Where a panel's factors lie, in bytes from its block's start.
struct X86FactorLayout {
  /// Arrays of one 32-bit lane for each column.
  let multipliers = 0
  let oddMultipliers: Int
  let roundings: Int
  let shifts: Int
  /// 2³⁰ in 64-bit lanes.
  let half: Int
  /// 0x80 in every byte.
  let signFlip: Int
  /// A 16-bit value.
  let zeroPoint: Int
  /// A byte four times, or a float.
  let minimum: Int
  let maximum: Int
  /// 16-bit values.
  let minimumWord: Int
  let maximumWord: Int
  /// For each column, where some factors do not shift right.
  let leftShifts: Int
  /// The size of a block.
  let byteCount: Int

  init(_ target: X86Target) {
    let array = (target == .avx512 ? 4 : 2) * target.width.byteCount
    oddMultipliers = array
    roundings = 2 * array
    shifts = 3 * array
    half = 4 * array
    signFlip = half + 64
    zeroPoint = signFlip + 4
    minimum = signFlip + 8
    maximum = signFlip + 12
    minimumWord = signFlip + 16
    maximumWord = signFlip + 20
    leftShifts = half + 128
    byteCount = leftShifts + array
  }

  /// Writes a block of factors; `channel` names the output channel of each of the block's columns.
  func fill(
    _ block: UnsafeMutableRawPointer, epilogue: Epilogue, target: X86Target, vectorCount: Int,
    channel: (Int) -> Int?
  ) {
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    for lane in 0..<8 {
      unsafe block.storeBytes(of: 1 << 30, toByteOffset: half + 8 * lane, as: Int64.self)
    }
    unsafe block.storeBytes(of: 0x8080_8080, toByteOffset: signFlip, as: UInt32.self)
    switch epilogue {
    case .float32(let least, let most):
      unsafe block.storeBytes(of: least, toByteOffset: minimum, as: Float.self)
      unsafe block.storeBytes(of: most, toByteOffset: maximum, as: Float.self)
    case .fixedPoint(let multipliers, let zero, let least, let most):
      unsafe block.storeBytes(of: Int16(truncatingIfNeeded: zero), toByteOffset: zeroPoint, as: Int16.self)
      unsafe block.storeBytes(of: Int16(truncatingIfNeeded: least), toByteOffset: minimumWord, as: Int16.self)
      unsafe block.storeBytes(of: Int16(truncatingIfNeeded: most), toByteOffset: maximumWord, as: Int16.self)
      for byte in 0..<4 {
        unsafe block.storeBytes(
          of: UInt8(truncatingIfNeeded: least), toByteOffset: minimum + byte, as: UInt8.self)
        unsafe block.storeBytes(
          of: UInt8(truncatingIfNeeded: most), toByteOffset: maximum + byte, as: UInt8.self)
      }
      for vector in 0..<vectorCount {
        for lane in 0..<target.lanes {
          let column = X86ProductGenerator.column(
            target, isBytes: true, vectorCount: vectorCount, vector: vector, lane: lane)
          guard let channel = channel(column) else { continue }
          let multiplier = multipliers.count > 1 ? multipliers[channel] : multipliers[0]
          let shift = min(31, max(0, 0 - multiplier.shift))
          let place = (vector * target.lanes + lane) * 4
          unsafe block.storeBytes(
            of: multiplier.value, toByteOffset: self.multipliers + place, as: Int32.self)
          // Odd lanes meet their factor where the even lane before them is.
          if lane % 2 == 1 {
            unsafe block.storeBytes(
              of: multiplier.value, toByteOffset: oddMultipliers + place - 4, as: Int32.self)
          }
          let rounding: Int32 = shift > 0 ? 1 << (shift - 1) : 0
          unsafe block.storeBytes(of: rounding, toByteOffset: roundings + place, as: Int32.self)
          unsafe block.storeBytes(of: shift, toByteOffset: shifts + place, as: Int32.self)
          unsafe block.storeBytes(
            of: max(0, multiplier.shift), toByteOffset: leftShifts + place, as: Int32.self)
        }
      }
    default: break
    }
  }
}
