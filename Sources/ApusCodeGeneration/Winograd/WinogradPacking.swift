// SPDX-License-Identifier: Apache-2.0

import ApusKernels
import ApusRuntime

/// Packs the weights of a Winograd convolution: untransformed, in the order in which each run transforms
/// them.
///
/// Transforming bytes that are in a cache is faster than reading four times as many `int16` from beyond it,
/// and takes no memory. Packed memory has, in this order: a word that identifies the packing; the biases in
/// lane order; for each panel and K-step, nine vectors of weights, one for each tap, with a column in each
/// lane.
struct WinogradPacking {
  let plan: WinogradPlan
  /// Nil for floats.
  let operands: ByteOperands?
  /// The largest magnitude of a sum for which the usual epilogue is exact.
  let sumLimit: Int

  /// Sums up to this magnitude are exact: see Docs/Kernels.md.
  private static let exactLimit = 1 << 25 - 1
  /// The first word; other layouts begin with smaller values.
  private enum Mark: Int {
    /// All sums are within the limit.
    case bounded = 9
    /// Biases may take some beyond the limit.
    case unbounded = 10
  }
  private static let taps = 9

  private var convolution: Convolution { plan.convolution }
  var offsets: Int { 64 }
  private var weightsOffset: Int { roundedUp(offsets + 4 * plan.paddedColumnCount, to: 64) }

  /// The size of one column's weights for one tap and K-step.
  private var laneByteCount: Int { plan.variant.channelsPerStep &* plan.variant.elementByteCount }
  /// The size of one column's weights for one K-step.
  private var columnByteCount: Int { Self.taps &* laneByteCount }

  /// The vectors of weights to transform for a panel, per point.
  func vectors(_ panel: WinogradPlan.Panel) -> Int { plan.stepCount &* panel.vectorCount }

  /// The position of a panel's weights.
  func weights(_ panel: WinogradPlan.Panel) -> Int {
    weightsOffset &+ plan.stepCount &* panel.paddedBefore &* columnByteCount
  }

  var byteCount: Int { weightsOffset + plan.stepCount * plan.paddedColumnCount * columnByteCount }

  /// Whether memory was packed for Winograd's method rather than for direct convolution.
  static func isPacked(_ packed: PackedWeights) -> Bool {
    unsafe Mark(rawValue: packed.address.load(as: Int.self)) != nil
  }

  /// Whether sums may exceed the limit of the usual epilogue.
  static func isUnbounded(_ packed: PackedWeights) -> Bool {
    unsafe packed.address.load(as: Int.self) == Mark.unbounded.rawValue
  }

