/// Lays weights out for the generated products.
///
/// For each panel and step, one 32-bit lane for each column: four bytes, two `int16` or one float. A byte weight minus its
/// zero point that does not fit in a signed byte is split: its step is done again with what is missing, as an *extra*
/// step. Legacy uint8 models have a few such weights in nearly every layer.
///
/// Packed layout: a header; for each group and panel a record; the offsets that are added to sums; then weights and
/// extra steps.
struct GeneratedWeightPacking {
  /// Where a panel's data lie, in bytes from the packed memory's start.
  struct Record {
    var weights: Int
    /// Pairs of a tap and a step in it.
    var extras: Int
    var extraCount: Int
  }

  let plan: GeneratedConvolutionPlan
  let operands: ByteOperands?

  /// Whether sums stay within limits, whatever the activations: the first word of the header.
  static func isBounded(_ packed: PackedWeights) -> Bool {
    unsafe packed.address.load(as: Int.self) != 0
  }

  private var convolution: Convolution { plan.convolution }
  private var recordCount: Int { convolution.groups * plan.panels.count }
  private var recordsOffset: Int { 64 }
  private var isBytes: Bool { plan.product != .floats }

  /// Where the offsets of a group begin; floats have their biases there.
  func offsets(group: Int) -> Int {
    roundedUp(recordsOffset + recordCount * MemoryLayout<Record>.stride, to: 64) + group
      * plan.paddedColumnCount * 4
  }

  private var marksOffset: Int { roundedUp(offsets(group: convolution.groups), to: 64) }
  private var weightsOffset: Int { roundedUp(marksOffset + plan.stepCount, to: 64) }
  private var weightByteCount: Int {
    convolution.groups * plan.paddedColumnCount * plan.stepCount * plan.weightByteCount
  }

  /// Whether weights may be too wide for a signed byte.
  var mayHaveExtras: Bool {
    guard let operands, plan.product != .words else { return false }
    return operands.rhsZeroPoint != 128
  }

  /// The most bytes that any weights need.
  var byteCount: Int {
    let extras = mayHaveExtras ? 2 * weightByteCount + recordCount * plan.stepCount * 2 * 16 : 0
    return weightsOffset + weightByteCount + extras
  }

  /// The bytes that these weights need.
  func byteCount(for weights: RawSpan) -> Int {
    guard mayHaveExtras, weights.byteCount >= convolution.weightCount else { return byteCount }
    var total = weightsOffset + weightByteCount
    var marks = [UInt8](repeating: 0, count: plan.stepCount)
    unsafe weights.withUnsafeBytes { weights in
      unsafe marks.withUnsafeMutableBufferPointer { marks in
        guard let weights = weights.baseAddress, let marks = marks.baseAddress else { return }
        for group in 0..<convolution.groups {
          for panel in plan.panels {
            let extras = unsafe mark(marks, weights: weights, group: group, panel: panel)
            total += extras * (panel.paddedCount * 4 + 16)
          }
        }
      }
    }
    return total
  }

