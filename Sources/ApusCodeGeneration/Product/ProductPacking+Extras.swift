// SPDX-License-Identifier: Apache-2.0

import ApusKernels

/// Extra K-steps, for weights that, minus their zero point, exceed what one K-step can multiply.
///
/// Products of two tensors pack weights in each run. So the check of 16 bytes is one comparison, and only a
/// byte that exceeds the range costs a few instructions more.
extension ProductPacking {
  /// Up to 16 consecutive values of a tap: the first one's index in a column, how many, the first one's
  /// K-step, and the number of K-steps.
  private struct Run {
    let term: Int
    let count: Int
    let step: Int
    let stepCount: Int
  }

  /// How far bytes exceed the range of a K-step. The range has at least 255 of 256 values, so they exceed it
  /// on one side only.
  private struct Reach {
    /// Bits to flip so that larger bytes are closer to the exceeded side.
    private let turns: SIMD16<UInt8>
    private let most: SIMD16<UInt8>
    let isHigh: Bool
    /// The magnitude that one extra K-step covers.
    let ofStep: UInt8

    init(_ terms: WeightTerms, _ operands: ByteOperands) {
      let least = operands.rhsZeroPoint &+ terms.bounds.lowerBound
      let greatest = operands.rhsZeroPoint &+ terms.bounds.upperBound
      isHigh = greatest < 255
      turns = SIMD16(repeating: operands.signFlip ^ (isHigh ? 0 : 0xFF))
      most = SIMD16(repeating: UInt8(clamping: isHigh ? greatest : 255 &- least))
      ofStep = UInt8(clamping: isHigh ? terms.bounds.upperBound : 0 &- terms.bounds.lowerBound)
    }

    /// By how much each of 16 bytes exceeds the range; 0 within it.
    @inline(__always)
    func excess(_ bytes: SIMD16<UInt8>) -> SIMD16<UInt8> { (bytes ^ turns).greater(most) &- most }

    /// The number of extra K-steps for a byte that exceeds the range by `excess`.
    @inline(__always)
    func extraCount(_ excess: UInt8) -> Int { excess == 0 ? 0 : excess <= ofStep ? 1 : 2 }

    /// The value that the extra K-step of a round multiplies, for a byte that exceeds the range by `excess`.
    @inline(__always)
    func piece(_ excess: UInt8, round: Int) -> Int8 {
      let magnitude = round == 0 ? min(excess, ofStep) : excess &- ofStep
      let value = Int8(truncatingIfNeeded: magnitude)
      return isHigh ? value : 0 &- value
    }
  }

  /// Counts the extra K-steps that each K-step of a panel needs, and returns their total.
  func mark(
    _ marks: UnsafeMutablePointer<UInt8>, weights: UnsafeRawPointer, group: Int, panel: ProductPlan.Panel
  ) -> Int {
    unsafe marks.update(repeating: 0, count: plan.stepCount)
    guard let operands = terms.operands, terms.mayHaveExtras else { return 0 }
    let reach = Reach(terms, operands)
    let (columns, depth) = (position(group: group, column: panel.firstColumn, tap: 0), convolution.depth)
    var total = 0
    forEachRun { run in
      var greatest = SIMD16<UInt8>()
      for column in 0..<panel.columnCount {
        let source = columns &+ column &* depth &+ run.term
        greatest = unsafe greatest.greater(reach.excess(bytes(weights, source, count: run.count)))
      }
      guard greatest != SIMD16() else { return }
      for step in 0..<run.stepCount {
        var most: UInt8 = 0
        for lane in step &* plan.depthPerStep..<min((step &+ 1) &* plan.depthPerStep, run.count) {
          most = max(most, greatest[lane])
        }
        let count = reach.extraCount(most)
        unsafe marks[run.step &+ step] = UInt8(truncatingIfNeeded: count)
        total &+= count
      }
    }
    return total
  }

