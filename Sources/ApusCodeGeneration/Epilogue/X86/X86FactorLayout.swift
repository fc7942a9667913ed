// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// The layout of a panel's factors, in bytes: the parts that all epilogues share. Each epilogue has its own
/// layout for the rest.
struct X86FactorLayout {
  /// The size of a vector.
  let vectorByteCount: Int
  /// The size of an array with one 32-bit lane per column. There are five of them.
  private let arrayByteCount: Int
  /// 64 bytes for a constant of the epilogue.
  let constant: Int
  /// 64 bytes for a constant that differs by lane: see ``order``, ``wordOrder`` and
  /// ``X86FloatFactors/columnMask``.
  let pattern: Int
  /// 0x80 in every byte.
  let signFlip: Int
  /// A 16-bit value.
  let zeroPoint: Int
  /// A byte, repeated four times, or a float.
  let minimum: Int
  let maximum: Int
  /// 64 bytes for a second constant of the epilogue.
  let secondConstant: Int
  /// The size of a panel's factors.
  let byteCount: Int

  init(_ target: X86Target) {
    vectorByteCount = target.width.byteCount
    arrayByteCount = target.maximumVectors * vectorByteCount
    constant = 5 * arrayByteCount
    pattern = constant + 64
    signFlip = pattern + 64
    zeroPoint = signFlip + 4
    minimum = signFlip + 8
    maximum = signFlip + 12
    secondConstant = signFlip + 64
    byteCount = secondConstant + 64
  }

  /// The position of an array.
  func array(_ index: Int) -> Int { index * arrayByteCount }

  /// AVX-512, bytes: for panels of one to three vectors, the permutation of packed 32-bit lanes that puts
  /// rows together, one byte per lane.
  var order: Int { pattern }

  /// AVX2, bytes: the shuffle that turns eight bytes of one row and eight of another into interleaved 16-bit
  /// lanes; unsigned bytes go into low halves, signed ones into high halves.
  var wordOrder: Int { pattern }

  /// Packing four vectors interleaves them by quarters of 128 bits; this permutation of 32-bit lanes undoes
  /// it.
  private static let dwordOrder: [UInt8] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]

  /// Writes a panel's factors.
  func fill(
    _ block: UnsafeMutableRawPointer, epilogue: LoweredEpilogue, outputs: X86EpilogueGenerator.Outputs,
    lanes: ChannelLanes
  ) {
    unsafe block.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    let block = unsafe X86FactorBlock(start: block, layout: self, lanes: lanes)
    block.store(0x8080_8080 as UInt32, at: signFlip)
    if vectorByteCount == 64 {
      for (place, dword) in Self.dwordOrder.enumerated() { block.store(dword, at: order + place) }
    } else if case .bytes(let isSigned, _, _) = outputs {
      let (first, step): (UInt64, UInt64) =
        isSigned
        ? (0x0980_0180_0880_0080, 0x0200_0200_0200_0200) : (0x8009_8001_8008_8000, 0x0002_0002_0002_0002)
      for quad in 0..<4 { block.store(first + UInt64(quad) * step, at: wordOrder + 8 * quad) }
    } else {
      X86FloatFactors(self).fillColumnMask(block)
    }
    switch epilogue {
    case .stated(.float32(let minimum, let maximum)):
      X86FloatFactors(self).fill(block, minimum: minimum, maximum: maximum)
    case .stated(.hybrid(let scales, let minimum, let maximum, _)):
      X86FloatFactors(self).fill(block, scales: scales, minimum: minimum, maximum: maximum)
    case .stated(.fixedPoint(let multipliers, let zeroPoint, let minimum, let maximum)):
      block.storeBytes(zeroPoint, minimum, maximum)
      if outputs.shiftsRight {
        X86ShiftingFactors(self).fill(
          block, multipliers, zeroPoint: zeroPoint, isRectified: outputs.isRectified)
      } else {
        X86SteppingFactors(self).fill(block, multipliers, zeroPoint: zeroPoint)
      }
    case .anySum(let multipliers, let zeroPoint, let minimum, let maximum):
      block.storeBytes(zeroPoint, minimum, maximum)
      X86SteppingFactors(self).fill(block, multipliers, zeroPoint: zeroPoint)
    case .singlePrecision(let factors, let zeroPoint, let minimum, let maximum):
      block.storeBytes(zeroPoint, minimum, maximum)
      X86SinglePrecisionFactors(self).fill(block, factors)
    case .stated(.float64(let scales, let zeroPoint, let minimum, let maximum)):
      block.store(Int16(truncatingIfNeeded: zeroPoint), at: self.zeroPoint)
      X86DoublePrecisionFactors(self).fill(
        block, scales, zeroPoint: zeroPoint, minimum: minimum, maximum: maximum)
    case .stated: break
    }
  }
}