  /// The record of a group's panel.
  func record(_ packed: PackedWeights, group: Int, panel: Int) -> Record {
    unsafe packed.address.load(
      fromByteOffset: recordsOffset + (group &* plan.panels.count &+ panel) &* MemoryLayout<Record>.stride,
      as: Record.self)
  }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(
      weights.byteCount >= convolution.weightCount * (isBytes ? 1 : 4)
        && packed.byteCount >= weightsOffset + weightByteCount)
    var isBounded = true
    unsafe weights.withUnsafeBytes { weights in
      guard let weights = weights.baseAddress else { return }
      var next = weightsOffset
      for group in 0..<convolution.groups {
        for (index, panel) in plan.panels.enumerated() {
          let record = unsafe packPanel(
            weights, bias: bias, group: group, panel: panel, at: next, into: packed, isBounded: &isBounded)
          let position = group * plan.panels.count + index
          unsafe packed.address.storeBytes(
            of: record, toByteOffset: recordsOffset + position * MemoryLayout<Record>.stride, as: Record.self)
          next = record.extras + record.extraCount * 16
        }
      }
    }
    unsafe packed.address.storeBytes(of: isBounded ? 1 : 0, as: Int.self)
  }

  // MARK: Panels

  /// The place of a column's weights for a tap, in elements.
  private func position(group: Int, column: Int, tap: Int) -> Int {
    (group &* convolution.columnCount &+ column) &* convolution.depth &+ tap &* plan.lanesPerTap
  }

  /// A byte weight minus its zero point.
  @inline(__always)
  private func value(_ weights: UnsafeRawPointer, _ index: Int, _ operands: ByteOperands) -> Int32 {
    Int32(unsafe weights.load(fromByteOffset: index, as: UInt8.self) ^ operands.signFlip)
      &- operands.rhsZeroPoint
  }

  /// Counts, for each step, the extra steps that a panel needs; answers their sum.
  private func mark(
    _ marks: UnsafeMutablePointer<UInt8>, weights: UnsafeRawPointer, group: Int,
    panel: GeneratedConvolutionPlan.Panel
  ) -> Int {
    unsafe marks.update(repeating: 0, count: plan.stepCount)
    guard let operands, mayHaveExtras else { return 0 }
    // Bytes in these bounds fit; nearly all do, so sixteen are looked at together.
    let least = SIMD16<UInt8>(repeating: UInt8(clamping: operands.rhsZeroPoint - 128))
    let most = SIMD16<UInt8>(repeating: UInt8(clamping: operands.rhsZeroPoint + 127))
    let flips = SIMD16<UInt8>(repeating: operands.signFlip)
    let depth = convolution.depth
    for column in panel.firstColumn..<panel.firstColumn + panel.columnCount {
      let start = position(group: group, column: column, tap: 0)
      var term = 0
      while term < depth {
        let end = min(term &+ 16, depth)
        if end &- term == 16 {
          let bytes =
            unsafe weights.loadUnaligned(fromByteOffset: start &+ term, as: SIMD16<UInt8>.self) ^ flips
          let clamped = pointwiseMin(pointwiseMax(bytes, least), most)
          if clamped == bytes {
            term = end
            continue
          }
        }
        for index in term..<end {
          let value = unsafe value(weights, start &+ index, operands)
          if value > 127 || value < -128 {
            let step = index / plan.lanesPerTap &* plan.stepsPerTap &+ index % plan.lanesPerTap / 4
            unsafe marks[step] = max(marks[step], value > 254 ? 2 : 1)
          }
        }
        term = end
      }
    }
    var count = 0
    for step in 0..<plan.stepCount { unsafe count += Int(marks[step]) }
    return count
  }

  private func packPanel(
    _ weights: UnsafeRawPointer, bias: RawSpan?, group: Int, panel: GeneratedConvolutionPlan.Panel, at start: Int,
    into packed: PackedWeights, isBounded: inout Bool
  ) -> Record {
    let marks = unsafe (packed.address + marksOffset).assumingMemoryBound(to: UInt8.self)
    let extraCount = unsafe mark(marks, weights: weights, group: group, panel: panel)
    let stepByteCount = panel.paddedCount * plan.weightByteCount
    let extraSteps = start + plan.stepCount * stepByteCount
    let extras = extraSteps + extraCount * stepByteCount
    precondition(extras + extraCount * 16 <= packed.byteCount)
    unsafe (packed.address + start).initializeMemory(as: UInt8.self, repeating: 0, count: extras - start)

    let destination = unsafe packed.address + start
    let offsets = unsafe packed.address + offsets(group: group) + panel.paddedBefore * 4
    for vector in 0..<panel.vectorCount {
      for lane in 0..<plan.target.lanes {
        let column = X86ProductGenerator.column(
          plan.target, isBytes: plan.interleavesColumns, vectorCount: panel.vectorCount, vector: vector,
          lane: lane)
        let place = vector * plan.target.lanes + lane
        var offset: UInt32 = 0
        if column < panel.columnCount {
          let channel = group * convolution.columnCount + panel.firstColumn + column
          let biasBits = unsafe bias?.unsafeLoadUnaligned(fromByteOffset: channel * 4, as: UInt32.self) ?? 0
          if let operands, isBytes {
            let totals = unsafe packColumn(
              weights, operands, group: group, column: panel.firstColumn + column, place: place,
              stepByteCount: stepByteCount, to: destination)
            // Words have the zero point of activations taken off already.
            let share = plan.product == .words ? 0 : operands.lhsZeroPoint &* totals.sum
            let value = Int32(bitPattern: biasBits) &- share
            offset = UInt32(bitPattern: value)
            isBounded =
              isBounded && Int(totals.magnitude) * 255 + abs(Int(value)) <= X86EpilogueGenerator.sumLimit
          } else {
            unsafe packFloats(
              weights, group: group, column: panel.firstColumn + column, place: place,
              stepByteCount: stepByteCount, to: destination)
            offset = biasBits
          }
        }
        unsafe offsets.storeBytes(of: offset, toByteOffset: place * 4, as: UInt32.self)
      }
    }
    if extraCount > 0, let operands {
      unsafe packExtras(
        weights, operands, marks: marks, group: group, panel: panel, steps: packed.address + extraSteps,
        entries: packed.address + extras)
    }
    return Record(weights: start, extras: extras, extraCount: extraCount)
  }

  /// Eight terms from `lane` on, zeros after the tap's last.
  @inline(__always)
  private func terms(
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
    stepByteCount: Int,
    to destination: UnsafeMutableRawPointer
  ) -> (sum: Int32, magnitude: Int32) {
    let isWords = plan.product == .words
    let flips = SIMD8<UInt8>(repeating: operands.signFlip)
    let zeroPoints = SIMD8<Int16>(repeating: Int16(truncatingIfNeeded: operands.rhsZeroPoint))
    let (least, most) = (SIMD8<Int16>(repeating: -128), SIMD8<Int16>(repeating: 127))
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
        let values = unsafe terms(source, lane, count: count, flips: flips, zeroPoints: zeroPoints)
        let signs = values &>> 15
        sums &+= pairSums(values, ones)
        magnitudes &+= pairSums((values ^ signs) &- signs, ones)
        lane &+= 8
        if plan.hasNarrowWeights {
          let pairs = unsafe unsafeBitCast(SIMD8<UInt8>(lowBytes: values), to: SIMD4<UInt16>.self)
          for step in 0..<(count &+ 1) / 2 {
            unsafe target.storeBytes(of: pairs[step], as: UInt16.self)
            unsafe target += stepByteCount
          }
          continue
        }
        var steps: Int
        var lanes: SIMD4<UInt32>
        if isWords {
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
      for round in 0..<Int32(unsafe marks[step]) {
        unsafe entries.storeBytes(of: tap, toByteOffset: next * 16, as: Int.self)
        unsafe entries.storeBytes(of: stepInTap, toByteOffset: next * 16 + 8, as: Int.self)
        for vector in 0..<panel.vectorCount {
          for lane in 0..<plan.target.lanes {
            let column = X86ProductGenerator.column(
              plan.target, isBytes: true, vectorCount: panel.vectorCount, vector: vector, lane: lane)
            guard column < panel.columnCount else { continue }
            let source = position(group: group, column: panel.firstColumn + column, tap: tap)
            for byte in 0..<min(4, plan.lanesPerTap - stepInTap * 4) {
              var rest = unsafe value(weights, source + stepInTap * 4 + byte, operands)
              for _ in 0...round { rest -= min(max(rest, -128), 127) }
              unsafe steps.storeBytes(
                of: Int8(min(max(rest, -128), 127)),
                toByteOffset: next * panel.paddedCount * 4 + (vector * plan.target.lanes + lane) * 4 + byte,
                as: Int8.self)
            }
          }
        }
        next += 1
      }
    }
  }
}
