// SPDX-License-Identifier: Apache-2.0

/// Extra steps: what bytes less their zero point have beyond what a step multiplies. Products of two tensors pack them in each
/// run, so that a byte within reach costs a sixteenth of a comparison, and one beyond it a few instructions.
extension ProductPacking {
  /// Up to sixteen terms of a tap: the first of them in a column, how many, and the step that multiplies the first.
  private struct Run {
    let term: Int
    let count: Int
    let step: Int
    let stepCount: Int
  }

  /// How far bytes are beyond what a step multiplies: to one side only, as a step reaches 255 values of 256.
  private struct Reach {
    /// Makes the bits of bytes grow to the side where there are such.
    private let turns: SIMD16<UInt8>
    private let most: SIMD16<UInt8>
    let isHigh: Bool
    /// The magnitude that one more step multiplies.
    let ofStep: UInt8

    init(_ terms: WeightTerms, _ operands: ByteOperands) {
      let least = operands.rhsZeroPoint &+ terms.bounds.lowerBound
      let greatest = operands.rhsZeroPoint &+ terms.bounds.upperBound
      isHigh = greatest < 255
      turns = SIMD16(repeating: operands.signFlip ^ (isHigh ? 0 : 0xFF))
      most = SIMD16(repeating: UInt8(clamping: isHigh ? greatest : 255 &- least))
      ofStep = UInt8(clamping: isHigh ? terms.bounds.upperBound : 0 &- terms.bounds.lowerBound)
    }

    /// How far sixteen bytes are beyond.
    @inline(__always)
    func excess(_ bytes: SIMD16<UInt8>) -> SIMD16<UInt8> { (bytes ^ turns).greater(most) &- most }

    /// How many extra steps a byte needs that is so far beyond.
    @inline(__always)
    func extraCount(_ excess: UInt8) -> Int { excess == 0 ? 0 : excess <= ofStep ? 1 : 2 }

    /// What the extra step of a round multiplies, of a byte that is so far beyond.
    @inline(__always)
    func piece(_ excess: UInt8, round: Int) -> Int8 {
      let magnitude = round == 0 ? min(excess, ofStep) : excess &- ofStep
      let value = Int8(truncatingIfNeeded: magnitude)
      return isHigh ? value : 0 &- value
    }
  }

  /// Counts, for each step, the extra steps that a panel needs; answers their sum.
  func mark(
    _ marks: UnsafeMutablePointer<UInt8>, weights: UnsafeRawPointer, group: Int, panel: ProductPlan.Panel
  ) -> Int {
    unsafe marks.update(repeating: 0, count: plan.stepCount)
    guard let operands = terms.operands, terms.mayHaveExtras else { return 0 }
    let reach = Reach(terms, operands)
    let columns = position(group: group, column: panel.firstColumn, tap: 0)
    var total = 0
    forEachRun { run in
      var greatest = SIMD16<UInt8>()
      for column in 0..<panel.columnCount {
        let source = columns &+ column &* convolution.depth &+ run.term
        greatest = unsafe greatest.greater(reach.excess(bytes(weights, source, count: run.count)))
      }
      guard greatest != SIMD16() else { return }
      for step in 0..<run.stepCount {
        var most: UInt8 = 0
        for lane in step &* plan.lanesPerStep..<min((step &+ 1) &* plan.lanesPerStep, run.count) {
          most = max(most, greatest[lane])
        }
        let count = reach.extraCount(most)
        unsafe marks[run.step &+ step] = UInt8(truncatingIfNeeded: count)
        total &+= count
      }
    }
    return total
  }

  /// Writes what signed bytes could not hold, and where in the rows it belongs.
  func packExtras(
    _ weights: UnsafeRawPointer, _ operands: ByteOperands, marks: UnsafeMutablePointer<UInt8>, group: Int,
    panel: ProductPlan.Panel, steps: UnsafeMutableRawPointer, entries: UnsafeMutableRawPointer
  ) {
    // Other weights may have been packed here before, with extra steps elsewhere.
    unsafe steps.initializeMemory(as: UInt8.self, repeating: 0, count: entries - steps)
    let reach = Reach(terms, operands)
    let columns = position(group: group, column: panel.firstColumn, tap: 0)
    let (places, stepByteCount) = (panel.columns, panel.paddedCount &* plan.weightByteCount)
    let stepShift = plan.lanesPerStep.trailingZeroBitCount
    let byteOfStep = plan.lanesPerStep &- 1
    var count = 0
    forEachRun { run in
      let first = count
      /// The place of each step's first extra one.
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
        let source = columns &+ places[place] &* convolution.depth &+ run.term
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

  /// Calls `body` with the terms of a column in runs.
  @inline(__always)
  private func forEachRun(_ body: (Run) -> Void) {
    let (lanesPerTap, lanesPerStep) = (plan.lanesPerTap, plan.lanesPerStep)
    for tap in 0..<plan.tapCount {
      var lane = 0
      while lane < lanesPerTap {
        let count = min(16, lanesPerTap &- lane)
        body(
          Run(
            term: tap &* lanesPerTap &+ lane, count: count,
            step: tap &* plan.stepsPerTap &+ lane / lanesPerStep,
            stepCount: (count &+ lanesPerStep &- 1) / lanesPerStep))
        lane &+= 16
      }
    }
  }

  /// Sixteen bytes of weights; from `count` on, the zero point.
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
