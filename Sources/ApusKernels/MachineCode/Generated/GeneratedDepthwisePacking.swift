/// Lays depthwise weights out for the generated products.
///
/// Packed layout: the head, with a record for each block of channels; the offsets that are added to sums; for each block,
/// the weights of its groups of taps, then of extra groups, then the numbers of the groups that those repeat.
struct GeneratedDepthwisePacking {
  let plan: GeneratedDepthwisePlan
  let terms: GeneratedWeights

  private var groupByteCount: Int { plan.blockChannels * 4 }

  /// Where a block's offsets lie.
  func offsets(block: Int) -> Int {
    roundedUp(GeneratedWeights.recordOffset(plan.blockCount), to: 64) + block * groupByteCount
  }

  private var weightsOffset: Int { roundedUp(offsets(block: plan.blockCount), to: 64) }

  var byteCount: Int {
    let groups = plan.blockCount * plan.groupCount
    let extras = terms.mayHaveExtras ? groups * 2 * (groupByteCount + 8) + plan.blockCount * 64 : 0
    return weightsOffset + groups * groupByteCount + extras
  }

  func byteCount(for weights: RawSpan) -> Int {
    guard terms.mayHaveExtras, weights.byteCount >= plan.tapCount * plan.channels else { return byteCount }
    var total = weightsOffset + plan.blockCount * plan.groupCount * groupByteCount
    unsafe weights.withUnsafeBytes { weights in
      guard let weights = weights.baseAddress else { return }
      for block in 0..<plan.blockCount {
        var extras = 0
        for group in 0..<plan.groupCount {
          extras += unsafe extraCount(weights, block: block, group: group)
        }
        total += extras * groupByteCount + roundedUp(8 * extras, to: 64)
      }
    }
    return total
  }

  /// A byte weight minus its zero point; zero for taps that a group lacks.
  @inline(__always)
  private func value(_ weights: UnsafeRawPointer, tap: Int?, channel: Int, _ operands: ByteOperands) -> Int32
  {
    guard let tap else { return 0 }
    return unsafe terms.value(weights, tap &* plan.channels &+ channel, operands)
  }

  private func extraCount(_ weights: UnsafeRawPointer, block: Int, group: Int) -> Int {
    guard let operands = terms.operands, terms.mayHaveExtras else { return 0 }
    var count = 0
    let taps = (0..<plan.tapsPerGroup).map { plan.tap(group: group, index: $0) }
    let first = block * plan.blockChannels
    for index in first..<min(first + plan.blockChannels, plan.channels * plan.pixelsTogether) {
      for tap in taps {
        let value = unsafe value(weights, tap: tap, channel: index % plan.channels, operands)
        count = max(count, terms.extraCount(value))
      }
    }
    return count
  }

  func pack(weights: RawSpan, bias: RawSpan?, into packed: PackedWeights) {
    precondition(
      weights.byteCount >= plan.tapCount * plan.channels * terms.elementByteCount
        && packed.byteCount >= weightsOffset + plan.blockCount * plan.groupCount * groupByteCount)
    var isBounded = true
    unsafe weights.withUnsafeBytes { weights in
      guard let weights = weights.baseAddress else { return }
      var next = weightsOffset
      for block in 0..<plan.blockCount {
        var record = GeneratedWeights.Record(weights: next, extras: 0, extraCount: 0)
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
        next = record.extras + roundedUp(8 * repeated.count, to: 64)
        GeneratedWeights.setRecord(record, block, in: packed)
        for (place, column) in plan.columns.enumerated() {
          var offset: UInt32 = 0
          if let channel = plan.channel(block: block, column: column) {
            offset = unsafe bias?.unsafeLoadUnaligned(fromByteOffset: channel * 4, as: UInt32.self) ?? 0
            if let operands = terms.operands {
              var (sum, magnitude): (Int32, Int) = (0, 0)
              for tap in 0..<plan.tapCount {
                let value = unsafe value(weights, tap: tap, channel: channel, operands)
                sum &+= value
                magnitude += Int(abs(value))
              }
              let sums = terms.offset(bias: offset, sum: sum, magnitude: magnitude)
              offset = sums.bits
              isBounded = isBounded && sums.isBounded
            }
          }
          unsafe packed.address.storeBytes(
            of: offset, toByteOffset: offsets(block: block) + place * 4, as: UInt32.self)
        }
      }
    }
    GeneratedWeights.setBounded(isBounded, in: packed)
  }

  /// Writes a group's weights, or after `round` groups of them what is still missing.
  private func packGroup(
    _ weights: UnsafeRawPointer, block: Int, group: Int, round: Int, to destination: UnsafeMutableRawPointer
  ) {
    let taps = (0..<plan.tapsPerGroup).map { plan.tap(group: group, index: $0) }
    for (place, column) in plan.weightColumns.enumerated() {
      let place = unsafe destination + place * 4
      unsafe place.storeBytes(of: 0, as: UInt32.self)
      guard let channel = plan.channel(block: block, column: column) else { continue }
      guard let operands = terms.operands else {
        let element = group * plan.channels + channel
        let bits = unsafe weights.loadUnaligned(fromByteOffset: element * 4, as: UInt32.self)
        unsafe place.storeBytes(of: bits, as: UInt32.self)
        continue
      }
      for (index, tap) in taps.enumerated() {
        let value = unsafe value(weights, tap: tap, channel: channel, operands)
        if terms.areWords {
          unsafe place.storeBytes(
            of: Int16(truncatingIfNeeded: value), toByteOffset: 2 * index, as: Int16.self)
        } else {
          unsafe place.storeBytes(
            of: terms.piece(value, round: round), toByteOffset: index, as: Int8.self)
        }
      }
    }
  }
}
