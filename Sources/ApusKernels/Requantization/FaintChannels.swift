// SPDX-License-Identifier: Apache-2.0

/// Channels whose factors are zero, or shift right by more than a target's code supports. Converters write
/// such factors for channels without weights.
///
/// A factor of zero has the same output for every sum and with any shift, so it gets a shift that the code
/// supports. With other tiny factors all possible sums usually have one output: these channels get the factor
/// 2⁻²² and a bias that makes this output.
@usableFromInline package final class FaintChannels: Sendable {
  @usableFromInline let multipliers: [FixedPointMultiplier]
  @usableFromInline let minimumShift: Int32
  @usableFromInline let zeroPoint: Int32
  @usableFromInline let minimum: Int32
  @usableFromInline let maximum: Int32
  /// The epilogue with these channels' factors replaced.
  package let epilogue: Epilogue

  /// Finds such channels; nil if there are none.
  package init?(_ epilogue: Epilogue, minimumShift: Int32?) {
    guard case .fixedPoint(let multipliers, let zeroPoint, let minimum, let maximum) = epilogue,
      let minimumShift, multipliers.count > 1
    else { return nil }
    func isFaint(_ factor: FixedPointMultiplier) -> Bool { factor.shift < minimumShift || factor.value == 0 }
    guard multipliers.contains(where: isFaint) else { return nil }
    self.multipliers = multipliers
    self.minimumShift = minimumShift
    (self.zeroPoint, self.minimum, self.maximum) = (zeroPoint, minimum, maximum)
    let (zero, other) = (FixedPointMultiplier(value: 0, shift: -1), FixedPointMultiplier(0x1p-22))
    self.epilogue = .fixedPoint(
      multipliers.map { $0.value == 0 ? zero : isFaint($0) ? other : $0 }, zeroPoint: zeroPoint,
      minimum: minimum,
      maximum: maximum)
  }

  /// The channels in the output of `apus inspect --plan`.
  package var note: String {
    let zeros = multipliers.indices.count { isZero($0) }
    let others = multipliers.indices.count { contains($0) }
    let parts =
      (zeros > 0 ? ["factors of zero"] : [])
      + (others > 0 ? ["factors below 2^\(minimumShift - 1): they get 2^-22 and another bias"] : [])
    return "\(zeros + others) of \(multipliers.count) channels have \(parts.joined(separator: " or "))"
  }

  /// The numbers that packed biases depend on; part of the key of packed weights.
  package var identity: [Int] {
    var numbers = [Int(zeroPoint), Int(minimum), Int(maximum)]
    numbers.reserveCapacity(3 + multipliers.count)
    for multiplier in multipliers {
      numbers.append(Int(multiplier.value) << 8 | Int(multiplier.shift) & 0xFF)
    }
    return numbers
  }

  /// Whether a channel's factor is zero, so that its sums make no difference.
  @inlinable package func isZero(_ channel: Int) -> Bool { multipliers[channel].value == 0 }

  /// Whether a channel's factor and bias are replaced.
  @inlinable package func contains(_ channel: Int) -> Bool {
    multipliers[channel].shift < minimumShift && !isZero(channel)
  }

  /// The bias to pack for a channel whose sums are within `reach` of their bias; nil if they may have several
  /// outputs, or outputs that the replaced factor cannot produce.
  @inlinable package func bias(_ bias: Int32, channel: Int, reach: Int) -> Int32? {
    let (least, most) = (Int(bias) - reach, Int(bias) + reach)
    guard reach < 1 << 20, least > Int(Int32.min), most <= Int(Int32.max) else { return nil }
    let multiplier = multipliers[channel]
    // A shift by this many bits leaves room for the zero point.
    func output(_ sum: Int) -> Int32 {
      min(max(multiplier.apply(Int32(sum)) &+ zeroPoint, minimum), maximum) &- zeroPoint
    }
    let first = output(least)
    return first == output(most) ? first << 22 : nil
  }
}
