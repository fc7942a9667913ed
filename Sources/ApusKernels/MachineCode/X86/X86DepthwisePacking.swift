/// Lays depthwise weights out for the generated products; wide ones are split as in ``X86WeightPacking``.
///
/// Packed layout: a header; a record for each block of channels; the offsets that are added to sums; for each block, the
/// weights of its groups of taps, then of extra groups, then the numbers of the groups that those repeat.
struct X86DepthwisePacking {
  struct Record {
    var weights: Int
    var extras: Int
    var extraCount: Int
  }

  let plan: X86DepthwisePlan
  let operands: ByteOperands?

  private var isBytes: Bool { plan.product != .floats }
  private var groupByteCount: Int { plan.blockChannels * 4 }
  private var recordsOffset: Int { 64 }
  private var mayHaveExtras: Bool {
    guard let operands, plan.product != .words else { return false }
    return operands.rhsZeroPoint != 128
  }

  static func isBounded(_ packed: PackedWeights) -> Bool {
    unsafe packed.address.load(as: Int.self) != 0
  }

  /// Where a block's offsets lie.
  func offsets(block: Int) -> Int {
    roundedUp(recordsOffset + plan.blockCount * MemoryLayout<Record>.stride, to: 64) + block * groupByteCount
  }

  private var weightsOffset: Int { roundedUp(offsets(block: plan.blockCount), to: 64) }

  var byteCount: Int {
    let groups = plan.blockCount * plan.groupCount
    return weightsOffset + groups * groupByteCount + (mayHaveExtras ? groups * 2 * (groupByteCount + 8) : 0)
  }

  func byteCount(for weights: RawSpan) -> Int {
    guard mayHaveExtras, weights.byteCount >= plan.tapCount * plan.channels else { return byteCount }
    var total = weightsOffset + plan.blockCount * plan.groupCount * groupByteCount
    unsafe weights.withUnsafeBytes { weights in
      guard let weights = weights.baseAddress else { return }
      for block in 0..<plan.blockCount {
        for group in 0..<plan.groupCount {
          total += unsafe extraCount(weights, block: block, group: group) * (groupByteCount + 8)
        }
      }
    }
    return total
  }

  func record(_ packed: PackedWeights, block: Int) -> Record {
    unsafe packed.address.load(
      fromByteOffset: recordsOffset + block &* MemoryLayout<Record>.stride, as: Record.self)
  }

  /// The channel of a block's lane of weights, or of what is added at the end; nil for padding.
  private func channel(block: Int, vector: Int, lane: Int, atEnd: Bool = false) -> Int? {
    let column = X86ProductGenerator.column(
      plan.target, isBytes: isBytes && !(atEnd && plan.convolution.operands.isHybrid),
      vectorCount: plan.vectorCount,
      vector: vector,
      lane: lane)
    let index = block * plan.blockChannels + column
    return index < plan.channels * plan.pixelsTogether ? index % plan.channels : nil
  }

  /// A byte weight minus its zero point; zero for taps beyond the last.
  @inline(__always)
  private func value(_ weights: UnsafeRawPointer, tap: Int, channel: Int, _ operands: ByteOperands) -> Int32 {
    guard tap < plan.tapCount else { return 0 }
    let byte = unsafe weights.load(fromByteOffset: tap &* plan.channels &+ channel, as: UInt8.self)
    return Int32(byte ^ operands.signFlip) &- operands.rhsZeroPoint
  }

