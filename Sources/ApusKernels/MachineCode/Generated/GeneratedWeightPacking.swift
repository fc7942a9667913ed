/// Lays the weights of a convolution out for the generated products.
///
/// For each panel and step, one 32-bit lane for each column: four bytes, two `int16` or one float.
///
/// Packed layout: the head, with a record for each group and panel; the offsets that are added to sums; then weights and
/// extra steps. Extra steps have pairs of a tap and a step in it.
struct GeneratedWeightPacking {
  let plan: GeneratedConvolutionPlan
  let terms: GeneratedWeights

  private var convolution: Convolution { plan.convolution }
  private var recordCount: Int { convolution.groups * plan.panels.count }

  /// Where the offsets of a group begin; floats have their biases there.
  func offsets(group: Int) -> Int {
    roundedUp(GeneratedWeights.recordOffset(recordCount), to: 64) + group * plan.paddedColumnCount * 4
  }

  private var marksOffset: Int { roundedUp(offsets(group: convolution.groups), to: 64) }
  private var weightsOffset: Int { roundedUp(marksOffset + plan.stepCount, to: 64) }
  private var weightByteCount: Int {
    convolution.groups * plan.paddedColumnCount * plan.stepCount * plan.weightByteCount
  }

  /// The most bytes that any weights need.
  var byteCount: Int {
    let extras =
      terms.mayHaveExtras ? 2 * weightByteCount + recordCount * (plan.stepCount * 2 * 16 + 64) : 0
    return weightsOffset + weightByteCount + extras
  }

  /// The bytes that these weights need.
  func byteCount(for weights: RawSpan) -> Int {
    guard terms.mayHaveExtras, weights.byteCount >= convolution.weightCount else { return byteCount }
    var total = weightsOffset + weightByteCount
    var marks = [UInt8](repeating: 0, count: plan.stepCount)
    unsafe weights.withUnsafeBytes { weights in
      unsafe marks.withUnsafeMutableBufferPointer { marks in
        guard let weights = weights.baseAddress, let marks = marks.baseAddress else { return }
        for group in 0..<convolution.groups {
          for panel in plan.panels {
            let extras = unsafe mark(marks, weights: weights, group: group, panel: panel)
            total += extras * panel.paddedCount * plan.weightByteCount + roundedUp(extras * 16, to: 64)
          }
        }
      }
    }
    return total
  }

