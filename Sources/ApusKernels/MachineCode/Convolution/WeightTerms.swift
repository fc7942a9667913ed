// SPDX-License-Identifier: Apache-2.0

/// How weights become terms of generated products, and the head of packed memory: what packing of both kinds shares.
///
/// A byte weight minus its zero point that is beyond what the target multiplies is split: its step is done again with what
/// is missing, as an *extra* step. Legacy uint8 models have a few such weights in nearly every layer.
///
/// Packed memory begins with a word that says whether sums are bounded: ``SumBounds``. Records follow it, one for each panel or block.
struct WeightTerms {
  /// Where a panel's data lie, in bytes from the packed memory's start.
  struct Record {
    var weights: Int
    /// What the extra steps belong to.
    var extras: Int
    var extraCount: Int
  }

  /// Nil for floats.
  let operands: ByteOperands?
  /// The same as far as weights are packed with it: without their zero point, where ``RowTerms`` have its share.
  let packedOperands: ByteOperands?
  /// The size of a weight where it is not packed.
  let elementByteCount: Int
  let areWords: Bool
  /// Whether weights may be beyond ``bounds``, of bytes and of words that are packed as such.
  let mayHaveExtras: Bool
  let bounds: ClosedRange<Int32>
  /// What activations lack when they are multiplied: the rest of their zero point.
  private let missing: Int32
  private var sumLimit: Int
  /// Channels whose biases are others; nil where no bias can be, as the outputs are made with the factors as they are.
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
    // Words have the zero point of activations taken off already, as a rule; otherwise signed ones have their signs.
    missing =
      !areWords ? lhs &- target.activationOffset : areCentered ? 0 : lhs &- Int32(operands?.signFlip ?? 0)
  }

  /// The same for code that takes any factors and sums.
  var general: WeightTerms {
    var weights = self
    (weights.faint, weights.sumLimit) = (nil, .max)
    return weights
  }

  // MARK: Packed memory

  /// What the first word says; other ways of packing begin with other words.
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

  /// Where a record lies.
  static func recordOffset(_ index: Int) -> Int { 64 &+ index &* MemoryLayout<Record>.stride }

  // MARK: Numbers

  /// A byte weight minus its zero point.
  @inline(__always)
  func value(_ weights: UnsafeRawPointer, _ index: Int, _ operands: ByteOperands) -> Int32 {
    Int32(unsafe weights.load(fromByteOffset: index, as: UInt8.self) ^ operands.signFlip)
      &- operands.rhsZeroPoint
  }

  /// How many extra steps a weight needs.
  @inline(__always)
  func extraCount(_ value: Int32) -> Int {
    if bounds.contains(value) { return 0 }
    return value >= 2 &* bounds.lowerBound && value <= 2 &* bounds.upperBound ? 1 : 2
  }

  /// What a step multiplies of a weight at first.
  @inline(__always)
  func bounded(_ value: Int32) -> Int32 { areWords ? value : clamp(value) }

  /// What a step multiplies of a weight, after `round` other steps.
  func piece(_ value: Int32, round: Int) -> Int8 {
    var rest = value
    for _ in 0..<round { rest &-= clamp(rest) }
    return Int8(truncatingIfNeeded: clamp(rest))
  }

  @inline(__always)
  private func clamp(_ value: Int32) -> Int32 { min(max(value, bounds.lowerBound), bounds.upperBound) }

  /// What is added to the sums of a column: the bias, less the share of the activations' zero point; and whether those keep
  /// to the limit. The column has so many weights, with this sum and, which is rarely asked for, that sum of magnitudes.
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

  /// Whether offsets of columns of so many weights, without biases, are nothing but the zero points' share.
  func hasPlainOffsets(count: Int) -> Bool { faint == nil && count <= sumLimit / (255 * 255) }

  /// Those offsets.
  @inline(__always)
  func plainOffsets(sums: SIMD4<Int32>) -> SIMD4<Int32> { SIMD4() &- sums &* SIMD4(repeating: missing) }

  /// From this magnitude on, sums make the greatest output or the least: factors that limit sums are 2⁻²² at least, which makes
  /// 256 of it.
  private static let saturation = 1 << 30

  /// A bias that makes the same outputs, all saturated, of sums within the limit; nil where there is none. Sums lie within
  /// `reach` of it.
  private func nearer(_ bias: Int32, reach: Int) -> Int32? {
    let magnitude = abs(Int(bias))
    guard reach < Self.saturation, magnitude - reach >= Self.saturation,
      magnitude + reach <= Int(Int32.max), Self.saturation + 2 * reach <= sumLimit
    else { return nil }
    let other = Int32(truncatingIfNeeded: Self.saturation + reach)
    return bias < 0 ? 0 &- other : other
  }
}
