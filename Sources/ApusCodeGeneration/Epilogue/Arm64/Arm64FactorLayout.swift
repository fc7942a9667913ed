// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// The layout of a panel's factors, in bytes.
enum Arm64FactorLayout {
  /// Arrays with one 32-bit lane for each of 16 columns. Right shifts are negative counts.
  static let multipliers = 0
  static let leftShifts = 64
  static let rightShifts = 128
  /// One double per column.
  static let scales = 192
  /// Constants, each repeated to fill a vector: an `int32`; bytes or floats.
  static let zeroPoint = 320
  static let minimum = 336
  static let maximum = 352
  /// The size of a panel's factors.
  static let byteCount = 384

  /// Writes a panel's factors; `lanes` maps its lanes to channels.
  static func fill(_ block: UnsafeMutableRawPointer, _ epilogue: LoweredEpilogue, _ lanes: ChannelLanes) {
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    switch epilogue {
    case .stated(.float32(let least, let most)):
      unsafe fill(block, minimum, least)
      unsafe fill(block, maximum, most)
    case .stated(.fixedPoint(let multipliers, let zero, let least, let most)):
      unsafe fill(block, zero, least, most)
      for lane in lanes.columns.indices {
        guard let channel = lanes.channel(lane) else { continue }
        let multiplier = multipliers.count > 1 ? multipliers[channel] : multipliers[0]
        let place = 4 * lane
        unsafe block.storeBytes(of: multiplier.value, toByteOffset: Self.multipliers + place, as: Int32.self)
        unsafe block.storeBytes(
          of: max(0, multiplier.shift), toByteOffset: leftShifts + place, as: Int32.self)
        unsafe block.storeBytes(
          of: min(0, multiplier.shift), toByteOffset: rightShifts + place, as: Int32.self)
      }
    case .stated(.float64(let scales, let zero, let least, let most)):
      unsafe fill(block, zero, least, most)
      for lane in lanes.columns.indices {
        guard let channel = lanes.channel(lane) else { continue }
        unsafe block.storeBytes(
          of: scales.count > 1 ? scales[channel] : scales[0], toByteOffset: Self.scales + 8 * lane,
          as: Double.self)
      }
    default: break
    }
  }

  private static func fill(_ block: UnsafeMutableRawPointer, _ zero: Int32, _ least: Int32, _ most: Int32) {
    unsafe fill(block, zeroPoint, zero)
    unsafe fill(block, minimum, UInt8(truncatingIfNeeded: least))
    unsafe fill(block, maximum, UInt8(truncatingIfNeeded: most))
  }

  private static func fill<Value: BitwiseCopyable>(
    _ block: UnsafeMutableRawPointer, _ place: Int, _ value: Value
  ) {
    for offset in stride(from: 0, to: 16, by: MemoryLayout<Value>.size) {
      unsafe block.storeBytes(of: value, toByteOffset: place + offset, as: Value.self)
    }
  }
}
