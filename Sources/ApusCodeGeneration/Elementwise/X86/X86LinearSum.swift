// SPDX-License-Identifier: Apache-2.0

import ApusAssembly
import ApusKernels

/// An elementwise sum of quantized bytes in single precision, for factors that give the exact results.
///
/// Exact arithmetic takes three times as long. All 65,536 pairs of bytes are tried, which takes as long as computing 65,536
/// elements exactly. Floats are scaled up a little if halves occur, as the reference rounds these away from zero. About
/// nineteen in twenty random factors pass.
struct X86LinearSum: X86ByteCode {
  var generator: X86LinearSumGenerator
  var function: CodeFunction<X86LinearSumGenerator.Arguments>
  private(set) var arguments = X86LinearSumGenerator.Arguments()

  /// The fewest elements of a result that are worth the trial.
  static let minimumCount = 1 << 15

  /// The relative amounts by which floats are scaled up, in the order in which they are tried.
  private static let excesses = [0, 0x1p-23, 0x1p-16, 0x1p-14]

  /// Finds factors that give the results of `exact`; throws if there are none, or code cannot be placed.
  init(
    _ sum: QuantizedSum, like exact: X86ExactByteFunction, target: X86Target, isSigned: Bool
  ) throws(Decline) {
    generator = X86LinearSumGenerator(
      target: target, isSigned: isSigned, lhsIsBroadcast: exact.generator.lhsIsBroadcast,
      rhsIsBroadcast: exact.generator.rhsIsBroadcast)
    function = try unsafe CodeFunction(generator)
    for excess in Self.excesses {
      arguments = Self.numbers(sum, target: target, scale: 1 + excess)
      if equals(exact) { return }
    }
    throw Decline("sums of some of the 65,536 pairs of bytes are others")
  }

  /// The arguments of a sum that is multiplied by `scale` before its zero point is added.
  private static func numbers(
    _ sum: QuantizedSum, target: X86Target, scale: Double
  ) -> X86LinearSumGenerator.Arguments {
    func real(_ factor: FixedPointMultiplier) -> Double {
      Double(sign: .plus, exponent: Int(factor.shift) - 31, significand: Double(factor.value))
    }
    let output = sum.output
    let common = real(output.multiplier) * 0x1p20 * scale
    let lhs = real(sum.lhs.multiplier) * common
    let rhs = real(sum.rhs.multiplier) * (sum.isDifference ? 0 - common : common)
    let base = Double(output.zeroPoint) - Double(sum.lhs.zeroPoint) * lhs - Double(sum.rhs.zeroPoint) * rhs
    return X86LinearSumGenerator.Arguments(
      lhsFactor: Float(lhs), rhsFactor: Float(rhs), base: Float(base),
      minimum: UInt8(truncatingIfNeeded: output.minimum),
      maximum: UInt8(truncatingIfNeeded: output.maximum),
      order: target == .avx512
        ? (0x0D09_0501_0C08_0400, 0x0F0B_0703_0E0A_0602) : (0x0703_0602_0501_0400, 0))
  }

  /// Whether the results of all pairs of bytes equal those of `exact`.
  private func equals(_ exact: X86ExactByteFunction) -> Bool {
    unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 64) { memory in
      ExecutableMemory.seal()
      guard let values = unsafe memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return false }
      let (same, expected, found) = unsafe (values + 256, values + 512, values + 768)
      for byte in 0..<256 { unsafe values[byte] = UInt8(truncatingIfNeeded: byte) }
      for byte in 0..<256 {
        unsafe same.update(repeating: UInt8(truncatingIfNeeded: byte), count: 256)
        let (lhs, rhs) = unsafe generator.rhsIsBroadcast ? (values, same) : (same, values)
        unsafe exact.fill(expected, blocks: 256 / exact.blockLength, lhs: lhs, rhs: rhs)
        unsafe fill(found, blocks: 256 / blockLength, lhs: lhs, rhs: rhs)
        for offset in stride(from: 0, to: 256, by: 8) {
          let wanted = unsafe UnsafeRawPointer(expected).load(fromByteOffset: offset, as: UInt64.self)
          if unsafe UnsafeRawPointer(found).load(fromByteOffset: offset, as: UInt64.self) != wanted {
            return false
          }
        }
      }
      return true
    }
  }
}
