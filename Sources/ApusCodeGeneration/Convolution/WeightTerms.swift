// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// How weights are converted for generated products, and the head of packed memory; shared by all packings.
///
/// A byte weight that, minus its zero point, exceeds what the target multiplies is split: an *extra* K-step
/// multiplies the remainder. Legacy uint8 models have a few such weights in nearly every layer.
///
/// Packed memory begins with a word that tells whether sums are bounded (``SumBounds``), then has a record
/// per panel or block.
struct WeightTerms {
  /// The position of a panel's data, in bytes from the start of packed memory.
  struct Record {
    var weights: Int
    /// The list of extra K-steps.
    var extras: Int
    var extraCount: Int
  }

  /// Nil for floats.
  let operands: ByteOperands?
  /// The operands that weights are packed with: ``operands``, but with the weights' zero point left in if
  /// ``RowTerms`` subtract its share.
  let packedOperands: ByteOperands?
  /// The size of an unpacked weight.
  let elementByteCount: Int
  let areWords: Bool
  /// Whether weights may exceed ``bounds``, so that they need extra K-steps.
  let mayHaveExtras: Bool
  let bounds: ClosedRange<Int32>
  /// The part of the activations' zero point that is not subtracted before they are multiplied.
  private let missing: Int32
  private var sumLimit: Int
  /// Channels with replaced biases; nil if outputs use the model's factors.
  private(set) var faint: FaintChannels?

  init(
    _ scheme: ConvolutionScheme, target: any CodeTarget, areNarrow: Bool = false, areCentered: Bool = true,
    rowTerms: RowTerms? = nil
  ) {
    operands = scheme.operands
    packedOperands = scheme.operands.map { rowTerms?.packed($0) ?? $0 }
    areWords = scheme.product == .words
    faint = scheme.faint
    elementByteCount = operands == nil ? 4 : 1
    bounds = target.weightBounds
    sumLimit = scheme.packedSumLimit ?? .max
    let (lhs, rhs) = (operands?.lhsZeroPoint ?? 0, operands?.rhsZeroPoint ?? 0)
    mayHaveExtras =
      operands != nil && rowTerms == nil && (!areWords || areNarrow)
      && !(bounds.contains(0 &- rhs) && bounds.contains(255 &- rhs))
    // Gathered `int16` values have their zero point subtracted. `int16` values read in place are still signed
    // or unsigned bytes.
    missing =
      !areWords ? lhs &- target.activationOffset : areCentered ? 0 : lhs &- Int32(operands?.signFlip ?? 0)
  }

  /// The conversion for the epilogue that is exact for any factor and sum.
  var general: WeightTerms {
    var weights = self
    (weights.faint, weights.sumLimit) = (nil, .max)
    return weights
  }

  // MARK: Packed memory

  /// The first word of packed memory; nil if this is not one of ours.
  static func bounds(_ packed: PackedWeights) -> SumBounds? {
    unsafe SumBounds(rawValue: packed.address.load(as: Int.self))
  }

  static func setBounds(_ bounds: SumBounds, in packed: PackedWeights) {
    unsafe packed.address.storeBytes(of: bounds.rawValue, as: Int.self)
  }

  static func record(_ packed: PackedWeights, _ index: Int) -> Record {
    unsafe packed.address.load(fromByteOffset: recordOffset(index), as: Record.self)
  }

  static func setRecord(_ record: Record, _ index: Int, in packed: PackedWeights) {
    unsafe packed.address.storeBytes(of: record, toByteOffset: recordOffset(index), as: Record.self)
  }

  /// The position of a record.
  static func recordOffset(_ index: Int) -> Int { 64 &+ index &* MemoryLayout<Record>.stride }

  // MARK: Numbers

  /// A byte weight minus its zero point.
  @inline(__always)
  func value(_ weights: UnsafeRawPointer, _ index: Int, _ operands: ByteOperands) -> Int32 {
    Int32(unsafe weights.load(fromByteOffset: index, as: UInt8.self) ^ operands.signFlip)
      &- operands.rhsZeroPoint
  }

  /// The number of extra K-steps for a weight.
  @inline(__always)
  func extraCount(_ value: Int32) -> Int {
    if bounds.contains(value) { return 0 }
    return value >= 2 &* bounds.lowerBound && value <= 2 &* bounds.upperBound ? 1 : 2
  }

  /// The part of a weight in its regular K-step.
  @inline(__always)
  func bounded(_ value: Int32) -> Int32 { areWords ? value : clamp(value) }

  /// The part of a weight in its extra K-step `round`, counted from 1.
  func piece(_ value: Int32, round: Int) -> Int8 {
    var rest = value
    for _ in 0..<round { rest &-= clamp(rest) }
    return Int8(truncatingIfNeeded: clamp(rest))
  }

  @inline(__always)
  private func clamp(_ value: Int32) -> Int32 { min(max(value, bounds.lowerBound), bounds.upperBound) }

  /// The offset of a column, which is the bias minus the share of the activations' zero point, and whether
  /// its sums keep within the limit.
  ///
  /// - Parameters:
  ///   - sum: the sum of the column's weights.
  ///   - count: the number of the column's weights.
  ///   - magnitude: the sum of their magnitudes; evaluated only if the simple bound is not enough.
  func offset(
    bias: UInt32, channel: Int, sum: Int32, count: Int, magnitude: @autoclosure () -> Int
  ) -> (bits: UInt32, bounds: SumBounds) {
    var bias = Int32(bitPattern: bias)
    if let faint {
      if faint.isZero(channel) { return (0, .kept) }
      if faint.contains(channel) {
        guard let other = faint.bias(bias, channel: channel, reach: 255 * magnitude()) else {
          return (0, .severalOutputs)
        }
        bias = other
      }
    }
    let rest = sumLimit - abs(Int(bias))
    var isBounded = rest >= 0 && count <= rest / (255 * 255)
    if !isBounded {
      let reach = 255 * magnitude()
      isBounded = reach <= rest
      if !isBounded, let other = nearer(bias, reach: reach) { (bias, isBounded) = (other, true) }
    }
    return (UInt32(bitPattern: bias &- missing &* sum), isBounded ? .kept : .exceeded)
  }

  /// Whether the offsets of columns of `count` weights without biases depend only on the sums of the weights.
  func hasPlainOffsets(count: Int) -> Bool { faint == nil && count <= sumLimit / (255 * 255) }

  /// The offsets of four columns without biases, whose weights have these sums.
  @inline(__always)
  func plainOffsets(sums: SIMD4<Int32>) -> SIMD4<Int32> { SIMD4() &- sums &* SIMD4(repeating: missing) }

  /// Sums of this magnitude saturate the output: factors with a sum limit are at least 2⁻²², which makes 256
  /// of it.
  private static let saturation = 1 << 30

  /// A smaller bias with the same outputs, all of them saturated, that keeps sums within the limit; nil if
  /// there is none.
  ///
  /// - Parameter reach: the maximum difference between a sum and its bias.
  private func nearer(_ bias: Int32, reach: Int) -> Int32? {
    let magnitude = abs(Int(bias))
    guard reach < Self.saturation, magnitude - reach >= Self.saturation,
      magnitude + reach <= Int(Int32.max), Self.saturation + 2 * reach <= sumLimit
    else { return nil }
    let other = Int32(truncatingIfNeeded: Self.saturation + reach)
    return bias < 0 ? 0 &- other : other
  }
}