  /// Writes the extra K-steps of a panel: the remainders of its weights, and for each step the tap and
  /// position that it repeats.
  func packExtras(
    _ weights: UnsafeRawPointer, _ operands: ByteOperands, marks: UnsafeMutablePointer<UInt8>, group: Int,
    panel: ProductPlan.Panel, steps: UnsafeMutableRawPointer, entries: UnsafeMutableRawPointer
  ) {
    // The memory may hold other weights' extra K-steps.
    unsafe steps.initializeMemory(as: UInt8.self, repeating: 0, count: entries - steps)
    let reach = Reach(terms, operands)
    let (columns, depth) = (position(group: group, column: panel.firstColumn, tap: 0), convolution.depth)
    let (places, stepByteCount) = (panel.columns, panel.paddedCount &* plan.weightByteCount)
    let stepShift = plan.depthPerStep.trailingZeroBitCount
    let byteOfStep = plan.depthPerStep &- 1
    var count = 0
    forEachRun { run in
      let first = count
      /// The index of the first extra K-step for each K-step.
      var extras = SIMD16<Int32>()
      for step in 0..<run.stepCount {
        extras[step] = Int32(truncatingIfNeeded: count)
        for _ in 0..<Int(unsafe marks[run.step &+ step]) {
          let (tap, place) = (run.step &+ step).quotientAndRemainder(dividingBy: plan.stepsPerTap)
          unsafe entries.storeBytes(of: tap, toByteOffset: count &* 16, as: Int.self)
          unsafe entries.storeBytes(of: place, toByteOffset: count &* 16 &+ 8, as: Int.self)
          count &+= 1
        }
      }
      guard count > first else { return }
      for place in 0..<places.count where places[place] < panel.columnCount {
        let source = columns &+ places[place] &* depth &+ run.term
        let excess = unsafe reach.excess(bytes(weights, source, count: run.count))
        let halves = unsafe unsafeBitCast(excess, to: SIMD2<UInt64>.self)
        for half in 0..<2 {
          var rest = halves[half]
          while rest != 0 {
            let shift = rest.trailingZeroBitCount & 56
            let excess = UInt8(truncatingIfNeeded: rest >> UInt64(shift))
            rest &= ~(0xFF << UInt64(shift))
            let lane = half &* 8 &+ shift &>> 3
            for round in 0..<reach.extraCount(excess) {
              let step = Int(extras[lane &>> stepShift]) &+ round
              unsafe steps.storeBytes(
                of: reach.piece(excess, round: round),
                toByteOffset: step &* stepByteCount &+ place &* plan.weightByteCount &+ lane & byteOfStep,
                as: Int8.self)
            }
          }
        }
      }
    }
  }

  /// Calls `body` for runs of up to 16 values that cover a column.
  @inline(__always)
  private func forEachRun(_ body: (Run) -> Void) {
    let (depthPerTap, depthPerStep) = (plan.depthPerTap, plan.depthPerStep)
    for tap in 0..<plan.tapCount {
      var lane = 0
      while lane < depthPerTap {
        let count = min(16, depthPerTap &- lane)
        body(
          Run(
            term: tap &* depthPerTap &+ lane, count: count,
            step: tap &* plan.stepsPerTap &+ lane / depthPerStep,
            stepCount: (count &+ depthPerStep &- 1) / depthPerStep))
        lane &+= 16
      }
    }
  }

  /// 16 bytes of weights; the zero point from `count` on.
  @inline(__always)
  private func bytes(_ weights: UnsafeRawPointer, _ source: Int, count: Int) -> SIMD16<UInt8> {
    if count == 16 { return unsafe weights.loadUnaligned(fromByteOffset: source, as: SIMD16<UInt8>.self) }
    let zero = UInt8(truncatingIfNeeded: terms.operands?.rhsZeroPoint ?? 0) ^ (terms.operands?.signFlip ?? 0)
    var bytes = SIMD16(repeating: zero)
    for lane in 0..<count {
      bytes[lane] = unsafe weights.load(fromByteOffset: source &+ lane, as: UInt8.self)
    }
    return bytes
  }
}