  /// The record of a group's panel.
  func record(_ packed: PackedWeights, group: Int, panel: Int) -> GeneratedWeights.Record {
    GeneratedWeights.record(packed, group &* plan.panels.count &+ panel)
  }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(
      weights.byteCount >= convolution.weightCount * terms.elementByteCount
        && packed.byteCount >= weightsOffset + weightByteCount)
    var isBounded = true
    unsafe weights.withUnsafeBytes { weights in
      guard let weights = weights.baseAddress else { return }
      var next = weightsOffset
      for group in 0..<convolution.groups {
        for (index, panel) in plan.panels.enumerated() {
          let record = unsafe packPanel(
            weights, bias: bias, group: group, panel: panel, at: next, into: packed, isBounded: &isBounded)
          GeneratedWeights.setRecord(record, group * plan.panels.count + index, in: packed)
          // So that neighboring panels begin at lines of the cache.
          next = record.extras + roundedUp(record.extraCount * 16, to: 64)
        }
      }
    }
    GeneratedWeights.setBounded(isBounded, in: packed)
  }

  // MARK: Panels

  /// The place of a column's weights for a tap, in elements.
  private func position(group: Int, column: Int, tap: Int) -> Int {
    (group &* convolution.columnCount &+ column) &* convolution.depth &+ tap &* plan.lanesPerTap
  }

  /// Counts, for each step, the extra steps that a panel needs; answers their sum.
  private func mark(
    _ marks: UnsafeMutablePointer<UInt8>, weights: UnsafeRawPointer, group: Int,
    panel: GeneratedConvolutionPlan.Panel
  ) -> Int {
    unsafe marks.update(repeating: 0, count: plan.stepCount)
    guard let operands = terms.operands, terms.mayHaveExtras else { return 0 }
    // Weights are too wide to one side only. Nearly all fit, so sixteen are looked at together; the last sixteen of a
    // column may overlap those before.
    let (least, greatest) = (
      operands.rhsZeroPoint + terms.bounds.lowerBound, operands.rhsZeroPoint + terms.bounds.upperBound
    )
    let isHigh = greatest < 255
    let turns = SIMD16(repeating: operands.signFlip ^ (isHigh ? 0 : 0xFF))
    let most = SIMD16(repeating: UInt8(clamping: isHigh ? greatest : 255 - least))
    let depth = convolution.depth
    for column in panel.firstColumn..<panel.firstColumn + panel.columnCount {
      let start = position(group: group, column: column, tap: 0)
      var term = 0
      while term < depth {
        let isWhole = depth >= 16
        let first = isWhole ? min(term, depth &- 16) : term
        let end = isWhole ? first &+ 16 : depth
        term = end
        if isWhole {
          let bytes =
            unsafe weights.loadUnaligned(fromByteOffset: start &+ first, as: SIMD16<UInt8>.self) ^ turns
          if most.isAtLeast(bytes) { continue }
        }
        for index in first..<end {
          let extras = unsafe terms.extraCount(terms.value(weights, start &+ index, operands))
          guard extras > 0 else { continue }
          let step =
            index / plan.lanesPerTap &* plan.stepsPerTap &+ index % plan.lanesPerTap / plan.lanesPerStep
          unsafe marks[step] = max(marks[step], UInt8(truncatingIfNeeded: extras))
        }
      }
    }
    var count = 0
    for step in 0..<plan.stepCount { unsafe count += Int(marks[step]) }
    return count
  }

  private func packPanel(
    _ weights: UnsafeRawPointer, bias: RawSpan?, group: Int, panel: GeneratedConvolutionPlan.Panel,
    at start: Int, into packed: PackedWeights, isBounded: inout Bool
  ) -> GeneratedWeights.Record {
    let marks = unsafe (packed.address + marksOffset).assumingMemoryBound(to: UInt8.self)
    let extraCount = unsafe mark(marks, weights: weights, group: group, panel: panel)
    let stepByteCount = panel.paddedCount * plan.weightByteCount
    let extraSteps = start + plan.stepCount * stepByteCount
    let extras = extraSteps + extraCount * stepByteCount
    precondition(extras + extraCount * 16 <= packed.byteCount)
    unsafe (packed.address + start).initializeMemory(as: UInt8.self, repeating: 0, count: extras - start)

    let destination = unsafe packed.address + start
    let offsets = unsafe packed.address + offsets(group: group) + panel.paddedBefore * 4
    for (place, column) in plan.columns(panel).enumerated() {
      var offset: UInt32 = 0
      if column < panel.columnCount {
        let channel = group * convolution.columnCount + panel.firstColumn + column
        offset = unsafe bias?.unsafeLoadUnaligned(fromByteOffset: channel * 4, as: UInt32.self) ?? 0
        if let operands = terms.operands {
          let totals = unsafe packColumn(
            weights, operands, group: group, column: panel.firstColumn + column, place: place,
            stepByteCount: stepByteCount, to: destination)
          let sums = terms.offset(bias: offset, sum: totals.sum, magnitude: Int(totals.magnitude))
          offset = sums.bits
          isBounded = isBounded && sums.isBounded
        } else {
          unsafe packFloats(
            weights, group: group, column: panel.firstColumn + column, place: place,
            stepByteCount: stepByteCount, to: destination)
        }
      }
      unsafe offsets.storeBytes(of: offset, toByteOffset: place * 4, as: UInt32.self)
    }
    if extraCount > 0, let operands = terms.operands {
      unsafe packExtras(
        weights, operands, marks: marks, group: group, panel: panel, steps: packed.address + extraSteps,
        entries: packed.address + extras)
    }
    return GeneratedWeights.Record(weights: start, extras: extras, extraCount: extraCount)
  }

  /// Eight terms from `lane` on, zeros after the tap's last.
  @inline(__always)
  private func eightTerms(
    _ source: UnsafeRawPointer, _ lane: Int, count: Int, flips: SIMD8<UInt8>, zeroPoints: SIMD8<Int16>
  ) -> SIMD8<Int16> {
    if count == 8 {
      let bytes = unsafe source.loadUnaligned(fromByteOffset: lane, as: SIMD8<UInt8>.self)
      return SIMD8<Int16>(widening: bytes ^ flips) &- zeroPoints
    }
    var bytes: UInt64 = 0
    for index in 0..<count {
      bytes |= UInt64(unsafe source.load(fromByteOffset: lane &+ index, as: UInt8.self)) << UInt64(8 &* index)
    }
    let values =
      SIMD8<Int16>(widening: unsafe unsafeBitCast(bytes, to: SIMD8<UInt8>.self) ^ flips) &- zeroPoints
    let indices = SIMD8<Int16>(0, 1, 2, 3, 4, 5, 6, 7)
    return values & ((indices &- Int16(truncatingIfNeeded: count)) &>> 15)
  }

  /// Writes the bytes or words of a column; answers the sum of its values and that of their magnitudes.
  private func packColumn(
    _ weights: UnsafeRawPointer, _ operands: ByteOperands, group: Int, column: Int, place: Int,
    stepByteCount: Int, to destination: UnsafeMutableRawPointer
  ) -> (sum: Int32, magnitude: Int32) {
    let flips = SIMD8<UInt8>(repeating: operands.signFlip)
    let zeroPoints = SIMD8<Int16>(repeating: Int16(truncatingIfNeeded: operands.rhsZeroPoint))
    let least = SIMD8(repeating: Int16(truncatingIfNeeded: terms.bounds.lowerBound))
    let most = SIMD8(repeating: Int16(truncatingIfNeeded: terms.bounds.upperBound))
    let ones = SIMD8<Int16>(repeating: 1)
    var sums = SIMD4<Int32>()
    var magnitudes = SIMD4<Int32>()
    for tap in 0..<plan.tapCount {
      let source = unsafe weights + position(group: group, column: column, tap: tap)
      var target =
        unsafe destination + (tap &* plan.stepsPerTap &* stepByteCount &+ place &* plan.weightByteCount)
      var lane = 0
      // Eight terms at a time: four steps of words, or two of bytes.
      while lane < plan.lanesPerTap {
        let count = min(8, plan.lanesPerTap &- lane)
        let values = unsafe eightTerms(source, lane, count: count, flips: flips, zeroPoints: zeroPoints)
        let signs = values &>> 15
        sums &+= pairSums(values, ones)
        magnitudes &+= pairSums((values ^ signs) &- signs, ones)
        lane &+= 8
        if plan.hasNarrowWeights {
          let bytes = SIMD8<UInt8>(lowBytes: values.bounded(least, most))
          let pairs = unsafe unsafeBitCast(bytes, to: SIMD4<UInt16>.self)
          for step in 0..<(count &+ 1) / 2 {
            unsafe target.storeBytes(of: pairs[step], as: UInt16.self)
            unsafe target += stepByteCount
          }
          continue
        }
        var steps: Int
        var lanes: SIMD4<UInt32>
        if terms.areWords {
          lanes = unsafe unsafeBitCast(values, to: SIMD4<UInt32>.self)
          steps = (count &+ 1) / 2
        } else {
          let bytes = SIMD8<UInt8>(lowBytes: values.bounded(least, most))
          let halves = unsafe unsafeBitCast(bytes, to: SIMD2<UInt32>.self)
          lanes = SIMD4(lowHalf: halves, highHalf: SIMD2())
          steps = (count &+ 3) / 4
        }
        if steps == 4 {
          unsafe target.storeBytes(of: lanes[0], as: UInt32.self)
          unsafe target.storeBytes(of: lanes[1], toByteOffset: stepByteCount, as: UInt32.self)
          unsafe target.storeBytes(of: lanes[2], toByteOffset: 2 &* stepByteCount, as: UInt32.self)
          unsafe target.storeBytes(of: lanes[3], toByteOffset: 3 &* stepByteCount, as: UInt32.self)
          unsafe target += 4 &* stepByteCount
        } else {
          while steps > 0 {
            unsafe target.storeBytes(of: lanes[0], as: UInt32.self)
            lanes = SIMD4(lanes[1], lanes[2], lanes[3], 0)
            unsafe target += stepByteCount
            steps &-= 1
          }
        }
      }
    }
    return (sums.wrappedSum(), magnitudes.wrappedSum())
  }

  private func packFloats(
    _ weights: UnsafeRawPointer, group: Int, column: Int, place: Int, stepByteCount: Int,
    to destination: UnsafeMutableRawPointer
  ) {
    let source = position(group: group, column: column, tap: 0)
    for step in 0..<plan.stepCount {
      let bits = unsafe weights.loadUnaligned(fromByteOffset: (source &+ step) &* 4, as: UInt32.self)
      unsafe destination.storeBytes(
        of: bits, toByteOffset: step &* stepByteCount &+ place &* 4, as: UInt32.self)
    }
  }

  /// Writes what signed bytes could not hold, and where in the rows it belongs.
  private func packExtras(
    _ weights: UnsafeRawPointer, _ operands: ByteOperands, marks: UnsafeMutablePointer<UInt8>, group: Int,
    panel: GeneratedConvolutionPlan.Panel, steps: UnsafeMutableRawPointer, entries: UnsafeMutableRawPointer
  ) {
    var next = 0
    for step in 0..<plan.stepCount {
      let (tap, stepInTap) = (step / plan.stepsPerTap, step % plan.stepsPerTap)
      for round in 0..<Int(unsafe marks[step]) {
        unsafe entries.storeBytes(of: tap, toByteOffset: next * 16, as: Int.self)
        unsafe entries.storeBytes(of: stepInTap, toByteOffset: next * 16 + 8, as: Int.self)
        let lanes = plan.lanesPerStep
        for (place, column) in plan.columns(panel).enumerated() where column < panel.columnCount {
          let source = position(group: group, column: panel.firstColumn + column, tap: tap)
          for byte in 0..<min(lanes, plan.lanesPerTap - stepInTap * lanes) {
            let value = unsafe terms.value(weights, source + stepInTap * lanes + byte, operands)
            unsafe steps.storeBytes(
              of: terms.piece(value, round: round + 1),
              toByteOffset: (next * panel.paddedCount + place) * plan.weightByteCount + byte, as: Int8.self)
          }
        }
        next += 1
      }
    }
  }
}
