// SPDX-License-Identifier: Apache-2.0

/// Channels whose factors are zero or shift right by more than a target's code does: converters give such factors to channels
/// without weights.
///
/// Zero makes one output of any sum, and does so with any shift: it gets one that the code takes. Of others, all sums make one
/// output as a rule: they get the factor 2⁻²², and the bias that makes this output.
final class FaintChannels: Sendable {
  private let multipliers: [FixedPointMultiplier]
  private let leastShift: Int32
  private let zeroPoint: Int32
  private let minimum: Int32
  private let maximum: Int32
  /// The epilogue with other factors for these channels.
  let epilogue: Epilogue

  /// Finds such channels; nil where there are none.
  init?(_ epilogue: Epilogue, leastShift: Int32?) {
    guard case .fixedPoint(let multipliers, let zeroPoint, let minimum, let maximum) = epilogue,
      let leastShift, multipliers.count > 1
    else { return nil }
    func isFaint(_ factor: FixedPointMultiplier) -> Bool { factor.shift < leastShift || factor.value == 0 }
    guard multipliers.contains(where: isFaint) else { return nil }
    self.multipliers = multipliers
    self.leastShift = leastShift
    (self.zeroPoint, self.minimum, self.maximum) = (zeroPoint, minimum, maximum)
    let (zero, other) = (FixedPointMultiplier(value: 0, shift: -1), FixedPointMultiplier(0x1p-22))
    self.epilogue = .fixedPoint(
      multipliers.map { $0.value == 0 ? zero : isFaint($0) ? other : $0 }, zeroPoint: zeroPoint,
      minimum: minimum,
      maximum: maximum)
  }

  /// That there are such channels, for people to read.
  var note: String {
    let zeros = multipliers.indices.count { isZero($0) }
    let others = multipliers.indices.count { contains($0) }
    let parts =
      (zeros > 0 ? ["factors of zero"] : [])
      + (others > 0 ? ["factors below 2^\(leastShift - 1): they get 2^-22 and another bias"] : [])
    return "\(zeros + others) of \(multipliers.count) channels have \(parts.joined(separator: " or "))"
  }

  /// What the packed biases depend on.
  var identity: [Int] {
    var numbers = [Int(zeroPoint), Int(minimum), Int(maximum)]
    numbers.reserveCapacity(3 + multipliers.count)
    for multiplier in multipliers {
      numbers.append(Int(multiplier.value) << 8 | Int(multiplier.shift) & 0xFF)
    }
    return numbers
  }

  /// Whether a channel's factor is zero: its sums make no difference.
  func isZero(_ channel: Int) -> Bool { multipliers[channel].value == 0 }

  /// Whether a channel gets another factor and another bias.
  func contains(_ channel: Int) -> Bool { multipliers[channel].shift < leastShift && !isZero(channel) }

  /// The bias to pack for a channel whose sums lie within `reach` of their bias; nil where they may make several outputs, or
  /// ones that the other factor could not tell apart.
  func bias(_ bias: Int32, channel: Int, reach: Int) -> Int32? {
    let (least, most) = (Int(bias) - reach, Int(bias) + reach)
    guard reach < 1 << 20, least > Int(Int32.min), most <= Int(Int32.max) else { return nil }
    let multiplier = multipliers[channel]
    // A shift by so many bits leaves room for the zero point.
    func output(_ sum: Int) -> Int32 {
      min(max(multiplier.apply(Int32(sum)) &+ zeroPoint, minimum), maximum) &- zeroPoint
    }
    let first = output(least)
    return first == output(most) ? first << 22 : nil
  }
}
