/// Lays depthwise weights out for the generated products.
///
/// Packed layout: the head, with a record for each block of channels; the offsets that are added to sums; for each block,
/// the weights of its groups of taps, then of extra groups, then the numbers of the groups that those repeat.
struct GeneratedDepthwisePacking {
  let plan: GeneratedDepthwisePlan
  private(set) var terms: GeneratedWeights

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
    let taps = plan.taps(group: group)
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
    let (tapCount, channels) = (plan.tapCount, plan.channels)
    let taps = (0..<plan.groupCount).flatMap { plan.taps(group: $0).map { $0 ?? -1 } }
    unsafe weights.withUnsafeBytes { weights in
      guard let weights = weights.baseAddress else { return }
      var next = weightsOffset
      for block in 0..<plan.blockCount {
        var record = GeneratedWeights.Record(weights: next, extras: 0, extraCount: 0)
        unsafe packBlock(weights, block, taps, to: packed.address + next)
        next += plan.groupCount * groupByteCount
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
              let places = stride(from: channel, to: tapCount * channels, by: channels)
              let sums = terms.offset(
                bias: offset, channel: channel,
                sum: places.reduce(0) { $0 &+ (unsafe terms.value(weights, $1, operands)) },
                count: tapCount,
                magnitude: places.reduce(0) { $0 + Int(abs(unsafe terms.value(weights, $1, operands))) })
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
    if !isBounded, terms.faint != nil {
      var plain = self
      plain.terms.faint = nil
      plain.pack(weights: weights, bias: bias, into: packed)
      GeneratedWeights.setBounded(false, in: packed)
    }
  }

  /// Writes the weights of all groups of a block, whose taps are given; those that a group lacks are negative.
  private func packBlock(
    _ weights: UnsafeRawPointer, _ block: Int, _ taps: [Int], to destination: UnsafeMutableRawPointer
  ) {
    let (tapCount, channels, groupByteCount) = (plan.tapCount, plan.channels, groupByteCount)
    let tapsPerGroup = plan.tapsPerGroup
    let (bits, laneBits): (UInt32, Int) = terms.areWords ? (0xFFFF, 16) : (0xFF, 8)
    for (place, column) in plan.weightColumns.enumerated() {
      guard let channel = plan.channel(block: block, column: column) else { continue }
      var target = unsafe destination + place &* 4
      var element = channel
      guard let operands = terms.operands else {
        for _ in 0..<tapCount {
          let bits = unsafe weights.loadUnaligned(fromByteOffset: element &* 4, as: UInt32.self)
          unsafe target.storeBytes(of: bits, as: UInt32.self)
          unsafe target += groupByteCount
          element &+= channels
        }
        continue
      }
      var next = 0
      while next < taps.count {
        var lane: UInt32 = 0
        for index in 0..<tapsPerGroup {
          let tap = taps[next]
          next &+= 1
          guard tap >= 0 else { continue }
          let value = unsafe terms.bounded(terms.value(weights, channel &+ tap &* channels, operands))
          lane |= (UInt32(bitPattern: value) & bits) << UInt32(truncatingIfNeeded: laneBits &* index)
        }
        unsafe target.storeBytes(of: lane, as: UInt32.self)
        unsafe target += groupByteCount
      }
    }
  }

  /// Writes of a group's weights what is missing after `round` groups of them.
  private func packGroup(
    _ weights: UnsafeRawPointer, block: Int, group: Int, round: Int, to destination: UnsafeMutableRawPointer
  ) {
    let taps = plan.taps(group: group)
    for (place, column) in plan.weightColumns.enumerated() {
      let place = unsafe destination + place * 4
      guard let channel = plan.channel(block: block, column: column), let operands = terms.operands else {
        continue
      }
      for (index, tap) in taps.enumerated() {
        let value = unsafe value(weights, tap: tap, channel: channel, operands)
        unsafe place.storeBytes(of: terms.piece(value, round: round), toByteOffset: index, as: Int8.self)
      }
    }
  }
}