  /// Packs weights and biases. Returns false and writes nothing if some sum might not be exact.
  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) -> Bool {
    precondition(
      weights.byteCount >= convolution.weightCount * plan.variant.elementByteCount
        && packed.byteCount >= byteCount)
    return unsafe weights.withUnsafeBytes { weights in
      guard let weights = weights.baseAddress else { return false }
      var mark = Mark.bounded
      if let operands {
        for channel in 0..<convolution.outputChannels {
          let bias = unsafe bias?.unsafeLoadUnaligned(fromByteOffset: channel * 4, as: Int32.self) ?? 0
          let own = unsafe weights + channel * convolution.depth
          guard let most = unsafe exactSums(own, operands) else { return false }
          if most + abs(Int(bias)) > sumLimit { mark = .unbounded }
        }
      }
      unsafe packed.address.storeBytes(of: mark.rawValue, as: Int.self)
      for panel in plan.panels where !packed.mustStop {
        if let operands {
          let zero = UInt8(truncatingIfNeeded: operands.rhsZeroPoint) ^ operands.signFlip
          unsafe pack(panel, weights: weights, bias: bias, zero: UInt16(zero) &* 0x0101, into: packed.address)
        } else {
          unsafe pack(panel, weights: weights, bias: bias, zero: 0 as UInt32, into: packed.address)
        }
      }
      return true
    }
  }

  /// Whether sums without biases are exact for all weights and activations.
  var isAlwaysExact: Bool {
    guard let operands else { return true }
    let factors = [operands.lhsZeroPoint, operands.rhsZeroPoint].map { Int(max($0, 255 - $0)) }
    return convolution.depth * factors[0] * factors[1] <= Self.exactLimit
  }

  /// A bound on the magnitude of a channel's sums for all activations; nil if they might not be exact.
  ///
  /// Activations are in `−z…255−z`. The maximum sum combines positive weights with the largest activation and
  /// negative weights with the smallest; the minimum sum does the reverse.
  private func exactSums(_ weights: UnsafeRawPointer, _ operands: ByteOperands) -> Int? {
    if isAlwaysExact { return Self.exactLimit }
    let count = convolution.depth
    let flips = SIMD8<UInt8>(repeating: operands.signFlip)
    let zeroPoints = SIMD8<Int16>(repeating: Int16(truncatingIfNeeded: operands.rhsZeroPoint))
    let ones = SIMD8<Int16>(repeating: 1)
    var (positive, all) = (SIMD4<Int32>(), SIMD4<Int32>())
    var index = 0
    while index &+ 8 <= count {
      // 128 values of nine bits fit in `int16`.
      var (positiveWords, words) = (SIMD8<Int16>(), SIMD8<Int16>())
      for _ in 0..<min(128, (count &- index) / 8) {
        let bytes = unsafe weights.loadUnaligned(fromByteOffset: index, as: SIMD8<UInt8>.self) ^ flips
        let values = SIMD8<Int16>(widening: bytes) &- zeroPoints
        words &+= values
        positiveWords &+= values & ~(values &>> 15)
        index &+= 8
      }
      positive &+= pairSums(positiveWords, ones)
      all &+= pairSums(words, ones)
    }
    var (p, sum) = (Int(positive.wrappedSum()), Int(all.wrappedSum()))
    while index < count {
      let byte = unsafe weights.load(fromByteOffset: index, as: UInt8.self) ^ operands.signFlip
      let value = Int(byte) - Int(operands.rhsZeroPoint)
      p += max(value, 0)
      sum += value
      index &+= 1
    }
    let (n, least) = (p - sum, Int(operands.lhsZeroPoint))
    let most = max(p * (255 - least) + n * least, p * least + n * (255 - least))
    return most <= Self.exactLimit ? most : nil
  }

  /// Packs a panel lane by lane: two bytes, or a float.
  @inline(__always)
  private func pack<Lane: FixedWidthInteger & BitwiseCopyable>(
    _ panel: WinogradPlan.Panel, weights: UnsafeRawPointer, bias: RawSpan?, zero: Lane,
    into packed: UnsafeMutableRawPointer
  ) {
    let (channels, depth) = (convolution.inputChannels, convolution.depth)
    let (elementByteCount, laneByteCount) = (plan.variant.elementByteCount, MemoryLayout<Lane>.size)
    let lanes = plan.vectorByteCount / 4
    let vectorByteCount = lanes &* laneByteCount
    for (place, column) in panel.columns.enumerated() {
      let channel = panel.firstColumn + column
      let exists = column < panel.columnCount
      if exists, let bias {
        let bits = unsafe bias.unsafeLoadUnaligned(fromByteOffset: channel * 4, as: UInt32.self)
        unsafe packed.storeBytes(
          of: bits, toByteOffset: offsets + (panel.paddedBefore + place) * 4, as: UInt32.self)
      }
      let (vector, lane) = place.quotientAndRemainder(dividingBy: lanes)
      var target =
        unsafe packed + self.weights(panel)
        + (vector * Self.taps * vectorByteCount + lane * laneByteCount)
      for step in 0..<plan.stepCount {
        // With an odd number of channels, the last one has no partner.
        let isWhole = (step &+ 1) &* laneByteCount <= channels &* elementByteCount
        var source =
          unsafe weights + (exists ? channel &* depth &* elementByteCount : 0) + step &* laneByteCount
        for tap in 0..<Self.taps {
          var value = zero
          if exists {
            if isWhole {
              value = unsafe source.loadUnaligned(as: Lane.self)
            } else {
              value = zero & ~0xFF | Lane(unsafe source.load(as: UInt8.self))
            }
          }
          unsafe target.storeBytes(of: value, toByteOffset: tap &* vectorByteCount, as: Lane.self)
          unsafe source += channels &* elementByteCount
        }
        unsafe target += panel.vectorCount &* Self.taps &* vectorByteCount
      }
    }
  }
}