  private func extraCount(_ weights: UnsafeRawPointer, block: Int, group: Int) -> Int {
    guard let operands, mayHaveExtras else { return 0 }
    var count = 0
    let first = block * plan.blockChannels
    for index in first..<min(first + plan.blockChannels, plan.channels * plan.pixelsTogether) {
      for tap in group * plan.tapsPerGroup..<(group + 1) * plan.tapsPerGroup {
        let value = unsafe value(weights, tap: tap, channel: index % plan.channels, operands)
        if value > 127 || value < -128 { count = max(count, value > 254 ? 2 : 1) }
      }
    }
    return count
  }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    let vectors = plan.vectorCount
    precondition(
      weights.byteCount >= plan.tapCount * plan.channels * (isBytes ? 1 : 4)
        && packed.byteCount >= weightsOffset + plan.blockCount * plan.groupCount * groupByteCount)
    var isBounded = true
    unsafe weights.withUnsafeBytes { weights in
      guard let weights = weights.baseAddress else { return }
      var next = weightsOffset
      for block in 0..<plan.blockCount {
        var record = Record(weights: next, extras: 0, extraCount: 0)
        for group in 0..<plan.groupCount {
          unsafe packGroup(weights, block: block, group: group, round: 0, to: packed.address + next)
          next += groupByteCount
        }
        var repeated: [Int] = []
        for group in 0..<plan.groupCount {
          let extras = unsafe extraCount(weights, block: block, group: group)
          for round in 0..<extras {
            precondition(next + groupByteCount <= packed.byteCount)
            unsafe packGroup(weights, block: block, group: group, round: round + 1, to: packed.address + next)
            next += groupByteCount
            repeated.append(group)
          }
        }
        record.extras = next
        record.extraCount = repeated.count
        precondition(next + 8 * repeated.count <= packed.byteCount)
        for group in repeated {
          unsafe packed.address.storeBytes(of: group, toByteOffset: next, as: Int.self)
          next += 8
        }
        unsafe packed.address.storeBytes(
          of: record, toByteOffset: recordsOffset + block * MemoryLayout<Record>.stride, as: Record.self)
        for vector in 0..<vectors {
          for lane in 0..<plan.target.lanes {
            let place = (vector * plan.target.lanes + lane) * 4
            var bits: UInt32 = 0
            if let channel = channel(block: block, vector: vector, lane: lane, atEnd: true) {
              bits = unsafe bias?.unsafeLoadUnaligned(fromByteOffset: channel * 4, as: UInt32.self) ?? 0
              if let operands {
                var (sum, magnitude): (Int32, Int) = (0, 0)
                for tap in 0..<plan.tapCount {
                  let value = unsafe value(weights, tap: tap, channel: channel, operands)
                  sum &+= value
                  magnitude += Int(abs(value))
                }
                // Words have the zero point of activations taken off already.
                let share = plan.product == .words ? 0 : operands.lhsZeroPoint &* sum
                let offset = Int32(bitPattern: bits) &- share
                bits = UInt32(bitPattern: offset)
                isBounded = isBounded && magnitude * 255 + abs(Int(offset)) <= X86EpilogueGenerator.sumLimit
              }
            }
            unsafe packed.address.storeBytes(
              of: bits, toByteOffset: offsets(block: block) + place, as: UInt32.self)
          }
        }
      }
    }
    unsafe packed.address.storeBytes(of: isBounded ? 1 : 0, as: Int.self)
  }

  /// Writes a group's weights, or after `round` groups of them what is still missing.
  private func packGroup(
    _ weights: UnsafeRawPointer, block: Int, group: Int, round: Int, to destination: UnsafeMutableRawPointer
  ) {
    for vector in 0..<plan.vectorCount {
      for lane in 0..<plan.target.lanes {
        let place = unsafe destination + (vector * plan.target.lanes + lane) * 4
        unsafe place.storeBytes(of: 0, as: UInt32.self)
        guard let channel = channel(block: block, vector: vector, lane: lane) else { continue }
        guard let operands else {
          let element = group * plan.channels + channel
          let bits = unsafe weights.loadUnaligned(fromByteOffset: element * 4, as: UInt32.self)
          unsafe place.storeBytes(of: bits, as: UInt32.self)
          continue
        }
        for index in 0..<plan.tapsPerGroup {
          var value = unsafe value(
            weights, tap: group * plan.tapsPerGroup + index, channel: channel, operands)
          if plan.product == .words {
            unsafe place.storeBytes(
              of: Int16(truncatingIfNeeded: value), toByteOffset: 2 * index, as: Int16.self)
          } else {
            for _ in 0..<round { value -= min(max(value, -128), 127) }
            unsafe place.storeBytes(of: Int8(min(max(value, -128), 127)), toByteOffset: index, as: Int8.self)
          }
        }
      }
    }
  }
}
